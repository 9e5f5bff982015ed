// SPDX-License-Identifier: GPL-2.0

//! The sockets of a namespace by port: changes take a lock, packet input reads under RCU alone.
//!
//! # Why a reader never strays or meets freed memory
//!
//! A socket has two links. A link is entered by publishing it, complete, in its bucket (release),
//! and removed by pointing its predecessor past it; its own `next` stays, so that a reader that
//! stands on it goes on to the rest of the bucket. It is not entered anywhere again before a grace
//! period has passed: [`SockTable::set_port`] waits for one after a removal and leaves the link
//! marked as in use until then. Sockets themselves are freed a grace period after they were closed
//! (`SOCK_RCU_FREE`), and closing removes them.

use core::marker::PhantomData;
use core::ptr;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering;

use bindings as c;
use kernel::prelude::*;

use crate::errno;
use crate::lock::BhSpinLock;
use crate::lock::LockClass;
use crate::rcu;
use crate::rcu::RcuGuard;
use crate::sock::Sock;
use crate::sock::SockRef;
use crate::Protocol;

const BUCKETS: usize = 1024;

/// Sockets by port.
///
/// # Invariants
///
/// There are `BUCKETS` buckets. Each is the head of a list, linked by `next`, of links whose port belongs to it. A link
/// is in a list exactly if its socket is open and `linked` is set. Lists, and `linked`, `port` and
/// `next` of links in them, are changed only with `lock` held.
pub struct SockTable<P: Protocol> {
    lock: BhSpinLock<Cursor>,
    buckets: KVec<AtomicPtr<c::homa_link>>,
    _protocol: PhantomData<P>,
}

/// Where the search for an unused port begins.
struct Cursor(u16);

impl<P: Protocol> SockTable<P> {
    /// Returns a table without sockets. May sleep.
    pub fn new() -> Result<Self> {
        let mut buckets = KVec::with_capacity(BUCKETS, GFP_KERNEL)?;
        for _ in 0..BUCKETS {
            buckets.push(AtomicPtr::new(ptr::null_mut()), GFP_KERNEL)?;
        }
        Ok(Self {
            lock: BhSpinLock::new(Cursor(0), LockClass::Table),
            buckets,
            _protocol: PhantomData,
        })
    }

    fn bucket(&self, port: u16) -> &AtomicPtr<c::homa_link> {
        // Ports are handed out in sequence, so their low bits spread best.
        let index = usize::from(port) % BUCKETS;
        // SAFETY: There are `BUCKETS` buckets by the type's invariant.
        unsafe { self.buckets.get_unchecked(index) }
    }

    /// Returns the link for `port`. The caller holds the lock or is in an RCU critical section.
    fn find(&self, port: u16) -> Option<ptr::NonNull<c::homa_link>> {
        let mut link = self.bucket(port).load(Ordering::Acquire);
        while let Some(found) = ptr::NonNull::new(link) {
            // SAFETY: The link is, or was when the caller's critical section began, in the list, so
            // its socket is not freed yet; `port` doesn't change before a grace period has passed.
            if unsafe { (*link).port } == port {
                return Some(found);
            }
            // SAFETY: As above; `next` is written as an atomic.
            link = unsafe { AtomicPtr::from_ptr(&raw mut (*link).next) }.load(Ordering::Acquire);
        }
        None
    }

    /// Returns the socket with this port, unless it is about to be freed: its memory would be there
    /// until the critical section ends, but a packet that is sent from it needs more than that.
    pub fn lookup(&self, _rcu: &RcuGuard, port: u16) -> Option<SockRef<P>> {
        let link = self.find(port)?;
        // SAFETY: `sock` doesn't change while the link can be found. The socket is not freed before
        // the critical section ends, and the result is not used beyond this function.
        let sock = unsafe { Sock::<P>::from_raw((*link.as_ptr()).sock.cast()) };
        sock.try_to_ref()
    }

