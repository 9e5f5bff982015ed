// SPDX-License-Identifier: GPL-2.0
//! System calls with arguments that no library would let through: the only
//! unsafe code of the tests.
//!
//! Independent of the `homa` crate on purpose, so that the tests of the ABI do
//! not share its errors. Whatever addresses a test gives to the kernel, the
//! kernel finds there memory of this module or none, so nothing of the program's
//! own can be overwritten.

#![expect(unsafe_code, reason = "system calls with hostile arguments")]

use crate::errno::Errno;
use std::ffi::CString;
use std::mem;
use std::os::fd::AsRawFd;
use std::os::fd::FromRawFd;
use std::os::fd::OwnedFd;
use std::os::fd::RawFd;
use std::ptr;
use std::time::Duration;

/// A system call's result.
pub(crate) type Result<T> = std::result::Result<T, Errno>;

fn check(result: libc::c_int) -> Result<libc::c_int> {
    if result == -1 {
        Err(Errno::last())
    } else {
        Ok(result)
    }
}

fn check_size(result: libc::ssize_t) -> Result<usize> {
    usize::try_from(result).map_err(|_| Errno::last())
}

fn owned(fd: RawFd) -> OwnedFd {
    // SAFETY: called with a descriptor that a system call has just made for us.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Pages of memory whose protection can be chosen.
///
/// # Invariants
///
/// `len` bytes from `start` are mapped until drop. No reference to them exists:
/// they are only copied from and to.
#[derive(Debug)]
pub(crate) struct Pages {
    start: *mut u8,
    len: usize,
}

// SAFETY: the memory belongs to the process, not to a thread.
unsafe impl Send for Pages {}
// SAFETY: shared access copies bytes while the kernel may be writing to them; a
// torn value is possible, but both sides only move plain bytes.
unsafe impl Sync for Pages {}

/// What may be done with pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protection {
    None,
    Read,
    ReadWrite,
}

impl Pages {
    /// New pages full of zeros, readable and writable.
    pub(crate) fn new(len: usize) -> Result<Self> {
        // SAFETY: a new mapping where the kernel likes touches no other memory.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        Ok(Self {
            start: start.cast(),
            len,
        })
    }

    /// A page that nobody can access.
    pub(crate) fn inaccessible() -> Result<Self> {
        let pages = Self::new(4096)?;
        pages.protect(Protection::None)?;
        Ok(pages)
    }

    /// A page that begins with `bytes` and can't be written to.
    pub(crate) fn read_only(bytes: &[u8]) -> Result<Self> {
        let pages = Self::new(4096)?;
        pages.write(0, bytes);
        pages.protect(Protection::Read)?;
        Ok(pages)
    }

    pub(crate) fn protect(&self, protection: Protection) -> Result<()> {
        let bits = match protection {
            Protection::None => libc::PROT_NONE,
            Protection::Read => libc::PROT_READ,
            Protection::ReadWrite => libc::PROT_READ | libc::PROT_WRITE,
        };
        // SAFETY: the pages are our own, and no references to them exist.
        check(unsafe { libc::mprotect(self.start.cast(), self.len, bits) })?;
        Ok(())
    }

    pub(crate) fn address(&self) -> u64 {
        self.start.addr() as u64
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// A copy of `len` bytes at `offset`, cut where the pages end. The pages must
    /// be readable.
    pub(crate) fn read(&self, offset: usize, len: usize) -> Vec<u8> {
        let offset = offset.min(self.len);
        let len = len.min(self.len - offset);
        let mut bytes = vec![0; len];
        // SAFETY: the range lies within the pages, as just made sure.
        unsafe { ptr::copy_nonoverlapping(self.start.add(offset), bytes.as_mut_ptr(), len) };
        bytes
    }

    /// Copies `bytes` to `offset`, as far as the pages go. The pages must be
    /// writable.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) {
        let offset = offset.min(self.len);
        let len = bytes.len().min(self.len - offset);
        // SAFETY: the range lies within the pages, as just made sure.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(offset), len) };
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the pages are our own, and nobody refers to them any more.
        unsafe { libc::munmap(self.start.cast(), self.len) };
    }
}

