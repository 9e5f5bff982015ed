// SPDX-License-Identifier: GPL-2.0

//! A hash index: chains of slot numbers.

use core::iter;

use kernel::alloc::AllocError;
use kernel::alloc::Flags;
use kernel::alloc::KVVec;

use super::at;

/// The end of a chain.
const NONE: u32 = u32::MAX;

/// Which slots may hold a key with some hash.
pub(super) struct Index {
    /// The first slot of each chain. The length is 0 or a power of two.
    heads: KVVec<u32>,
    /// For each slot the next one in its chain.
    next: KVVec<u32>,
}

impl Index {
    /// An index without memory.
    pub(super) const fn new() -> Self {
        Self {
            heads: KVVec::new(),
            next: KVVec::new(),
        }
    }

    /// An index for the slots before `capacity`.
    pub(super) fn with_capacity(capacity: usize, flags: Flags) -> Result<Self, AllocError> {
        // The largest number is the end of a chain, so no slot may have it.
        if u32::try_from(capacity).map_or(true, |capacity| capacity == NONE) {
            return Err(AllocError);
        }
        let chains = capacity.checked_next_power_of_two().ok_or(AllocError)?;
        let mut heads = KVVec::with_capacity(chains, flags)?;
        for _ in 0..chains {
            heads.push(NONE, flags)?;
        }
        let mut next = KVVec::with_capacity(capacity, flags)?;
        for _ in 0..capacity {
            next.push(NONE, flags)?;
        }
        Ok(Self { heads, next })
    }

    /// The slots whose key has, perhaps, this hash.
    pub(super) fn chain(&self, hash: u64) -> impl Iterator<Item = u32> + '_ {
        let head = self.heads.get(self.chain_number(hash)).copied();
        iter::successors(head, |&slot| self.next.get(at(slot)).copied())
            .take_while(|&slot| slot != NONE)
    }

    /// Adds a slot that is in no chain.
    pub(super) fn insert(&mut self, hash: u64, slot: u32) {
        let number = self.chain_number(hash);
        let (Some(head), Some(next)) = (self.heads.get_mut(number), self.next.get_mut(at(slot)))
        else {
            return;
        };
        *next = *head;
        *head = slot;
    }

    /// Takes a slot out of its chain.
    pub(super) fn remove(&mut self, hash: u64, slot: u32) {
        let Some(next) = self.next.get_mut(at(slot)) else {
            return;
        };
        let behind = core::mem::replace(next, NONE);
        self.relink(hash, slot, behind);
    }

    /// A key has moved from one slot to another, which is in no chain.
    pub(super) fn rename(&mut self, hash: u64, from: u32, to: u32) {
        let Some(next) = self.next.get_mut(at(from)) else {
            return;
        };
        let behind = core::mem::replace(next, NONE);
        if let Some(next) = self.next.get_mut(at(to)) {
            *next = behind;
            self.relink(hash, from, to);
        }
    }

    /// Makes whatever refers to the slot `old` in its chain refer to `new`.
    fn relink(&mut self, hash: u64, old: u32, new: u32) {
        let before = self
            .chain(hash)
            .find(|&slot| self.next.get(at(slot)) == Some(&old));
        let number = self.chain_number(hash);
        let link = match before {
            Some(slot) => self.next.get_mut(at(slot)),
            None => self.heads.get_mut(number),
        };
        if let Some(link) = link {
            *link = new;
        }
    }

    fn chain_number(&self, hash: u64) -> usize {
        let mask = self.heads.len().saturating_sub(1);
        // Cutting the hash is the intention.
        #[expect(
            clippy::cast_possible_truncation,
            reason = "any bits of a hash will do"
        )]
        let bits = hash as usize;
        bits & mask
    }
}
