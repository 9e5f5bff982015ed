// SPDX-License-Identifier: GPL-2.0

//! What a run is made of. A seed determines all of it; single values can be
//! given instead.

use std::fmt;
use std::ops::RangeBounds;

use clap::builder::RangedI64ValueParser;
use clap::builder::RangedU64ValueParser;
use homa_proto::wire::MAX_MESSAGE_LENGTH;

use crate::clock::us;
use crate::clock::Time;
use crate::network::Conditions;
use crate::rng::Probability;
use crate::rng::Rng;

/// Defines [`Overrides`] and what follows from its list of options.
macro_rules! options {
    ($($(#[doc = $doc:literal])+ $name:ident: $ty:ty, $option:literal, $value:literal, $range:expr;)*) => {
        /// Values given instead of those drawn from the seed.
        #[derive(Clone, Debug, Default, clap::Args)]
        pub struct Overrides {
            $(
                $(#[doc = $doc])+
                #[arg(long = $option, value_name = $value, value_parser = $range)]
                pub $name: Option<$ty>,
            )*
        }

        /// Writes the options as on a command line.
        impl fmt::Display for Overrides {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $(
                    if let Some(value) = &self.$name {
                        write!(f, " --{} {value}", $option)?;
                    }
                )*
                Ok(())
            }
        }
    };
}

fn probability(text: &str) -> Result<Probability, crate::rng::NoProbability> {
    text.parse()
}

fn number(range: impl RangeBounds<i64>) -> RangedI64ValueParser<u32> {
    RangedI64ValueParser::new().range(range)
}

fn number_64(range: impl RangeBounds<u64>) -> RangedU64ValueParser {
    RangedU64ValueParser::new().range(range)
}

const LARGEST: i64 = 1_000_000;

options! {
    /// Number of hosts; each is client and server [drawn: 2 to 6]
    hosts: u32, "hosts", "NUMBER", number(2..=200);
    /// Number of calls that each host makes [drawn: 1 to 30]
    calls: u32, "calls", "NUMBER", number(0..=LARGEST);
    /// Calls that each host has going on at once [drawn: 1 to 8]
    concurrency: u32, "concurrency", "NUMBER", number(1..=100_000);
    /// Shortest message, in bytes [drawn: mostly 1]
    min_size: u32, "min-size", "BYTES", number(1..=LARGEST);
    /// Longest message, in bytes [drawn: 1 to 1000000]
    max_size: u32, "max-size", "BYTES", number(1..=LARGEST);
    /// Longest time that a server's application works, in microseconds
    /// [drawn: 0 to 20000]
    service_us: u64, "service-us", "TIME", number_64(..=10_000_000);
    /// Longest time that an application lets a message lie before it takes it,
    /// and keeps its memory after, in microseconds [drawn: 0 to 5000]
    idle_us: u64, "idle-us", "TIME", number_64(..=10_000_000);
    /// Probability that a packet is lost [drawn: 0 to 0.1]
    loss: Probability, "loss", "PROBABILITY", probability;
    /// Probability that a packet arrives twice [drawn: 0 to 0.1]
    duplicate: Probability, "duplicate", "PROBABILITY", probability;
    /// Probability that one bit of a packet changes; contents are then not
    /// checked, only that all ends well [drawn: mostly 0]
    corrupt: Probability, "corrupt", "PROBABILITY", probability;
    /// Shortest time that a packet takes, in microseconds [drawn: 1 to 500]
    delay_us: u64, "delay-us", "TIME", number_64(..=1_000_000);
    /// How much longer it takes at most, in microseconds, so that packets
    /// overtake each other [drawn: 0 to 2000]
    jitter_us: u64, "jitter-us", "TIME", number_64(..=1_000_000);
    /// Speed of each host's link, in Mbit/s; 0 for no limit
    /// [drawn: 1000 to 100000]
    rate_mbps: u64, "rate-mbps", "RATE", number_64(..=1_000_000);
    /// What the switch queues for each host, in KiB [drawn: 256 to 16384]
    queue_kib: u64, "queue-kib", "SIZE", number_64(1..=1_000_000);
    /// The network's MTU, in bytes [drawn: 1500 or 9000, seldom others]
    mtu: u32, "mtu", "BYTES", number(100..=65_535);
    /// How often a host's MTU becomes another [drawn: mostly 0]
    mtu_changes: u32, "mtu-changes", "NUMBER", number(0..=1_000);
    /// Size of each host's receive buffer region, in bpages of 64 KiB
    /// [drawn: 16 to 64]
    bpages: u32, "bpages", "NUMBER", number(16..=10_000);
    /// Probability that a host has no memory for what a packet needs
    /// [drawn: mostly 0]
    no_memory: Probability, "no-memory", "PROBABILITY", probability;
    /// How often two hosts cannot reach each other for a while
    /// [drawn: mostly 0]
    partitions: u32, "partitions", "NUMBER", number(0..=1_000);
    /// How often a host loses its state and is down for a while
    /// [drawn: mostly 0]
    reboots: u32, "reboots", "NUMBER", number(0..=1_000);
}

/// All parameters of a run.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the fields are described in Overrides")]
pub struct Scenario {
    pub seed: u64,
    pub hosts: u32,
    pub calls: u32,
    pub concurrency: u32,
    pub min_size: u32,
    pub max_size: u32,
    pub service: Time,
    pub idle: Time,
    pub network: Conditions,
    pub mtu: u32,
    pub mtu_changes: u32,
    pub bpages: u32,
    pub no_memory: Probability,
    pub partitions: u32,
    pub reboots: u32,
}

impl Scenario {
    /// The scenario of a seed, but for the values given.
    pub fn draw(seed: u64, given: &Overrides) -> Self {
        // Each value has a stream of its own, so that giving one leaves the
        // others as they are.
        let draw = |name: &str| Rng::new(seed, name);
        let max_size = given
            .max_size
            .unwrap_or_else(|| largest_message(&mut draw("max-size")));
        let min_size = given
            .min_size
            .unwrap_or_else(|| draw("min-size").pick(&[1, 1, 1, max_size]));
        let jitter_us = || match draw("jitter-us").between(0, 2) {
            0 => 0,
            _ => draw("jitter-us").magnitude(1, 2_000),
        };
        Self {
            seed,
            hosts: given
                .hosts
                .unwrap_or_else(|| draw("hosts").between_u32(2, 6)),
            calls: given
                .calls
                .unwrap_or_else(|| draw("calls").magnitude_u32(1, 30)),
            concurrency: given
                .concurrency
                .unwrap_or_else(|| draw("concurrency").magnitude_u32(1, 8)),
            min_size: min_size.min(max_size),
            max_size: max_size.max(min_size),
            service: us(given
                .service_us
                .unwrap_or_else(|| draw("service-us").pick(&[0, 10, 100, 3_000, 20_000]))),
            idle: us(given
                .idle_us
                .unwrap_or_else(|| draw("idle-us").pick(&[0, 0, 10, 500, 5_000]))),
            network: Conditions {
                delay: us(given
                    .delay_us
                    .unwrap_or_else(|| draw("delay-us").magnitude(1, 500))),
                jitter: us(given.jitter_us.unwrap_or_else(jitter_us)),
                loss: given.loss.unwrap_or_else(|| fault(&mut draw("loss"))),
                duplicate: given
                    .duplicate
                    .unwrap_or_else(|| fault(&mut draw("duplicate"))),
                corrupt: given
                    .corrupt
                    .unwrap_or_else(|| rare_fault(&mut draw("corrupt"))),
                rate: 1_000_000
                    * given
                        .rate_mbps
                        .unwrap_or_else(|| draw("rate-mbps").magnitude(1_000, 100_000)),
                queue: 1_024
                    * given
                        .queue_kib
                        .unwrap_or_else(|| draw("queue-kib").magnitude(256, 16_384)),
            },
            mtu: given.mtu.unwrap_or_else(|| mtu(&mut draw("mtu"))),
            mtu_changes: given
                .mtu_changes
                .unwrap_or_else(|| rare_events(&mut draw("mtu-changes"))),
            bpages: given
                .bpages
                .unwrap_or_else(|| draw("bpages").magnitude_u32(16, 64)),
            no_memory: given
                .no_memory
                .unwrap_or_else(|| rare_fault(&mut draw("no-memory"))),
            partitions: given
                .partitions
                .unwrap_or_else(|| rare_events(&mut draw("partitions"))),
            reboots: given
                .reboots
                .unwrap_or_else(|| rare_events(&mut draw("reboots"))),
        }
    }

    /// Two hosts that call only when told to, and a network that does nothing
    /// but take 10 microseconds. For tests that tell each step.
    pub fn quiet(hosts: u32) -> Self {
        Self {
            seed: 0,
            hosts,
            calls: 0,
            concurrency: 1,
            min_size: 1,
            max_size: MAX_MESSAGE_LENGTH,
            service: 0,
            idle: 0,
            network: Conditions {
                delay: us(10),
                jitter: 0,
                loss: Probability::NEVER,
                duplicate: Probability::NEVER,
                corrupt: Probability::NEVER,
                rate: 0,
                queue: u64::MAX,
            },
            mtu: 1_500,
            mtu_changes: 0,
            bpages: 64,
            no_memory: Probability::NEVER,
            partitions: 0,
            reboots: 0,
        }
    }

    /// True if a call may fail: then only because of silence.
    pub fn may_fail(&self) -> bool {
        self.network.loss > Probability::percent(10)
            || self.is_corrupting()
            || self.no_memory > Probability::percent(10)
            || self.partitions > 0
            || self.reboots > 0
    }

    /// True if messages may arrive other than they were sent.
    pub fn is_corrupting(&self) -> bool {
        self.network.corrupt > Probability::NEVER
    }
}

fn largest_message(rng: &mut Rng) -> u32 {
    match rng.between(0, 1) {
        0 => MAX_MESSAGE_LENGTH,
        _ => rng.magnitude_u32(1, MAX_MESSAGE_LENGTH),
    }
}

fn mtu(rng: &mut Rng) -> u32 {
    match rng.between(0, 9) {
        0..=5 => 1_500,
        6..=8 => 9_000,
        _ => rng.magnitude_u32(576, 65_535),
    }
}

/// The probability of a fault that every run may have.
fn fault(rng: &mut Rng) -> Probability {
    match rng.between(0, 2) {
        0 => Probability::NEVER,
        _ => Probability::per_million(rng.magnitude_u32(1_000, 100_000)),
    }
}

/// The probability of a fault that few runs have.
fn rare_fault(rng: &mut Rng) -> Probability {
    match rng.between(0, 9) {
        0 => Probability::per_million(rng.magnitude_u32(100, 50_000)),
        _ => Probability::NEVER,
    }
}

/// How often something happens that happens in few runs.
fn rare_events(rng: &mut Rng) -> u32 {
    match rng.between(0, 7) {
        0 => rng.between_u32(1, 4),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_value_leaves_the_others_as_they_are() {
        let given = Overrides {
            hosts: Some(9),
            loss: Some(Probability::percent(3)),
            ..Overrides::default()
        };
        assert_eq!(given.to_string(), " --hosts 9 --loss 0.03");
        for seed in 0..100 {
            let drawn = Scenario::draw(seed, &Overrides::default());
            let mut expected = drawn;
            expected.hosts = 9;
            expected.network.loss = Probability::percent(3);
            let changed = Scenario::draw(seed, &given);
            assert_eq!(format!("{changed:?}"), format!("{expected:?}"));
        }
    }

    #[test]
    fn sizes_are_a_range() {
        for seed in 0..1_000 {
            let drawn = Scenario::draw(seed, &Overrides::default());
            assert!(1 <= drawn.min_size && drawn.min_size <= drawn.max_size);
            assert!(drawn.max_size <= MAX_MESSAGE_LENGTH);
        }
    }
}
