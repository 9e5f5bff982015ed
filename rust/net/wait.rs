// SPDX-License-Identifier: GPL-2.0

//! Waiting on a socket, in process context.

use core::mem::MaybeUninit;

use bindings as c;
use kernel::prelude::*;

use crate::sock::Sock;
use crate::Protocol;

/// What a thread waits to do, which decides the time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Receive: `SO_RCVTIMEO`.
    Receive,
    /// Send: `SO_SNDTIMEO`.
    Send,
}

extern "C" {
    fn schedule_timeout(timeout: core::ffi::c_long) -> core::ffi::c_long;
}

/// An entry in a socket's wait queue.
///
/// # Invariants
///
/// `entry` was initialised, for the current thread, which is the one that drops the value.
struct Entry<'a, P: Protocol> {
    sock: &'a Sock<P>,
    entry: *mut c::wait_queue_entry,
}

impl<P: Protocol> Drop for Entry<'_, P> {
    fn drop(&mut self) {
        // SAFETY: The entry is initialised; after this the queue has no pointer to it.
        unsafe { c::homa_wait_finish(self.sock.as_ptr(), self.entry) };
    }
}

/// Waits until `ready` returns something, and returns it. Each wake-up wakes one waiting thread.
///
/// `EAGAIN` if that is not at once and `nonblocking` says not to wait, or the socket's time limit
/// passes; `EINTR` (or a restart of the system call) when a signal comes.
pub fn wait_for<P: Protocol, T>(
    sock: &Sock<P>,
    direction: Direction,
    nonblocking: bool,
    mut ready: impl FnMut() -> Option<T>,
) -> Result<T> {
    if let Some(value) = ready() {
        return Ok(value);
    }
    // SAFETY: The socket is valid.
    let mut left = unsafe {
        match direction {
            Direction::Receive => c::homa_sock_rcvtimeo(sock.as_ptr(), nonblocking),
            Direction::Send => c::homa_sock_sndtimeo(sock.as_ptr(), nonblocking),
        }
    };
    if left == 0 {
        return Err(EAGAIN);
    }
    let mut memory = MaybeUninit::<c::wait_queue_entry>::uninit();
    // SAFETY: The pointer is to memory for an entry, which outlives `entry` and is not moved.
    unsafe { c::homa_wait_init(memory.as_mut_ptr()) };
    // INVARIANT: The entry was initialised just now.
    let entry = Entry {
        sock,
        entry: memory.as_mut_ptr(),
    };
    loop {
        // SAFETY: The entry is initialised, and taken out of the queue before its memory goes. The
        // system call keeps the socket's file open, so the wait queue is there.
        unsafe { c::homa_wait_prepare(sock.as_ptr(), entry.entry) };
        // After entering the queue: what becomes ready from here on wakes us. Before looking at
        // signals: whoever was woken takes what there is, or a wake-up would be lost.
        if let Some(value) = ready() {
            return Ok(value);
        }
        if left == 0 {
            return Err(EAGAIN);
        }
        // SAFETY: Process context.
        if unsafe { c::homa_signal_pending() } {
            // SAFETY: A function of its argument.
            return Err(Error::from_errno(unsafe { c::homa_sock_intr_errno(left) }));
        }
        // SAFETY: Process context, and no lock is held: `ready` has returned.
        left = unsafe { schedule_timeout(left) };
    }
}
