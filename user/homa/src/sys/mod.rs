// SPDX-License-Identifier: MIT OR GPL-2.0
//! The system calls, each wrapped once: the only unsafe code of this crate.
//!
//! Nothing here decides anything. Arguments are checked as far as memory safety
//! needs it, results are returned as they are.

#![expect(unsafe_code, reason = "system calls and mapped memory")]

mod mapping;

pub(crate) use mapping::Mapping;
pub(crate) use mapping::Placement;

use crate::abi::RcvbufArgs;
use crate::abi::RecvmsgArgs;
use crate::abi::SendmsgArgs;
use crate::abi::IPPROTO_HOMA;
use crate::abi::SO_HOMA_RCVBUF;
use crate::addr::RawAddr;
use crate::region::Batch;
use std::io;
use std::io::IoSlice;
use std::mem;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::os::fd::BorrowedFd;
use std::os::fd::FromRawFd;
use std::os::fd::OwnedFd;
use std::ptr;
use std::time::Duration;

/// The result of a system call that returns -1 and sets errno on failure.
fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        value => Ok(value),
    }
}

/// Opens a Homa socket for `domain`, not inherited by programs that are run.
pub(crate) fn socket(domain: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: takes no pointers.
    let fd = check(unsafe {
        libc::socket(domain, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, IPPROTO_HOMA)
    })?;
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

pub(crate) fn bind(fd: BorrowedFd<'_>, addr: &RawAddr) -> io::Result<()> {
    let len = addr.len.min(RawAddr::EMPTY.len);
    // SAFETY: the kernel reads `len` bytes, no more than there are.
    check(unsafe { libc::bind(fd.as_raw_fd(), addr.bytes.as_ptr().cast(), len) })?;
    Ok(())
}

pub(crate) fn local_addr(fd: BorrowedFd<'_>) -> io::Result<Option<SocketAddr>> {
    let mut addr = RawAddr::EMPTY;
    // SAFETY: the kernel writes at most `len` bytes, as many as there are, and the
    // address's length to `len`.
    check(unsafe {
        libc::getsockname(
            fd.as_raw_fd(),
            addr.bytes.as_mut_ptr().cast(),
            &raw mut addr.len,
        )
    })?;
    Ok(addr.decode())
}

/// Sets an option whose value is a C `int`.
pub(crate) fn set_int(fd: BorrowedFd<'_>, name: libc::c_int, value: libc::c_int) -> io::Result<()> {
    // SAFETY: the kernel reads the 4 bytes of `value` during the call.
    check(unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            IPPROTO_HOMA,
            name,
            (&raw const value).cast(),
            4,
        )
    })?;
    Ok(())
}

/// Reads an option whose value is a C `int`.
pub(crate) fn get_int(fd: BorrowedFd<'_>, name: libc::c_int) -> io::Result<libc::c_int> {
    let mut value: libc::c_int = 0;
    let mut len = 4;
    // SAFETY: the kernel writes at most the 4 bytes of `value`.
    check(unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            IPPROTO_HOMA,
            name,
            (&raw mut value).cast(),
            &raw mut len,
        )
    })?;
    Ok(value)
}

/// Makes `region` the receive region of the socket. The kernel writes to it
/// during this call and during later receive calls only.
pub(crate) fn set_region(fd: BorrowedFd<'_>, region: &Mapping) -> io::Result<()> {
    let args = RcvbufArgs {
        start: region.address() as u64,
        length: region.len() as u64,
    };
    // SAFETY: the kernel reads the 16 bytes of `args` during the call, and keeps
    // the region's address, which it uses when `recvmsg` is called.
    check(unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            IPPROTO_HOMA,
            SO_HOMA_RCVBUF,
            (&raw const args).cast(),
            16,
        )
    })?;
    Ok(())
}

pub(crate) fn shutdown(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: takes no pointers.
    check(unsafe { libc::shutdown(fd.as_raw_fd(), libc::SHUT_RDWR) })?;
    Ok(())
}

pub(crate) fn set_nonblocking(fd: BorrowedFd<'_>, on: bool) -> io::Result<()> {
    let mut value = libc::c_int::from(on);
    // SAFETY: the kernel reads the integer during the call.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::FIONBIO, &raw mut value) })?;
    Ok(())
}

