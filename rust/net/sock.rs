// SPDX-License-Identifier: GPL-2.0

//! Sockets.

use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr::NonNull;

use bindings as c;

use crate::protocol::namespace_of;
use crate::Protocol;

/// A socket of protocol `P`. Dereferences to the protocol's own state of it.
///
/// # Invariants
///
/// A `&Sock<P>` is a valid `struct homa_sock` whose `state` points to a `P::Socket`, made when the
/// socket was opened and dropped when its last reference is gone.
#[repr(transparent)]
pub struct Sock<P: Protocol> {
    raw: core::cell::UnsafeCell<c::homa_sock>,
    _protocol: PhantomData<P>,
}

// SAFETY: The methods are the kernel's own for concurrent use, and the state is `Sync`.
unsafe impl<P: Protocol> Sync for Sock<P> {}

// SAFETY: As above; a socket may be used and freed on any CPU.
unsafe impl<P: Protocol> Send for Sock<P> {}

impl<P: Protocol> Sock<P> {
    /// # Safety
    ///
    /// `sk` is a Homa socket whose state is set, and stays valid for `'a`.
    pub(crate) unsafe fn from_raw<'a>(sk: *mut c::sock) -> &'a Self {
        // SAFETY: As the caller says; `Sock` is transparent over `homa_sock`, which begins with
        // the `sock`.
        unsafe { &*sk.cast::<Self>() }
    }

    pub(crate) fn as_ptr(&self) -> *mut c::sock {
        self.raw.get().cast()
    }

    pub(crate) fn as_homa_ptr(&self) -> *mut c::homa_sock {
        self.raw.get()
    }

    /// Returns the protocol's state of the socket's namespace.
    pub fn namespace(&self) -> &P::Namespace {
        // SAFETY: A socket keeps its namespace alive, whose state was made before any socket and
        // is dropped after all.
        unsafe { namespace_of::<P>(c::homa_sock_net(self.as_ptr())) }
    }

    /// Returns another reference to the socket.
    pub fn to_ref(&self) -> SockRef<P> {
        // SAFETY: The socket is valid.
        unsafe { c::homa_sock_hold(self.as_ptr()) };
        // INVARIANT: The reference taken above.
        SockRef(NonNull::from(self))
    }

    /// Returns another reference, unless the socket is being freed.
    pub fn try_to_ref(&self) -> Option<SockRef<P>> {
        // SAFETY: The socket is valid memory.
        if !unsafe { c::homa_sock_try_hold(self.as_ptr()) } {
            return None;
        }
        // INVARIANT: The reference taken above.
        Some(SockRef(NonNull::from(self)))
    }

    /// Returns whether addresses have the form of IPv6 (socket family `AF_INET6`).
    pub fn is_ipv6(&self) -> bool {
        // SAFETY: The socket is valid.
        unsafe { c::homa_sock_is_ipv6(self.as_ptr()) }
    }

    /// Returns whether the socket deals with IPv6 addresses only (`IPV6_V6ONLY`).
    pub fn is_v6only(&self) -> bool {
        // SAFETY: The socket is valid.
        unsafe { c::homa_sock_is_v6only(self.as_ptr()) }
    }

    /// Sets the port that `getsockname` gives.
    pub fn set_port(&self, port: u16) {
        // SAFETY: The socket is valid.
        unsafe { c::homa_sock_set_port(self.as_ptr(), port) };
    }

    /// Returns the port that [`Sock::set_port`] set.
    pub fn port(&self) -> u16 {
        // SAFETY: The socket is valid.
        unsafe { c::homa_sock_port(self.as_ptr()) }
    }

    /// Returns `SO_SNDBUF`: how many bytes of outgoing messages the socket may hold.
    pub fn send_buffer(&self) -> usize {
        // SAFETY: The socket is valid.
        usize::try_from(unsafe { c::homa_sock_sndbuf(self.as_ptr()) }).unwrap_or(0)
    }

    /// Sets what [`Sock::send_buffer`] returns until a program sets it.
    pub fn set_send_buffer(&self, bytes: i32) {
        // SAFETY: The socket is valid.
        unsafe { c::homa_sock_set_sndbuf(self.as_ptr(), bytes) };
    }

    /// Wakes one thread that waits to receive, and whoever polls for it.
    pub fn wake_reader(&self) {
        // SAFETY: The socket is valid.
        unsafe { c::homa_sock_data_ready(self.as_ptr()) };
    }

    /// Wakes those that wait to send or poll for it.
    pub fn wake_writers(&self) {
        // SAFETY: The socket is valid.
        unsafe { c::homa_sock_write_space(self.as_ptr()) };
    }

    /// Wakes all that wait for anything on this socket.
    pub fn wake_all(&self) {
        // SAFETY: The socket is valid.
        unsafe { c::homa_sock_state_change(self.as_ptr()) };
    }

    /// Has [`Protocol::timer`] called at `deadline` (monotonic clock, nanoseconds), instead of when
    /// it was to be called before.
    pub fn start_timer(&self, deadline: u64) {
        // SAFETY: The socket is valid, and its timer was set up with it. It is cancelled before the
        // socket is freed.
        unsafe { c::homa_sock_timer_start(self.as_ptr(), deadline) };
    }
}

impl<P: Protocol> Deref for Sock<P> {
    type Target = P::Socket;

    fn deref(&self) -> &P::Socket {
        // SAFETY: `state` is set and valid by the type's invariant, and written only before and
        // after there are references of this type.
        unsafe { &*(*self.raw.get()).state.cast::<P::Socket>() }
    }
}

/// A counted reference to a socket.
///
/// # Invariants
///
/// The value owns one reference.
pub struct SockRef<P: Protocol>(NonNull<Sock<P>>);

// SAFETY: References are counted atomically, and `Sock` may be shared.
unsafe impl<P: Protocol> Send for SockRef<P> {}

// SAFETY: As above.
unsafe impl<P: Protocol> Sync for SockRef<P> {}

impl<P: Protocol> Deref for SockRef<P> {
    type Target = Sock<P>;

    fn deref(&self) -> &Sock<P> {
        // SAFETY: The reference keeps the socket valid.
        unsafe { self.0.as_ref() }
    }
}

impl<P: Protocol> Drop for SockRef<P> {
    fn drop(&mut self) {
        let sk = self.as_ptr();
        // SAFETY: The reference is ours, and `self` is not used again.
        unsafe { c::homa_sock_put(sk) };
    }
}