    /// Enters `link` for `port`.
    ///
    /// # Safety
    ///
    /// The lock is held. `link` is one of an open socket `sock`, and in no list; no reader can
    /// stand on it.
    unsafe fn insert(&self, link: *mut c::homa_link, sock: *mut c::homa_sock, port: u16) {
        let bucket = self.bucket(port);
        // SAFETY: The link is ours to write, as the caller says.
        unsafe {
            (*link).sock = sock;
            (*link).port = port;
            (*link).linked = true;
            AtomicPtr::from_ptr(&raw mut (*link).next)
                .store(bucket.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        bucket.store(link, Ordering::Release);
    }

    /// Takes `link` out of its list.
    ///
    /// # Safety
    ///
    /// The lock is held and the link is in a list.
    unsafe fn unlink(&self, link: *mut c::homa_link) {
        // SAFETY: The link is in a list, whose links are all valid while the lock is held.
        unsafe {
            let next = AtomicPtr::from_ptr(&raw mut (*link).next).load(Ordering::Relaxed);
            let mut place = self.bucket((*link).port);
            loop {
                let found = place.load(Ordering::Relaxed);
                if found == link {
                    place.store(next, Ordering::Release);
                    return;
                }
                if found.is_null() {
                    return;
                }
                place = AtomicPtr::from_ptr(&raw mut (*found).next);
            }
        }
    }

    /// Gives `sock` the port `port`, or with `None` an unused one of `range`, instead of what it
    /// had: `EADDRINUSE` if another socket has it, `EADDRNOTAVAIL` if all are used. Returns the
    /// port. May sleep. Calls for one socket must not run at the same time.
    pub fn set_port(
        &self,
        sock: &Sock<P>,
        port: Option<u16>,
        range: core::ops::RangeInclusive<u16>,
    ) -> Result<u16> {
        let raw = sock.as_homa_ptr();
        // SAFETY: The socket is valid. Only this function and `remove` use the links of a socket
        // that is open, and the caller keeps calls apart.
        let [first, second] = unsafe { [&raw mut (*raw).links[0], &raw mut (*raw).links[1]] };
        let old;
        let port = {
            let mut cursor = self.lock.lock();
            // SAFETY: As above, and the lock is held.
            let (new, current) = unsafe {
                if (*first).linked {
                    (second, Some(first))
                } else {
                    (first, (*second).linked.then_some(second))
                }
            };
            let port = match port {
                Some(port) => {
                    if let Some(owner) = self.find(port) {
                        return if Some(owner.as_ptr()) == current {
                            Ok(port)
                        } else {
                            Err(errno::EADDRINUSE.into())
                        };
                    }
                    port
                }
                None => self
                    .unused(&mut cursor, range)
                    .ok_or(errno::EADDRNOTAVAIL)?,
            };
            // SAFETY: The lock is held. `new` is not linked: either it never was, or the grace
            // period after its removal has passed (below).
            unsafe { self.insert(new, raw, port) };
            if let Some(current) = current {
                // SAFETY: The lock is held and the link is in a list.
                unsafe { self.unlink(current) };
            }
            old = current;
            port
        };
        if let Some(old) = old {
            rcu::synchronize();
            let _guard = self.lock.lock();
            // SAFETY: The lock is held; no reader stands on the link any more.
            unsafe { (*old).linked = false };
        }
        Ok(port)
    }

    fn unused(&self, cursor: &mut Cursor, range: core::ops::RangeInclusive<u16>) -> Option<u16> {
        let (low, high) = (*range.start(), *range.end());
        let mut port = if range.contains(&cursor.0) {
            cursor.0
        } else {
            low
        };
        for _ in low..=high {
            let next = if port == high {
                low
            } else {
                port.wrapping_add(1)
            };
            if self.find(port).is_none() {
                cursor.0 = next;
                return Some(port);
            }
            port = next;
        }
        None
    }

    /// Takes `sock` out of the table for good: the port is free at once.
    pub fn remove(&self, sock: &Sock<P>) {
        let raw = sock.as_homa_ptr();
        let _guard = self.lock.lock();
        // SAFETY: The socket is valid and the lock is held. A link that is removed already but
        // still marked is in no list; `unlink` leaves the list alone then.
        unsafe {
            for link in [&raw mut (*raw).links[0], &raw mut (*raw).links[1]] {
                if (*link).linked {
                    self.unlink(link);
                    (*link).linked = false;
                }
            }
        }
    }
}