/// What a pointer argument points to.
#[derive(Debug)]
pub(crate) enum Target<'a> {
    /// Nothing: a null pointer.
    Null,
    /// Bytes, which the kernel may change.
    Bytes(&'a mut [u8]),
    /// The beginning of some pages.
    Pages(&'a Pages),
}

/// Bytes after each argument, in which a length that exceeds it ends.
const SLACK: usize = 64;

/// A pointer argument during a call.
struct Pointer<'a> {
    target: Target<'a>,
    copy: Vec<u64>,
}

impl<'a> Pointer<'a> {
    fn new(target: Target<'a>) -> Self {
        let mut copy = Vec::new();
        if let Target::Bytes(bytes) = &target {
            copy.resize((bytes.len() + SLACK).div_ceil(8), 0);
            for (word, chunk) in copy.iter_mut().zip(bytes.chunks(8)) {
                let mut padded = [0; 8];
                padded[..chunk.len()].copy_from_slice(chunk);
                *word = u64::from_ne_bytes(padded);
            }
        }
        Self { target, copy }
    }

    fn as_ptr(&mut self) -> *mut libc::c_void {
        match &self.target {
            Target::Null => ptr::null_mut(),
            Target::Bytes(_) => self.copy.as_mut_ptr().cast(),
            Target::Pages(pages) => pages.start.cast(),
        }
    }

    /// A length that the kernel may be told for this target.
    fn limit(&self, len: usize) -> usize {
        match &self.target {
            Target::Null => len,
            Target::Bytes(bytes) => len.min(bytes.len() + SLACK),
            Target::Pages(pages) => len.min(pages.len),
        }
    }

    /// Copies back what the kernel changed.
    fn finish(self) {
        if let Target::Bytes(bytes) = self.target {
            for (chunk, word) in bytes.chunks_mut(8).zip(&self.copy) {
                chunk.copy_from_slice(&word.to_ne_bytes()[..chunk.len()]);
            }
        }
    }
}

/// Opens a socket.
pub(crate) fn socket(domain: i32, kind: i32, protocol: i32) -> Result<OwnedFd> {
    // SAFETY: takes no pointers.
    check(unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC, protocol) }).map(owned)
}

/// Opens a pair of sockets and closes them again.
pub(crate) fn socketpair(domain: i32, kind: i32, protocol: i32) -> Result<()> {
    let mut fds = [-1; 2];
    // SAFETY: the kernel writes two descriptors.
    check(unsafe { libc::socketpair(domain, kind, protocol, fds.as_mut_ptr()) })?;
    for fd in fds {
        drop(owned(fd));
    }
    Ok(())
}

/// Closes a descriptor that other threads may be using.
pub(crate) fn close(fd: RawFd) -> Result<()> {
    // SAFETY: takes no pointers; the caller gave up ownership of the descriptor.
    check(unsafe { libc::close(fd) })?;
    Ok(())
}

pub(crate) fn listen(fd: &impl AsRawFd) -> Result<()> {
    // SAFETY: takes no pointers.
    check(unsafe { libc::listen(fd.as_raw_fd(), 1) })?;
    Ok(())
}

pub(crate) fn shutdown(fd: &impl AsRawFd, how: i32) -> Result<()> {
    // SAFETY: takes no pointers.
    check(unsafe { libc::shutdown(fd.as_raw_fd(), how) })?;
    Ok(())
}

/// Makes all calls on the socket non-blocking.
pub(crate) fn set_nonblocking(fd: &impl AsRawFd) -> Result<()> {
    // SAFETY: takes no pointers.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) })?;
    Ok(())
}

/// Binds to an address of exactly these bytes.
pub(crate) fn bind(fd: &impl AsRawFd, addr: &[u8]) -> Result<()> {
    let len = libc::socklen_t::try_from(addr.len()).unwrap_or(0);
    // SAFETY: the kernel reads `len` bytes, no more than there are.
    check(unsafe { libc::bind(fd.as_raw_fd(), addr.as_ptr().cast(), len) })?;
    Ok(())
}

/// The socket's own address, as bytes.
pub(crate) fn getsockname(fd: &impl AsRawFd) -> Result<Vec<u8>> {
    let mut addr = vec![0; 128];
    let mut len: libc::socklen_t = 128;
    // SAFETY: the kernel writes at most the 128 bytes there are.
    check(unsafe { libc::getsockname(fd.as_raw_fd(), addr.as_mut_ptr().cast(), &raw mut len) })?;
    addr.truncate(len as usize);
    Ok(addr)
}

