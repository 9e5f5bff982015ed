// SPDX-License-Identifier: GPL-2.0

//! The functions that the C side calls, for a protocol `P`. [`protocol_callbacks!`] gives them their
//! names.

use core::ffi::c_int;
use core::ffi::c_uint;
use core::ffi::c_void;
use core::ptr::NonNull;

use bindings as c;
use kernel::prelude::*;

use crate::addr::Address;
use crate::errno;
use crate::msg;
use crate::msg::Msg;
use crate::msg::OptionValue;
use crate::protocol::namespace_of;
use crate::protocol::IcmpError;
use crate::protocol::IcmpKind;
use crate::protocol::Shutdown;
use crate::rcu::RcuGuard;
use crate::skb::Skb;
use crate::sock::Sock;
use crate::user::UserPtr;
use crate::Protocol;

/// Bytes of a transport header that an ICMP message must quote: up to the RPC's id.
const QUOTED: c_uint = 28;

fn to_int(result: Result) -> c_int {
    match result {
        Ok(()) => 0,
        Err(error) => error.to_errno(),
    }
}

fn to_len(result: Result<usize>) -> c_int {
    match result {
        Ok(len) => c_int::try_from(len).unwrap_or(c_int::MAX),
        Err(error) => error.to_errno(),
    }
}

/// # Safety
///
/// `net` is a namespace that is being set up.
pub unsafe fn net_init<P: Protocol>(net: *mut c::net) -> c_int {
    to_int(P::namespace().map(|state| {
        // SAFETY: The slot is ours, and nobody uses the namespace yet.
        unsafe { *c::homa_net_slot(net) = KBox::into_raw(state).cast() };
    }))
}

/// # Safety
///
/// `net` is a namespace for which `net_init` succeeded.
pub unsafe fn net_pre_exit<P: Protocol>(net: *mut c::net) {
    // SAFETY: As the caller says.
    P::release_routes(unsafe { namespace_of::<P>(net) });
}

/// # Safety
///
/// `net` is a namespace for which `net_init` succeeded and which nobody uses any more.
pub unsafe fn net_exit<P: Protocol>(net: *mut c::net) {
    // SAFETY: The slot is ours, and holds what `net_init` stored.
    unsafe {
        let slot = c::homa_net_slot(net);
        drop(KBox::from_raw((*slot).cast::<P::Namespace>()));
        *slot = core::ptr::null_mut();
    }
}

/// # Safety
///
/// `sk` is a socket of ours that is being opened, with no state yet.
pub unsafe fn init<P: Protocol>(sk: *mut c::sock) -> c_int {
    // SAFETY: The socket's namespace was set up before.
    let namespace = unsafe { namespace_of::<P>(c::homa_sock_net(sk)) };
    to_int(P::socket(namespace).and_then(|state| {
        // SAFETY: Nobody else uses the socket yet. With the state set it is a `Sock`.
        unsafe {
            (*sk.cast::<c::homa_sock>()).state = KBox::into_raw(state).cast();
            P::open(Sock::from_raw(sk))
        }
    }))
}

/// # Safety
///
/// `sk` is an open socket of ours.
pub unsafe fn close<P: Protocol>(sk: *mut c::sock) {
    // SAFETY: As the caller says.
    P::close(unsafe { Sock::from_raw(sk) });
}

/// # Safety
///
/// `sk` is a socket of ours to which nobody has a reference any more.
pub unsafe fn destruct<P: Protocol>(sk: *mut c::sock) {
    // SAFETY: `state` is null, or what `init` stored; nobody uses it any more.
    unsafe {
        let hsk = sk.cast::<c::homa_sock>();
        let state = (*hsk).state.cast::<P::Socket>();
        (*hsk).state = core::ptr::null_mut();
        if !state.is_null() {
            drop(KBox::from_raw(state));
        }
    }
}

