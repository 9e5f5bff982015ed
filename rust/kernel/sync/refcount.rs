// SPDX-License-Identifier: GPL-2.0

//! A reference count that behaves as the kernel's `refcount_t` (`include/linux/refcount.h`).
//!
//! The count is an `i32`. While fewer than `i32::MAX` references exist, and each of them is given
//! up once, it is exact and positive. When it would overflow, or is used after it fell to 0, it
//! becomes [`SATURATED`] and stays there in effect: no later `dec_and_test` returns `true`, so
//! that the object leaks, which is safe, instead of being freed while in use, which is not. The
//! kernel warns once.
//!
//! # Why it is sound
//!
//! Let each reference be represented by 1 in the count. A count that never left the exact range
//! falls to 0 only in the `fetch_sub` that gives up the last reference, as the operations on one
//! atomic variable are totally ordered; that call alone returns `true`. Each `fetch_sub` has
//! release ordering, and the last one is followed by an acquire fence. The decrements of the others
//! precede it in the variable's modification order, and read-modify-write operations continue
//! release sequences, so that whatever any holder did to the object happened before what the last
//! one does after its fence. Increments may be relaxed: who increments holds a reference, so that
//! the count can't reach 0 before that reference is given up, by the same thread or by one to
//! which it was passed with synchronization.
//!
//! A count that left the exact range is negative. [`SATURATED`] is half way between 0 and
//! `i32::MIN`, so that it takes 2^30 concurrent operations between one overflowing `fetch_add` and
//! its own store of [`SATURATED`] to come back to 0; there are not as many threads.

use core::sync::atomic::fence;
use core::sync::atomic::AtomicI32;
use core::sync::atomic::Ordering;

/// What the count becomes when it is no longer exact.
const SATURATED: i32 = i32::MIN / 2;

/// A number of references.
pub(crate) struct Refcount(AtomicI32);

impl Refcount {
    /// Makes a count of one reference.
    pub(crate) const fn one() -> Self {
        Self(AtomicI32::new(1))
    }

    /// Adds a reference. The caller holds one.
    #[inline]
    pub(crate) fn inc(&self) {
        let old = self.0.fetch_add(1, Ordering::Relaxed);
        if old <= 0 || old == i32::MAX {
            self.saturate();
        }
    }

    /// Gives up a reference. Returns whether it was the last, which makes the object the caller's.
    #[inline]
    #[must_use]
    pub(crate) fn dec_and_test(&self) -> bool {
        let old = self.0.fetch_sub(1, Ordering::Release);
        if old == 1 {
            fence(Ordering::Acquire);
            return true;
        }
        if old <= 0 {
            self.saturate();
        }
        false
    }

    #[cold]
    fn saturate(&self) {
        self.0.store(SATURATED, Ordering::Relaxed);
        #[cfg(not(hosted))]
        // SAFETY: The function has no requirements.
        unsafe {
            bindings::homa_warn_saturated();
        }
        #[cfg(hosted)]
        crate::pr_warn!("a reference count is saturated; its object leaks\n");
    }
}

#[cfg(test)]
mod tests {
    use super::Refcount;
    use super::SATURATED;
    use core::sync::atomic::Ordering;

    #[test]
    fn counts() {
        let count = Refcount::one();
        count.inc();
        assert!(!count.dec_and_test());
        assert!(count.dec_and_test());
    }

    #[test]
    fn saturates_on_overflow() {
        let log = crate::hosted::capture_log();
        let count = Refcount::one();
        count.0.store(i32::MAX, Ordering::Relaxed);
        count.inc();
        assert_eq!(count.0.load(Ordering::Relaxed), SATURATED);
        assert!(log.take().contains("saturated"));
        assert!(!count.dec_and_test());
        count.inc();
        assert_eq!(count.0.load(Ordering::Relaxed), SATURATED);
    }

    #[test]
    fn saturates_on_use_after_the_last() {
        let _log = crate::hosted::capture_log();
        let count = Refcount::one();
        assert!(count.dec_and_test());
        count.inc();
        assert_eq!(count.0.load(Ordering::Relaxed), SATURATED);

        let count = Refcount::one();
        assert!(count.dec_and_test());
        assert!(!count.dec_and_test());
        assert_eq!(count.0.load(Ordering::Relaxed), SATURATED);
    }
}
