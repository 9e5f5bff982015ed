// SPDX-License-Identifier: GPL-2.0

//! What only the hosted face has: an allocator that can be told to fail and that counts, and a log
//! that can be captured.
//!
//! All of it is per thread, so that tests which run side by side do not disturb each other.
//!
//! # Examples
//!
//! ```
//! use kernel::hosted;
//! use kernel::prelude::*;
//!
//! let before = hosted::stats();
//! {
//!     let _faults = hosted::fail_after(1);
//!     assert!(KBox::new(1, GFP_KERNEL).is_ok());
//!     assert!(KBox::new(2, GFP_KERNEL).is_err());
//! }
//! assert_eq!(hosted::stats().live, before.live);
//! ```

extern crate std;

use core::cell::Cell;
use core::cell::RefCell;
use core::ffi::CStr;
use core::fmt;
use core::marker::PhantomData;
use std::string::String;
use std::thread_local;

use crate::print::Level;

/// What the allocator has done on this thread, and what it is told to do.
#[derive(Clone, Copy)]
struct State {
    stats: Stats,
    faults: Faults,
    /// Allocations refused because of `faults`.
    refused: usize,
}

/// Which of the coming allocations fail. Counts down.
#[derive(Clone, Copy)]
enum Faults {
    None,
    /// All, after so many more.
    After(usize),
    /// One, after so many more.
    Once(usize),
}

/// Numbers of the current thread. Memory that is freed by another thread than the one that
/// allocated it counts in both, so that `live` and `live_bytes` may be negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stats {
    /// Successful allocations and resizings since the thread began.
    pub allocations: usize,
    /// Allocations that were not freed yet.
    pub live: isize,
    /// Bytes that were not freed yet.
    pub live_bytes: isize,
}

thread_local! {
    static STATE: Cell<State> = const {
        Cell::new(State {
            stats: Stats {
                allocations: 0,
                live: 0,
                live_bytes: 0,
            },
            faults: Faults::None,
            refused: 0,
        })
    };
    static LOG: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Returns the numbers of the current thread.
pub fn stats() -> Stats {
    STATE.get().stats
}

/// Makes allocations on this thread fail until dropped. A guard that is made while another is
/// alive replaces it until it is dropped itself.
#[must_use = "allocations fail only as long as this is alive"]
pub struct FaultGuard {
    previous: Faults,
    refused_before: usize,
    // The guard belongs to the thread that it was made on.
    _not_send: PhantomData<*const ()>,
}

impl FaultGuard {
    fn new(faults: Faults) -> Self {
        let mut state = STATE.get();
        let guard = Self {
            previous: state.faults,
            refused_before: state.refused,
            _not_send: PhantomData,
        };
        state.faults = faults;
        STATE.set(state);
        guard
    }

    /// Returns how many allocations were refused since this guard was made.
    pub fn refused(&self) -> usize {
        STATE.get().refused.wrapping_sub(self.refused_before)
    }
}

impl Drop for FaultGuard {
    fn drop(&mut self) {
        let mut state = STATE.get();
        state.faults = self.previous;
        STATE.set(state);
    }
}

/// Lets the next `n` allocations on this thread succeed and all later ones fail.
pub fn fail_after(n: usize) -> FaultGuard {
    FaultGuard::new(Faults::After(n))
}

/// Lets the next `n` allocations on this thread succeed, the one after them fail, and all later
/// ones succeed.
pub fn fail_once_after(n: usize) -> FaultGuard {
    FaultGuard::new(Faults::Once(n))
}

/// Runs `f` again and again: without its first allocation, without its second, and so on, until a
/// run needed no allocation that failed. Returns the number of runs in which one failed.
///
/// Each run must leave as much memory allocated as there was before: `f` drops what it makes.
///
/// # Panics
///
/// When a run leaks memory, or when a run without any failed allocation returns an error.
pub fn sweep<E: fmt::Debug>(mut f: impl FnMut() -> Result<(), E>) -> usize {
    let mut n = 0;
    loop {
        let before = stats();
        let faults = fail_once_after(n);
        let result = f();
        let refused = faults.refused();
        drop(faults);
        let after = stats();
        assert_eq!(
            (after.live, after.live_bytes),
            (before.live, before.live_bytes),
            "memory leaked when allocation {n} failed (with the result {result:?})"
        );
        if refused == 0 {
            assert!(
                result.is_ok(),
                "failed though no allocation did: {result:?}"
            );
            return n;
        }
        n += 1;
    }
}

/// Checks that no memory is left over.
///
/// # Examples
///
/// ```
/// use kernel::prelude::*;
///
/// let leaks = kernel::hosted::LeakCheck::new();
/// let v = KVec::from_elem(0_u8, 10, GFP_KERNEL)?;
/// drop(v);
/// leaks.assert_none();
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct LeakCheck(Stats);

impl LeakCheck {
    /// Notes what is allocated now on this thread.
    #[expect(
        clippy::new_without_default,
        reason = "a default would hide that the moment of the call matters"
    )]
    pub fn new() -> Self {
        Self(stats())
    }

    /// Checks that as much is allocated as when this was made.
    ///
    /// # Panics
    ///
    /// When it is more or less.
    pub fn assert_none(self) {
        let now = stats();
        assert_eq!(
            (now.live, now.live_bytes),
            (self.0.live, self.0.live_bytes),
            "memory leaked: (allocations, bytes) now and before"
        );
    }
}

/// Collects what this thread logs, instead of writing it to the standard error output.
///
/// # Examples
///
/// ```
/// use kernel::prelude::*;
/// const __LOG_PREFIX: &[u8] = b"homa\0";
///
/// # fn main() {
/// let log = kernel::hosted::capture_log();
/// pr_info!("loaded\n");
/// assert_eq!(log.take(), "info homa: loaded\n");
/// # }
/// ```
#[must_use = "the log is captured only as long as this is alive"]
pub struct LogCapture {
    previous: Option<String>,
    // The capture belongs to the thread that it was made on.
    _not_send: PhantomData<*const ()>,
}