/// # Safety
///
/// `sk` is an open socket of ours, `addr` has `len` bytes.
pub unsafe fn bind<P: Protocol>(sk: *mut c::sock, addr: *const c_void, len: c_int) -> c_int {
    // SAFETY: As the caller says.
    let sock = unsafe { Sock::<P>::from_raw(sk) };
    let Ok(len) = usize::try_from(len) else {
        return EINVAL.to_errno();
    };
    // SAFETY: As the caller says.
    let local = unsafe { msg::read_endpoint(addr, len, sock.is_ipv6()) };
    to_int(local.and_then(|local| P::bind(sock, &local)))
}

/// # Safety
///
/// `sk` is an open socket of ours.
pub unsafe fn shutdown<P: Protocol>(sk: *mut c::sock, how: c_int) -> c_int {
    let how = match how {
        0 => Shutdown::Read,
        1 => Shutdown::Write,
        2 => Shutdown::Both,
        _ => return EINVAL.to_errno(),
    };
    // SAFETY: As the caller says.
    to_int(P::shutdown(unsafe { Sock::from_raw(sk) }, how))
}

/// # Safety
///
/// `sk` is an open socket of ours, `value` and `len` are those of `setsockopt`.
pub unsafe fn setsockopt<P: Protocol>(
    sk: *mut c::sock,
    level: c_int,
    name: c_int,
    value: *const c::sockptr_t,
    len: core::ffi::c_uint,
) -> c_int {
    let (Ok(name), Ok(len)) = (u32::try_from(name), usize::try_from(len)) else {
        return to_int(Err(errno::ENOPROTOOPT.into()));
    };
    // SAFETY: As the caller says.
    let (sock, value) = unsafe { (Sock::<P>::from_raw(sk), OptionValue::from_raw(value, len)) };
    to_int(P::set_option(sock, level, name, &value))
}

/// # Safety
///
/// `sk` is an open socket of ours.
pub unsafe fn getsockopt<P: Protocol>(
    sk: *mut c::sock,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut c_int,
) -> c_int {
    let Ok(name) = u32::try_from(name) else {
        return to_int(Err(errno::ENOPROTOOPT.into()));
    };
    // SAFETY: As the caller says.
    let sock = unsafe { Sock::<P>::from_raw(sk) };
    to_int(P::get_option(sock, level, name, value, &UserPtr::new(len)))
}

/// # Safety
///
/// `sk` is an open socket of ours, `msg` and `len` are those of `sendmsg`.
pub unsafe fn sendmsg<P: Protocol>(sk: *mut c::sock, msg: *mut c::msghdr, len: usize) -> c_int {
    // SAFETY: As the caller says.
    let (sock, mut msg) = unsafe { (Sock::<P>::from_raw(sk), Msg::from_raw(msg, len)) };
    to_len(P::send(sock, &mut msg))
}

/// # Safety
///
/// `sk` is an open socket of ours, `msg` and `flags` are those of `recvmsg`.
pub unsafe fn recvmsg<P: Protocol>(sk: *mut c::sock, msg: *mut c::msghdr, flags: c_int) -> c_int {
    // SAFETY: As the caller says.
    let (sock, mut msg) = unsafe { (Sock::<P>::from_raw(sk), Msg::from_raw(msg, 0)) };
    let nonblocking = u32::try_from(flags).is_ok_and(|flags| flags & c::MSG_DONTWAIT != 0);
    to_len(P::receive_message(sock, &mut msg, nonblocking))
}

/// # Safety
///
/// `sk` is an open socket of ours.
pub unsafe fn poll<P: Protocol>(sk: *mut c::sock) -> core::ffi::c_uint {
    // SAFETY: As the caller says.
    P::poll(unsafe { Sock::from_raw(sk) })
}

/// # Safety
///
/// `skb` came in for our protocol; the caller gives it up.
pub unsafe fn receive<P: Protocol>(skb: *mut c::sk_buff) {
    let Some(skb) = NonNull::new(skb) else {
        return;
    };
    let rcu = RcuGuard::new();
    // SAFETY: The packet has a device, whose namespace was set up before packets came in for us and
    // outlives the critical section. The caller gives up the packet.
    let (namespace, skb) = unsafe {
        (
            namespace_of::<P>(c::homa_skb_net(skb.as_ptr())),
            Skb::from_raw(skb),
        )
    };
    P::receive(namespace, &rcu, skb);
}

