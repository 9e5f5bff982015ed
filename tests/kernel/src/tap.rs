// SPDX-License-Identifier: GPL-2.0
//! Runs tests and prints TAP, version 14.
//!
//! Each test runs in a thread of its own, so that one that panics or hangs fails
//! alone. A thread that hangs is left behind.

use crate::check::Failure;
use crate::check::Outcome;
use crate::check::Verdict;
use std::any::Any;
use std::io;
use std::io::Write;
use std::sync::mpsc;
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::Duration;
use std::time::Instant;

/// A test that can be run.
pub(crate) struct Test {
    name: String,
    deadline: Duration,
    run: Box<dyn FnOnce() -> Outcome + Send>,
}

impl Test {
    /// A test that fails if it takes longer than `deadline`.
    pub(crate) fn new(
        name: impl Into<String>,
        deadline: Duration,
        run: impl FnOnce() -> Outcome + Send + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            deadline,
            run: Box::new(run),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// Runs all tests and prints their results to `out`. Returns whether none
/// failed.
pub(crate) fn run(tests: Vec<Test>, out: &mut impl Write) -> io::Result<bool> {
    writeln!(out, "TAP version 14\n1..{}", tests.len())?;
    out.flush()?;
    let mut all_passed = true;
    for (index, test) in tests.into_iter().enumerate() {
        let name = escape(&test.name);
        let start = Instant::now();
        let outcome = run_one(test, || {
            let seconds = start.elapsed().as_secs();
            writeln!(out, "# {name}: {seconds} s so far")?;
            out.flush()
        })?;
        let millis = start.elapsed().as_millis();
        all_passed &= outcome.is_ok();
        report(out, index + 1, &name, &outcome, millis)?;
        out.flush()?;
    }
    Ok(all_passed)
}

/// Time after which a test that is still running is heard of: whoever reads the
/// results must not take it for dead.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Runs a test, calling `alive` now and then.
fn run_one(test: Test, mut alive: impl FnMut() -> io::Result<()>) -> io::Result<Outcome> {
    let (done, result) = mpsc::channel();
    let Test {
        name,
        deadline,
        run,
    } = test;
    // The result can't be delivered only if nobody waits any more.
    let body = move || drop(done.send(run()));
    let worker = thread::Builder::new().name(name).spawn(body)?;
    let start = Instant::now();
    loop {
        let left = deadline.saturating_sub(start.elapsed());
        match result.recv_timeout(left.min(HEARTBEAT)) {
            Ok(outcome) => return Ok(outcome),
            Err(RecvTimeoutError::Timeout) if start.elapsed() < deadline => alive()?,
            Err(RecvTimeoutError::Timeout) => {
                return Ok(Err(Failure::new(format!(
                    "not done after {} s; its thread is left behind",
                    deadline.as_secs()
                ))))
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(match worker.join() {
        Ok(()) => Err(Failure::new("the test ended without a result")),
        Err(panic) => Err(Failure::new(format!(
            "the test panicked: {}",
            panic_text(&*panic)
        ))),
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}

fn report(
    out: &mut impl Write,
    number: usize,
    name: &str,
    outcome: &Outcome,
    millis: u128,
) -> io::Result<()> {
    match outcome {
        Ok(Verdict::Pass(note)) if note.is_empty() => {
            writeln!(out, "ok {number} - {name}\n# {millis} ms")
        }
        Ok(Verdict::Pass(note)) => {
            writeln!(out, "ok {number} - {name}\n# {millis} ms, {note}")
        }
        Ok(Verdict::Skip(reason)) => {
            writeln!(out, "ok {number} - {name} # SKIP {}", one_line(reason))
        }
        Err(failure) => writeln!(
            out,
            "not ok {number} - {name}\n  ---\n  message: {}\n  at: {}\n  duration_ms: {millis}\n  ...",
            quote(&failure.message),
            quote(&failure.place),
        ),
    }
}

/// A test's name in which nothing is mistaken for a directive.
fn escape(name: &str) -> String {
    one_line(name).replace('\\', "\\\\").replace('#', "\\#")
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// A string as YAML writes it between double quotes.
fn quote(text: &str) -> String {
    let escaped = one_line(text).replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::pass;

    fn printed(tests: Vec<Test>) -> (bool, String) {
        let mut out = Vec::new();
        let passed = run(tests, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines = text.lines().filter(|line| !line.contains(" ms"));
        let lines = lines.filter(|line| !line.contains("duration"));
        (passed, lines.collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn results_are_printed_as_tap() {
        let second = Duration::from_secs(1);
        let (passed, text) = printed(vec![
            Test::new("first", second, pass),
            Test::new("second #2", second, || Ok(Verdict::Skip("no net".into()))),
            Test::new("third", second, || {
                Err(Failure {
                    message: "found \"1\"\nexpected 2".into(),
                    place: "a.rs:7".into(),
                })
            }),
        ]);
        assert!(!passed);
        assert_eq!(
            text,
            "TAP version 14\n1..3\nok 1 - first\nok 2 - second \\#2 # SKIP no net\n\
             not ok 3 - third\n  ---\n  message: \"found \\\"1\\\" expected 2\"\n  \
             at: \"a.rs:7\"\n  ..."
        );
    }

    #[test]
    fn a_hanging_test_fails_alone() {
        let (passed, text) = printed(vec![
            Test::new("hangs", Duration::from_millis(10), || loop {
                thread::park();
            }),
            Test::new("works", Duration::from_secs(5), pass),
        ]);
        assert!(!passed);
        assert!(text.contains("not ok 1 - hangs"), "{text}");
        assert!(text.contains("left behind"), "{text}");
        assert!(text.contains("ok 2 - works"), "{text}");
    }

    #[test]
    fn a_panic_is_a_failure() {
        let (passed, text) = printed(vec![Test::new("panics", Duration::from_secs(5), || {
            panic!("out of {}", "luck")
        })]);
        assert!(!passed);
        assert!(text.contains("the test panicked: out of luck"), "{text}");
    }
}
