// SPDX-License-Identifier: GPL-2.0

//! [`Arc`]: a value on the heap that several owners share.
//!
//! As in the genuine crate there are no weak references, the value is pinned, and the count
//! saturates instead of overflowing.

use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;
use core::mem::offset_of;
use core::mem::ManuallyDrop;
use core::ops::Deref;
use core::ptr::NonNull;

use super::refcount::Refcount;
use crate::alloc::AllocError;
use crate::alloc::Flags;
use crate::alloc::KBox;

/// What an [`Arc`] points to.
#[repr(C)]
struct ArcInner<T> {
    refcount: Refcount,
    data: T,
}

/// A shared value. Freed when the last `Arc` to it is dropped.
///
/// # Invariants
///
/// The pointer came from a [`KBox`], and one reference in the count belongs to this `Arc`, so that
/// the value is valid and not mutably borrowed as long as this lives.
///
/// # Examples
///
/// ```
/// use kernel::prelude::*;
/// use kernel::sync::Arc;
///
/// let a = Arc::new(1, GFP_KERNEL)?;
/// let b = a.clone();
/// assert!(Arc::ptr_eq(&a, &b));
/// # Ok::<(), Error>(())
/// ```
#[repr(transparent)]
pub struct Arc<T> {
    ptr: NonNull<ArcInner<T>>,
    _p: PhantomData<ArcInner<T>>,
}

// SAFETY: To send an `Arc` shares its value with the other thread, which `Sync` allows, and may
// let that thread drop the value, which `Send` allows.
unsafe impl<T: Sync + Send> Send for Arc<T> {}

// SAFETY: Whoever has a `&Arc` can clone it, which is as if an `Arc` were sent.
unsafe impl<T: Sync + Send> Sync for Arc<T> {}

impl<T> Arc<T> {
    /// Moves `contents` into new memory, with one owner.
    ///
    /// # Errors
    ///
    /// [`AllocError`] when there is no memory; `contents` is dropped.
    pub fn new(contents: T, flags: Flags) -> Result<Self, AllocError> {
        let inner = KBox::new(
            ArcInner {
                refcount: Refcount::one(),
                data: contents,
            },
            flags,
        )?;
        // SAFETY: The value comes from a `KBox`, and its count of 1 is for this `Arc`.
        Ok(unsafe { Self::from_inner(NonNull::from(KBox::leak(inner))) })
    }

    /// Makes an `Arc` of its pointer.
    ///
    /// # Safety
    ///
    /// `ptr` came from a [`KBox`], and the new `Arc` is given a reference in the count.
    unsafe fn from_inner(ptr: NonNull<ArcInner<T>>) -> Self {
        // INVARIANT: The caller guarantees it.
        Self {
            ptr,
            _p: PhantomData,
        }
    }

    fn inner(&self) -> &ArcInner<T> {
        // SAFETY: By the invariants the value is valid, and only shared, as long as `self`.
        unsafe { self.ptr.as_ref() }
    }

    /// Gives up ownership, without dropping: [`Arc::from_raw`] takes it back.
    pub fn into_raw(self) -> *const T {
        Self::as_ptr(&ManuallyDrop::new(self))
    }

    /// Returns the address of the value.
    pub fn as_ptr(this: &Self) -> *const T {
        let inner = this.ptr.as_ptr();
        // SAFETY: By the invariants the pointer is valid, so that its field has an address. No
        // reference is made, so that the address may be used for the whole of `ArcInner`.
        unsafe { &raw const (*inner).data }
    }

    /// Takes back an `Arc` that was given up.
    ///
    /// # Safety
    ///
    /// `ptr` came from [`Arc::into_raw`], and is passed to this function once for each such call.
    pub unsafe fn from_raw(ptr: *const T) -> Self {
        // SAFETY: The caller guarantees that `ptr` came from `into_raw`, whose reference in the
        // count is for this `Arc`.
        unsafe { Self::from_inner(inner_of(ptr)) }
    }

    /// Returns a pointer that can be passed on without touching the count.
    pub fn as_arc_borrow(&self) -> ArcBorrow<'_, T> {
        // INVARIANT: The `Arc` is borrowed, and so lives, as long as the result.
        ArcBorrow {
            ptr: self.ptr,
            _p: PhantomData,
        }
    }

    /// Returns whether both share one value.
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        this.ptr == other.ptr
    }
}

/// Returns what surrounds the value of an `Arc`.
///
/// # Safety
///
/// `data` came from [`Arc::into_raw`] or [`Arc::as_ptr`] of an `Arc` whose value still lives.
unsafe fn inner_of<T>(data: *const T) -> NonNull<ArcInner<T>> {
    // SAFETY: The caller guarantees that `data` is the field of a live `ArcInner`, made from a
    // pointer to the whole, so that the whole is as many bytes before it.
    let inner = unsafe { data.byte_sub(offset_of!(ArcInner<T>, data)) };
    // SAFETY: A pointer into an allocation is not null.
    unsafe { NonNull::new_unchecked(inner.cast_mut().cast()) }
}

impl<T> Clone for Arc<T> {
    fn clone(&self) -> Self {
        self.inner().refcount.inc();
        // SAFETY: The pointer is that of an `Arc`, and the reference just added is for the new one.
        unsafe { Self::from_inner(self.ptr) }
    }
}

impl<T> Drop for Arc<T> {
    fn drop(&mut self) {
        if self.inner().refcount.dec_and_test() {
            // SAFETY: The pointer came from a `KBox`, and the last reference to it was given up.
            drop(unsafe { KBox::from_raw(self.ptr.as_ptr()) });
        }
    }
}

impl<T> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner().data
    }
}

impl<T> AsRef<T> for Arc<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T> Borrow<T> for Arc<T> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: fmt::Display> fmt::Display for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: fmt::Debug> fmt::Debug for Arc<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// A shared value that somebody else keeps alive. Costs a pointer to copy, and becomes an [`Arc`]
/// where one is needed.
///
/// # Invariants
///
/// An [`Arc`] to the value exists as long as the lifetime `'a`.
#[repr(transparent)]
pub struct ArcBorrow<'a, T> {
    ptr: NonNull<ArcInner<T>>,
    _p: PhantomData<&'a T>,
}

impl<T> ArcBorrow<'_, T> {
    /// Makes a borrow from the address that [`Arc::into_raw`] or [`Arc::as_ptr`] returned.
    ///
    /// # Safety
    ///
    /// `ptr` came from there, and the count does not fall to 0 during the lifetime of the result.
    pub unsafe fn from_raw(ptr: *const T) -> Self {
        // INVARIANT: The caller guarantees it.
        Self {
            // SAFETY: The caller guarantees that `ptr` came from an `Arc` whose value lives.
            ptr: unsafe { inner_of(ptr) },
            _p: PhantomData,
        }
    }
}

impl<T> Clone for ArcBorrow<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ArcBorrow<'_, T> {}

impl<T> Deref for ArcBorrow<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: By the invariants the value is valid, and only shared, as long as `self`.
        unsafe { &self.ptr.as_ref().data }
    }
}

impl<T> From<ArcBorrow<'_, T>> for Arc<T> {
    fn from(borrow: ArcBorrow<'_, T>) -> Self {
        // SAFETY: The pointer is that of an `Arc`, which by the invariants exists; this one lacks a
        // reference in the count, and therefore is never dropped.
        let arc = ManuallyDrop::new(unsafe { Self::from_inner(borrow.ptr) });
        Arc::clone(&arc)
    }
}
