// SPDX-License-Identifier: GPL-2.0
//! Round-trip times.

use std::fmt;
use std::time::Duration;

/// What is said about a set of round-trip times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) count: usize,
    pub(crate) min: Duration,
    pub(crate) median: Duration,
    pub(crate) p99: Duration,
    pub(crate) max: Duration,
}

impl Summary {
    /// The summary of `times`, of which there must be at least one.
    pub(crate) fn of(mut times: Vec<Duration>) -> Option<Self> {
        times.sort_unstable();
        Some(Self {
            count: times.len(),
            min: *times.first()?,
            median: percentile(&times, 50)?,
            p99: percentile(&times, 99)?,
            max: *times.last()?,
        })
    }
}

/// The smallest of the sorted `times` that at least `percent` % of them do not
/// exceed.
fn percentile(times: &[Duration], percent: usize) -> Option<Duration> {
    let rank = times.len().checked_mul(percent)?.div_ceil(100).max(1);
    times.get(rank - 1).copied()
}

/// A time in the unit that suits it, 9 columns wide.
pub(crate) struct Short(pub(crate) Duration);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.as_secs_f64() * 1e6;
        if micros < 1e4 {
            write!(f, "{micros:6.0} us")
        } else if micros < 1e7 {
            write!(f, "{:6.1} ms", micros / 1e3)
        } else {
            write!(f, "{:6.1} s ", micros / 1e6)
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "min {}, median {}, p99 {}, max {}",
            Short(self.min),
            Short(self.median),
            Short(self.p99),
            Short(self.max)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_follow_the_nearest_rank() {
        let times = (1..=200).rev().map(Duration::from_micros).collect();
        let summary = Summary::of(times).unwrap();
        assert_eq!(summary.count, 200);
        assert_eq!(summary.min, Duration::from_micros(1));
        assert_eq!(summary.median, Duration::from_micros(100));
        assert_eq!(summary.p99, Duration::from_micros(198));
        assert_eq!(summary.max, Duration::from_micros(200));
    }

    #[test]
    fn one_time_is_enough_and_none_is_not() {
        let one = Summary::of(vec![Duration::from_millis(3)]).unwrap();
        assert_eq!((one.min, one.p99), (one.max, one.median));
        assert_eq!(Summary::of(Vec::new()), None);
    }

    #[test]
    fn times_are_shown_in_a_fitting_unit() {
        let short = |micros| Short(Duration::from_micros(micros)).to_string();
        assert_eq!(short(42), "    42 us");
        assert_eq!(short(12_345), "  12.3 ms");
        assert_eq!(short(12_345_678), "  12.3 s ");
    }
}
