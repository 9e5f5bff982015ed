// SPDX-License-Identifier: GPL-2.0

//! [`Vec`]: a growable array on the heap, of which every growth may fail.

use core::alloc::Layout;
use core::borrow::Borrow;
use core::borrow::BorrowMut;
use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::mem::MaybeUninit;
use core::ops::Deref;
use core::ops::DerefMut;
use core::ops::Index;
use core::ops::IndexMut;
use core::ptr;
use core::ptr::NonNull;
use core::slice;
use core::slice::SliceIndex;

use super::allocator::KVmalloc;
use super::allocator::Kmalloc;
use super::AllocError;
use super::Allocator;
use super::Box;
use super::Flags;

mod errors;
mod iter;

pub use self::errors::InsertError;
pub use self::errors::PushError;
pub use self::errors::RemoveError;
pub use self::iter::DrainAll;
pub use self::iter::IntoIter;

/// Makes a [`KVec`] of the given elements, with `GFP_KERNEL`.
///
/// `kvec![]` is an empty vector; `kvec![value; count]` and `kvec![a, b, c]` return
/// `Result<KVec<_>, AllocError>`.
#[macro_export]
macro_rules! kvec {
    () => {
        $crate::alloc::KVec::new()
    };
    ($value:expr; $count:expr) => {
        $crate::alloc::KVec::from_elem($value, $count, $crate::alloc::flags::GFP_KERNEL)
    };
    ($($value:expr),+ $(,)?) => {
        $crate::alloc::KBox::new([$($value),+], $crate::alloc::flags::GFP_KERNEL)
            .map($crate::alloc::KVec::from)
    };
}

/// A growable array in memory of the allocator `A`.
///
/// It dereferences to a slice. Growing at least doubles the capacity, so that pushing costs
/// constant time on average.
///
/// # Invariants
///
/// - `ptr` is aligned for `T`, and its first `len` elements are valid and owned by the vector.
/// - `cap` is 0 if the size of `T` is 0. If `cap` elements have a size other than 0, `ptr` is
///   memory that `A` allocated with the layout of `[T; cap]`; otherwise nothing is allocated.
/// - `len <= self.capacity()`.
pub struct Vec<T, A: Allocator> {
    ptr: NonNull<T>,
    cap: usize,
    len: usize,
    _p: PhantomData<A>,
}

/// A [`Vec`] in memory of `kmalloc`, so of at most 4 MiB on x86-64.
///
/// # Examples
///
/// ```
/// use kernel::prelude::*;
///
/// let mut ports = KVec::new();
/// ports.push(99, GFP_KERNEL)?;
/// assert_eq!(ports, [99]);
/// # Ok::<(), Error>(())
/// ```
pub type KVec<T> = Vec<T, Kmalloc>;

/// A [`Vec`] in memory of `kvmalloc`.
pub type KVVec<T> = Vec<T, KVmalloc>;

// SAFETY: A vector owns its elements and nothing else, so that sending it sends values of `T`.
unsafe impl<T: Send, A: Allocator> Send for Vec<T, A> {}

// SAFETY: A shared vector gives shared access to its elements and nothing else.
unsafe impl<T: Sync, A: Allocator> Sync for Vec<T, A> {}

impl<T, A: Allocator> Vec<T, A> {
    const IS_ZST: bool = size_of::<T>() == 0;

    /// Makes an empty vector, without allocating.
    pub const fn new() -> Self {
        // INVARIANT: A dangling pointer is aligned and has 0 elements.
        Self {
            ptr: NonNull::dangling(),
            cap: 0,
            len: 0,
            _p: PhantomData,
        }
    }

    /// Makes an empty vector with room for `capacity` elements.
    ///
    /// # Errors
    ///
    /// [`AllocError`] when there is no memory.
    pub fn with_capacity(capacity: usize, flags: Flags) -> Result<Self, AllocError> {
        let mut vec = Self::new();
        vec.reserve(capacity, flags)?;
        Ok(vec)
    }