/// Begins to capture this thread's log.
pub fn capture_log() -> LogCapture {
    LogCapture {
        previous: LOG.replace(Some(String::new())),
        _not_send: PhantomData,
    }
}

impl LogCapture {
    /// Returns what was logged since the capture began or since the last call.
    pub fn take(&self) -> String {
        LOG.with_borrow_mut(|log| log.as_mut().map(core::mem::take))
            .unwrap_or_default()
    }
}

impl Drop for LogCapture {
    fn drop(&mut self) {
        LOG.set(self.previous.take());
    }
}

/// Writes one message to the log of this thread, as `level prefix: text`.
pub(crate) fn log(level: Level, prefix: &CStr, text: &str) {
    let level = std::format!("{level:?}").to_lowercase();
    let prefix = prefix.to_string_lossy();
    let line = std::format!("{level} {prefix}: {text}");
    LOG.with_borrow_mut(|log| match log {
        Some(log) => log.push_str(&line),
        None => std::eprint!("{line}"),
    });
}

/// The values of the allocation flags. Only their being distinct bits matters here.
pub(crate) mod gfp {
    pub(crate) const HOMA_GFP_KERNEL: u32 = 1;
    pub(crate) const HOMA_GFP_KERNEL_ACCOUNT: u32 = HOMA_GFP_KERNEL | 2;
    pub(crate) const HOMA_GFP_ATOMIC: u32 = 4;
    pub(crate) const HOMA_GFP_NOWAIT: u32 = 8;
    pub(crate) const HOMA_GFP_ZERO: u32 = 16;
    pub(crate) const HOMA_GFP_NOWARN: u32 = 32;
}

/// The allocator: std's, with faults and numbers.
pub(crate) mod backend {
    use core::alloc::Layout;
    use core::ptr;

    use super::std::alloc;
    use super::Faults;
    use super::STATE;
    use crate::alloc::allocator::Kind;
    use crate::alloc::flags::__GFP_ZERO;
    use crate::alloc::Flags;

    /// `KMALLOC_MAX_SIZE` of x86-64: what asks for more fails here as it does in the kernel.
    const KMALLOC_MAX_SIZE: usize = 4 << 20;

    /// What new memory holds unless it is to be zeroed, so that nobody relies on zeros.
    const POISON: u8 = 0xa5;

    /// Counts down the faults; returns whether this allocation is one.
    fn is_refused() -> bool {
        let mut state = STATE.get();
        let (refused, faults) = match state.faults {
            Faults::None => (false, Faults::None),
            Faults::After(0) => (true, Faults::After(0)),
            Faults::After(n) => (false, Faults::After(n - 1)),
            Faults::Once(0) => (true, Faults::None),
            Faults::Once(n) => (false, Faults::Once(n - 1)),
        };
        state.faults = faults;
        state.refused += usize::from(refused);
        STATE.set(state);
        refused
    }

    /// Counts an allocation (if not `layout` is freed).
    fn count(layout: Layout, freed: bool) {
        let mut state = STATE.get();
        // The size of a layout is at most `isize::MAX`.
        let bytes = isize::try_from(layout.size()).unwrap_or(isize::MAX);
        let numbers = &mut state.stats;
        if freed {
            numbers.live -= 1;
            numbers.live_bytes -= bytes;
        } else {
            numbers.allocations += 1;
            numbers.live += 1;
            numbers.live_bytes += bytes;
        }
        STATE.set(state);
    }

    /// Allocates, or resizes `ptr` when `old` is given. Returns null on failure.
    ///
    /// # Safety
    ///
    /// If `old` is given, `ptr` was returned by this function for `kind` and the layout `old`.
    /// `new` is not of size 0.
    pub(crate) unsafe fn realloc(
        kind: Kind,
        ptr: *mut u8,
        old: Option<Layout>,
        new: Layout,
        flags: Flags,
    ) -> *mut u8 {
        let too_large = kind == Kind::Kmalloc && new.size() > KMALLOC_MAX_SIZE;
        if too_large || is_refused() {
            return ptr::null_mut();
        }
        let (new_ptr, kept) = match old {
            // SAFETY: The caller guarantees that the size is not 0.
            None => (unsafe { alloc::alloc(new) }, 0),
            Some(old) => (
                // SAFETY: The caller guarantees that `ptr` was allocated with `old`, and that the
                // new size is not 0; as the size of a layout it does not overflow when rounded up.
                unsafe { alloc::realloc(ptr, old, new.size()) },
                old.size(),
            ),
        };
        if new_ptr.is_null() {
            return new_ptr;
        }
        if let Some(old) = old {
            count(old, true);
        }
        count(new, false);
        if let Some(fresh) = new.size().checked_sub(kept) {
            let fill = if flags.contains(__GFP_ZERO) {
                0
            } else {
                POISON
            };
            // SAFETY: The memory is `kept + fresh` bytes long.
            unsafe { ptr::write_bytes(new_ptr.add(kept), fill, fresh) };
        }
        new_ptr
    }

    /// Frees `ptr`.
    ///
    /// # Safety
    ///
    /// `ptr` was returned by [`realloc`] for `layout` and is not used any more.
    pub(crate) unsafe fn free(_kind: Kind, ptr: *mut u8, layout: Layout) {
        count(layout, true);
        // SAFETY: The caller guarantees that `ptr` was allocated with `layout`.
        unsafe { alloc::dealloc(ptr, layout) };
    }
}