/// Returns what a message of ICMP (of IPv6 if `ipv6`) says, if it ends anything.
fn icmp_kind(ipv6: bool, icmp_type: u8, code: u8) -> Option<IcmpKind> {
    match (ipv6, icmp_type, code) {
        (false, 3, 2) | (true, 4, 1) => Some(IcmpKind::ProtocolUnreachable),
        (false, 3, 3) | (true, 1, 4) => Some(IcmpKind::PortUnreachable),
        // Code 4 says that a packet is too long, not that the host is away.
        (false, 3, 4) => None,
        (false, 3, _) | (true, 1, 3) => Some(IcmpKind::HostUnreachable),
        _ => None,
    }
}

/// # Safety
///
/// `skb` is an ICMP message whose data begins with the IP header that it quotes, and `offset` is
/// where in the data the transport header is; `remote` is the destination in that IP header.
pub unsafe fn icmp_error<P: Protocol>(
    skb: *mut c::sk_buff,
    remote: *const c::in6_addr,
    offset: c_uint,
    (ipv6, icmp_type, code): (bool, u8, u8),
) {
    let Some(kind) = icmp_kind(ipv6, icmp_type, code) else {
        return;
    };
    let Some(end) = offset.checked_add(QUOTED) else {
        return;
    };
    // SAFETY: The packet is valid. If this moves its data, the caller has copied what it needs.
    if !unsafe { c::homa_skb_may_pull(skb, end) } {
        return;
    }
    let rcu = RcuGuard::new();
    // SAFETY: The first `end` bytes are contiguous, as was just seen to. The packet has a device,
    // whose namespace was set up before packets came in for us and outlives the critical section.
    let (namespace, remote, quoted) = unsafe {
        (
            namespace_of::<P>(c::homa_skb_net(skb)),
            Address::from_bytes((*remote).in6_u.u6_addr8),
            core::slice::from_raw_parts((*skb).data.add(offset as usize), QUOTED as usize),
        )
    };
    let error = IcmpError {
        kind,
        remote,
        quoted,
    };
    P::icmp_error(namespace, &rcu, &error);
}

/// # Safety
///
/// `sk` is a socket of ours that is not freed before this returns.
pub unsafe fn timer<P: Protocol>(sk: *mut c::sock) {
    // SAFETY: As the caller says.
    let sock = unsafe { Sock::<P>::from_raw(sk) };
    // A socket that is being freed has nothing left to do, and must not be referred to again.
    if let Some(sock) = sock.try_to_ref() {
        P::timer(&sock);
    }
}

