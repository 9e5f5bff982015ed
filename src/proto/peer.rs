// SPDX-License-Identifier: GPL-2.0

//! What is known about another host.

use crate::wire::AckEntry;
use crate::wire::Acks;
use crate::wire::Cutoffs;

/// Protocol state about one host.
#[derive(Debug)]
pub struct Peer {}

impl Peer {
    /// A host of which nothing is known.
    pub const fn new() -> Self {
        Self {}
    }
    /// Remembers an acknowledgment that is to go to the host with the next
    /// DATA packet. If there are already [`crate::wire::MAX_ACKS`], those are
    /// returned and `entry` is not remembered: send an ACK packet with the
    /// returned list whose header names the RPC of `entry`.
    #[must_use]
    pub fn queue_ack(&mut self, _entry: AckEntry) -> Option<Acks> {
        todo!()
    }
    /// Takes an acknowledgment out, for a DATA packet.
    pub fn take_ack(&mut self) -> Option<AckEntry> {
        todo!()
    }
    /// Takes all acknowledgments out, for an ACK packet.
    pub fn drain_acks(&mut self) -> Acks {
        todo!()
    }
    /// Takes a CUTOFFS packet.
    pub fn on_cutoffs(&mut self, _cutoffs: &Cutoffs) {
        todo!()
    }
    /// The value of the `cutoff_version` field of DATA to this host.
    pub fn cutoff_version(&self) -> u16 {
        todo!()
    }
    /// The priority level for the unscheduled bytes of a message to this host.
    pub fn unscheduled_priority(&self, _message_length: u32) -> u8 {
        todo!()
    }
}

impl Default for Peer {
    fn default() -> Self {
        Self::new()
    }
}
