// SPDX-License-Identifier: GPL-2.0

//! Every tunable of the protocol: unit, range, default, in one place.
//!
//! [`Config`] is a plain value that is passed to whatever needs it.
//! [`TUNABLES`] describes the same fields as data: the sysctl layer and the
//! documentation are made from it.

#[cfg(test)]
mod tests;

/// What a number measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Nanoseconds,
}

/// Description of one tunable.
#[derive(Clone, Copy, Debug)]
pub struct Tunable {
    /// Its name: that of the field in [`Config`].
    pub name: &'static str,
    /// What the value measures.
    pub unit: Unit,
    /// The smallest value allowed.
    pub min: u64,
    /// The value it has unless somebody sets another.
    pub default: u64,
    /// The largest value allowed.
    pub max: u64,
    /// What it does, in a few sentences.
    pub doc: &'static str,
    get: fn(&Config) -> u64,
    set: fn(&mut Config, u64) -> bool,
}

/// Why a tunable was not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange;

impl Tunable {
    /// The tunable's value in `config`.
    pub fn get(&self, config: &Config) -> u64 {
        (self.get)(config)
    }

    /// Sets the tunable in `config`.
    ///
    /// # Errors
    ///
    /// `OutOfRange`, with `config` unchanged, unless `min <= value <= max`.
    pub fn set(&self, config: &mut Config, value: u64) -> Result<(), OutOfRange> {
        if value < self.min || value > self.max || !(self.set)(config, value) {
            return Err(OutOfRange);
        }
        Ok(())
    }
}

macro_rules! tunables {
    ($($name:ident: $ty:ty, $unit:ident, $min:literal ..= $max:literal, $default:literal, $doc:literal;)*) => {
        /// The values of all tunables.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Config {
            $(#[doc = $doc] pub $name: $ty,)*
        }

        impl Config {
            /// The defaults.
            pub const DEFAULT: Self = Self { $($name: $default,)* };
        }

        /// The description of every field of [`Config`], in its order.
        pub const TUNABLES: &[Tunable] = &[$(Tunable {
            name: stringify!($name),
            unit: Unit::$unit,
            min: $min,
            default: $default,
            max: $max,
            doc: $doc,
            get: |config| u64::from(config.$name),
            set: |config, value| match <$ty>::try_from(value) {
                Ok(value) => {
                    config.$name = value;
                    true
                }
                Err(_) => false,
            },
        },)*];
    };
}

tunables! {
    unsched_bytes: u32, Bytes, 1..=1_000_000, 40_000,
        "Bytes of a message that are sent without waiting for a grant.";
    window: u32, Bytes, 10_000..=1_000_000, 200_000,
        "How far a receiver's grants run ahead of what it has received, per message.";
    grant_quantum: u32, Bytes, 1..=1_000_000, 40_000,
        "A GRANT is sent when it allows at least this many bytes more than the one before, \
         or the rest of the message, or when the sender has nothing left that it may send.";
    resend_ns: u64, Nanoseconds, 100_000..=10_000_000_000, 5_000_000,
        "Silence after which the first RESEND is sent.";
    resend_max_ns: u64, Nanoseconds, 100_000..=10_000_000_000, 100_000_000,
        "Limit of the interval between RESENDs, which doubles with each until something arrives.";
    timeout_ns: u64, Nanoseconds, 1_000_000..=600_000_000_000, 1_000_000_000,
        "Silence after which an RPC fails at the client and is forgotten at the server.";
    need_ack_ns: u64, Nanoseconds, 100_000..=10_000_000_000, 2_000_000,
        "How long after sending the whole response a server asks for its acknowledgment.";
    need_ack_max_ns: u64, Nanoseconds, 100_000..=10_000_000_000, 100_000_000,
        "Limit of the interval between two such questions, which doubles with each until something arrives.";
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}