/// Sets a socket option of `len` bytes at `value`.
pub(crate) fn setsockopt(
    fd: &impl AsRawFd,
    level: i32,
    name: i32,
    value: Target<'_>,
    len: u32,
) -> Result<()> {
    let mut value = Pointer::new(value);
    let len = value.limit(len as usize);
    // SAFETY: the kernel reads at most `len` bytes, which are there unless the
    // test wants them not to be.
    check(unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            level,
            name,
            value.as_ptr(),
            libc::socklen_t::try_from(len).unwrap_or(0),
        )
    })?;
    Ok(())
}

/// Reads a socket option into at most `len` bytes; returns as many as the kernel
/// says it wrote.
pub(crate) fn getsockopt(fd: &impl AsRawFd, level: i32, name: i32, len: u32) -> Result<Vec<u8>> {
    let mut value = vec![0; 128];
    let mut len: libc::socklen_t = len.min(128);
    // SAFETY: the kernel writes at most `len` bytes, of which there are 128.
    check(unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            level,
            name,
            value.as_mut_ptr().cast(),
            &raw mut len,
        )
    })?;
    value.truncate(len as usize);
    Ok(value)
}

/// Reads a socket option with a length that lies in `pages`.
pub(crate) fn getsockopt_len_at(
    fd: &impl AsRawFd,
    level: i32,
    name: i32,
    pages: &Pages,
) -> Result<()> {
    let mut value = [0_u8; 128];
    // SAFETY: the kernel writes at most 128 bytes, if the pages say no more.
    check(unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            level,
            name,
            value.as_mut_ptr().cast(),
            pages.start.cast(),
        )
    })?;
    Ok(())
}

/// The data of an outgoing message.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Data<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// As many bytes from the beginning of some pages.
    Pages(&'a Pages, usize),
}

/// The arguments of `sendmsg`.
#[derive(Debug)]
pub(crate) struct SendCall<'a> {
    pub(crate) name: Option<&'a [u8]>,
    pub(crate) data: Data<'a>,
    pub(crate) control: Target<'a>,
    pub(crate) control_len: usize,
    pub(crate) flags: i32,
}

/// Calls `sendmsg`.
pub(crate) fn sendmsg(fd: RawFd, call: SendCall<'_>) -> Result<usize> {
    let mut control = Pointer::new(call.control);
    let (base, len) = match call.data {
        Data::Bytes(bytes) => (bytes.as_ptr().cast_mut(), bytes.len()),
        Data::Pages(pages, len) => (pages.start, len.min(pages.len)),
    };
    let mut slice = libc::iovec {
        iov_base: base.cast(),
        iov_len: len,
    };
    // SAFETY: all zeros is an empty header.
    let mut header: libc::msghdr = unsafe { mem::zeroed() };
    if let Some(name) = call.name {
        header.msg_name = name.as_ptr().cast_mut().cast();
        header.msg_namelen = libc::socklen_t::try_from(name.len()).unwrap_or(0);
    }
    header.msg_iov = &raw mut slice;
    header.msg_iovlen = 1;
    header.msg_control = control.as_ptr();
    header.msg_controllen = control.limit(call.control_len);
    // SAFETY: name and data are only read, and only within their lengths; control
    // is memory of `Pointer`, with room for all that Homa writes, or pages.
    let result = unsafe { libc::sendmsg(fd, &raw const header, call.flags | libc::MSG_NOSIGNAL) };
    let result = check_size(result);
    control.finish();
    result
}

/// The arguments of `recvmsg`.
#[derive(Debug)]
pub(crate) struct RecvCall<'a> {
    pub(crate) name: Option<&'a mut Vec<u8>>,
    pub(crate) control: Target<'a>,
    pub(crate) control_len: usize,
    pub(crate) flags: i32,
}

/// What `recvmsg` returned, beside what it wrote to its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecvDone {
    pub(crate) result: Result<usize>,
    pub(crate) name_len: u32,
    pub(crate) control_len: usize,
}

