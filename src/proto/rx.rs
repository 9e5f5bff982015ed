// SPDX-License-Identifier: GPL-2.0

//! An incoming message: which bytes are there, which are missing.
//!
//! # Vocabulary
//!
//! * The *end* is the offset behind the last byte received so far.
//! * A *gap* is a range before the end that is missing.
//! * The *tail* is what lies between the end and the granted limit: on its way,
//!   or lost.
//!
//! Only offsets are kept here; the bytes themselves are the caller's. Packets
//! may overlap in any way. A packet is refused only if it brings nothing new or
//! if it would make more than [`MAX_GAPS`] gaps: the memory for a message is
//! the same whatever the network, or an attacker, does with its packets.
//!
//! # Invariants
//!
//! * Gaps are not empty, ordered, do not touch each other, and end before `end`.
//! * `received` is `end` less the sum of the gaps.
//! * `end <= length` and `granted <= length`.

mod gaps;
#[cfg(test)]
mod tests;

use core::ops::Range;

use self::gaps::Gaps;

pub use self::gaps::MAX_GAPS;

/// What a packet brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    /// How many of its bytes were not there before; not 0.
    pub new_bytes: u32,
}

/// Why a packet's payload is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// All its bytes, if any, are there already.
    Duplicate,
    /// It would make more gaps than are kept track of.
    TooFragmented,
    /// It is not inside the message.
    OutOfBounds,
}

/// An incoming message.
#[derive(Debug)]
pub struct Rx {
    length: u32,
    granted: u32,
    received: u32,
    end: u32,
    gaps: Gaps,
}

impl Rx {
    /// A message of `length` bytes whose sender may send up to `incoming`
    /// without grants.
    pub fn new(length: u32, incoming: u32) -> Self {
        Self {
            length,
            granted: incoming.min(length),
            received: 0,
            end: 0,
            gaps: Gaps::new(),
        }
    }

    /// Length of the message in bytes.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// The sender may send all bytes before this offset.
    pub fn granted(&self) -> u32 {
        self.granted
    }

    /// Number of bytes that are there.
    pub fn received_bytes(&self) -> u32 {
        self.received
    }

    /// True if all bytes are there.
    pub fn complete(&self) -> bool {
        self.received == self.length
    }

    /// True if all bytes are there that the sender may have sent.
    pub fn caught_up(&self) -> bool {
        self.received >= self.granted
    }

    /// Takes the payload of a DATA packet into account.
    ///
    /// # Errors
    ///
    /// The payload is not to be kept; see [`Rejected`].
    pub fn on_data(&mut self, offset: u32, len: u32) -> Result<Added, Rejected> {
        let packet_end = offset.checked_add(len).ok_or(Rejected::OutOfBounds)?;
        if packet_end > self.length {
            return Err(Rejected::OutOfBounds);
        }
        if len == 0 {
            return Err(Rejected::Duplicate);
        }
        if offset > self.end {
            self.gaps
                .push(self.end..offset)
                .map_err(|_| Rejected::TooFragmented)?;
        }
        let filled = if offset < self.end {
            self.gaps
                .fill(offset..packet_end)
                .map_err(|_| Rejected::TooFragmented)?
        } else {
            0
        };
        let beyond_end = packet_end.saturating_sub(offset.max(self.end));
        self.end = self.end.max(packet_end);
        let new_bytes = filled.saturating_add(beyond_end);
        if new_bytes == 0 {
            return Err(Rejected::Duplicate);
        }
        self.received = self.received.saturating_add(new_bytes);
        Ok(Added { new_bytes })
    }

    /// The first range at or behind `from` that the sender may have sent and
    /// that is not there.
    pub fn next_missing(&self, from: u32) -> Option<Range<u32>> {
        self.missing()
            .map(|range| range.start.max(from)..range.end)
            .find(|range| !range.is_empty())
    }

    /// The ranges that the sender may have sent and that are not there, in
    /// order: the gaps and the tail.
    ///
    /// A gap counts even if it is beyond the granted limit: a later byte came,
    /// so the sender thinks that it may send it.
    pub fn missing(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        let tail = self.end..self.granted;
        self.gaps.iter().chain((!tail.is_empty()).then_some(tail))
    }

    /// If the sender should get a grant now: up to which offset. The message
    /// counts as granted up to there from then on.
    ///
    /// The limit is kept `window` bytes ahead of what was received. It is
    /// raised if that adds `quantum` bytes or more, if it adds the rest of the
    /// message, or if the sender has nothing left to send.
    pub fn poll_grant(&mut self, window: u32, quantum: u32) -> Option<u32> {
        let limit = self.received.saturating_add(window).min(self.length);
        let more = limit.checked_sub(self.granted)?;
        if more == 0 {
            return None;
        }
        if more < quantum && limit < self.length && !self.caught_up() {
            return None;
        }
        self.granted = limit;
        Some(limit)
    }
}
