// SPDX-License-Identifier: GPL-2.0

//! What goes wrong besides single packets: hosts that go down, networks that
//! come apart, paths that change.

use super::Event;
use super::World;
use crate::app::payload_of_mtu;
use crate::clock::ms;
use crate::clock::us;
use crate::clock::Time;
use crate::rng::Rng;
use crate::violation::Violation;

/// Something that goes wrong.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fault {
    /// Two hosts cannot reach each other until then.
    Partition { between: [usize; 2], until: Time },
    /// A host goes down and loses its state.
    Down(usize),
    /// A host comes up again.
    Up(usize),
    /// A host's path has another MTU.
    Mtu(usize, u32),
}

impl World {
    /// Puts the scenario's faults into the queue.
    pub(super) fn plan_faults(&mut self) {
        let mut rng = Rng::new(self.scenario.seed, "faults");
        let last = self.machines.len() - 1;
        for _ in 0..self.scenario.partitions {
            let at = moment(&mut rng);
            let one = index(&mut rng, last);
            let distance = 1 + index(&mut rng, last - 1);
            let fault = Fault::Partition {
                between: [one, (one + distance) % (last + 1)],
                until: at + rng.magnitude(ms(1), ms(3_000)),
            };
            self.clock.at(at, Event::Fault(fault));
        }
        for _ in 0..self.scenario.reboots {
            let at = moment(&mut rng);
            let host = index(&mut rng, last);
            let up = at + rng.magnitude(us(100), ms(3_000));
            self.clock.at(at, Event::Fault(Fault::Down(host)));
            self.clock.at(up, Event::Fault(Fault::Up(host)));
        }
        for _ in 0..self.scenario.mtu_changes {
            let at = moment(&mut rng);
            let host = index(&mut rng, last);
            let mtu = rng.magnitude_u32(576, 9_000);
            self.clock.at(at, Event::Fault(Fault::Mtu(host, mtu)));
        }
    }

    pub(super) fn fault(&mut self, fault: Fault) -> Result<(), Violation> {
        match fault {
            Fault::Partition { between, until } => {
                let [one, other] = between;
                self.note(one, format_args!("cannot reach h{other} until {until} ns"));
                self.network.separate(between, until);
                Ok(())
            }
            Fault::Down(host) => self.power_off(host),
            Fault::Up(host) => {
                self.power_on(host);
                Ok(())
            }
            Fault::Mtu(host, mtu) => {
                self.set_mtu(host, mtu);
                Ok(())
            }
        }
    }

    /// A host goes down and loses its state; without effect if it is down.
    pub fn power_off(&mut self, host: usize) -> Result<(), Violation> {
        let now = self.now();
        let machine = &mut self.machines[host];
        if machine.host.take().is_none() {
            return Ok(());
        }
        machine.boot += 1;
        self.orderly = false;
        machine.timer_at = None;
        machine.client.restarted();
        self.note(host, format_args!("down"));
        self.ledger.abandon_all(now, host)
    }

    /// A host comes up; without effect if it is up.
    pub fn power_on(&mut self, host: usize) {
        let machine = &mut self.machines[host];
        if machine.host.is_some() {
            return;
        }
        machine.start(&mut self.hidden);
        self.note(host, format_args!("up"));
        self.wake_client(host);
    }

    /// The packets of a host have at most this length from now on.
    pub fn set_mtu(&mut self, host: usize, mtu: u32) {
        let machine = &mut self.machines[host];
        let max_payload = payload_of_mtu(mtu);
        machine.setup.max_payload = max_payload;
        if let Some(host) = &mut machine.host {
            host.set_max_payload(max_payload);
        }
        self.note(host, format_args!("has MTU {mtu}"));
    }
}

/// When something goes wrong: soon, since most runs are short.
fn moment(rng: &mut Rng) -> Time {
    rng.magnitude(us(1), ms(200))
}

fn index(rng: &mut Rng, last: usize) -> usize {
    let last = u64::try_from(last).expect("a few hosts");
    usize::try_from(rng.between(0, last)).expect("a few hosts")
}
