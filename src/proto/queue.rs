// SPDX-License-Identifier: GPL-2.0

//! First in, first out, in memory set aside before.
//!
//! A ring. It grows as [`crate::table`] does: by a reservation that is
//! allocated outside of locks and handed over inside.
//!
//! # Invariants
//!
//! * The `len` places from `head` on, around the end, hold items; no other does.
//! * `head < capacity`, or both are 0.

#[cfg(test)]
mod tests;

use core::fmt;
use core::mem;

use kernel::alloc::AllocError;
use kernel::alloc::Flags;
use kernel::alloc::KVVec;

/// The smallest capacity that [`Queue::grown_capacity`] asks for.
const MIN_CAPACITY: usize = 16;

/// Memory for a queue of some capacity: fresh, or used up, as
/// [`Queue::adopt`] returns it.
pub struct Reservation<T> {
    places: KVVec<Option<T>>,
}

impl<T> Reservation<T> {
    /// Memory for `capacity` items.
    ///
    /// # Errors
    ///
    /// No memory.
    pub fn new(capacity: usize, flags: Flags) -> Result<Self, AllocError> {
        let mut places = KVVec::with_capacity(capacity, flags)?;
        for _ in 0..capacity {
            places.push(None, flags)?;
        }
        Ok(Self { places })
    }

    /// Number of items that there is memory for.
    pub fn capacity(&self) -> usize {
        self.places.len()
    }
}

impl<T> fmt::Debug for Reservation<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reservation")
            .field("capacity", &self.capacity())
            .finish_non_exhaustive()
    }
}

/// A queue.
pub struct Queue<T> {
    storage: Reservation<T>,
    head: usize,
    len: usize,
}

impl<T> Queue<T> {
    /// An empty queue without memory.
    pub const fn new() -> Self {
        Self {
            storage: Reservation {
                places: KVVec::new(),
            },
            head: 0,
            len: 0,
        }
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there is no item.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of items that there is memory for.
    pub fn capacity(&self) -> usize {
        self.storage.capacity()
    }

    /// True if one more fits.
    pub fn room(&self) -> bool {
        self.len < self.capacity()
    }

    /// The capacity that a [`Reservation`] should have to make room.
    pub fn grown_capacity(&self) -> usize {
        self.capacity().saturating_mul(2).max(MIN_CAPACITY)
    }

    /// Takes over memory, if it is larger than what the queue has, and returns
    /// what is to be freed.
    #[must_use = "drop it where freeing memory is allowed"]
    pub fn adopt(&mut self, mut reservation: Reservation<T>) -> Reservation<T> {
        if reservation.capacity() <= self.capacity() {
            return reservation;
        }
        let len = self.len;
        for place in &mut reservation.places[..] {
            match self.pop() {
                item @ Some(_) => *place = item,
                None => break,
            }
        }
        self.head = 0;
        self.len = len;
        mem::replace(&mut self.storage, reservation)
    }

    /// Adds an item at the end.
    ///
    /// # Errors
    ///
    /// Returns `item` if there is no room.
    pub fn push(&mut self, item: T) -> Result<(), T> {
        if !self.room() {
            return Err(item);
        }
        let place = self.place(self.len);
        match self.storage.places.get_mut(place) {
            Some(place) => *place = Some(item),
            None => return Err(item),
        }
        self.len = self.len.saturating_add(1);
        Ok(())
    }

    /// Takes the first item out.
    pub fn pop(&mut self) -> Option<T> {
        let item = self.storage.places.get_mut(self.head)?.take()?;
        self.head = self.place(1);
        self.len = self.len.saturating_sub(1);
        Some(item)
    }

    /// The first item.
    pub fn front(&self) -> Option<&T> {
        self.storage.places.get(self.head)?.as_ref()
    }

    /// Where the item number `n` is, counted from the first.
    fn place(&self, n: usize) -> usize {
        let place = self.head.saturating_add(n);
        place.checked_sub(self.capacity()).unwrap_or(place)
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("len", &self.len)
            .field("capacity", &self.capacity())
            .finish_non_exhaustive()
    }
}
