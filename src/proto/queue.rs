// SPDX-License-Identifier: GPL-2.0

//! First in, first out, in memory set aside before.

use core::marker::PhantomData;

use kernel::alloc::AllocError;
use kernel::alloc::Flags;

/// Memory for a queue of some capacity.
pub struct Reservation<T> {
    _marker: PhantomData<T>,
}

impl<T> Reservation<T> {
    /// Memory for `capacity` items.
    ///
    /// # Errors
    ///
    /// No memory.
    pub fn new(_capacity: usize, _flags: Flags) -> Result<Self, AllocError> {
        todo!()
    }
}

/// A queue.
pub struct Queue<T> {
    _marker: PhantomData<T>,
}

impl<T> Queue<T> {
    /// An empty queue without memory.
    pub const fn new() -> Self {
        Self {
            _marker: PhantomData,
        }
    }
    /// Number of items.
    pub fn len(&self) -> usize {
        todo!()
    }
    /// True if there is no item.
    pub fn is_empty(&self) -> bool {
        todo!()
    }
    /// Number of items that there is memory for.
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
    /// Takes over memory, if it is larger than what the queue has, and returns
    /// what is to be freed.
    #[must_use = "drop it where freeing memory is allowed"]
    pub fn adopt(&mut self, _reservation: Reservation<T>) -> Reservation<T> {
        todo!()
    }
    /// Adds an item at the end.
    ///
    /// # Errors
    ///
    /// Returns `item` if there is no room.
    pub fn push(&mut self, _item: T) -> Result<(), T> {
        todo!()
    }
    /// Takes the first item out.
    pub fn pop(&mut self) -> Option<T> {
        todo!()
    }
    /// The first item.
    pub fn front(&self) -> Option<&T> {
        todo!()
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self::new()
    }
}