/// Waits until the socket is readable. False if `timeout` passed before.
pub(crate) fn wait_readable(fd: BorrowedFd<'_>, timeout: Duration) -> io::Result<bool> {
    let mut entry = libc::pollfd {
        fd: fd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // Rounded up, so that a caller who waits for the rest does not spin.
    let millis = timeout.as_nanos().div_ceil(1_000_000);
    let millis = libc::c_int::try_from(millis).unwrap_or(libc::c_int::MAX);
    // SAFETY: the kernel reads and writes the one entry.
    let ready = check(unsafe { libc::poll(&raw mut entry, 1, millis) })?;
    Ok(ready > 0)
}

/// CPUs that the system is configured for, online or not.
pub(crate) fn configured_cpus() -> usize {
    // SAFETY: takes no pointers.
    let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    usize::try_from(count).unwrap_or(1).max(1)
}

/// Sends the message made of `slices` to `dest`.
pub(crate) fn sendmsg(
    fd: BorrowedFd<'_>,
    dest: &RawAddr,
    slices: &[IoSlice<'_>],
    args: &mut SendmsgArgs,
) -> io::Result<()> {
    // SAFETY: all zeros is a msghdr without name, data and control.
    let mut header: libc::msghdr = unsafe { mem::zeroed() };
    header.msg_name = dest.bytes.as_ptr().cast_mut().cast();
    header.msg_namelen = dest.len.min(RawAddr::EMPTY.len);
    header.msg_iov = slices.as_ptr().cast_mut().cast();
    header.msg_iovlen = slices.len();
    // Homa reads and writes the args itself and wants a control length of 0.
    header.msg_control = ptr::from_mut(args).cast();
    // SAFETY: name, slices and args are alive during the call. The kernel only
    // reads name and slices (`IoSlice` has the layout of `iovec`), and writes at
    // most one `SendmsgArgs` to the control.
    match unsafe { libc::sendmsg(fd.as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// A message as the kernel delivered it.
pub(crate) struct Received {
    pub(crate) placement: Placement,
    pub(crate) peer: SocketAddr,
    pub(crate) id: u64,
    pub(crate) cookie: u64,
}

/// Receives any message into `region`, which must be the one that the socket was
/// given. `args` says what to give back, and what became of the RPC if it failed.
/// With `nonblocking`, does not wait.
pub(crate) fn recvmsg(
    fd: BorrowedFd<'_>,
    region: &Mapping,
    args: &mut RecvmsgArgs,
    nonblocking: bool,
) -> io::Result<Received> {
    let mut name = RawAddr::EMPTY;
    let len = recvmsg_raw(fd, &mut name, args, nonblocking)?;
    let placement = Placement::new(
        args.bpage_offsets,
        args.num_bpages as usize,
        len,
        region.len(),
    );
    match (placement, name.decode()) {
        (Some(placement), Some(peer)) => Ok(Received {
            placement,
            peer,
            id: args.id,
            cookie: args.completion_cookie,
        }),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the kernel described a message that can't be",
        )),
    }
}

/// The call itself: returns the length of the message.
fn recvmsg_raw(
    fd: BorrowedFd<'_>,
    name: &mut RawAddr,
    args: &mut RecvmsgArgs,
    nonblocking: bool,
) -> io::Result<usize> {
    // SAFETY: all zeros is a msghdr without name, data and control.
    let mut header: libc::msghdr = unsafe { mem::zeroed() };
    *name = RawAddr::EMPTY;
    header.msg_name = name.bytes.as_mut_ptr().cast();
    header.msg_namelen = name.len;
    header.msg_control = ptr::from_mut(args).cast();
    header.msg_controllen = size_of::<RecvmsgArgs>();
    let flags = if nonblocking { libc::MSG_DONTWAIT } else { 0 };
    // SAFETY: name and args are alive during the call, and the kernel writes no
    // more than their sizes there. It writes the message to the socket's receive
    // region, to parts of it for which no `Placement` exists.
    let result = unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut header, flags) };
    let len = usize::try_from(result).map_err(|_| io::Error::last_os_error())?;
    name.len = header.msg_namelen;
    Ok(len)
}

/// Id that no client RPC has: those are even.
const NO_RPC: u64 = u64::MAX;

/// Gives memory back to the kernel without receiving anything.
///
/// The kernel takes back what a call returns before it looks for the RPC that
/// the call names, so a call that names none does this and then fails.
pub(crate) fn return_bpages(fd: BorrowedFd<'_>, batch: &Batch) {
    let mut args = RecvmsgArgs {
        id: NO_RPC,
        num_bpages: batch.count,
        bpage_offsets: batch.offsets,
        ..RecvmsgArgs::default()
    };
    let mut name = RawAddr::EMPTY;
    let result = recvmsg_raw(fd, &mut name, &mut args, true);
    debug_assert!(result.is_err(), "an RPC with an odd id was received");
}