    /// Takes over the parts that [`Vec::into_raw_parts`] gave.
    ///
    /// # Safety
    ///
    /// The parts come from a vector with the same allocator, and are passed to this function once;
    /// `length` may differ if it is at most `capacity` and as many elements are valid.
    pub unsafe fn from_raw_parts(ptr: *mut T, length: usize, capacity: usize) -> Self {
        // INVARIANT: The caller guarantees all of it.
        Self {
            // SAFETY: The pointer of a vector is never null.
            ptr: unsafe { NonNull::new_unchecked(ptr) },
            cap: if Self::IS_ZST { 0 } else { capacity },
            len: length,
            _p: PhantomData,
        }
    }

    /// Gives up ownership; returns pointer, length and capacity.
    pub fn into_raw_parts(self) -> (*mut T, usize, usize) {
        let me = ManuallyDrop::new(self);
        (me.ptr.as_ptr(), me.len, me.capacity())
    }

    /// Returns for how many elements there is memory. `usize::MAX` if their size is 0.
    pub const fn capacity(&self) -> usize {
        if Self::IS_ZST {
            usize::MAX
        } else {
            self.cap
        }
    }

    /// Returns the number of elements.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the elements as a slice.
    pub fn as_slice(&self) -> &[T] {
        self
    }

    /// Returns the elements as a mutable slice.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self
    }

    /// Returns the address of the first element; dangling if nothing is allocated.
    pub const fn as_ptr(&self) -> *const T {
        self.ptr.as_ptr()
    }

    /// Returns the mutable address of the first element; dangling if nothing is allocated.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.ptr.as_ptr()
    }

    /// Sets the number of elements, without dropping any.
    ///
    /// # Safety
    ///
    /// `len` is at most the capacity, and the first `len` elements are valid and owned by the
    /// vector.
    const unsafe fn set_len(&mut self, len: usize) {
        debug_assert!(len <= self.capacity());
        // INVARIANT: The caller guarantees it.
        self.len = len;
    }

    /// Raises the length by `additional`.
    ///
    /// # Safety
    ///
    /// `additional` is at most the length of [`Vec::spare_capacity_mut`], of which as many
    /// elements, from the start, are initialized.
    pub const unsafe fn inc_len(&mut self, additional: usize) {
        // No overflow: the sum is at most the capacity.
        let len = self.len.wrapping_add(additional);
        // SAFETY: The caller guarantees it.
        unsafe { self.set_len(len) };
    }

    /// Returns the layout of the memory in use.
    fn layout(&self) -> Layout {
        // No overflow: by the invariants the allocation was made with this very layout.
        let size = self.cap.wrapping_mul(size_of::<T>());
        // SAFETY: By the invariants this is a layout that an allocation was made with, or one of
        // size 0; the alignment of a type is a power of two.
        unsafe { Layout::from_size_align_unchecked(size, align_of::<T>()) }
    }

    /// Changes the capacity to `cap`, at least the length. Not for elements of size 0.
    fn set_capacity(&mut self, cap: usize, flags: Flags) -> Result<(), AllocError> {
        debug_assert!(cap >= self.len && !Self::IS_ZST);
        let layout = Layout::array::<T>(cap).map_err(|_| AllocError)?;
        // SAFETY: By the invariants the memory was allocated by `A` with `self.layout()` unless
        // that has the size 0; the alignment is the same.
        let ptr = unsafe { A::realloc(Some(self.ptr.cast()), layout, self.layout(), flags)? };
        // INVARIANT: The memory was allocated for `[T; cap]`, and the elements were kept, as there
        // is room for them.
        self.ptr = ptr.cast();
        self.cap = cap;
        Ok(())
    }

    /// Makes room for at least `additional` more elements.
    ///
    /// # Errors
    ///
    /// [`AllocError`] when there is no memory; the vector is as it was.
    pub fn reserve(&mut self, additional: usize, flags: Flags) -> Result<(), AllocError> {
        if self.spare() >= additional {
            return Ok(());
        }
        if Self::IS_ZST {
            return Err(AllocError);
        }
        let needed = self.len.checked_add(additional).ok_or(AllocError)?;
        self.set_capacity(needed.max(self.cap.saturating_mul(2)), flags)
    }

    /// Gives memory back beyond what the elements need.
    fn shrink_to_fit(&mut self, flags: Flags) -> Result<(), AllocError> {
        if Self::IS_ZST || self.cap == self.len {
            return Ok(());
        }
        self.set_capacity(self.len, flags)
    }

    /// Returns how many elements can be added without allocating.
    fn spare(&self) -> usize {
        // No underflow: by the invariants the length is at most the capacity.
        self.capacity().wrapping_sub(self.len)
    }

    /// Returns the memory behind the last element.
    pub fn spare_capacity_mut(&mut self) -> &mut [MaybeUninit<T>] {
        let count = self.spare();
        // SAFETY: The length is at most the capacity, so that the result is within the memory or
        // one past its end.
        let first = unsafe { self.as_mut_ptr().add(self.len) };
        // SAFETY: By the invariants there is memory for `count` more elements, which belongs to
        // this vector, and any content is valid as `MaybeUninit`.
        unsafe { slice::from_raw_parts_mut(first.cast(), count) }
    }

    /// Adds an element at the end.
    ///
    /// # Errors
    ///
    /// [`AllocError`] when there is no memory; `v` is dropped and the vector is as it was.
    pub fn push(&mut self, v: T, flags: Flags) -> Result<(), AllocError> {
        self.reserve(1, flags)?;
        self.push_within_capacity(v).map_err(|_| AllocError)
    }

    /// Adds an element at the end, if there is room.
    ///
    /// # Errors
    ///
    /// [`PushError`] with `v` when the vector is full.
    pub fn push_within_capacity(&mut self, v: T) -> Result<(), PushError<T>> {
        let Some(slot) = self.spare_capacity_mut().first_mut() else {
            return Err(PushError(v));
        };
        slot.write(v);
        // SAFETY: There was room for one more element, which has just been written.
        unsafe { self.inc_len(1) };
        Ok(())
    }

    /// Inserts an element before the one at `index`, if there is room.
    ///
    /// # Errors
    ///
    /// [`InsertError`] with `element` when the vector is full or `index` is greater than the
    /// length.
    pub fn insert_within_capacity(
        &mut self,
        index: usize,
        element: T,
    ) -> Result<(), InsertError<T>> {
        let Some(behind) = self.len.checked_sub(index) else {
            return Err(InsertError::IndexOutOfBounds(element));
        };
        if self.spare() == 0 {
            return Err(InsertError::OutOfCapacity(element));
        }
        // SAFETY: `index` is at most the length, so that this is within the memory.
        let slot = unsafe { self.as_mut_ptr().add(index) };
        // SAFETY: From `slot` on there are `behind` elements and room for one more, so that they
        // can be moved by one; the hole is then filled without dropping what it held.
        unsafe {
            ptr::copy(slot, slot.add(1), behind);
            ptr::write(slot, element);
        }
        // SAFETY: There was room for one more element, and now one more is valid.
        unsafe { self.inc_len(1) };
        Ok(())
    }

    /// Removes the last element and returns it.
    pub fn pop(&mut self) -> Option<T> {
        let last = self.len.checked_sub(1)?;
        // SAFETY: Fewer elements than before are still valid.
        unsafe { self.set_len(last) };
        // SAFETY: The element was the vector's own and is no longer counted.
        Some(unsafe { ptr::read(self.as_ptr().add(last)) })
    }

    /// Removes the element at `i` and returns it; those behind it move up.
    ///
    /// # Errors
    ///
    /// [`RemoveError`] when there is no such element.
    pub fn remove(&mut self, i: usize) -> Result<T, RemoveError> {
        let behind = self
            .len
            .checked_sub(i)
            .and_then(|count| count.checked_sub(1))
            .ok_or(RemoveError)?;
        // SAFETY: `i` is less than the length.
        let hole = unsafe { self.as_mut_ptr().add(i) };
        // SAFETY: The element is valid, and it is overwritten or no longer counted below.
        let removed = unsafe { ptr::read(hole) };
        // SAFETY: `behind` elements follow the hole.
        unsafe { ptr::copy(hole.add(1), hole, behind) };
        // No underflow: there was an element.
        let len = self.len.wrapping_sub(1);
        // SAFETY: One element was taken out and the rest moved together.
        unsafe { self.set_len(len) };
        Ok(removed)
    }

    /// Drops the elements from index `len` on. The memory stays.
    pub fn truncate(&mut self, len: usize) {
        let Some(count) = self.len.checked_sub(len) else {
            return;
        };
        // SAFETY: Fewer elements than before are still valid.
        unsafe { self.set_len(len) };
        // SAFETY: `len` is at most the old length, so that this is within the memory.
        let first = unsafe { self.as_mut_ptr().add(len) };
        // SAFETY: `count` elements from there on were the vector's own and are no longer counted.
        unsafe { ptr::drop_in_place(ptr::slice_from_raw_parts_mut(first, count)) };
    }

    /// Drops all elements. The memory stays.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Keeps the elements for which `f` returns `true`, in their order, and drops the others.
    pub fn retain(&mut self, mut f: impl FnMut(&mut T) -> bool) {
        let mut kept = 0_usize;
        for i in 0..self.len {
            let Some(element) = self.get_mut(i) else {
                break;
            };
            if f(element) {
                self.swap(kept, i);
                // No overflow: not more than the length.
                kept = kept.wrapping_add(1);
            }
        }
        self.truncate(kept);
    }

    /// Moves all elements out through an iterator. The memory stays.
    pub fn drain_all(&mut self) -> DrainAll<'_, T> {
        DrainAll::new(self)
    }
}