/// Defines the functions that the C side calls, for the protocol given. Once in a module.
#[macro_export]
macro_rules! protocol_callbacks {
    ($protocol:ty) => {
        const _: () = {
            use core::ffi::{c_int, c_uint, c_void};
            use $crate::bindings as c;
            use $crate::callbacks;

            #[no_mangle]
            unsafe extern "C" fn homa_rs_net_init(net: *mut c::net) -> c_int {
                // SAFETY: Called for each new namespace.
                unsafe { callbacks::net_init::<$protocol>(net) }
            }

            #[no_mangle]
            unsafe extern "C" fn homa_rs_net_pre_exit(net: *mut c::net) {
                // SAFETY: Called for each namespace that goes, while its state is there.
                unsafe { callbacks::net_pre_exit::<$protocol>(net) }
            }

            #[no_mangle]
            unsafe extern "C" fn homa_rs_net_exit(net: *mut c::net) {
                // SAFETY: Called when nobody uses the namespace any more.
                unsafe { callbacks::net_exit::<$protocol>(net) }
            }

            #[no_mangle]
            unsafe extern "C" fn homa_rs_init(sk: *mut c::sock) -> c_int {
                // SAFETY: Called once for each new socket.
                unsafe { callbacks::init::<$protocol>(sk) }
            }

            #[no_mangle]
            unsafe extern "C" fn homa_rs_close(sk: *mut c::sock) {
                // SAFETY: Called once for each open socket.
                unsafe { callbacks::close::<$protocol>(sk) }
            }

            #[no_mangle]
            unsafe extern "C" fn homa_rs_destruct(sk: *mut c::sock) {
                // SAFETY: Called when the last reference is gone.
                unsafe { callbacks::destruct::<$protocol>(sk) }
            }

            #[no_mangle]
            unsafe extern "C" fn homa_rs_bind(
                sk: *mut c::sock,
                addr: *const c_void,
                len: c_int,
            ) -> c_int {
                // SAFETY: The arguments are those of bind(2), copied in.
                unsafe { callbacks::bind::<$protocol>(sk, addr, len) }
            }

            #[no_mangle]
            unsafe extern "C" fn homa_rs_shutdown(sk: *mut c::sock, how: c_int) -> c_int {
                // SAFETY: The socket is open.
                unsafe { callbacks::shutdown::<$protocol>(sk, how) }
            }

            #[no_mangle]
            unsafe extern "C" fn homa_rs_setsockopt(
                sk: *mut c::sock,
                level: c_int,
                name: c_int,
                value: *const c::sockptr_t,
                len: c_uint,
            ) -> c_int {
                // SAFETY: The arguments are those of setsockopt(2).
                unsafe { callbacks::setsockopt::<$protocol>(sk, level, name, value, len) }
            }

            #[no_mangle]
            unsafe extern "C" fn homa_rs_getsockopt(
                sk: *mut c::sock,
                level: c_int,
                name: c_int,
                value: *mut core::ffi::c_char,
                len: *mut c_int,
            ) -> c_int {
                // SAFETY: The arguments are those of getsockopt(2).
                unsafe { callbacks::getsockopt::<$protocol>(sk, level, name, value.cast(), len) }
            }

            #[no_mangle]
            unsafe extern "C" fn homa_rs_sendmsg(
                sk: *mut c::sock,
                msg: *mut c::msghdr,
                len: usize,
            ) -> c_int {
                // SAFETY: The arguments are those of sendmsg(2).
                unsafe { callbacks::sendmsg::<$protocol>(sk, msg, len) }
            }

            #[no_mangle]
            unsafe extern "C" fn homa_rs_recvmsg(
                sk: *mut c::sock,
                msg: *mut c::msghdr,
                flags: c_int,
            ) -> c_int {
                // SAFETY: The arguments are those of recvmsg(2).
                unsafe { callbacks::recvmsg::<$protocol>(sk, msg, flags) }
            }

            #[no_mangle]
            unsafe extern "C" fn homa_rs_poll(sk: *mut c::sock) -> c_uint {
                // SAFETY: The socket is open.
                unsafe { callbacks::poll::<$protocol>(sk) }
            }

            #[no_mangle]
            unsafe extern "C" fn homa_rs_receive(skb: *mut c::sk_buff) {
                // SAFETY: IP gives the packet to us.
                unsafe { callbacks::receive::<$protocol>(skb) }
            }

            #[no_mangle]
            unsafe extern "C" fn homa_rs_icmp_error(
                skb: *mut c::sk_buff,
                remote: *const c::in6_addr,
                offset: c_uint,
                ipv6: bool,
                icmp_type: u8,
                code: u8,
            ) {
                let kind = (ipv6, icmp_type, code);
                // SAFETY: ICMP gives us errors that quote packets of our protocol.
                unsafe { callbacks::icmp_error::<$protocol>(skb, remote, offset, kind) }
            }

            #[no_mangle]
            unsafe extern "C" fn homa_rs_timer(sk: *mut c::sock) {
                // SAFETY: The timer is cancelled before the socket is freed.
                unsafe { callbacks::timer::<$protocol>(sk) }
            }
        };
    };
}
