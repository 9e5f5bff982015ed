// SPDX-License-Identifier: GPL-2.0

//! Finds RPCs by key and by deadline.
//!
//! # Vocabulary
//!
//! * A *slot* holds one RPC. Slots are numbered; those in use are the first
//!   ones, without holes: when an RPC is removed, the last one takes its slot.
//! * The *index* finds the slot of a key, the *deadlines* the slot that is due
//!   first. Both name RPCs by slot number.
//! * A *reservation* is memory for all three. It is allocated outside of any
//!   lock, where waiting for memory is allowed, and handed over inside with
//!   [`Table::adopt`], which gives back the old memory to be freed outside.
//!   Nothing else here allocates or frees.
//!
//! # Cost
//!
//! Finding is a hash and a short chain, a change of deadline is O(log n). The
//! hash is keyed with a secret, so that no choice of ids makes chains long.
//! Adopting a reservation moves every RPC, which, as the capacity doubles each
//! time, is O(1) per RPC inserted.
//!
//! # Invariants
//!
//! * `len` slots are in use, from 0 on, and `len <= capacity`.
//! * Each slot in use is in exactly one chain of the index, that of its key,
//!   and no two have the same key.
//! * Slots that are not in use are in no chain and have no deadline.

mod deadlines;
mod hash;
mod index;
#[cfg(test)]
mod tests;

use core::fmt;
use core::mem;

use kernel::alloc::AllocError;
use kernel::alloc::Flags;
use kernel::alloc::KBox;
use kernel::alloc::KVVec;

use self::deadlines::Deadlines;
use self::hash::HashKey;
use self::index::Index;
use crate::key::RpcKey;

/// The smallest capacity that [`Table::grown_capacity`] asks for.
const MIN_CAPACITY: usize = 16;

/// A slot number as an index; no machine here has addresses of less than 32
/// bits.
const fn at(slot: u32) -> usize {
    slot as usize
}

/// A key and what belongs to it.
type Entry<V> = (RpcKey, KBox<V>);

/// Memory for a table of some capacity: fresh, or used up, as
/// [`Table::adopt`] returns it.
pub struct Reservation<V> {
    slots: KVVec<Option<Entry<V>>>,
    index: Index,
    deadlines: Deadlines,
}

impl<V> Reservation<V> {
    const EMPTY: Self = Self {
        slots: KVVec::new(),
        index: Index::new(),
        deadlines: Deadlines::new(),
    };

    /// Memory for `capacity` RPCs.
    ///
    /// # Errors
    ///
    /// No memory, or `capacity` is too large for any memory.
    pub fn new(capacity: usize, flags: Flags) -> Result<Self, AllocError> {
        let mut slots = KVVec::with_capacity(capacity, flags)?;
        for _ in 0..capacity {
            slots.push(None, flags)?;
        }
        Ok(Self {
            slots,
            index: Index::with_capacity(capacity, flags)?,
            deadlines: Deadlines::with_capacity(capacity, flags)?,
        })
    }

    /// Number of RPCs that there is memory for.
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }
}

impl<V> fmt::Debug for Reservation<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reservation")
            .field("capacity", &self.capacity())
            .finish_non_exhaustive()
    }
}

/// A set of RPCs.
pub struct Table<V> {
    storage: Reservation<V>,
    len: u32,
    hash_key: HashKey,
}

impl<V> Table<V> {
    /// An empty table without memory. `hash_key` is to be random and secret.
    pub const fn new(hash_key: [u64; 2]) -> Self {
        Self {
            storage: Reservation::EMPTY,
            len: 0,
            hash_key: HashKey(hash_key),
        }
    }

    /// Number of RPCs.
    pub fn len(&self) -> usize {
        at(self.len)
    }

    /// True if there is no RPC.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of RPCs that there is memory for.
    pub fn capacity(&self) -> usize {
        self.storage.capacity()
    }

    /// True if one more fits.
    pub fn room(&self) -> bool {
        self.len() < self.capacity()
    }

    /// The capacity that a [`Reservation`] should have to make room.
    pub fn grown_capacity(&self) -> usize {
        self.capacity().saturating_mul(2).max(MIN_CAPACITY)
    }

    /// Takes over memory, if it is larger than what the table has, and returns
    /// what is to be freed.
    #[must_use = "drop it where freeing memory is allowed"]
    pub fn adopt(&mut self, mut reservation: Reservation<V>) -> Reservation<V> {
        if reservation.capacity() <= self.capacity() {
            return reservation;
        }
        let moved = self.storage.slots.iter_mut().take(at(self.len));
        for ((slot, from), to) in (0..self.len).zip(moved).zip(&mut reservation.slots[..]) {
            *to = from.take();
            if let Some((key, _)) = to {
                reservation.index.insert(self.hash_key.hash(key), slot);
            }
        }
        reservation.deadlines.take_over(&self.storage.deadlines);
        mem::replace(&mut self.storage, reservation)
    }

