// SPDX-License-Identifier: GPL-2.0

//! The kernel's allocators as [`Allocator`] types.
//!
//! What both faces share is here: sizes of 0 and layouts; `backend` calls the C helpers or std.

use core::alloc::Layout;
use core::ptr;
use core::ptr::NonNull;

use super::AllocError;
use super::Allocator;
use super::Flags;

#[cfg(hosted)]
use crate::hosted::backend;

/// The C allocators, for the face that runs in the kernel.
#[cfg(not(hosted))]
mod backend {
    use core::alloc::Layout;

    use super::Flags;
    use super::Kind;

    /// What `kmalloc` aligns every allocation to at least, on every architecture and version.
    const MIN_ALIGN: usize = 8;

    /// Returns the number of bytes to ask for so that the memory has the alignment of `layout`.
    ///
    /// Before Linux 6.12, `kmalloc` promises more than the minimum only for powers of two.
    fn padded_size(layout: Layout) -> Option<usize> {
        if layout.align() <= MIN_ALIGN {
            Some(layout.size())
        } else {
            layout
                .size()
                .max(layout.align())
                .checked_next_power_of_two()
        }
    }

    /// Allocates, or resizes `ptr` when `old` is given. Returns null on failure.
    ///
    /// # Safety
    ///
    /// If `old` is given, `ptr` was returned by this function for `kind` and the layout `old`.
    /// `new` is not of size 0.
    pub(crate) unsafe fn realloc(
        kind: Kind,
        ptr: *mut u8,
        old: Option<Layout>,
        new: Layout,
        flags: Flags,
    ) -> *mut u8 {
        let Some(new_size) = padded_size(new) else {
            return core::ptr::null_mut();
        };
        // The bytes in use, not the padded size: what lies between is zeroed with `__GFP_ZERO`.
        let old_size = old.map_or(0, |layout| layout.size());
        let ptr = if old.is_some() {
            ptr
        } else {
            core::ptr::null_mut()
        };
        // SAFETY: The helpers accept null or what they returned earlier, which is what the caller
        // guarantees; `old_size` does not exceed the size that was asked for then.
        let new_ptr = unsafe {
            match kind {
                Kind::Kmalloc => {
                    bindings::homa_krealloc(ptr.cast(), old_size, new_size, flags.as_raw())
                }
                Kind::KVmalloc => {
                    bindings::homa_kvrealloc(ptr.cast(), old_size, new_size, flags.as_raw())
                }
            }
        };
        new_ptr.cast()
    }

    /// Frees `ptr`.
    ///
    /// # Safety
    ///
    /// `ptr` was returned by [`realloc`] for `kind` and is not used any more.
    pub(crate) unsafe fn free(kind: Kind, ptr: *mut u8, _layout: Layout) {
        // SAFETY: The caller gives up memory that came from the allocator of the same kind.
        unsafe {
            match kind {
                Kind::Kmalloc => bindings::homa_kfree(ptr.cast()),
                Kind::KVmalloc => bindings::homa_kvfree(ptr.cast()),
            }
        }
    }
}

/// Which of the kernel's allocators a request is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// `kmalloc`: physically contiguous.
    Kmalloc,
    /// `kvmalloc`: contiguous in virtual memory only, if `kmalloc` cannot serve it.
    KVmalloc,
}

/// Physically contiguous memory, at most `KMALLOC_MAX_SIZE` bytes (4 MiB on x86-64).
pub struct Kmalloc;

/// As [`Kmalloc`], and pages mapped one by one when that fails. May not be freed in atomic
/// context on kernels before 5.15; may not be allocated there with more than [`Kmalloc`] gives.
pub struct KVmalloc;

/// Returns an aligned pointer to zero bytes.
fn dangling(layout: Layout) -> NonNull<[u8]> {
    let ptr = ptr::without_provenance_mut::<u8>(layout.align());
    // An alignment is never 0, so `NonNull::dangling` is never taken.
    let ptr = NonNull::new(ptr).unwrap_or(NonNull::dangling());
    NonNull::slice_from_raw_parts(ptr, 0)
}

/// Does [`Allocator::realloc`] for both allocators.
///
/// # Safety
///
/// As for [`Allocator::realloc`] of the allocator that `kind` names.
unsafe fn realloc(
    kind: Kind,
    ptr: Option<NonNull<u8>>,
    layout: Layout,
    old_layout: Layout,
    flags: Flags,
) -> Result<NonNull<[u8]>, AllocError> {
    let old = ptr.filter(|_| old_layout.size() != 0);
    if layout.size() == 0 {
        if let Some(old) = old {
            // SAFETY: By the caller's guarantee `old` is an allocation of `kind` with
            // `old_layout`; it is given up here.
            unsafe { backend::free(kind, old.as_ptr(), old_layout) };
        }
        return Ok(dangling(layout));
    }
    let old_ptr = old.map_or(ptr::null_mut(), NonNull::as_ptr);
    // SAFETY: If there is an old allocation, the caller guarantees that it is one of `kind` with
    // `old_layout`; the new size is not 0, as just checked.
    let new = unsafe { backend::realloc(kind, old_ptr, old.map(|_| old_layout), layout, flags) };
    let new = NonNull::new(new).ok_or(AllocError)?;
    Ok(NonNull::slice_from_raw_parts(new, layout.size()))
}

/// Does [`Allocator::free`] for both allocators.
///
/// # Safety
///
/// As for [`Allocator::free`] of the allocator that `kind` names.
unsafe fn free(kind: Kind, ptr: NonNull<u8>, layout: Layout) {
    if layout.size() != 0 {
        // SAFETY: By the caller's guarantee this is an allocation of `kind` with `layout`, which
        // nobody uses any more.
        unsafe { backend::free(kind, ptr.as_ptr(), layout) };
    }
}

// SAFETY: Memory of the backend stays valid until it is given back, and `backend::realloc` returns
// null or memory of the size and alignment asked for, with the old content.
unsafe impl Allocator for Kmalloc {
    unsafe fn realloc(
        ptr: Option<NonNull<u8>>,
        layout: Layout,
        old_layout: Layout,
        flags: Flags,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: The caller's guarantees are those that this function needs.
        unsafe { realloc(Kind::Kmalloc, ptr, layout, old_layout, flags) }
    }

    unsafe fn free(ptr: NonNull<u8>, layout: Layout) {
        // SAFETY: The caller's guarantees are those that this function needs.
        unsafe { free(Kind::Kmalloc, ptr, layout) }
    }
}

// SAFETY: As for `Kmalloc`.
unsafe impl Allocator for KVmalloc {
    unsafe fn realloc(
        ptr: Option<NonNull<u8>>,
        layout: Layout,
        old_layout: Layout,
        flags: Flags,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: The caller's guarantees are those that this function needs.
        unsafe { realloc(Kind::KVmalloc, ptr, layout, old_layout, flags) }
    }

    unsafe fn free(ptr: NonNull<u8>, layout: Layout) {
        // SAFETY: The caller's guarantees are those that this function needs.
        unsafe { free(Kind::KVmalloc, ptr, layout) }
    }
}
