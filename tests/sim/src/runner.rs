// SPDX-License-Identifier: GPL-2.0

//! Runs a scenario and says how to run it again.

use std::any::Any;
use std::panic::catch_unwind;
use std::panic::AssertUnwindSafe;

use crate::report::Report;
use crate::scenario::Overrides;
use crate::scenario::Scenario;
use crate::trace::Sink;
use crate::violation::ensure;
use crate::violation::Violation;
use crate::world::World;

/// Runs a scenario to its end.
pub fn run(scenario: &Scenario, sink: Sink) -> Result<Report, Violation> {
    let before = kernel::hosted::stats();
    let result = catch_unwind(AssertUnwindSafe(|| World::new(scenario, sink).run()));
    let report = result.unwrap_or_else(|panic| Err(of_panic(panic.as_ref())))?;
    let after = kernel::hosted::stats();
    ensure!(
        after.live == before.live && after.live_bytes == before.live_bytes,
        "memory was lost: {} bytes in {} allocations",
        after.live_bytes - before.live_bytes,
        after.live - before.live
    );
    ensure!(
        report.failed == 0 || scenario.may_fail(),
        "{} calls failed, though nothing happened that excuses it",
        report.failed
    );
    Ok(report)
}

/// The command that runs a seed again and shows all that happens.
pub fn replay_command(seed: u64, given: &Overrides) -> String {
    format!("cargo run --release -p homa-sim -- --seed {seed}{given} --trace")
}

fn of_panic(panic: &(dyn Any + Send)) -> Violation {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("(no text)");
    Violation::new(format!("panic: {text}"))
}