impl<T: Clone, A: Allocator> Vec<T, A> {
    /// Adds `n` clones of `value` at the end.
    ///
    /// # Errors
    ///
    /// [`AllocError`] when there is no memory; the vector is as it was.
    pub fn extend_with(&mut self, n: usize, value: T, flags: Flags) -> Result<(), AllocError> {
        let Some(clones) = n.checked_sub(1) else {
            return Ok(());
        };
        self.reserve(n, flags)?;
        for slot in self.spare_capacity_mut().iter_mut().take(clones) {
            slot.write(value.clone());
        }
        // SAFETY: There is room for `n` more elements, and as many as `clones` were written.
        unsafe { self.inc_len(clones) };
        self.push(value, flags)
    }

    /// Adds clones of the elements of `other` at the end.
    ///
    /// # Errors
    ///
    /// [`AllocError`] when there is no memory; the vector is as it was.
    pub fn extend_from_slice(&mut self, other: &[T], flags: Flags) -> Result<(), AllocError> {
        self.reserve(other.len(), flags)?;
        for (slot, element) in self.spare_capacity_mut().iter_mut().zip(other) {
            slot.write(element.clone());
        }
        // SAFETY: There is room for `other.len()` more elements, and as many were written.
        unsafe { self.inc_len(other.len()) };
        Ok(())
    }

