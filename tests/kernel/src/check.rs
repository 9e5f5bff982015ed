// SPDX-License-Identifier: GPL-2.0
//! What a test returns, and the checks it makes.

use crate::errno::Errno;
use std::fmt;
use std::io;
use std::panic::Location;

/// A test's result.
pub(crate) type Outcome = Result<Verdict, Failure>;

/// How a test that did not fail ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All checks held. The note, if not empty, is printed beside the result.
    Pass(String),
    /// The test does not apply here, for the reason given.
    Skip(String),
}

/// Why a test failed, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) place: String,
}

impl Failure {
    /// A failure at the place of the call.
    #[track_caller]
    pub(crate) fn new(message: impl Into<String>) -> Self {
        let place = Location::caller();
        Self {
            message: message.into(),
            place: format!("{}:{}", place.file(), place.line()),
        }
    }

    /// The same failure, with words before it that say what was being done.
    pub(crate) fn within(mut self, context: impl fmt::Display) -> Self {
        self.message = format!("{context}: {}", self.message);
        self
    }
}

impl From<Errno> for Failure {
    #[track_caller]
    fn from(errno: Errno) -> Self {
        Self::new(format!("a system call failed with {errno}"))
    }
}

impl From<io::Error> for Failure {
    #[track_caller]
    fn from(error: io::Error) -> Self {
        Self::new(error.to_string())
    }
}

impl From<homa::Error> for Failure {
    #[track_caller]
    fn from(error: homa::Error) -> Self {
        Self::new(error.to_string())
    }
}

/// The verdict of a test that passed and has nothing to add.
#[expect(clippy::unnecessary_wraps, reason = "the last expression of tests")]
pub(crate) fn pass() -> Outcome {
    Ok(Verdict::Pass(String::new()))
}

/// Fails the test unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::check::Failure::new(format!($($message)+)));
        }
    };
}

/// Fails the test unless both values are equal.
macro_rules! ensure_eq {
    ($found:expr, $expected:expr, $($message:tt)+) => {{
        let (found, expected) = (&$found, &$expected);
        if *found != *expected {
            return Err($crate::check::Failure::new(format!(
                "{}: found {found:?}, expected {expected:?}",
                format_args!($($message)+)
            )));
        }
    }};
}

pub(crate) use ensure;
pub(crate) use ensure_eq;

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(found: u32) -> Outcome {
        ensure!(found > 0, "{found} is too small");
        ensure_eq!(found, 7, "the number");
        pass()
    }

    #[test]
    fn checks_say_what_and_where() {
        assert_eq!(compare(7), pass());
        let failure = compare(8).unwrap_err();
        assert_eq!(failure.message, "the number: found 8, expected 7");
        assert!(failure.place.contains("check.rs:"), "{}", failure.place);
        assert_eq!(
            compare(0).unwrap_err().within("first").message,
            "first: 0 is too small"
        );
    }
}
