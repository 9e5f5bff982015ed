// SPDX-License-Identifier: GPL-2.0

//! Memory of the calling process. All of it may sleep, and works only in process context.

use core::ffi::c_ulong;
use core::marker::PhantomData;
use core::mem::size_of;
use core::mem::MaybeUninit;

use bindings as c;
use kernel::error::to_result;
use kernel::prelude::*;

use crate::skb::Skb;

/// A type that may be copied from and to user memory byte by byte.
///
/// # Safety
///
/// Every bit pattern is a valid value, and there is no padding (whose bytes would be kernel memory
/// that user space must not see).
pub unsafe trait UserData: Copy {}

// SAFETY: An integer.
unsafe impl UserData for i32 {}
// SAFETY: An integer.
unsafe impl UserData for u8 {}
// SAFETY: Only integers, 24 bytes in all with no padding (checked against the C side).
unsafe impl UserData for c::homa_sendmsg_args {}
// SAFETY: Only integers, 88 bytes in all with no padding (checked against the C side).
unsafe impl UserData for c::homa_recvmsg_args {}
// SAFETY: Only integers, 16 bytes in all with no padding (checked against the C side).
unsafe impl UserData for c::homa_rcvbuf_args {}

/// Returns the size of a `T`, as C says it.
const fn size_of_c<T>() -> c_ulong {
    size_of::<T>() as c_ulong
}

/// Where a `T` lies in user memory, as user space says. Nothing is known of it until it is tried.
pub struct UserPtr<T> {
    address: *mut T,
    _type: PhantomData<T>,
}

impl<T: UserData> UserPtr<T> {
    /// Returns a pointer to the `T` at `address` in the calling process.
    pub fn new(address: *mut T) -> Self {
        Self {
            address,
            _type: PhantomData,
        }
    }

    /// Returns whether the address is 0.
    pub fn is_null(&self) -> bool {
        self.address.is_null()
    }

    /// Copies the value in; `EFAULT` if it can't be read.
    pub fn read(&self) -> Result<T> {
        let mut value = MaybeUninit::<T>::uninit();
        // SAFETY: The destination has room for the length given. The source may be anything: the
        // function checks it.
        let left = unsafe {
            c::homa_copy_from_user(
                value.as_mut_ptr().cast(),
                self.address.cast_const().cast(),
                const { size_of_c::<T>() },
            )
        };
        if left != 0 {
            return Err(EFAULT);
        }
        // SAFETY: All bytes were written, and any bytes are a valid `T`.
        Ok(unsafe { value.assume_init() })
    }

    /// Copies a value out; `EFAULT` if it can't be written.
    pub fn write(&self, value: &T) -> Result {
        // SAFETY: The source is a valid `T`, which has no padding. The destination may be anything:
        // the function checks it.
        let left = unsafe {
            c::homa_copy_to_user(
                self.address.cast(),
                core::ptr::from_ref(value).cast(),
                const { size_of_c::<T>() },
            )
        };
        if left != 0 {
            return Err(EFAULT);
        }
        Ok(())
    }
}

/// A range of user memory that stays in use over many system calls, such as a receive buffer
/// region. It is not pinned: each access works on the address space of the calling process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserRegion {
    start: u64,
    length: u64,
}

impl UserRegion {
    /// Returns the region of `length` bytes at address `start`.
    pub fn new(start: u64, length: u64) -> Self {
        Self { start, length }
    }

    /// Returns the address of the first byte.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Returns the length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the address of `len` bytes at `offset`; `EFAULT` if they are not all in the region.
    fn at(&self, offset: u64, len: usize) -> Result<*mut core::ffi::c_void> {
        let end = offset.checked_add(len as u64).ok_or(EFAULT)?;
        if end > self.length {
            return Err(EFAULT);
        }
        let address = self.start.checked_add(offset).ok_or(EFAULT)?;
        let address = usize::try_from(address).map_err(|_| EFAULT)?;
        Ok(core::ptr::without_provenance_mut(address))
    }

    /// Finds out whether the first byte can be read and written, without changing it: `EFAULT` if
    /// not.
    pub fn probe(&self) -> Result {
        let first = UserPtr::<u8>::new(self.at(0, 1)?.cast());
        first.write(&first.read()?)
    }

    /// Copies `len` bytes of `skb`, from byte `from` on, to `offset`.
    pub fn copy_packet(&self, offset: u64, skb: &Skb, from: usize, len: usize) -> Result {
        let end = from.checked_add(len).ok_or(EFAULT)?;
        if end > skb.len() {
            return Err(EFAULT);
        }
        let to = self.at(offset, len)?;
        let from = i32::try_from(from).map_err(|_| EFAULT)?;
        let len = i32::try_from(len).map_err(|_| EFAULT)?;
        // SAFETY: The packet is valid and has the bytes asked for; the function checks the
        // destination.
        to_result(unsafe { c::homa_skb_copy_to_user(skb.as_ptr(), from, to, len) })
    }
}