    /// Makes a vector of `n` clones of `value`.
    ///
    /// # Errors
    ///
    /// [`AllocError`] when there is no memory.
    pub fn from_elem(value: T, n: usize, flags: Flags) -> Result<Self, AllocError> {
        let mut vec = Self::new();
        vec.extend_with(n, value, flags)?;
        Ok(vec)
    }

    /// Makes the length `new_len`, by dropping elements or by adding clones of `value`.
    ///
    /// # Errors
    ///
    /// [`AllocError`] when there is no memory; the vector is as it was.
    pub fn resize(&mut self, new_len: usize, value: T, flags: Flags) -> Result<(), AllocError> {
        if let Some(more) = new_len.checked_sub(self.len) {
            return self.extend_with(more, value, flags);
        }
        self.truncate(new_len);
        Ok(())
    }
}

impl<T, A: Allocator> Drop for Vec<T, A> {
    fn drop(&mut self) {
        let elements: *mut [T] = self.as_mut_slice();
        // SAFETY: By the invariants they are valid, and the vector is not used again.
        unsafe { ptr::drop_in_place(elements) };
        // SAFETY: By the invariants the memory was allocated by `A` with this layout, unless its
        // size is 0, and nobody uses it any more.
        unsafe { A::free(self.ptr.cast(), self.layout()) };
    }
}

