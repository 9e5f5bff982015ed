// SPDX-License-Identifier: GPL-2.0

//! What is known about another host.
//!
//! # Vocabulary
//!
//! * An *acknowledgment* tells a server that a client has the whole response of
//!   an RPC, so that the server can forget it. It is not urgent: it waits here
//!   until a DATA packet goes to the host and takes it along, or until so many
//!   wait that a packet of their own pays.
//! * *Cutoffs* are the host's wish which priorities to use for unscheduled bytes
//!   to it, by message length. It tells them in CUTOFFS packets; their version
//!   is echoed in DATA.
//!
//! # Invariants
//!
//! * Cutoff 0 is larger than any message, so that there is a level for each.

#[cfg(test)]
mod tests;

use crate::wire::AckEntry;
use crate::wire::Acks;
use crate::wire::Cutoffs;
use crate::wire::NUM_PRIORITIES;

/// A cutoff that all messages are below.
const NO_LIMIT: u32 = i32::MAX as u32;

/// Protocol state about one host.
#[derive(Debug)]
pub struct Peer {
    acks: Acks,
    cutoffs: [u32; NUM_PRIORITIES as usize],
    cutoff_version: u16,
}

impl Peer {
    /// A host of which nothing is known. Unscheduled bytes to it have level 6,
    /// below control packets, until it tells its cutoffs.
    pub const fn new() -> Self {
        Self {
            acks: Acks::new(),
            cutoffs: [NO_LIMIT, 0, 0, 0, 0, 0, NO_LIMIT, 0],
            cutoff_version: 0,
        }
    }

    /// Remembers an acknowledgment that is to go to the host with the next
    /// DATA packet.
    ///
    /// If there are already [`crate::wire::MAX_ACKS`], those are returned and
    /// `entry` is not remembered: send an ACK packet with the returned list
    /// whose header names the RPC of `entry`.
    #[must_use]
    pub fn queue_ack(&mut self, entry: AckEntry) -> Option<Acks> {
        if self.acks.push(entry) {
            return None;
        }
        Some(self.drain_acks())
    }

    /// Takes the newest acknowledgment out, for a DATA packet.
    pub fn take_ack(&mut self) -> Option<AckEntry> {
        self.acks.pop()
    }

    /// Takes all acknowledgments out, for an ACK packet.
    pub fn drain_acks(&mut self) -> Acks {
        core::mem::take(&mut self.acks)
    }

    /// Takes a CUTOFFS packet.
    pub fn on_cutoffs(&mut self, cutoffs: &Cutoffs) {
        self.cutoffs = cutoffs.unsched_cutoffs;
        let [lowest, ..] = &mut self.cutoffs;
        *lowest = NO_LIMIT;
        self.cutoff_version = cutoffs.version;
    }

    /// The value of the `cutoff_version` field of DATA to this host.
    pub fn cutoff_version(&self) -> u16 {
        self.cutoff_version
    }

    /// The priority level for the unscheduled bytes of a message to this host:
    /// the highest whose cutoff is not below the message's length.
    pub fn unscheduled_priority(&self, message_length: u32) -> u8 {
        (0..NUM_PRIORITIES)
            .rev()
            .zip(self.cutoffs.iter().rev())
            .find(|&(_, &cutoff)| message_length <= cutoff)
            .map_or(0, |(level, _)| level)
    }
}

impl Default for Peer {
    fn default() -> Self {
        Self::new()
    }
}
