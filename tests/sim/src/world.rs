// SPDX-License-Identifier: GPL-2.0

//! All hosts, the network between them and the applications on them.

mod apps;
mod faults;

use std::fmt;

use homa_proto::config::Config;
use homa_proto::key::PeerKey;
use homa_proto::wire::Parsed;
use homa_proto::wire::CONTROL_PRIORITY;
use homa_proto::wire::MAX_HEADER;

use self::apps::AppEvent;
use self::faults::Fault;
use crate::app::payload_of_mtu;
use crate::app::Client;
use crate::app::Habits;
use crate::clock::Clock;
use crate::clock::Millis;
use crate::clock::Time;
use crate::host::Host;
use crate::host::Notice;
use crate::host::Outbox;
use crate::host::Outgoing;
use crate::host::Setup;
use crate::ledger::Ledger;
use crate::ledger::Number;
use crate::network::Network;
use crate::report::Report;
use crate::rng::Probability;
use crate::rng::Rng;
use crate::scenario::Scenario;
use crate::trace::Fate;
use crate::trace::Sink;
use crate::trace::Trace;
use crate::violation::ensure;
use crate::violation::Violation;

/// No call takes longer than this.
const CALL_LIMIT: Time = 30_000_000_000;

/// Nothing happens after this.
const RUN_LIMIT: Time = 3_600_000_000_000;

/// A packet on its way.
#[derive(Clone, Debug)]
pub struct Flight {
    /// The sender's host.
    pub from: usize,
    /// The receiver's host.
    pub to: usize,
    /// The header as it was sent.
    pub header: Parsed,
    /// The priority level it was sent with.
    pub priority: u8,
    /// The packet as it arrives.
    bytes: Vec<u8>,
}

/// What a test does with a packet that leaves its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing: the network has it.
    Pass,
    /// It is lost.
    Drop,
    /// It comes later by this time.
    Delay(Time),
}

/// Something that is going to happen.
#[derive(Debug)]
enum Event {
    /// A packet comes to the switch.
    Switch(Flight),
    /// A packet comes to its host.
    Arrival(Flight),
    /// A host's timer may have expired.
    Timer { host: usize },
    /// An application does something.
    App {
        host: usize,
        boot: u32,
        event: AppEvent,
    },
    /// Something goes wrong.
    Fault(Fault),
}

/// A host and what is outside of it.
#[derive(Debug)]
struct Machine {
    setup: Setup,
    /// None while it is down.
    host: Option<Host>,
    /// How often it has been started.
    boot: u32,
    /// For when a timer event is in the queue.
    timer_at: Option<Time>,
    client: Client,
}

type Interceptor = Box<dyn FnMut(&Flight) -> Verdict>;

/// Everything there is in a run.
pub struct World {
    scenario: Scenario,
    clock: Clock<Event>,
    machines: Vec<Machine>,
    network: Network,
    ledger: Ledger,
    habits: Habits,
    hidden: Rng,
    trace: Trace,
    report: Report,
    interceptor: Option<Interceptor>,
    /// Whether packets between two hosts stay in order, each at most once, and
    /// hosts remember them. Then no server sees a request again after it was
    /// acknowledged.
    orderly: bool,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("now", &self.now())
            .field("scenario", &self.scenario)
            .finish_non_exhaustive()
    }
}