    /// Adds an RPC, without a deadline.
    ///
    /// # Errors
    ///
    /// Returns `value` if there is no room or the key is there already.
    pub fn insert(&mut self, key: RpcKey, value: KBox<V>) -> Result<&mut V, KBox<V>> {
        if self.find(&key).is_some() {
            return Err(value);
        }
        let Some(slot) = self.storage.slots.get_mut(at(self.len)) else {
            return Err(value);
        };
        self.storage
            .index
            .insert(self.hash_key.hash(&key), self.len);
        self.len = self.len.saturating_add(1);
        let (_, value) = slot.insert((key, value));
        Ok(value)
    }

    /// The RPC with this key.
    pub fn get(&self, key: &RpcKey) -> Option<&V> {
        let (_, value) = self.entry(self.find(key)?)?;
        Some(value)
    }

    /// The RPC with this key.
    pub fn get_mut(&mut self, key: &RpcKey) -> Option<&mut V> {
        let slot = self.find(key)?;
        let (_, value) = self.storage.slots.get_mut(at(slot))?.as_mut()?;
        Some(value)
    }

    /// True if there is an RPC with this key.
    pub fn contains(&self, key: &RpcKey) -> bool {
        self.find(key).is_some()
    }

    /// Takes an RPC out.
    pub fn remove(&mut self, key: &RpcKey) -> Option<KBox<V>> {
        let slot = self.find(key)?;
        let (_, value) = self.remove_slot(slot)?;
        Some(value)
    }

    /// Takes any RPC out; none if the table is empty. For tearing down.
    pub fn pop(&mut self) -> Option<(RpcKey, KBox<V>)> {
        let last = self.len.checked_sub(1)?;
        self.remove_slot(last)
    }

    /// All RPCs, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&RpcKey, &V)> {
        self.storage
            .slots
            .iter()
            .flatten()
            .map(|(key, value)| (key, &**value))
    }

    /// Sets or clears the time at which [`Table::pop_due`] returns the RPC;
    /// false if there is no such RPC.
    pub fn set_deadline(&mut self, key: &RpcKey, deadline: Option<u64>) -> bool {
        match self.find(key) {
            Some(slot) => {
                self.storage.deadlines.set(slot, deadline);
                true
            }
            None => false,
        }
    }

    /// The earliest deadline.
    pub fn next_deadline(&self) -> Option<u64> {
        let (deadline, _) = self.storage.deadlines.first()?;
        Some(deadline)
    }

    /// An RPC whose deadline is `now` or earlier, earliest first. Its deadline
    /// is cleared.
    pub fn pop_due(&mut self, now: u64) -> Option<RpcKey> {
        let (deadline, slot) = self.storage.deadlines.first()?;
        if deadline > now {
            return None;
        }
        self.storage.deadlines.set(slot, None);
        let (key, _) = self.entry(slot)?;
        Some(*key)
    }

    fn entry(&self, slot: u32) -> Option<&Entry<V>> {
        self.storage.slots.get(at(slot))?.as_ref()
    }

    fn find(&self, key: &RpcKey) -> Option<u32> {
        self.storage
            .index
            .chain(self.hash_key.hash(key))
            .find(|&slot| self.entry(slot).is_some_and(|(found, _)| found == key))
    }

    /// Takes the RPC in a slot out and the last one into its slot.
    fn remove_slot(&mut self, slot: u32) -> Option<Entry<V>> {
        let last = self.len.checked_sub(1)?;
        let removed = self.storage.slots.get_mut(at(slot))?.take()?;
        self.storage
            .index
            .remove(self.hash_key.hash(&removed.0), slot);
        self.storage.deadlines.set(slot, None);
        if slot != last {
            let moved = self.storage.slots.get_mut(at(last))?.take()?;
            self.storage
                .index
                .rename(self.hash_key.hash(&moved.0), last, slot);
            self.storage.deadlines.rename(last, slot);
            *self.storage.slots.get_mut(at(slot))? = Some(moved);
        }
        self.len = last;
        Some(removed)
    }
}

impl<V> fmt::Debug for Table<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("len", &self.len)
            .field("capacity", &self.capacity())
            .field("next_deadline", &self.next_deadline())
            .finish_non_exhaustive()
    }
}
