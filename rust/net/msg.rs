// SPDX-License-Identifier: GPL-2.0

//! Arguments of system calls on sockets.

use core::mem::size_of;
use core::mem::MaybeUninit;

use bindings as c;
use kernel::prelude::*;

use crate::addr::Address;
use crate::addr::Endpoint;
use crate::errno;
use crate::user::UserData;
use crate::user::UserPtr;

/// Reads the socket address at `name`, which must be of family IPv6 or IPv4 as `ipv6` says:
/// `EAFNOSUPPORT` if it is not, `EINVAL` if it is too short.
///
/// # Safety
///
/// `len` bytes can be read at `name`.
pub(crate) unsafe fn read_endpoint(
    name: *const core::ffi::c_void,
    len: usize,
    ipv6: bool,
) -> Result<Endpoint> {
    if len < size_of::<u16>() {
        return Err(EINVAL);
    }
    // SAFETY: There are at least two bytes, and the family comes first in every address.
    let family = unsafe { name.cast::<u16>().read_unaligned() };
    if family
        != if ipv6 {
            c::HOMA_AF_INET6
        } else {
            c::HOMA_AF_INET
        }
    {
        return Err(errno::EAFNOSUPPORT.into());
    }
    if ipv6 {
        // The length without sin6_scope_id is what RFC 2133 had; the kernel accepts it everywhere.
        if len < SIN6_LEN_RFC2133 {
            return Err(EINVAL);
        }
        let mut raw = MaybeUninit::<c::sockaddr_in6>::zeroed();
        // SAFETY: No more bytes are copied than there are, nor than there is room for; zero bytes
        // are a valid value of what may be left.
        let raw = unsafe {
            core::ptr::copy_nonoverlapping(
                name.cast::<u8>(),
                raw.as_mut_ptr().cast::<u8>(),
                len.min(size_of::<c::sockaddr_in6>()),
            );
            raw.assume_init()
        };
        // SAFETY: All bytes of the union are initialised, and any bytes are valid.
        let address = unsafe { raw.sin6_addr.in6_u.u6_addr8 };
        let address = Address::from_bytes(address);
        let interface = if address.is_global() {
            0
        } else {
            i32::try_from(raw.sin6_scope_id).map_err(|_| EINVAL)?
        };
        return Ok(Endpoint {
            address,
            port: u16::from_be(raw.sin6_port),
            interface,
        });
    }
    if len < size_of::<c::sockaddr_in>() {
        return Err(EINVAL);
    }
    // SAFETY: There are enough bytes, and any bytes are a valid value.
    let raw = unsafe { name.cast::<c::sockaddr_in>().read_unaligned() };
    Ok(Endpoint {
        address: Address::from_v4(raw.sin_addr.s_addr.to_ne_bytes()),
        port: u16::from_be(raw.sin_port),
        interface: 0,
    })
}

const SIN6_LEN_RFC2133: usize = 24;

/// Arguments of `sendmsg` and `recvmsg`.
///
/// # Invariants
///
/// `raw` is valid and this call's own. `raw.msg_name` is null or has `msg_namelen` readable bytes
/// when sending, and room for any address when receiving (the socket layer sees to both).
pub struct Msg {
    raw: *mut c::msghdr,
    len: usize,
}

impl Msg {
    /// # Safety
    ///
    /// `raw` is what the socket layer gave to `sendmsg` or `recvmsg`, valid for as long as the
    /// result is used.
    pub(crate) unsafe fn from_raw(raw: *mut c::msghdr, len: usize) -> Self {
        // INVARIANT: As the caller says.
        Self { raw, len }
    }

    pub(crate) fn as_ptr(&self) -> *mut c::msghdr {
        self.raw
    }

    /// Returns the number of payload bytes that `sendmsg` was given.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether `sendmsg` was given no payload.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns whether the call must not block (`MSG_DONTWAIT`, which `O_NONBLOCK` implies).
    pub fn is_nonblocking(&self) -> bool {
        // SAFETY: `raw` is valid by the type's invariant.
        unsafe { (*self.raw).msg_flags & c::MSG_DONTWAIT != 0 }
    }

