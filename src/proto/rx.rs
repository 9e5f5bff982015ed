// SPDX-License-Identifier: GPL-2.0

//! An incoming message: which bytes are there, which are missing.

use core::ops::Range;

/// What a packet brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    /// How many of its bytes were not there before; not 0.
    pub new_bytes: u32,
}

/// Why a packet's payload is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// All its bytes are there already.
    Duplicate,
    /// It would make more gaps than are kept track of.
    TooFragmented,
    /// It is not inside the message.
    OutOfBounds,
}

/// An incoming message.
#[derive(Debug)]
pub struct Rx {}

impl Rx {
    /// A message of `length` bytes whose sender may send up to `incoming`
    /// without grants.
    pub fn new(_length: u32, _incoming: u32) -> Self {
        todo!()
    }
    /// Length of the message in bytes.
    pub fn length(&self) -> u32 {
        todo!()
    }
    /// The sender may send all bytes before this offset.
    pub fn granted(&self) -> u32 {
        todo!()
    }
    /// Number of bytes that are there.
    pub fn received_bytes(&self) -> u32 {
        todo!()
    }
    /// True if all bytes are there.
    pub fn complete(&self) -> bool {
        todo!()
    }
    /// Takes the payload of a DATA packet into account.
    ///
    /// # Errors
    ///
    /// The payload is not to be kept; see [`Rejected`].
    pub fn on_data(&mut self, _offset: u32, _len: u32) -> Result<Added, Rejected> {
        todo!()
    }
    /// The ranges that the sender may have sent and that are not there, in order.
    pub fn missing(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        core::iter::empty()
    }
    /// If the sender should get a grant now: up to which offset. The message
    /// counts as granted up to there from then on.
    pub fn poll_grant(&mut self, _window: u32, _quantum: u32) -> Option<u32> {
        todo!()
    }
}
