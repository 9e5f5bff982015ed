// SPDX-License-Identifier: GPL-2.0

//! Iterators that own the elements of a [`Vec`].

use core::mem;
use core::mem::ManuallyDrop;
use core::ptr;
use core::slice;

use super::Vec;
use crate::alloc::Allocator;
use crate::alloc::Flags;

/// Moves the elements out of a vector, first to last, and frees its memory when dropped.
///
/// # Invariants
///
/// `buf` is the vector's memory with its elements, but of these only the ones with the indices
/// `next` to `end`, without `end`, are still there; `next <= end <= buf.capacity()`.
pub struct IntoIter<T, A: Allocator> {
    /// Kept with a length of 0, so that it frees its memory but drops no element.
    buf: Vec<T, A>,
    next: usize,
    end: usize,
}

impl<T, A: Allocator> IntoIter<T, A> {
    /// Returns the elements that are left.
    fn rest(&mut self) -> *mut [T] {
        let count = self.end.wrapping_sub(self.next);
        // SAFETY: `next` is at most the capacity, so that the result is within the memory of
        // `buf` or one past its end.
        let first = unsafe { self.buf.as_mut_ptr().add(self.next) };
        ptr::slice_from_raw_parts_mut(first, count)
    }

    /// Returns the elements that are left as a vector in the same memory, which may be shrunk.
    pub fn collect(self, flags: Flags) -> Vec<T, A> {
        let mut me = ManuallyDrop::new(self);
        let rest = me.rest();
        let len = rest.len();
        let advanced = me.next != 0;
        // SAFETY: `me` is never dropped or used again, so that the vector is moved out once.
        let mut vec = unsafe { ptr::read(&raw const me.buf) };
        // SAFETY: The source holds `len` elements, by the invariants; the destination is the start
        // of the same memory, which has room for them; `copy` allows both to overlap.
        unsafe { ptr::copy(rest.cast::<T>(), vec.as_mut_ptr(), len) };
        // SAFETY: The first `len` elements have just been moved there.
        unsafe { vec.set_len(len) };
        if advanced {
            // Memory that could not be shrunk is good enough.
            let _ = vec.shrink_to_fit(flags);
        }
        vec
    }
}

impl<T, A: Allocator> IntoIterator for Vec<T, A> {
    type Item = T;
    type IntoIter = IntoIter<T, A>;

    fn into_iter(mut self) -> IntoIter<T, A> {
        let end = self.len();
        // SAFETY: 0 elements are always there.
        unsafe { self.set_len(0) };
        // INVARIANT: All elements are there, and the length does not exceed the capacity.
        IntoIter {
            buf: self,
            next: 0,
            end,
        }
    }
}

impl<T, A: Allocator> Iterator for IntoIter<T, A> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.next == self.end {
            return None;
        }
        // SAFETY: By the invariants `next < end <= capacity`, so that this stays within `buf`.
        let element = unsafe { self.buf.as_mut_ptr().add(self.next) };
        // INVARIANT: The element at `next` is moved out below. `next` was less than `end`, so that
        // it does not wrap.
        self.next = self.next.wrapping_add(1);
        // SAFETY: By the invariants the element was there, and now no longer counts as such.
        Some(unsafe { ptr::read(element) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.end.wrapping_sub(self.next);
        (count, Some(count))
    }
}

impl<T, A: Allocator> Drop for IntoIter<T, A> {
    fn drop(&mut self) {
        let rest = self.rest();
        // SAFETY: By the invariants these elements are there, and the iterator is not used again.
        unsafe { ptr::drop_in_place(rest) };
    }
}

/// Moves all elements out of a vector, whose memory stays. What was not taken is dropped with it.
///
/// # Invariants
///
/// The iterator owns the elements that `elements` still has to return.
pub struct DrainAll<'vec, T> {
    elements: slice::IterMut<'vec, T>,
}

impl<'vec, T> DrainAll<'vec, T> {
    /// Empties `vec`.
    pub(super) fn new<A: Allocator>(vec: &'vec mut Vec<T, A>) -> Self {
        let len = vec.len();
        // SAFETY: 0 elements are always there.
        unsafe { vec.set_len(0) };
        let ptr = vec.as_mut_ptr();
        // SAFETY: The first `len` elements were those of the vector, which is borrowed for
        // `'vec` and no longer counts them as its own.
        let elements = unsafe { slice::from_raw_parts_mut(ptr, len) };
        // INVARIANT: The vector gave these elements up when its length became 0.
        Self {
            elements: elements.iter_mut(),
        }
    }
}

impl<T> Iterator for DrainAll<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let element: *mut T = self.elements.next()?;
        // SAFETY: By the invariants the element belonged to this iterator, which has just passed
        // it and does not return it again.
        Some(unsafe { ptr::read(element) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.elements.size_hint()
    }
}

impl<T> Drop for DrainAll<'_, T> {
    fn drop(&mut self) {
        let rest: *mut [T] = mem::take(&mut self.elements).into_slice();
        // SAFETY: By the invariants these elements belong to this iterator.
        unsafe { ptr::drop_in_place(rest) };
    }
}
