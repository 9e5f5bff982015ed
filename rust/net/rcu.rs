// SPDX-License-Identifier: GPL-2.0

//! RCU read-side critical sections.

use core::marker::PhantomData;

use bindings as c;

/// An RCU read-side critical section, from construction until drop. Nothing in it may sleep.
///
/// # Invariants
///
/// `rcu_read_lock` was called once for each value that exists.
pub struct RcuGuard(PhantomData<*mut ()>);

impl RcuGuard {
    /// Begins a critical section.
    pub fn new() -> Self {
        // SAFETY: May be called in any context; `drop` is the other half.
        unsafe { c::homa_rcu_read_lock() };
        Self(PhantomData)
    }
}

impl Default for RcuGuard {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for RcuGuard {
    fn drop(&mut self) {
        // SAFETY: `new` called `rcu_read_lock` once for this value.
        unsafe { c::homa_rcu_read_unlock() };
    }
}

/// Waits until every critical section that exists now has ended. May sleep.
pub fn synchronize() {
    // SAFETY: No guard is held across a call that may sleep, by the contract of `RcuGuard`.
    unsafe { c::homa_synchronize_rcu() };
}
