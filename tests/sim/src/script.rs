// SPDX-License-Identifier: GPL-2.0

//! Small worlds in which a test tells each step and sees each packet.

use std::cell::RefCell;
use std::rc::Rc;

use crate::clock::Time;
use crate::ledger::Number;
use crate::ledger::Order;
use crate::ledger::Outcome;
use crate::scenario::Scenario;
use crate::trace::Brief;
use crate::trace::Fate;
use crate::trace::Sink;
use crate::world::Flight;
use crate::world::Verdict;
use crate::world::World;

/// The usual call: a short one from h0 to h1.
pub const SHORT: Order = Order {
    client: 0,
    server: 1,
    request: 100,
    response: 200,
    service: 0,
    reading: 0,
};

/// A rule for packets that begin with a text, as it stands in the record
/// without the time and the number of the call.
#[derive(Debug)]
struct Rule {
    text: String,
    verdict: Verdict,
    /// For how many packets it holds.
    times: u32,
}

/// A world and the rules for its packets.
///
/// Every method panics if an invariant does not hold.
#[derive(Debug)]
pub struct Script {
    world: World,
    rules: Rc<RefCell<Vec<Rule>>>,
}

impl Script {
    /// Hosts that do nothing by themselves, 10 microseconds apart.
    pub fn new(hosts: u32) -> Self {
        Self::with(Scenario::quiet(hosts))
    }

    /// A world of a scenario.
    pub fn with(scenario: Scenario) -> Self {
        let rules: Rc<RefCell<Vec<Rule>>> = Rc::default();
        let mut world = World::new(&scenario, Sink::Keep(Vec::new()));
        let shared = Rc::clone(&rules);
        world.intercept(move |flight| judge(&mut shared.borrow_mut(), flight));
        Self { world, rules }
    }

    /// The next packet that begins with `text` is lost.
    pub fn lose(&mut self, text: &str) {
        self.lose_many(1, text);
    }

    /// The next packets that begin with `text` are lost.
    pub fn lose_many(&mut self, times: u32, text: &str) {
        self.rule(times, text, Verdict::Drop);
    }

    /// The next packet that begins with `text` comes later.
    pub fn delay(&mut self, text: &str, by: Time) {
        self.rule(1, text, Verdict::Delay(by));
    }

    fn rule(&mut self, times: u32, text: &str, verdict: Verdict) {
        self.rules.borrow_mut().push(Rule {
            text: text.to_owned(),
            verdict,
            times,
        });
    }

    /// Makes a call now.
    pub fn call(&mut self, order: Order) -> Number {
        self.world.call(order).expect("a call")
    }

    /// The world.
    pub fn world(&mut self) -> &mut World {
        &mut self.world
    }

    /// Lets happen what happens until a time.
    pub fn until(&mut self, time: Time) {
        self.world.run_until(time).expect("a sound run");
    }

    /// Lets everything happen that is going to, and checks that no host has
    /// anything left of it.
    pub fn finish(&mut self) {
        self.world.run().expect("a sound run");
    }

    /// What became of a call.
    pub fn outcome(&self, call: Number) -> Outcome {
        self.world.ledger().record(call).outcome
    }

    /// Checks what happened since the last check: one line each. `..` stands
    /// for any lines. Lines that tell that a host is down are left out: the
    /// test knows that.
    #[track_caller]
    pub fn expect(&mut self, expected: &str) {
        let mut lines = self.world.take_lines();
        lines.retain(|line| !line.ends_with(&Fate::HostDown.to_string()));
        let expected: Vec<&str> = expected
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        assert!(
            matches(&lines, &expected),
            "expected:\n{}\nhappened:\n{}",
            expected.join("\n"),
            lines.join("\n")
        );
    }
}

fn judge(rules: &mut [Rule], flight: &Flight) -> Verdict {
    let text = format!(
        "h{}>h{} {}",
        flight.from,
        flight.to,
        Brief(&flight.header.packet)
    );
    let rule = rules
        .iter_mut()
        .find(|rule| rule.times > 0 && text.starts_with(&rule.text));
    match rule {
        Some(rule) => {
            rule.times -= 1;
            rule.verdict
        }
        None => Verdict::Pass,
    }
}

fn matches(lines: &[String], expected: &[&str]) -> bool {
    match (expected.split_first(), lines.split_first()) {
        (None, rest) => rest.is_none(),
        (Some((&"..", later)), rest) => {
            matches(lines, later) || rest.is_some_and(|(_, rest)| matches(rest, expected))
        }
        (Some((first, later)), Some((line, rest))) => line == first && matches(rest, later),
        (Some(_), None) => false,
    }
}
