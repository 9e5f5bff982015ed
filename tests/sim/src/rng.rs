// SPDX-License-Identifier: GPL-2.0

//! Random numbers that a seed determines, and probabilities.
//!
//! No floating point: a seed means the same run on every machine.

use std::fmt;
use std::str::FromStr;

use rand_core::Rng as _;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// One in this many: the resolution of [`Probability`].
const WHOLE: u32 = 1_000_000;

/// Mixes the bits of `x` so that near numbers get far apart (`SplitMix64`).
pub fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A stream of random numbers.
#[derive(Debug)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// The stream `name` of a seed. Streams of different names are unrelated,
    /// so that one more number drawn here changes nothing elsewhere.
    pub fn new(seed: u64, name: &str) -> Self {
        let stream = name
            .bytes()
            .fold(seed, |hash, byte| mix(hash ^ u64::from(byte)));
        Self(Xoshiro256PlusPlus::seed_from_u64(stream))
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from `low` to `high`, both included; `low` if there is none.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        let Some(span) = high.checked_sub(low) else {
            return low;
        };
        match span.checked_add(1) {
            // The remainder's bias is below 2^-32 for the spans used here.
            Some(count) => low + self.any() % count,
            None => self.any(),
        }
    }

    /// A number from `low` to `high`, both included and not 0, of which each
    /// order of magnitude is equally likely.
    pub fn magnitude(&mut self, low: u64, high: u64) -> u64 {
        let bits = self.between(u64::from(low.ilog2()), u64::from(high.ilog2()));
        let first = 1_u64 << bits;
        self.between(first.max(low), (first - 1 + first).min(high))
    }

    /// [`Rng::between`] for small numbers.
    pub fn between_u32(&mut self, low: u32, high: u32) -> u32 {
        let number = self.between(low.into(), high.into());
        u32::try_from(number).expect("at most `high`")
    }

    /// [`Rng::magnitude`] for small numbers.
    pub fn magnitude_u32(&mut self, low: u32, high: u32) -> u32 {
        let number = self.magnitude(low.into(), high.into());
        u32::try_from(number).expect("at most `high`")
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: Probability) -> bool {
        // Nothing is drawn for the impossible, so that a run without a fault
        // is the same whether or not the simulator knows that fault.
        probability.0 > 0 && self.between(1, u64::from(WHOLE)) <= u64::from(probability.0)
    }

    /// One of `choices`.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        let last = choices.len().checked_sub(1).expect("something to pick");
        let index = self.between(0, u64::try_from(last).expect("a small list"));
        choices[usize::try_from(index).expect("an index")]
    }
}

/// A probability, exact to a millionth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probability(u32);

impl Probability {
    /// Impossible.
    pub const NEVER: Self = Self(0);

    /// So many in a million.
    pub const fn per_million(millionths: u32) -> Self {
        assert!(millionths <= WHOLE, "a probability is at most 1");
        Self(millionths)
    }

    /// So many in a hundred.
    pub const fn percent(percent: u32) -> Self {
        assert!(percent <= 100, "a probability is at most 1");
        Self(percent * (WHOLE / 100))
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = format!("{:06}", self.0 % WHOLE);
        match decimals.trim_end_matches('0') {
            "" => write!(f, "{}", self.0 / WHOLE),
            decimals => write!(f, "{}.{decimals}", self.0 / WHOLE),
        }
    }
}

/// A text that is no probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoProbability;

impl fmt::Display for NoProbability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("give a number from 0 to 1 with at most six decimals, for example 0.05")
    }
}

impl std::error::Error for NoProbability {}

impl FromStr for Probability {
    type Err = NoProbability;

    fn from_str(text: &str) -> Result<Self, NoProbability> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        if decimals.len() > 6 {
            return Err(NoProbability);
        }
        let digits = |digits: &str| {
            if digits.bytes().all(|b| b.is_ascii_digit()) {
                return digits.parse::<u32>().map_err(|_| NoProbability);
            }
            Err(NoProbability)
        };
        let millionths = digits(whole)?
            .checked_mul(WHOLE)
            .and_then(|whole| whole.checked_add(digits(&format!("{decimals:0<6}")).ok()?))
            .ok_or(NoProbability)?;
        if millionths > WHOLE {
            return Err(NoProbability);
        }
        Ok(Self(millionths))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_read_and_written_exactly() {
        for text in ["0", "1", "0.5", "0.05", "0.000001", "0.123456"] {
            let probability: Probability = text.parse().unwrap();
            assert_eq!(probability.to_string(), text);
        }
        for text in ["", "-1", "+1", "1.1", "2", "0.0000001", "x", "0.x", ".5"] {
            assert!(text.parse::<Probability>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn numbers_stay_in_their_range() {
        let mut rng = Rng::new(1, "test");
        for _ in 0..10_000 {
            assert!((3..=9).contains(&rng.between(3, 9)));
            assert!((3..=1_000_000).contains(&rng.magnitude(3, 1_000_000)));
            assert_eq!(rng.between(5, 4), 5);
        }
        assert_eq!(rng.magnitude(1, 1), 1);
    }

    #[test]
    fn streams_of_one_seed_differ_and_repeat() {
        let first = |name| Rng::new(7, name).any();
        assert_eq!(first("a"), first("a"));
        assert_ne!(first("a"), first("b"));
    }

    #[test]
    fn chances_are_as_told() {
        let mut rng = Rng::new(1, "test");
        let mut hits = |probability| (0..10_000).filter(|_| rng.chance(probability)).count();
        assert_eq!(hits(Probability::NEVER), 0);
        assert_eq!(hits(Probability::percent(100)), 10_000);
        assert!((900..1_100).contains(&hits(Probability::percent(10))));
    }
}
