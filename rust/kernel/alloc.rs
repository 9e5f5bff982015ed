// SPDX-License-Identifier: GPL-2.0

//! Fallible memory allocation: [`KBox`] for one value, [`KVec`] for many, each call with its
//! allocation [`Flags`].
//!
//! Memory comes from an [`Allocator`]: [`allocator::Kmalloc`] for physically contiguous memory up
//! to a few MiB, [`allocator::KVmalloc`] for more (it falls back to mapping single pages, and may
//! then not be called in atomic context). In the kernel both are wrappers of the C allocators; in
//! the hosted face both use std, may be told to fail, and are counted (see `kernel::hosted`).

use core::alloc::Layout;
use core::ops::BitAnd;
use core::ops::BitOr;
use core::ops::Not;
use core::ptr::NonNull;

pub mod allocator;
pub mod kbox;
pub mod kvec;

pub use self::kbox::Box;
pub use self::kbox::KBox;
pub use self::kbox::KVBox;
pub use self::kvec::IntoIter;
pub use self::kvec::KVVec;
pub use self::kvec::KVec;
pub use self::kvec::Vec;

/// Memory could not be allocated.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct AllocError;

/// How an allocation may behave: whether it may sleep, is zeroed, warns when it fails.
///
/// The values are in [`flags`]; they combine with `|`, `&` and `!`.
#[derive(Clone, Copy, PartialEq)]
pub struct Flags(u32);

impl Flags {
    /// Returns the kernel's `gfp_t` of these flags.
    #[cfg(not(hosted))]
    pub(crate) fn as_raw(self) -> u32 {
        self.0
    }

    /// Returns whether all of `flags` are set in `self`.
    pub fn contains(self, flags: Flags) -> bool {
        self & flags == flags
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, rhs: Self) -> Self {
        Self(self.0 | rhs.0)
    }
}

impl BitAnd for Flags {
    type Output = Self;

    fn bitand(self, rhs: Self) -> Self {
        Self(self.0 & rhs.0)
    }
}

impl Not for Flags {
    type Output = Self;

    fn not(self) -> Self {
        Self(!self.0)
    }
}

/// The allocation flags (`include/linux/gfp_types.h`).
pub mod flags {
    use super::Flags;

    #[cfg(hosted)]
    use crate::hosted::gfp;
    #[cfg(not(hosted))]
    use bindings as gfp;

    /// May sleep: for process context without spinlocks held.
    pub const GFP_KERNEL: Flags = Flags(gfp::HOMA_GFP_KERNEL);

    /// As [`GFP_KERNEL`], and charged to the memory cgroup of the current task.
    pub const GFP_KERNEL_ACCOUNT: Flags = Flags(gfp::HOMA_GFP_KERNEL_ACCOUNT);

    /// May not sleep, may use the emergency reserves: for softirq context and under spinlocks.
    pub const GFP_ATOMIC: Flags = Flags(gfp::HOMA_GFP_ATOMIC);

    /// May not sleep and leaves the emergency reserves alone; fails easily.
    pub const GFP_NOWAIT: Flags = Flags(gfp::HOMA_GFP_NOWAIT);

    /// The new memory is zeroed. A modifier for the others.
    pub const __GFP_ZERO: Flags = Flags(gfp::HOMA_GFP_ZERO);

    /// A failure is not reported in the kernel's log. A modifier for the others.
    pub const __GFP_NOWARN: Flags = Flags(gfp::HOMA_GFP_NOWARN);
}

/// A source of memory. Implemented by types without values: the functions have no receiver.
///
/// # Safety
///
/// - Memory returned by these functions stays valid until it is given back to `realloc` (which
///   succeeds) or `free` of the same type.
/// - `alloc` and `realloc` keep their guarantees.
pub unsafe trait Allocator {
    /// Allocates memory of at least `layout.size()` bytes, aligned to `layout.align()`.
    ///
    /// For a size of 0 nothing is allocated and the result is a dangling aligned pointer.
    ///
    /// # Errors
    ///
    /// [`AllocError`] when there is no memory, or when `layout` is larger than the allocator can
    /// ever provide.
    fn alloc(layout: Layout, flags: Flags) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: Without a previous allocation (`None`) there is nothing to require of it.
        unsafe { Self::realloc(None, layout, Layout::new::<()>(), flags) }
    }

    /// Changes the size of an allocation, moving it if need be.
    ///
    /// The first bytes, up to the smaller of both sizes, are kept. With `None`, or with an
    /// `old_layout` of size 0, this allocates anew; with a `layout` of size 0 it frees. After an
    /// error the old allocation is as it was.
    ///
    /// # Errors
    ///
    /// As for [`Allocator::alloc`].
    ///
    /// # Safety
    ///
    /// If `ptr` is `Some` and the size of `old_layout` is not 0, the memory was allocated by this
    /// allocator with `old_layout`, and `layout` has the same alignment or the size 0.
    unsafe fn realloc(
        ptr: Option<NonNull<u8>>,
        layout: Layout,
        old_layout: Layout,
        flags: Flags,
    ) -> Result<NonNull<[u8]>, AllocError>;

    /// Frees an allocation. Does nothing if the size of `layout` is 0.
    ///
    /// # Safety
    ///
    /// If the size of `layout` is not 0, the memory was allocated by this allocator with `layout`,
    /// and it is not used any more.
    unsafe fn free(ptr: NonNull<u8>, layout: Layout);
}
