// SPDX-License-Identifier: GPL-2.0

//! RPCs whose messages wait for memory, shortest first.

use kernel::alloc::AllocError;
use kernel::alloc::Flags;
use kernel::alloc::KVec;

use super::TooManyWaiting;
use crate::key::RpcKey;

/// How many RPCs can wait.
///
/// More are not helped by waiting: whoever sends to a host so far behind is
/// better told so by silence. An RPC that finds no place tries again when its
/// sender does.
pub const MAX_WAITERS: usize = 256;

/// An RPC and the length of the message that it waits with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub(super) key: RpcKey,
    pub(super) length: u32,
}

/// The waiting RPCs, longest message first, among equals the latest first: the
/// next in turn is the last.
#[derive(Debug)]
pub(super) struct Waiters(KVec<Waiter>);

impl Waiters {
    /// None, and memory for [`MAX_WAITERS`].
    pub(super) fn new(flags: Flags) -> Result<Self, AllocError> {
        Ok(Self(KVec::with_capacity(MAX_WAITERS, flags)?))
    }

    /// Adds an RPC.
    pub(super) fn push(&mut self, waiter: Waiter) -> Result<(), TooManyWaiting> {
        if self.0.len() >= MAX_WAITERS {
            return Err(TooManyWaiting);
        }
        let at = self.0.partition_point(|other| other.length > waiter.length);
        self.0
            .insert_within_capacity(at, waiter)
            .map_err(|_| TooManyWaiting)
    }

    /// The next in turn.
    pub(super) fn first(&self) -> Option<&Waiter> {
        self.0.last()
    }

    /// Takes out the next in turn.
    pub(super) fn remove_first(&mut self) {
        self.0.pop();
    }

    /// Takes out an RPC; true if it was there.
    pub(super) fn remove(&mut self, key: &RpcKey) -> bool {
        match self.0.iter().position(|waiter| waiter.key == *key) {
            Some(at) => self.0.remove(at).is_ok(),
            None => false,
        }
    }
}
