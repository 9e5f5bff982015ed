// SPDX-License-Identifier: GPL-2.0

//! A spinlock that process context and softirq context share.
//!
//! The `kernel` crate's `SpinLock` leaves softirqs enabled, so that a softirq which interrupts a
//! holder on the same CPU spins for ever. This one disables them while it is held.

use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Deref;
use core::ops::DerefMut;

use bindings as c;

/// Place of a lock in the lock order, outermost first. A lock is taken only while locks of earlier
/// classes are held; no two of one class are held together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockClass {
    /// Tables of a namespace.
    Table,
    /// A shard of RPCs.
    Shard,
    /// Everything that is held for a few instructions only.
    Leaf,
}

impl LockClass {
    fn raw(self) -> u32 {
        match self {
            Self::Table => c::homa_lock_class_HOMA_LOCK_TABLE,
            Self::Shard => c::homa_lock_class_HOMA_LOCK_SHARD,
            Self::Leaf => c::homa_lock_class_HOMA_LOCK_LEAF,
        }
    }
}

/// A value behind a spinlock that disables softirqs.
///
/// # Invariants
///
/// `lock` is an initialised `spinlock_t`. While nobody holds or waits for it, it contains no
/// address of itself on any configuration (with lockdep it points to its class only), so the value
/// may be moved for as long as it is not shared; sharing needs a reference, which forbids moving.
pub struct BhSpinLock<T> {
    lock: UnsafeCell<c::spinlock_t>,
    value: UnsafeCell<T>,
}

// SAFETY: The lock gives one holder at a time access to `value`, which may be sent between CPUs.
unsafe impl<T: Send> Send for BhSpinLock<T> {}

// SAFETY: As above; `&T` is only had through the guard.
unsafe impl<T: Send> Sync for BhSpinLock<T> {}

impl<T> BhSpinLock<T> {
    /// Returns a lock around `value` which takes `class` in the lock order.
    pub fn new(value: T, class: LockClass) -> Self {
        let mut lock = MaybeUninit::<c::spinlock_t>::uninit();
        // SAFETY: The pointer is to memory for a spinlock; the function initialises all of it. The
        // class is one of those the helper has keys for.
        let lock = unsafe {
            c::homa_spin_lock_init(lock.as_mut_ptr(), class.raw());
            lock.assume_init()
        };
        Self {
            lock: UnsafeCell::new(lock),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits for the lock and takes it.
    pub fn lock(&self) -> BhGuard<'_, T> {
        // SAFETY: The lock is initialised by the type's invariant.
        unsafe { c::homa_spin_lock_bh(self.lock.get()) };
        BhGuard {
            owner: self,
            _not_send: PhantomData,
        }
    }

    /// Returns the value without locking: nobody else can have a reference.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

/// Access to the value of a [`BhSpinLock`]; unlocks when dropped.
///
/// # Invariants
///
/// `owner`'s lock is held, by this CPU.
#[must_use = "the lock is released at once when the guard is not kept"]
pub struct BhGuard<'a, T> {
    owner: &'a BhSpinLock<T>,
    _not_send: PhantomData<*mut ()>,
}

impl<T> Deref for BhGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: The lock is held, so nobody else has access to the value.
        unsafe { &*self.owner.value.get() }
    }
}

impl<T> DerefMut for BhGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: The lock is held, so nobody else has access to the value.
        unsafe { &mut *self.owner.value.get() }
    }
}

impl<T> Drop for BhGuard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: The lock is held by the type's invariant.
        unsafe { c::homa_spin_unlock_bh(self.owner.lock.get()) };
    }
}
