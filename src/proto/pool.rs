// SPDX-License-Identifier: GPL-2.0

//! The memory that an application lends for incoming messages.

use kernel::alloc::AllocError;
use kernel::alloc::Flags;

use crate::key::RpcKey;

/// Size of a bpage in bytes.
pub const BPAGE_SIZE: u32 = 1 << 16;

/// The most bpages that one message takes.
pub const MAX_BPAGES: usize = 16;

/// The memory of one message: where in the region its pieces are. Each piece
/// but the last holds [`BPAGE_SIZE`] bytes of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "the memory stays taken"]
pub struct Lease {
    offsets: [u32; MAX_BPAGES],
    count: u8,
}

impl Lease {
    /// The offsets of the pieces in the region, in the message's order.
    pub fn offsets(&self) -> &[u32] {
        self.offsets
            .get(..usize::from(self.count))
            .unwrap_or_default()
    }
    /// Where in the region the message's byte `offset` is, and how many bytes
    /// follow it there without a break.
    pub fn locate(&self, _offset: u32) -> Option<(u32, u32)> {
        todo!()
    }
}

/// An offset that does not name memory which the application has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadOffset;

/// There are too many waiting messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyWaiting;

/// A receive buffer region and the messages that wait for memory in it.
#[derive(Debug)]
pub struct Pool {}

impl Pool {
    /// A pool for a region of `region_len` bytes; what exceeds a multiple of
    /// [`BPAGE_SIZE`] is not used.
    ///
    /// # Errors
    ///
    /// No memory.
    pub fn new(_region_len: u64, _flags: Flags) -> Result<Self, AllocError> {
        todo!()
    }
    /// Bytes that could be given out now.
    pub fn available_bytes(&self) -> u64 {
        todo!()
    }
    /// Takes memory for a message of `length` bytes.
    pub fn alloc(&mut self, _length: u32) -> Option<Lease> {
        todo!()
    }
    /// Gives back the memory of a message that was never delivered.
    pub fn free_lease(&mut self, _lease: Lease) {
        todo!()
    }
    /// Takes back memory that the application returns: all of `offsets`, or
    /// none if one is bad.
    ///
    /// # Errors
    ///
    /// [`BadOffset`] if an offset is not one that was given out and not
    /// returned since.
    pub fn release(&mut self, _offsets: &[u32]) -> Result<(), BadOffset> {
        todo!()
    }
    /// Remembers that an RPC waits for memory for a message of `length` bytes.
    ///
    /// # Errors
    ///
    /// [`TooManyWaiting`]: it is not remembered.
    pub fn wait(&mut self, _key: RpcKey, _length: u32) -> Result<(), TooManyWaiting> {
        todo!()
    }
    /// Forgets a waiting RPC; true if it was waiting.
    pub fn cancel_wait(&mut self, _key: &RpcKey) -> bool {
        todo!()
    }
    /// The waiting RPC with the shortest message, and its memory, if there is
    /// enough now. To be polled until `None` after memory came back.
    pub fn next_waiter(&mut self) -> Option<(RpcKey, Lease)> {
        todo!()
    }
}
