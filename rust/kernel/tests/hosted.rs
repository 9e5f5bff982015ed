// SPDX-License-Identifier: GPL-2.0

//! What only the hosted face has: faults, numbers, and the log; and what it shares with the
//! stand-in only: how lines are cut.

use kernel::alloc::AllocError;
use kernel::hosted;
use kernel::prelude::*;

/// Begins the lines that the tests log.
const __LOG_PREFIX: &[u8] = b"test\0";

#[test]
fn faults_begin_and_end() {
    let works = || KBox::new(0, GFP_KERNEL).is_ok();
    let faults = hosted::fail_after(2);
    assert_eq!(
        [works(), works(), works(), works()],
        [true, true, false, false]
    );
    assert_eq!(faults.refused(), 2);
    {
        let inner = hosted::fail_once_after(1);
        assert_eq!([works(), works(), works()], [true, false, true]);
        assert_eq!(inner.refused(), 1);
    }
    assert!(!works());
    drop(faults);
    assert!(works());
}

#[test]
fn each_fallible_method_reports_failure() -> Result {
    let value = [1_u8, 2, 3];
    let mut vec = KVec::from_elem(7_u8, 3, GFP_KERNEL)?;
    let full = vec.capacity() - vec.len();
    vec.extend_with(full, 7, GFP_KERNEL)?;
    let before = vec.len();

    let _faults = hosted::fail_after(0);
    assert_eq!(KBox::new(1, GFP_KERNEL).err(), Some(AllocError));
    assert!(KBox::<u8>::new_uninit(GFP_KERNEL).is_err());
    assert!(KBox::pin(1, GFP_KERNEL).is_err());
    assert!(KVBox::new(1, GFP_KERNEL).is_err());
    assert!(kernel::sync::Arc::new(1, GFP_KERNEL).is_err());
    assert!(KVec::<u8>::with_capacity(1, GFP_KERNEL).is_err());
    assert!(KVVec::<u8>::with_capacity(1, GFP_KERNEL).is_err());
    assert!(KVec::from_elem(1, 1, GFP_KERNEL).is_err());
    assert!(kernel::kvec![1, 2].is_err());
    assert!(kernel::kvec![1; 2].is_err());
    assert!(vec.push(1, GFP_KERNEL).is_err());
    assert!(vec.reserve(1, GFP_KERNEL).is_err());
    assert!(vec.resize(before + 1, 1, GFP_KERNEL).is_err());
    assert!(vec.extend_with(1, 1, GFP_KERNEL).is_err());
    assert!(vec.extend_from_slice(&value, GFP_KERNEL).is_err());
    assert_eq!(vec.len(), before);
    assert!(vec.iter().all(|&byte| byte == 7));
    assert_eq!(Error::from(AllocError), ENOMEM);
    Ok(())
}

#[test]
fn a_vector_that_cannot_shrink_stays_whole() -> Result {
    let mut iter = kernel::kvec![1, 2, 3]?.into_iter();
    iter.next();
    let _faults = hosted::fail_after(0);
    assert_eq!(iter.collect(GFP_KERNEL), [2, 3]);
    Ok(())
}

#[test]
fn numbers() -> Result {
    let before = hosted::stats();
    let mut vec = KVec::with_capacity(10, GFP_KERNEL)?;
    vec.push(1_u32, GFP_KERNEL)?;
    let now = hosted::stats();
    assert_eq!(now.allocations, before.allocations + 1);
    assert_eq!(now.live, before.live + 1);
    assert_eq!(now.live_bytes, before.live_bytes + 40);
    vec.reserve(100, GFP_KERNEL)?;
    let now = hosted::stats();
    assert_eq!(now.allocations, before.allocations + 2);
    assert_eq!(now.live, before.live + 1);
    drop(vec);
    assert_eq!(hosted::stats().live_bytes, before.live_bytes);
    Ok(())
}

#[test]
#[should_panic(expected = "memory leaked")]
fn leaks_are_found() {
    let leaks = hosted::LeakCheck::new();
    let _kept = KBox::new(1, GFP_KERNEL);
    leaks.assert_none();
}

#[test]
fn sweep_counts_allocations() {
    let failures = hosted::sweep(|| {
        let first = KBox::new(1, GFP_KERNEL)?;
        let mut vec = KVec::new();
        vec.push(first, GFP_KERNEL)?;
        vec.push(KBox::new(2, GFP_KERNEL)?, GFP_KERNEL)
    });
    assert_eq!(failures, 4);
}