    /// Returns whether a destination was given.
    pub fn has_name(&self) -> bool {
        // SAFETY: `raw` is valid by the type's invariant.
        unsafe { !(*self.raw).msg_name.is_null() }
    }

    /// Returns the destination of a socket of the family that `ipv6` says: `EINVAL` if there is
    /// none or it is too short, `EAFNOSUPPORT` if it is of another family.
    pub fn name(&self, ipv6: bool) -> Result<Endpoint> {
        // SAFETY: `raw` is valid by the type's invariant.
        let (name, len) = unsafe { ((*self.raw).msg_name, (*self.raw).msg_namelen) };
        if name.is_null() {
            return Err(EINVAL);
        }
        let len = usize::try_from(len).map_err(|_| EINVAL)?;
        // SAFETY: There are `len` bytes by the type's invariant.
        unsafe { read_endpoint(name, len, ipv6) }
    }

    /// Stores where a message came from, in the form of the socket's family, if the caller wants to
    /// know.
    pub fn set_name(&mut self, from: &Endpoint, ipv6: bool) {
        // SAFETY: `raw` is valid by the type's invariant.
        let name = unsafe { (*self.raw).msg_name };
        if name.is_null() {
            return;
        }
        let (address, len) = from.to_sockaddr(ipv6);
        // SAFETY: There is room for any address by the type's invariant.
        unsafe {
            core::ptr::copy_nonoverlapping(address.as_ptr(), name.cast::<u8>(), len);
        }
        // SAFETY: `raw` is valid by the type's invariant.
        unsafe { (*self.raw).msg_namelen = i32::try_from(len).unwrap_or(0) };
    }

    /// Returns `msg_control` as a pointer to a `T` in user memory, `None` if it is in the kernel's
    /// (`sendmsg` with `msg_controllen` other than 0, and callers in the kernel).
    pub fn control<T: UserData>(&self) -> Option<UserPtr<T>> {
        // SAFETY: `raw` is valid by the type's invariant.
        unsafe {
            c::homa_msg_control_is_user(self.raw)
                .then(|| UserPtr::new(c::homa_msg_control(self.raw).cast()))
        }
    }

    /// Returns `msg_controllen`.
    pub fn control_len(&self) -> usize {
        // SAFETY: `raw` is valid by the type's invariant.
        unsafe { c::homa_msg_controllen(self.raw) }
    }
}

/// Value of a socket option that is being set.
///
/// # Invariants
///
/// `raw` is valid for the call, and stands for `len` bytes that may be tried to be read.
pub struct OptionValue {
    raw: *const c::sockptr_t,
    len: usize,
}

impl OptionValue {
    /// # Safety
    ///
    /// `raw` and `len` are what the socket layer gave to `setsockopt`, valid for as long as the
    /// result is used.
    pub(crate) unsafe fn from_raw(raw: *const c::sockptr_t, len: usize) -> Self {
        // INVARIANT: As the caller says.
        Self { raw, len }
    }

    /// Returns the value, which must be exactly a `T` long (`EINVAL`) and readable (`EFAULT`).
    pub fn read<T: UserData>(&self) -> Result<T> {
        if self.len != size_of::<T>() {
            return Err(EINVAL);
        }
        let mut value = MaybeUninit::<T>::uninit();
        // SAFETY: The destination has room for the length given; `raw` is valid for that length by
        // the type's invariant, or the function says that it can't be read.
        let err = unsafe {
            c::homa_copy_from_sockptr(value.as_mut_ptr().cast(), self.raw, size_of::<T>())
        };
        if err != 0 {
            return Err(EFAULT);
        }
        // SAFETY: All bytes were written, and any bytes are a valid `T`.
        Ok(unsafe { value.assume_init() })
    }
}