/// Calls `recvmsg`. `name` offers as many bytes as the vector has.
pub(crate) fn recvmsg(fd: RawFd, call: RecvCall<'_>) -> RecvDone {
    let mut control = Pointer::new(call.control);
    // SAFETY: all zeros is an empty header.
    let mut header: libc::msghdr = unsafe { mem::zeroed() };
    if let Some(name) = call.name {
        header.msg_name = name.as_mut_ptr().cast();
        header.msg_namelen = libc::socklen_t::try_from(name.len()).unwrap_or(0);
    }
    header.msg_control = control.as_ptr();
    header.msg_controllen = control.limit(call.control_len);
    // SAFETY: the kernel writes at most `msg_namelen` bytes of the name, which
    // are there; control is memory of `Pointer`, with room for all that Homa
    // writes, or pages. Messages go to pages that were set as receive region.
    let result = unsafe { libc::recvmsg(fd, &raw mut header, call.flags) };
    let result = check_size(result);
    control.finish();
    RecvDone {
        result,
        name_len: header.msg_namelen,
        control_len: header.msg_controllen,
    }
}

/// Calls `send`, which names no destination.
pub(crate) fn send(fd: &impl AsRawFd, bytes: &[u8]) -> Result<usize> {
    // SAFETY: the kernel reads the bytes.
    check_size(unsafe {
        libc::send(
            fd.as_raw_fd(),
            bytes.as_ptr().cast(),
            bytes.len(),
            libc::MSG_NOSIGNAL,
        )
    })
}

/// Calls `read`, which passes no control data.
pub(crate) fn read(fd: &impl AsRawFd) -> Result<usize> {
    let mut bytes = [0_u8; 64];
    // SAFETY: the kernel writes at most the bytes there are.
    check_size(unsafe { libc::read(fd.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len()) })
}

/// Polls for `events`; returns those that hold.
pub(crate) fn poll(fd: &impl AsRawFd, events: i16, timeout: Duration) -> Result<i16> {
    let mut entry = libc::pollfd {
        fd: fd.as_raw_fd(),
        events,
        revents: 0,
    };
    let millis = libc::c_int::try_from(timeout.as_millis()).unwrap_or(libc::c_int::MAX);
    // SAFETY: the kernel reads and writes the one entry.
    check(unsafe { libc::poll(&raw mut entry, 1, millis) })?;
    Ok(entry.revents)
}

/// An epoll instance that watches one descriptor.
#[derive(Debug)]
pub(crate) struct Epoll(OwnedFd);

impl Epoll {
    /// Watches `fd` for `events`.
    pub(crate) fn new(fd: &impl AsRawFd, events: i32) -> Result<Self> {
        // SAFETY: takes no pointers.
        let epoll = check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) }).map(owned)?;
        let mut event = libc::epoll_event {
            events: u32::from_ne_bytes(events.to_ne_bytes()),
            u64: 0,
        };
        // SAFETY: the kernel reads the event.
        check(unsafe {
            libc::epoll_ctl(
                epoll.as_raw_fd(),
                libc::EPOLL_CTL_ADD,
                fd.as_raw_fd(),
                &raw mut event,
            )
        })?;
        Ok(Self(epoll))
    }

    /// The events that hold, 0 after `timeout`.
    pub(crate) fn wait(&self, timeout: Duration) -> Result<i32> {
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        let millis = libc::c_int::try_from(timeout.as_millis()).unwrap_or(libc::c_int::MAX);
        // SAFETY: the kernel writes at most one event.
        check(unsafe { libc::epoll_wait(self.0.as_raw_fd(), &raw mut event, 1, millis) })?;
        let events = event.events;
        Ok(i32::from_ne_bytes(events.to_ne_bytes()))
    }
}

/// A thread, as signals are sent to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thread(libc::pid_t);

impl Thread {
    pub(crate) fn current() -> Self {
        // SAFETY: takes no pointers.
        Self(unsafe { libc::gettid() })
    }

    /// Interrupts what the thread is doing by a signal, once
    /// [`handle_interrupts`] has been called.
    pub(crate) fn interrupt(self) -> Result<()> {
        // SAFETY: takes no pointers; the handler does nothing.
        check(unsafe { libc::tgkill(libc::getpid(), self.0, libc::SIGUSR1) })?;
        Ok(())
    }
}

