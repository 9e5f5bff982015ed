// SPDX-License-Identifier: GPL-2.0

//! Runs the contract tests, which are shared with the kernel, on the hosted face.

#[path = "../../../tests/kernel-contract/suite.rs"]
mod suite;

/// Begins the lines that the tests log.
const __LOG_PREFIX: &[u8] = b"contract\0";

#[test]
fn each_holds() {
    for (name, test) in suite::GROUPS.iter().copied().flatten() {
        let leaks = kernel::hosted::LeakCheck::new();
        let log = kernel::hosted::capture_log();
        let result = test();
        assert!(result.is_ok(), "{name}: {result:?}\n{}", log.take());
        leaks.assert_none();
    }
}

#[test]
fn run_reports_each() {
    let log = kernel::hosted::capture_log();
    assert!(suite::run().is_ok());
    let text = log.take();
    let count: usize = suite::GROUPS.iter().map(|group| group.len()).sum();
    assert!(text.contains(&format!("info contract: 1..{count}\n")));
    assert_eq!(text.matches("info contract: ok ").count(), count);
}

/// Every test lives or dies without memory as it should: with an error, and without a leak.
#[test]
fn each_survives_any_failed_allocation() {
    for (name, test) in suite::GROUPS.iter().copied().flatten() {
        let log = kernel::hosted::capture_log();
        for n in 0.. {
            let leaks = kernel::hosted::LeakCheck::new();
            let faults = kernel::hosted::fail_once_after(n);
            let result = test();
            let refused = faults.refused();
            drop(faults);
            leaks.assert_none();
            if refused == 0 {
                assert!(result.is_ok(), "{name}: {result:?}\n{}", log.take());
                break;
            }
        }
    }
}