#[test]
#[should_panic(expected = "memory leaked when allocation 1 failed")]
fn sweep_finds_leaks() {
    let mut kept = None;
    hosted::sweep(|| {
        kept = Some(KBox::new(1, GFP_KERNEL)?);
        drop(KBox::new(2, GFP_KERNEL)?);
        kept = None;
        Ok::<(), AllocError>(())
    });
}

#[test]
fn memory_is_zeroed_only_on_demand() -> Result {
    let filled = |flags: kernel::alloc::Flags| -> Result<[u8; 2]> {
        let mut vec = KVec::<u8>::with_capacity(8, flags)?;
        let first = vec.spare_capacity_mut()[0].as_mut_ptr();
        // SAFETY: The hosted allocator fills what it gives.
        let first = unsafe { first.read() };
        vec.resize(8, 1, flags)?;
        vec.reserve(8, flags)?;
        let grown = vec.spare_capacity_mut()[0].as_mut_ptr();
        // SAFETY: The hosted allocator fills what it gives.
        Ok([first, unsafe { grown.read() }])
    };
    assert_eq!(filled(GFP_KERNEL | __GFP_ZERO)?, [0, 0]);
    let dirty = filled(GFP_KERNEL)?;
    assert!(dirty[0] != 0 && dirty[1] != 0);
    Ok(())
}

#[test]
fn log_lines_have_level_and_prefix() {
    let log = hosted::capture_log();
    pr_emerg!("a\n");
    pr_alert!("b\n");
    pr_crit!("c\n");
    pr_err!("d\n");
    pr_warn!("e\n");
    pr_notice!("f\n");
    pr_info!("g {}\n", 1);
    pr_debug!("h\n");
    assert_eq!(
        log.take(),
        "emerg test: a\nalert test: b\ncrit test: c\nerr test: d\nwarning test: e\n\
         notice test: f\ninfo test: g 1\ndebug test: h\n"
    );
    assert_eq!(log.take(), "");
}

#[test]
fn long_lines_are_cut_and_say_so() {
    let line = |len: usize| {
        let log = hosted::capture_log();
        pr_info!("{}\n", "x".repeat(len));
        log.take()
    };
    assert_eq!(line(200), format!("info test: {}\n", "x".repeat(200)));
    for len in 230..600 {
        let text = line(len);
        assert!(text.ends_with('\n'), "{len}: {text}");
        assert!(text.len() <= "info test: ".len() + 240, "{len}: {text}");
        assert_eq!(text.ends_with("[...]\n"), len > 233, "{len}: {text}");
    }
}

#[test]
fn lines_are_cut_between_characters() {
    for shift in 0..4 {
        let log = hosted::capture_log();
        pr_info!("{}{}\n", "x".repeat(shift), "\u{20ac}".repeat(100));
        let text = log.take();
        assert!(text.ends_with("\u{20ac}[...]\n"), "{text}");
    }
}

#[test]
fn what_follows_the_cut_is_lost() {
    let log = hosted::capture_log();
    pr_info!("{}{}\n", "x".repeat(300), "y");
    assert!(!log.take().contains('y'));
}

#[test]
fn errors_have_names() {
    assert_eq!(format!("{ENOMEM:?}"), "ENOMEM");
    assert_eq!(format!("{:?}", Error::from_errno(-4000)), "Error(4000)");
}

struct Example;

impl kernel::Module for Example {
    fn init(_module: &'static ThisModule) -> Result<Self> {
        Ok(Example)
    }
}

mod module_with_all_keys {
    use super::Example;
    use kernel::prelude::*;

    module! {
        type: Example,
        name: "example",
        authors: ["A", "B"],
        description: "An example",
        license: "GPL",
    }

    #[test]
    fn names_the_prefix() {
        assert_eq!(__LOG_PREFIX, b"example\0");
    }
}

mod module_with_few_keys {
    use super::Example;
    use kernel::prelude::*;

    module! {
        type: Example,
        name: "few",
        license: "GPL",
    }

    #[test]
    fn names_the_prefix() {
        assert_eq!(__LOG_PREFIX, b"few\0");
    }
}
