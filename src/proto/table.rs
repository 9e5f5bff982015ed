// SPDX-License-Identifier: GPL-2.0

//! Finds RPCs by key and by deadline.

use core::marker::PhantomData;

use kernel::alloc::AllocError;
use kernel::alloc::Flags;
use kernel::alloc::KBox;

use crate::key::RpcKey;

/// Memory for a table of some capacity; without content, or as
/// [`Table::adopt`] returns it.
pub struct Reservation<V> {
    _marker: PhantomData<V>,
}

impl<V> Reservation<V> {
    /// Memory for `capacity` RPCs.
    ///
    /// # Errors
    ///
    /// No memory.
    pub fn new(_capacity: usize, _flags: Flags) -> Result<Self, AllocError> {
        todo!()
    }
}

/// A set of RPCs.
pub struct Table<V> {
    _marker: PhantomData<V>,
}

impl<V> Table<V> {
    /// An empty table without memory. `hash_key` is to be random and secret.
    pub const fn new(_hash_key: [u64; 2]) -> Self {
        Self {
            _marker: PhantomData,
        }
    }
    /// Number of RPCs.
    pub fn len(&self) -> usize {
        todo!()
    }
    /// True if there is no RPC.
    pub fn is_empty(&self) -> bool {
        todo!()
    }
    /// Number of RPCs that there is memory for.
    pub fn capacity(&self) -> usize {
        todo!()
    }
    /// True if one more fits.
    pub fn room(&self) -> bool {
        todo!()
    }
    /// The capacity that a [`Reservation`] should have to make room.
    pub fn grown_capacity(&self) -> usize {
        todo!()
    }
    /// Takes over memory, if it is larger than what the table has, and returns
    /// what is to be freed.
    #[must_use = "drop it where freeing memory is allowed"]
    pub fn adopt(&mut self, _reservation: Reservation<V>) -> Reservation<V> {
        todo!()
    }
    /// Adds an RPC, without a deadline.
    ///
    /// # Errors
    ///
    /// Returns `value` if there is no room or the key is there already.
    pub fn insert(&mut self, _key: RpcKey, _value: KBox<V>) -> Result<&mut V, KBox<V>> {
        todo!()
    }
    /// The RPC with this key.
    pub fn get(&self, _key: &RpcKey) -> Option<&V> {
        todo!()
    }
    /// The RPC with this key.
    pub fn get_mut(&mut self, _key: &RpcKey) -> Option<&mut V> {
        todo!()
    }
    /// Takes an RPC out.
    pub fn remove(&mut self, _key: &RpcKey) -> Option<KBox<V>> {
        todo!()
    }
    /// Takes any RPC out; none if the table is empty. For tearing down.
    pub fn pop(&mut self) -> Option<(RpcKey, KBox<V>)> {
        todo!()
    }
    /// All RPCs, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&RpcKey, &V)> {
        core::iter::empty()
    }
    /// Sets or clears the time at which [`Table::pop_due`] returns the RPC;
    /// false if there is no such RPC.
    pub fn set_deadline(&mut self, _key: &RpcKey, _deadline: Option<u64>) -> bool {
        todo!()
    }
    /// The earliest deadline.
    pub fn next_deadline(&self) -> Option<u64> {
        todo!()
    }
    /// An RPC whose deadline is `now` or earlier, earliest first. Its deadline
    /// is cleared.
    pub fn pop_due(&mut self, _now: u64) -> Option<RpcKey> {
        todo!()
    }
}