impl World {
    /// A world in which nothing has happened yet.
    pub fn new(scenario: &Scenario, sink: Sink) -> Self {
        let mut hidden = Rng::new(scenario.seed, "hidden");
        let hosts = usize::try_from(scenario.hosts).expect("a few hosts");
        let machines = (0..hosts)
            .map(|index| Machine::new(scenario, index, &mut hidden))
            .collect();
        let network_rng = Rng::new(scenario.seed, "network");
        let mut world = Self {
            scenario: *scenario,
            clock: Clock::new(),
            machines,
            network: Network::new(hosts, scenario.network, network_rng),
            ledger: Ledger::default(),
            habits: Habits::new(scenario),
            hidden,
            trace: Trace::new(sink),
            report: Report::default(),
            interceptor: None,
            orderly: scenario.network.jitter == 0
                && scenario.network.duplicate == Probability::NEVER
                && !scenario.is_corrupting(),
        };
        for host in 0..hosts {
            world.wake_client(host);
        }
        world.plan_faults();
        world
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// All calls.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Number of RPCs that a host knows.
    pub fn rpcs(&self, host: usize) -> usize {
        self.machines[host].host.as_ref().map_or(0, Host::rpcs)
    }

    /// The lines of the record since the last call.
    pub fn take_lines(&mut self) -> Vec<String> {
        self.trace.take_lines()
    }

    /// Shows every packet that leaves a host to `interceptor`, which decides.
    pub fn intercept(&mut self, interceptor: impl FnMut(&Flight) -> Verdict + 'static) {
        self.interceptor = Some(Box::new(interceptor));
    }

    /// Lets happen what happens until `limit`.
    pub fn run_until(&mut self, limit: Time) -> Result<(), Violation> {
        while let Some(event) = self.clock.next_event_until(limit) {
            self.happen(event)?;
        }
        self.clock.advance(limit);
        Ok(())
    }

    /// Lets everything happen, and checks that all is well at the end.
    pub fn run(&mut self) -> Result<Report, Violation> {
        while let Some(event) = self.clock.next_event() {
            self.happen(event)?;
            ensure!(
                self.now() <= RUN_LIMIT,
                "the hosts never become quiet:\n{}",
                self.dump()
            );
        }
        self.check_end()?;
        let mut report = self.report.clone();
        report.ended = self.now();
        report.digest = self.trace.digest();
        report.count_calls(&self.ledger);
        ensure!(
            report.repeated == 0 || !self.orderly,
            "{} requests were executed again",
            report.repeated
        );
        Ok(report)
    }

    fn check_end(&self) -> Result<(), Violation> {
        self.ledger.check_all_ended()?;
        for (index, machine) in self.machines.iter().enumerate() {
            if let Some(host) = &machine.host {
                host.check_idle()
                    .map_err(|violation| violation.seen_at(format!("h{index}")))?;
            }
        }
        Ok(())
    }

    /// The state of every RPC, one line each.
    fn dump(&self) -> String {
        let mut lines = Vec::new();
        for (index, machine) in self.machines.iter().enumerate() {
            let rpcs = machine.host.iter().flat_map(Host::dump);
            lines.extend(rpcs.map(|rpc| format!("h{index} {rpc}")));
        }
        lines.join("\n")
    }

    fn happen(&mut self, event: Event) -> Result<(), Violation> {
        self.report.events += 1;
        let now = self.now();
        self.carry_out(event)
            .map_err(|violation| violation.seen_at(format!("{} ms", Millis(now))))?;
        self.ledger
            .check_progress(now, CALL_LIMIT)
            .map_err(|violation| violation.with(self.dump()))
    }

    fn carry_out(&mut self, event: Event) -> Result<(), Violation> {
        match event {
            Event::Switch(flight) => self.forward(flight),
            Event::Arrival(flight) => self.arrive(&flight)?,
            Event::Timer { host } => self.timer(host)?,
            Event::App { host, boot, event } => self.app_event(host, boot, event)?,
            Event::Fault(fault) => self.fault(fault)?,
        }
        Ok(())
    }

    /// Lets a host that is up do something, and carries out what comes of it.
    fn with_host<T>(
        &mut self,
        index: usize,
        act: impl FnOnce(&mut Host, Time, &mut Outbox) -> Result<T, Violation>,
    ) -> Result<Option<T>, Violation> {
        let now = self.now();
        let mut out = Outbox::default();
        let Some(host) = &mut self.machines[index].host else {
            return Ok(None);
        };
        let result =
            act(host, now, &mut out).map_err(|violation| violation.seen_at(format!("h{index}")))?;
        self.report.most_rpcs = self.report.most_rpcs.max(host.rpcs());
        let deadline = host.next_deadline();
        self.set_timer(index, deadline);
        for packet in out.packets {
            self.send(index, packet)?;
        }
        for notice in out.notices {
            self.on_notice(index, notice);
        }
        Ok(Some(result))
    }

    /// Sees to it that there is a timer event by `deadline`.
    fn set_timer(&mut self, host: usize, deadline: Option<Time>) {
        let machine = &mut self.machines[host];
        let Some(deadline) = deadline else {
            return;
        };
        if machine.timer_at.is_none_or(|at| at > deadline) {
            machine.timer_at = Some(deadline);
            self.clock.at(deadline, Event::Timer { host });
        }
    }

    fn timer(&mut self, index: usize) -> Result<(), Violation> {
        let now = self.now();
        let machine = &mut self.machines[index];
        if machine.timer_at != Some(now) {
            return Ok(());
        }
        machine.timer_at = None;
        self.with_host(index, Host::on_timer)?;
        Ok(())
    }

    fn send(&mut self, from: usize, packet: Outgoing) -> Result<(), Violation> {
        let now = self.now();
        let to = self
            .index_of(packet.to)
            .ok_or_else(|| Violation::new(format!("there is no host {:?}", packet.to)))?;
        let flight = Flight {
            from,
            to,
            header: packet.header,
            priority: packet.priority,
            bytes: packet.bytes,
        };
        let verdict = match &mut self.interceptor {
            Some(interceptor) => interceptor(&flight),
            None => Verdict::Pass,
        };
        let mut copies = self.network.send(now, from, to, flight.bytes.len());
        match verdict {
            Verdict::Pass => {}
            Verdict::Drop => copies.clear(),
            Verdict::Delay(time) => {
                self.orderly = false;
                for copy in &mut copies {
                    copy.at += time;
                }
            }
        }
        let fate = match copies.len() {
            0 => Fate::Lost,
            count => Fate::Sent(count),
        };
        self.record(&flight, fate);
        self.report.count_packet(&flight.header.packet, fate);
        for copy in copies {
            let mut flight = flight.clone();
            if let Some(bit) = copy.damaged_bit {
                flight.bytes[bit / 8] ^= 1 << (bit % 8);
            }
            self.clock.at(copy.at, Event::Switch(flight));
        }
        Ok(())
    }

    fn forward(&mut self, flight: Flight) {
        let now = self.now();
        let urgent = flight.priority == CONTROL_PRIORITY;
        let length = flight.bytes.len();
        match self.network.forward(now, flight.to, length, urgent) {
            Some(at) => self.clock.at(at, Event::Arrival(flight)),
            None => self.drop_packet(&flight, Fate::QueueFull),
        }
    }

    fn arrive(&mut self, flight: &Flight) -> Result<(), Violation> {
        if self.machines[flight.to].host.is_none() {
            self.drop_packet(flight, Fate::HostDown);
            return Ok(());
        }
        let from = self.machines[flight.from].setup.address;
        let out_of_memory = self.hidden.chance(self.scenario.no_memory);
        self.with_host(flight.to, |host, now, out| {
            let _faults = out_of_memory.then(|| kernel::hosted::fail_after(0));
            host.receive(now, from, &flight.bytes, out)
        })?;
        Ok(())
    }

    fn drop_packet(&mut self, flight: &Flight, fate: Fate) {
        self.report.dropped += 1;
        self.record(flight, fate);
    }

    fn record(&mut self, flight: &Flight, fate: Fate) {
        let common = &flight.header.common;
        let (client, id) = if common.is_to_server() {
            (flight.from, common.sender_id)
        } else {
            (flight.to, common.local_id())
        };
        let header = &flight.bytes[..flight.bytes.len().min(MAX_HEADER)];
        self.trace.packet(
            self.clock.now(),
            [flight.from, flight.to],
            self.ledger.number(client, id),
            &flight.header.packet,
            header,
            fate,
        );
    }

    fn note(&mut self, host: usize, what: fmt::Arguments<'_>) {
        self.trace.note(self.clock.now(), host, what);
    }

    fn on_notice(&mut self, host: usize, notice: Notice) {
        match notice {
            Notice::Request(handle) => self.app_later(host, AppEvent::TakeRequest(handle)),
            Notice::Response(handle) => {
                let call = self.call_number(host, handle.key);
                let reading = call.map_or(0, |number| self.ledger.record(number).order.reading);
                self.app_after(reading, host, AppEvent::TakeResponse(handle));
            }
            Notice::Failed(handle, error) => {
                self.app_later(host, AppEvent::TakeFailure(handle, error));
            }
            Notice::Forgotten(handle, reason) => {
                let number = self.number_of(host, handle.key);
                self.note(host, format_args!("#{number} forgotten: {reason:?}"));
                let name = format!("{reason:?}");
                *self.report.forgotten.entry(name).or_default() += 1;
            }
            Notice::Discarded(why) => {
                self.note(host, format_args!("packet without effect: {why:?}"));
                let name = format!("{why:?}");
                *self.report.discarded.entry(name).or_default() += 1;
            }
        }
    }

    /// The index of the host with this address.
    fn index_of(&self, address: PeerKey) -> Option<usize> {
        self.machines
            .iter()
            .position(|machine| machine.setup.address == address)
    }

    /// The number of a call that a host knows by this key, as text.
    fn number_of(&self, host: usize, key: homa_proto::key::RpcKey) -> String {
        self.call_number(host, key)
            .map_or("?".to_owned(), |number| number.to_string())
    }

    /// The number of a call that a host knows by this key.
    fn call_number(&self, host: usize, key: homa_proto::key::RpcKey) -> Option<Number> {
        if homa_proto::key::is_client(key.id) {
            return self.ledger.number(host, key.id);
        }
        let client = self.index_of(key.peer)?;
        self.ledger
            .number(client, homa_proto::key::other_end(key.id))
    }
}

impl Machine {
    fn new(scenario: &Scenario, index: usize, hidden: &mut Rng) -> Self {
        let [.., high, low] = (index + 1).to_be_bytes();
        let mut machine = Self {
            setup: Setup {
                address: PeerKey::from_v4([10, 0, high, low]),
                config: Config::DEFAULT,
                max_payload: payload_of_mtu(scenario.mtu),
                bpages: scenario.bpages,
                hash_key: [0; 2],
                first_id: 0,
            },
            host: None,
            boot: 0,
            timer_at: None,
            client: Client::new(scenario),
        };
        machine.start(hidden);
        machine
    }

    /// Starts the host, with other secrets each time.
    fn start(&mut self, hidden: &mut Rng) {
        self.setup.hash_key = [hidden.any(), hidden.any()];
        self.setup.first_id = hidden.any() & !1;
        self.host = Some(Host::new(&self.setup));
    }
}
