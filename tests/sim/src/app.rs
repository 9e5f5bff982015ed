// SPDX-License-Identifier: GPL-2.0

//! What applications do: how many calls, to whom, how long.

use homa_proto::config::Config;
use homa_proto::pool::BPAGE_SIZE;

use crate::clock::Time;
use crate::ledger::Order;
use crate::rng::Rng;
use crate::scenario::Scenario;

/// The client application of one host: it has a number of calls to make and
/// keeps some of them going on at once.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// Calls still to begin.
    left: u32,
    /// Calls going on.
    active: u32,
    concurrency: u32,
}

impl Client {
    /// A client that makes the scenario's number of calls.
    pub fn new(scenario: &Scenario) -> Self {
        Self {
            left: scenario.calls,
            active: 0,
            concurrency: scenario.concurrency,
        }
    }

    /// True if another call is to begin now; it then counts as begun.
    pub fn begin(&mut self) -> bool {
        if self.left == 0 || self.active >= self.concurrency {
            return false;
        }
        self.left -= 1;
        self.active += 1;
        true
    }

    /// A call ended.
    pub fn ended(&mut self) {
        self.active = self.active.saturating_sub(1);
    }

    /// All calls are gone.
    pub fn restarted(&mut self) {
        self.active = 0;
    }
}

/// Chances that applications take.
#[derive(Debug)]
pub struct Habits {
    scenario: Scenario,
    rng: Rng,
}

impl Habits {
    /// Those of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        Self {
            scenario: *scenario,
            rng: Rng::new(scenario.seed, "applications"),
        }
    }

    /// What the application of host `client` asks for next.
    pub fn order(&mut self, client: usize) -> Order {
        let hosts = u64::from(self.scenario.hosts);
        let distance = self.rng.between(1, hosts - 1);
        let distance = usize::try_from(distance).expect("a few hosts");
        let hosts = usize::try_from(hosts).expect("a few hosts");
        Order {
            client,
            server: (client + distance) % hosts,
            request: self.size(),
            response: self.size(),
            service: self.rng.between(0, self.scenario.service),
            reading: self.idle(),
        }
    }

    /// How long an application lets something lie.
    pub fn idle(&mut self) -> Time {
        self.rng.between(0, self.scenario.idle)
    }

    /// A message length: any order of magnitude, or at an edge of what the
    /// protocol treats differently.
    fn size(&mut self) -> u32 {
        let (low, high) = (self.scenario.min_size, self.scenario.max_size);
        if self.rng.between(0, 3) > 0 {
            return self.rng.magnitude_u32(low, high);
        }
        let payload = payload_of_mtu(self.scenario.mtu);
        let edge = self.rng.pick(&[
            1,
            payload,
            2 * payload,
            Config::DEFAULT.unsched_bytes,
            Config::DEFAULT.window,
            BPAGE_SIZE,
            15 * BPAGE_SIZE,
            high,
        ]);
        let edge = edge + self.rng.between_u32(0, 2);
        edge.saturating_sub(1).clamp(low, high)
    }
}

/// Payload bytes in a packet of a length with an IPv4 header.
pub fn payload_of_mtu(mtu: u32) -> u32 {
    mtu - 20 - 56
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_makes_its_calls_few_at_a_time() {
        let mut client = Client::new(&Scenario {
            calls: 3,
            concurrency: 2,
            ..Scenario::quiet(2)
        });
        assert!(client.begin());
        assert!(client.begin());
        assert!(!client.begin());
        client.ended();
        assert!(client.begin());
        client.ended();
        assert!(!client.begin());
    }

    #[test]
    fn orders_are_in_range_and_never_to_oneself() {
        let scenario = Scenario {
            min_size: 10,
            max_size: 50_000,
            ..Scenario::quiet(3)
        };
        let mut habits = Habits::new(&scenario);
        for _ in 0..1_000 {
            let order = habits.order(1);
            assert!(order.server == 0 || order.server == 2);
            for size in [order.request, order.response] {
                assert!((10..=50_000).contains(&size));
            }
        }
    }
}
