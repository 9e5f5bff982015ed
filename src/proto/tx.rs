// SPDX-License-Identifier: GPL-2.0

//! An outgoing message: which bytes go next.

use crate::wire::Resend;

/// With which priority a segment is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// The one for unscheduled bytes of a message of this length: ask
    /// [`crate::peer::Peer::unscheduled_priority`].
    Unscheduled,
    /// This level.
    Level(u8),
}

/// A piece of the message to be sent as one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its first byte's place in the message.
    pub offset: u32,
    /// Its length in bytes; not 0.
    pub len: u32,
    /// Whether it was sent before.
    pub retransmit: bool,
    /// The priority to send it with.
    pub priority: Priority,
    /// The value of the `incoming` field of its header.
    pub incoming: u32,
}

/// What became of a RESEND.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResendOutcome {
    /// There are bytes to send again, or new ones.
    Queued,
    /// Nothing of that range was sent so far: the other end is to be told that
    /// we are busy.
    NothingSentYet,
}

/// An outgoing message.
#[derive(Debug)]
pub struct Tx {}

impl Tx {
    /// A message of `length` bytes, of which `unsched_bytes` may go without a
    /// grant, in segments of `segment_len` bytes.
    pub fn new(_length: u32, _unsched_bytes: u32, _segment_len: u32) -> Self {
        todo!()
    }
    /// Length of the message in bytes.
    pub fn length(&self) -> u32 {
        todo!()
    }
    /// Bytes that may be sent without a grant.
    pub fn unscheduled(&self) -> u32 {
        todo!()
    }
    /// All bytes before this offset may be sent.
    pub fn granted(&self) -> u32 {
        todo!()
    }
    /// All bytes before this offset were sent at least once.
    pub fn sent(&self) -> u32 {
        todo!()
    }
    /// True if every byte was sent and none is to be sent again.
    pub fn fully_sent(&self) -> bool {
        todo!()
    }
    /// Takes a GRANT.
    pub fn on_grant(&mut self, _offset: u32, _priority: u8) {
        todo!()
    }
    /// Takes a RESEND.
    pub fn on_resend(&mut self, _resend: &Resend) -> ResendOutcome {
        todo!()
    }
    /// Everything that was sent is to be sent again: the receiver lost its state.
    pub fn restart(&mut self) {
        todo!()
    }
    /// Takes the next segment, with at most `max_payload` bytes; none if there
    /// is nothing that may be sent now.
    pub fn poll_segment(&mut self, _max_payload: u32) -> Option<Segment> {
        todo!()
    }
}
