// SPDX-License-Identifier: GPL-2.0

//! An outgoing message: which bytes go next.
//!
//! # Vocabulary
//!
//! * *Unscheduled* bytes, at the beginning of a message, go without asking; all
//!   others wait until a GRANT (or a RESEND that reaches beyond) raises
//!   [`Tx::granted`].
//! * A *segment* is what one packet carries. The message is cut into segments
//!   once, in this order of rules: never across the end of the unscheduled
//!   bytes, never longer than the segment length. A segment is sent whole as
//!   soon as its first byte is granted, so that the last one may exceed the
//!   grant, by less than its own length.
//! * A *layout* is a stretch of the message with one segment length. There is
//!   more than one if the path's MTU shrinks while the message is being sent:
//!   what was sent keeps its boundaries.
//! * *Owed* ranges are those to be sent again. They go before new bytes. A piece
//!   that is sent again never crosses a boundary between segments, because the
//!   reference's receiver refuses a packet that brings old and new bytes, and
//!   its gaps begin and end at those boundaries.
//!
//! # Invariants
//!
//! * `unscheduled <= granted <= length` and `sent <= length`.
//! * `sent` is a boundary between segments, or lies inside a segment of which
//!   the path could not carry more at once.
//! * Owed ranges are not empty, ordered, apart from each other, and end at
//!   `sent` or before.

mod layout;
mod owed;
#[cfg(test)]
mod tests;

use self::layout::Layouts;
use self::owed::Owed;
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
    /// we are busy. The range may be granted now all the same.
    NothingSentYet,
}

/// An outgoing message.
#[derive(Debug)]
pub struct Tx {
    length: u32,
    unscheduled: u32,
    granted: u32,
    sent: u32,
    layouts: Layouts,
    owed: Owed,
    /// Level for scheduled bytes: that of the newest GRANT.
    scheduled_priority: u8,
    /// Priority for what is owed: that of the newest request.
    owed_priority: Priority,
}

impl Tx {
    /// A message of `length` bytes, of which `unsched_bytes` may go without a
    /// grant, in segments of `segment_len` bytes.
    ///
    /// A `segment_len` of 0 counts as 1.
    pub fn new(length: u32, unsched_bytes: u32, segment_len: u32) -> Self {
        let unscheduled = unsched_bytes.min(length);
        Self {
            length,
            unscheduled,
            granted: unscheduled,
            sent: 0,
            layouts: Layouts::new(segment_len),
            owed: Owed::new(),
            scheduled_priority: 0,
            owed_priority: Priority::Unscheduled,
        }
    }

    /// Length of the message in bytes.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Bytes that may be sent without a grant.
    pub fn unscheduled(&self) -> u32 {
        self.unscheduled
    }

    /// All bytes before this offset may be sent.
    pub fn granted(&self) -> u32 {
        self.granted
    }

    /// All bytes before this offset were sent at least once.
    pub fn sent(&self) -> u32 {
        self.sent
    }

    /// True if every byte was sent and none is to be sent again.
    pub fn fully_sent(&self) -> bool {
        self.sent == self.length && self.owed.is_empty()
    }

    /// True if [`Tx::poll_segment`] has something to return.
    pub fn has_segment(&self) -> bool {
        !self.owed.is_empty() || self.sent < self.granted
    }

    /// Takes a GRANT: all bytes before `offset` may be sent, and scheduled ones
    /// go at the level `priority` from now on. An old grant changes only that.
    pub fn on_grant(&mut self, offset: u32, priority: u8) {
        self.granted = self.granted.max(offset.min(self.length));
        self.scheduled_priority = priority;
    }

    /// Takes a RESEND. Bytes of its range that were sent are owed; those that
    /// were not are granted, because the receiver asks only for what it
    /// expects.
    pub fn on_resend(&mut self, resend: &Resend) -> ResendOutcome {
        let (start, end) = if resend.length == Resend::ALL {
            (0, self.sent)
        } else {
            let end = resend.offset.saturating_add(resend.length);
            (resend.offset, end.min(self.length))
        };
        // A range that reaches the granted limit is the receiver's tail. The
        // last segment sent may exceed the limit: it is missing as a whole.
        let owed_end = if end >= self.granted { self.sent } else { end };
        self.granted = self.granted.max(end);
        if start >= self.sent {
            return ResendOutcome::NothingSentYet;
        }
        self.owed.add(start, owed_end.min(self.sent));
        self.owed_priority = Priority::Level(resend.priority);
        ResendOutcome::Queued
    }

    /// The receiver lost all that was sent: all of it is owed, at the priority
    /// of unscheduled bytes.
    pub fn restart(&mut self) {
        self.owed = Owed::new();
        self.owed.add(0, self.sent);
        self.owed_priority = Priority::Unscheduled;
    }

    /// Takes the next segment, with at most `max_payload` bytes; none if there
    /// is nothing that may be sent now. What is owed goes first.
    ///
    /// If `max_payload` is smaller than the segment length, the bytes that were
    /// not sent yet are cut into segments of that length from now on.
    pub fn poll_segment(&mut self, max_payload: u32) -> Option<Segment> {
        if max_payload == 0 {
            return None;
        }
        self.poll_owed(max_payload)
            .or_else(|| self.poll_new(max_payload))
    }

    fn poll_owed(&mut self, max_payload: u32) -> Option<Segment> {
        let range = self.owed.first()?;
        let offset = range.start;
        let end = self
            .layouts
            .segment_end(offset, self.unscheduled)
            .min(range.end)
            .min(offset.saturating_add(max_payload));
        self.owed.remove_before(end);
        Some(Segment {
            offset,
            len: end.saturating_sub(offset),
            retransmit: true,
            priority: self.owed_priority,
            incoming: range.end,
        })
    }

    fn poll_new(&mut self, max_payload: u32) -> Option<Segment> {
        let offset = self.sent;
        if offset >= self.granted {
            return None;
        }
        self.layouts.shrink(offset, max_payload);
        let end = self
            .layouts
            .segment_end(offset, self.unscheduled)
            .min(self.length)
            .min(offset.saturating_add(max_payload));
        self.sent = end;
        let priority = if offset < self.unscheduled {
            Priority::Unscheduled
        } else {
            Priority::Level(self.scheduled_priority)
        };
        Some(Segment {
            offset,
            len: end.saturating_sub(offset),
            retransmit: false,
            priority,
            incoming: self.unscheduled,
        })
    }
}