impl<T, A: Allocator, const N: usize> From<Box<[T; N], A>> for Vec<T, A> {
    fn from(b: Box<[T; N], A>) -> Self {
        let ptr: *mut T = Box::into_raw(b).cast();
        // SAFETY: The box held `N` valid elements in memory that `A` allocated for `[T; N]`, or in
        // none if its size is 0, which are the invariants of a vector of this capacity.
        unsafe { Self::from_raw_parts(ptr, N, N) }
    }
}

impl<T, A: Allocator> Default for Vec<T, A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug, A: Allocator> fmt::Debug for Vec<T, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T, A: Allocator> Deref for Vec<T, A> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: By the invariants `len` elements are valid, and the vector is borrowed for as
        // long as the result.
        unsafe { slice::from_raw_parts(self.as_ptr(), self.len) }
    }
}

impl<T, A: Allocator> DerefMut for Vec<T, A> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: By the invariants `len` elements are valid, and the vector is mutably borrowed
        // for as long as the result.
        unsafe { slice::from_raw_parts_mut(self.as_mut_ptr(), self.len) }
    }
}

impl<T, A: Allocator> Borrow<[T]> for Vec<T, A> {
    fn borrow(&self) -> &[T] {
        self
    }
}

impl<T, A: Allocator> BorrowMut<[T]> for Vec<T, A> {
    fn borrow_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T, A: Allocator, I: SliceIndex<[T]>> Index<I> for Vec<T, A> {
    type Output = I::Output;

    fn index(&self, index: I) -> &I::Output {
        (**self).index(index)
    }
}

impl<T, A: Allocator, I: SliceIndex<[T]>> IndexMut<I> for Vec<T, A> {
    fn index_mut(&mut self, index: I) -> &mut I::Output {
        (**self).index_mut(index)
    }
}

impl<'a, T, A: Allocator> IntoIterator for &'a Vec<T, A> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> slice::Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T, A: Allocator> IntoIterator for &'a mut Vec<T, A> {
    type Item = &'a mut T;
    type IntoIter = slice::IterMut<'a, T>;

    fn into_iter(self) -> slice::IterMut<'a, T> {
        self.iter_mut()
    }
}

impl<T: Eq, A: Allocator> Eq for Vec<T, A> {}

/// Compares vectors with whatever else is a sequence of elements, both as slices.
macro_rules! eq_as_slices {
    ($([$($param:tt)*] $left:ty, $right:ty;)*) => {$(
        impl<T: PartialEq<U>, U, $($param)*> PartialEq<$right> for $left {
            fn eq(&self, other: &$right) -> bool {
                let (left, right): (&[T], &[U]) = (&self[..], &other[..]);
                left == right
            }
        }
    )*};
}

eq_as_slices! {
    [A: Allocator, B: Allocator] Vec<T, A>, Vec<U, B>;
    [A: Allocator] Vec<T, A>, [U];
    [A: Allocator] Vec<T, A>, &[U];
    [A: Allocator] Vec<T, A>, &mut [U];
    [A: Allocator, const N: usize] Vec<T, A>, [U; N];
    [A: Allocator, const N: usize] Vec<T, A>, &[U; N];
    [B: Allocator] [T], Vec<U, B>;
    [B: Allocator] &[T], Vec<U, B>;
    [B: Allocator] &mut [T], Vec<U, B>;
}
