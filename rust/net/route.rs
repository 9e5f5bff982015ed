// SPDX-License-Identifier: GPL-2.0

//! Routes, and IP output along them.

use core::ptr::NonNull;

use bindings as c;
use kernel::error::to_result;
use kernel::prelude::*;

use crate::addr::Address;
use crate::errno;
use crate::sock::Sock;
use crate::Protocol;

/// A route from a local to a remote address, kept across packets so that each needs no lookup.
///
/// # Invariants
///
/// `dst` is a valid route to which this value holds a reference. `source` and `remote` are of the
/// same family, which is that of `dst`.
pub struct Route {
    dst: NonNull<c::dst_entry>,
    cookie: u32,
    source: Address,
    remote: Address,
    interface: i32,
}

// SAFETY: Routes are counted and may be used on any CPU.
unsafe impl Send for Route {}

// SAFETY: The methods that take `&self` are the kernel's own for concurrent use.
unsafe impl Sync for Route {}

fn to_in6(address: Address) -> c::in6_addr {
    let mut raw = c::in6_addr::default();
    raw.in6_u.u6_addr8 = address.bytes();
    raw
}

fn to_be32(address: [u8; 4]) -> c::__be32 {
    u32::from_ne_bytes(address)
}

impl Route {
    /// Looks up the route from `local` ([`Address::UNSPECIFIED`]: the system chooses) to `remote`,
    /// through the interface with index `interface` (0: any), as the socket's options ask. The
    /// errors are the routing table's: `ENETUNREACH`, `EHOSTUNREACH`, `EINVAL` and so on.
    pub fn lookup<P: Protocol>(
        sock: &Sock<P>,
        remote: Address,
        local: Address,
        interface: i32,
    ) -> Result<Self> {
        let mut dst = core::ptr::null_mut();
        // SAFETY: Reads a field of a valid socket.
        let bound = unsafe { c::homa_sock_bound_device(sock.as_ptr()) };
        let interface = if bound != 0 { bound } else { interface };
        let source = if let Some(remote) = remote.v4() {
            let mut source = 0;
            let local = local.v4().unwrap_or_default();
            // SAFETY: The socket is valid, the pointers are to locals.
            to_result(unsafe {
                c::homa_route4(
                    sock.as_ptr(),
                    to_be32(local),
                    to_be32(remote),
                    interface,
                    &mut dst,
                    &mut source,
                )
            })?;
            Address::from_v4(source.to_ne_bytes())
        } else {
            let mut source = c::in6_addr::default();
            // SAFETY: The socket is valid, the pointers are to locals.
            to_result(unsafe {
                c::homa_route6(
                    sock.as_ptr(),
                    &to_in6(local),
                    &to_in6(remote),
                    interface,
                    &mut dst,
                    &mut source,
                )
            })?;
            // SAFETY: All bytes of the union are initialised, and any bytes are valid.
            Address::from_bytes(unsafe { source.in6_u.u6_addr8 })
        };
        let dst = NonNull::new(dst).ok_or(errno::EHOSTUNREACH)?;
        // INVARIANT: The lookup succeeded, so `dst` is a reference for us, and of the family of
        // `remote`, as the source address is.
        Ok(Self {
            dst,
            // SAFETY: `dst` is valid.
            cookie: unsafe { c::homa_dst_cookie(dst.as_ptr()) },
            source,
            remote,
            interface,
        })
    }

    /// Returns whether the route still stands; if not, look it up again.
    pub fn is_usable(&self) -> bool {
        // SAFETY: `dst` is valid by the type's invariant.
        unsafe { c::homa_dst_usable(self.dst.as_ptr(), self.cookie) }
    }

    /// Returns the largest packet, from the IP header on, in bytes.
    pub fn mtu(&self) -> u32 {
        // SAFETY: `dst` is valid by the type's invariant.
        unsafe { c::homa_dst_mtu(self.dst.as_ptr()) }
    }

    /// Returns the length of an IP header on this route, without options or extensions.
    pub fn ip_header_len(&self) -> u32 {
        if self.remote.v4().is_some() {
            20
        } else {
            40
        }
    }

    /// Sends `skb` (which begins with the transport header) from `sock`.
    ///
    /// # Safety
    ///
    /// `skb` is valid and the caller gives up its reference, which is the only one.
    pub(crate) unsafe fn transmit<P: Protocol>(
        &self,
        sock: &Sock<P>,
        skb: NonNull<c::sk_buff>,
        traffic_class: u8,
    ) -> Result {
        // SAFETY: `dst` is valid; the reference taken here is the one given away below.
        unsafe { c::homa_dst_hold(self.dst.as_ptr()) };
        let err = match (self.source.v4(), self.remote.v4()) {
            // SAFETY: The socket is valid; packet and route are given away with one reference each.
            (Some(source), Some(remote)) => unsafe {
                c::homa_xmit4(
                    sock.as_ptr(),
                    skb.as_ptr(),
                    self.dst.as_ptr(),
                    to_be32(source),
                    to_be32(remote),
                    traffic_class,
                )
            },
            // SAFETY: As above; both addresses are IPv6 by the type's invariant.
            _ => unsafe {
                c::homa_xmit6(
                    sock.as_ptr(),
                    skb.as_ptr(),
                    self.dst.as_ptr(),
                    &to_in6(self.source),
                    &to_in6(self.remote),
                    self.interface,
                    traffic_class,
                )
            },
        };
        // Positive values say that a queue marked or dropped the packet as congestion control:
        // losses are the transport's business.
        if err < 0 {
            to_result(err)
        } else {
            Ok(())
        }
    }
}

impl Drop for Route {
    fn drop(&mut self) {
        // SAFETY: The reference is ours, and `self` is not used again.
        unsafe { c::homa_dst_release(self.dst.as_ptr()) };
    }
}
