// SPDX-License-Identifier: GPL-2.0

//! What must never happen, and did.

use std::fmt;

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(String);

impl Violation {
    /// One that is described so.
    pub fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }

    /// The same, with where or when it was seen put before.
    #[must_use]
    pub fn seen_at(self, place: impl fmt::Display) -> Self {
        Self(format!("{place}: {}", self.0))
    }

    /// The same, with what is known besides added.
    #[must_use]
    pub fn with(self, detail: impl fmt::Display) -> Self {
        Self(format!("{}\n{detail}", self.0))
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Violation {}

/// Returns a [`Violation`] with the given text unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err($crate::violation::Violation::new(format!($($text)+)));
        }
    };
}

pub(crate) use ensure;
