// SPDX-License-Identifier: GPL-2.0

//! The network: a switch with one link to each host.
//!
//! A packet waits at its host's network card until those before it are gone,
//! crosses the network in a time that varies (so that packets overtake each
//! other), waits in the switch's queue for the receiver, which has a limit, and
//! arrives. On its way it may be lost, duplicated or damaged.

use crate::clock::Time;
use crate::rng::Probability;
use crate::rng::Rng;

/// Bytes that a packet takes on the wire besides itself: IP and Ethernet
/// headers, preamble, gap.
const OVERHEAD: u64 = 20 + 38;

/// What the network does to packets.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// The shortest time from one host to another.
    pub delay: Time,
    /// How much longer it takes at most.
    pub jitter: Time,
    /// Probability that a packet is lost.
    pub loss: Probability,
    /// Probability that a packet arrives twice.
    pub duplicate: Probability,
    /// Probability that a bit of a packet is changed.
    pub corrupt: Probability,
    /// Speed of each host's link in bits per second; 0: no limit.
    pub rate: u64,
    /// Bytes that the switch's queue to a host holds.
    pub queue: u64,
}

/// One copy of a packet that reaches the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// When it does.
    pub at: Time,
    /// Which bit was changed on the way.
    pub damaged_bit: Option<usize>,
}

/// A stretch of time in which two hosts cannot reach each other.
#[derive(Clone, Copy, Debug)]
struct Partition {
    between: [usize; 2],
    until: Time,
}

/// The network.
#[derive(Debug)]
pub struct Network {
    conditions: Conditions,
    rng: Rng,
    /// Until when each host's card is busy with sending.
    uplinks: Vec<Time>,
    /// Until when the switch is busy with sending to each host.
    downlinks: Vec<Time>,
    partitions: Vec<Partition>,
}

impl Network {
    /// A network of so many hosts.
    pub fn new(hosts: usize, conditions: Conditions, rng: Rng) -> Self {
        Self {
            conditions,
            rng,
            uplinks: vec![0; hosts],
            downlinks: vec![0; hosts],
            partitions: Vec::new(),
        }
    }

    /// What it does to packets.
    pub fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// Separates two hosts until a time.
    pub fn separate(&mut self, between: [usize; 2], until: Time) {
        self.partitions.push(Partition { between, until });
    }

    /// A packet of `len` bytes leaves: the copies that reach the switch, none
    /// if it is lost.
    pub fn send(&mut self, now: Time, from: usize, to: usize, len: usize) -> Vec<Copy> {
        let leaves = now.max(self.uplinks[from]) + self.duration(len);
        self.uplinks[from] = leaves;
        let lost = self.rng.chance(self.conditions.loss);
        if lost || self.separated(now, from, to) {
            return Vec::new();
        }
        let count = 1 + u8::from(self.rng.chance(self.conditions.duplicate));
        (0..count).map(|_| self.copy(leaves, len)).collect()
    }

    /// A packet of `len` bytes is at the switch: when it arrives at its host,
    /// or `None` if the queue is full. An `urgent` one always finds room.
    pub fn forward(&mut self, now: Time, to: usize, len: usize, urgent: bool) -> Option<Time> {
        let backlog = self.downlinks[to].saturating_sub(now);
        if !urgent && backlog > self.bytes_duration(self.conditions.queue) {
            return None;
        }
        let arrives = now.max(self.downlinks[to]) + self.duration(len);
        self.downlinks[to] = arrives;
        Some(arrives)
    }

    fn copy(&mut self, leaves: Time, len: usize) -> Copy {
        let jitter = self.rng.between(0, self.conditions.jitter);
        let damaged_bit = self.rng.chance(self.conditions.corrupt).then(|| {
            let bits = u64::try_from(len).expect("a packet") * 8;
            usize::try_from(self.rng.between(0, bits - 1)).expect("a packet")
        });
        Copy {
            at: leaves + self.conditions.delay + jitter,
            damaged_bit,
        }
    }

    fn separated(&mut self, now: Time, from: usize, to: usize) -> bool {
        self.partitions.retain(|partition| partition.until > now);
        self.partitions
            .iter()
            .any(|partition| [[from, to], [to, from]].contains(&partition.between))
    }

    fn duration(&self, len: usize) -> Time {
        self.bytes_duration(u64::try_from(len).expect("a packet") + OVERHEAD)
    }

    fn bytes_duration(&self, bytes: u64) -> Time {
        match self.conditions.rate {
            0 => 0,
            rate => (bytes * 8).saturating_mul(1_000_000_000) / rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALM: Conditions = Conditions {
        delay: 1_000,
        jitter: 0,
        loss: Probability::NEVER,
        duplicate: Probability::NEVER,
        corrupt: Probability::NEVER,
        rate: 8_000_000_000,
        queue: 2_000,
    };

    fn network(conditions: Conditions) -> Network {
        Network::new(3, conditions, Rng::new(1, "network"))
    }

    #[test]
    fn packets_leave_one_after_the_other() {
        let mut network = network(CALM);
        let at = |network: &mut Network, from| network.send(0, from, 1, 942)[0].at;
        assert_eq!(at(&mut network, 0), 2_000);
        assert_eq!(at(&mut network, 0), 3_000);
        assert_eq!(at(&mut network, 2), 2_000);
    }

    #[test]
    fn a_full_queue_drops_all_but_the_urgent() {
        let mut network = network(CALM);
        let arrivals: Vec<_> = (0..4).map(|_| network.forward(0, 1, 942, false)).collect();
        assert_eq!(arrivals, [Some(1_000), Some(2_000), Some(3_000), None]);
        assert_eq!(network.forward(0, 1, 942, true), Some(4_000));
        assert_eq!(network.forward(2_500, 1, 942, false), Some(5_000));
    }

    #[test]
    fn no_rate_means_no_waiting() {
        let mut network = network(Conditions { rate: 0, ..CALM });
        assert_eq!(network.send(5, 0, 1, 942)[0].at, 1_005);
        assert_eq!(network.forward(5, 1, 942, false), Some(5));
    }

    #[test]
    fn the_separated_cannot_reach_each_other_for_a_while() {
        let mut network = network(CALM);
        network.separate([1, 0], 500);
        assert_eq!(network.send(0, 0, 1, 942), []);
        assert_eq!(network.send(0, 1, 0, 942), []);
        assert_eq!(network.send(0, 0, 2, 942).len(), 1);
        assert_eq!(network.send(500, 0, 1, 942).len(), 1);
    }

    #[test]
    fn certain_faults_happen() {
        let always = Probability::percent(100);
        let mut lossy = network(Conditions {
            loss: always,
            ..CALM
        });
        assert_eq!(lossy.send(0, 0, 1, 942), []);
        let mut faulty = network(Conditions {
            duplicate: always,
            corrupt: always,
            ..CALM
        });
        let copies = faulty.send(0, 0, 1, 942);
        assert_eq!(copies.len(), 2);
        assert!(copies
            .iter()
            .all(|copy| copy.damaged_bit.unwrap() < 942 * 8));
    }
}