extern "C" fn do_nothing(_: libc::c_int) {}

/// Makes signals of [`Thread::interrupt`] interrupt system calls and do nothing
/// else.
pub(crate) fn handle_interrupts() -> Result<()> {
    // SAFETY: all zeros is an action without flags: without SA_RESTART above all.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = do_nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler may run at any time, as it does nothing.
    check(unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, ptr::null_mut()) })?;
    Ok(())
}

/// Moves the calling thread into the network namespace that `ip netns` knows by
/// this name.
pub(crate) fn enter_netns(name: &str) -> Result<()> {
    let path = CString::new(format!("/run/netns/{name}")).map_err(|_| Errno::EINVAL)?;
    // SAFETY: the path is a C string.
    let opened = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    let file = check(opened).map(owned)?;
    // SAFETY: takes no pointers.
    check(unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) })?;
    Ok(())
}

/// Moves the calling thread into a new network namespace of its own.
pub(crate) fn new_netns() -> Result<()> {
    // SAFETY: takes no pointers, and only the network namespace changes.
    check(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_keep_bytes_and_ends() {
        let pages = Pages::new(8192).unwrap();
        pages.write(8190, b"abc");
        assert_eq!(pages.read(8189, 10), b"\0ab");
        assert_eq!(pages.read(9000, 10), b"");
        assert_eq!(pages.address() % 4096, 0);
    }

    #[test]
    fn protection_stops_the_kernel() {
        let pages = Pages::read_only(b"x").unwrap();
        let fd = socket(libc::AF_INET, libc::SOCK_DGRAM, 0).unwrap();
        let value = Target::Pages(&pages);
        assert_eq!(
            setsockopt(&fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, value, 4),
            Ok(())
        );
        pages.protect(Protection::None).unwrap();
        let value = Target::Pages(&pages);
        assert_eq!(
            setsockopt(&fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, value, 4),
            Err(Errno::EFAULT)
        );
        pages.protect(Protection::ReadWrite).unwrap();
        assert_eq!(pages.read(0, 1), b"x");
    }

    #[test]
    fn bytes_come_back_changed_and_lengths_are_kept_within_them() {
        let mut bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        let mut pointer = Pointer::new(Target::Bytes(&mut bytes));
        assert_eq!(pointer.limit(1000), 9 + SLACK);
        assert!(!pointer.as_ptr().is_null());
        pointer.copy[1] = u64::from_ne_bytes([42, 0, 0, 0, 0, 0, 0, 0]);
        pointer.finish();
        assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8, 42]);
    }

    #[test]
    fn messages_go_through_udp() {
        let receiver = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let name = getsockname(&receiver).unwrap();
        let fd = socket(libc::AF_INET, libc::SOCK_DGRAM, 0).unwrap();
        let call = SendCall {
            name: Some(&name),
            data: Data::Bytes(b"hello"),
            control: Target::Null,
            control_len: 0,
            flags: 0,
        };
        assert_eq!(sendmsg(fd.as_raw_fd(), call), Ok(5));
        let readable = poll(&receiver, libc::POLLIN, Duration::from_secs(5));
        assert_eq!(readable, Ok(libc::POLLIN));
        let mut from = vec![0; 128];
        let done = recvmsg(
            receiver.as_raw_fd(),
            RecvCall {
                name: Some(&mut from),
                control: Target::Null,
                control_len: 0,
                flags: libc::MSG_DONTWAIT,
            },
        );
        assert_eq!(done.result, Ok(0));
        assert_eq!(done.name_len, 16);
    }

    #[test]
    fn signals_interrupt() {
        handle_interrupts().unwrap();
        let (send, recv) = std::sync::mpsc::channel();
        let sleeper = std::thread::spawn(move || {
            send.send(Thread::current()).unwrap();
            let fd = socket(libc::AF_INET, libc::SOCK_DGRAM, 0).unwrap();
            poll(&fd, libc::POLLIN, Duration::from_secs(20))
        });
        let thread = recv.recv().unwrap();
        while !sleeper.is_finished() {
            thread.interrupt().unwrap();
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(sleeper.join().unwrap(), Err(Errno::EINTR));
    }
}
