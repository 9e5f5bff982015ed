// SPDX-License-Identifier: GPL-2.0

//! What Homa relies on of the `kernel` crate, as tests that run on all three faces of it: genuine,
//! stand-in and hosted.
//!
//! On the build host `cargo test -p kernel` runs them. In a kernel the module runs them when it is
//! loaded, if it was built with `cfg(contract_test)`: it includes this file as a module and calls
//! [`run`], which logs a line of TAP for each test. They use safe code only, and of the `kernel`
//! crate only what `src/` may use; what needs `unsafe`, or an allocator that fails on demand, is
//! tested in `rust/kernel/tests/`.

use kernel::prelude::*;

/// Ends the test with an error, which names the place, unless the condition holds.
macro_rules! check {
    ($condition:expr) => {
        if !$condition {
            pr_err!(
                "{}:{}: not so: {}\n",
                file!(),
                line!(),
                stringify!($condition)
            );
            return Err(EINVAL);
        }
    };
}

mod arc;
mod error;
mod flags;
mod kbox;
mod kvec;
mod log;
mod tracked;

/// A test with its name.
pub(crate) type Test = (&'static str, fn() -> Result);

/// Names each function of a module, for the list of its tests.
macro_rules! tests {
    ($module:ident: $($test:ident)*) => {
        &[$((concat!(stringify!($module), "::", stringify!($test)), $module::$test)),*]
    };
}

/// All tests, by module.
pub(crate) const GROUPS: &[&[Test]] = &[
    tests!(error: codes conversions out_of_range results c_results equality),
    tests!(flags: operators),
    tests!(kbox: value drops replaced uninitialized pinned without_size aligned too_large formatted),
    tests!(kvec: empty push_pop grows within_capacity insert remove truncate retain drain_all
        into_iter collect clones resize reserve overflow too_large large without_size aligned
        from_box literals slices comparisons),
    tests!(arc: shared drops borrowed formatted),
    tests!(log: levels formatted long),
];

/// Runs all tests and logs a line of TAP for each.
///
/// # Errors
///
/// `EINVAL` when a test failed.
pub(crate) fn run() -> Result {
    let count: usize = GROUPS.iter().map(|group| group.len()).sum();
    pr_info!("TAP version 13\n");
    pr_info!("1..{}\n", count);
    let mut result = Ok(());
    for (i, (name, test)) in GROUPS.iter().copied().flatten().enumerate() {
        let number = i.saturating_add(1);
        match test() {
            Ok(()) => pr_info!("ok {} {}\n", number, *name),
            Err(error) => {
                pr_info!("not ok {} {} # {:?}\n", number, *name, error);
                result = Err(EINVAL);
            }
        }
    }
    result
}
