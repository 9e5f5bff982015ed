// SPDX-License-Identifier: GPL-2.0

//! A host: the engine's parts put together as the kernel module does it.
//!
//! Packets and the application's calls come in as method calls, packets and
//! notices go out through an [`Outbox`]. Everything the engine says is checked
//! against the accounts of [`crate::audit`] and [`crate::region`].

mod input;
mod outbox;

use std::collections::BTreeMap;

use homa_proto::config::Config;
use homa_proto::key::PeerKey;
use homa_proto::key::RpcKey;
use homa_proto::peer::Peer;
use homa_proto::pool::Lease;
use homa_proto::rpc::Buffers;
use homa_proto::rpc::Event;
use homa_proto::rpc::Rpc;
use homa_proto::rpc::State;
use homa_proto::rpc::Transmit;
use homa_proto::rx::Rx;
use homa_proto::table::Reservation;
use homa_proto::table::Table;
use homa_proto::tx::Priority;
use homa_proto::tx::Tx;
use homa_proto::wire::AckEntry;
use homa_proto::wire::Data;
use homa_proto::wire::Packet;
use kernel::alloc::flags::GFP_KERNEL;
use kernel::alloc::AllocError;
use kernel::alloc::KBox;

pub use self::outbox::Handle;
pub use self::outbox::Notice;
pub use self::outbox::Outbox;
pub use self::outbox::Outgoing;
pub use self::outbox::Why;
use self::outbox::SERVER_PORT;
use crate::audit::Received;
use crate::audit::Sent;
use crate::clock::Time;
use crate::region::Region;
use crate::violation::ensure;
use crate::violation::Violation;

/// More packets than this at once from one RPC mean that it never stops.
const MOST_PACKETS_AT_ONCE: usize = 4_000_000;

/// What a host is made with.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Its address.
    pub address: PeerKey,
    /// Its tunables.
    pub config: Config,
    /// The most payload bytes in a packet.
    pub max_payload: u32,
    /// Size of the receive buffer region.
    pub bpages: u32,
    /// The secret of its table.
    pub hash_key: [u64; 2],
    /// The first id that it uses as a client.
    pub first_id: u64,
}

/// A complete message that an application took.
#[derive(Clone, Debug)]
pub struct Delivered {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its memory, to be given back with [`Host::give_back`].
    pub offsets: Vec<u32>,
}

/// An RPC and what belongs to it outside of the engine.
#[derive(Debug)]
struct Call {
    rpc: Rpc,
    instance: u64,
    /// The other end.
    remote: PeerKey,
    /// The bytes of the outgoing message.
    outgoing: Vec<u8>,
    /// The memory of the incoming message.
    lease: Option<Lease>,
    received: Received,
    sent: Sent,
}

impl Call {
    fn new(rpc: Rpc, remote: PeerKey, outgoing: Vec<u8>) -> Self {
        Self {
            rpc,
            instance: 0,
            remote,
            outgoing,
            lease: None,
            received: Received::default(),
            sent: Sent::default(),
        }
    }

    /// Checks that something is going to happen to the RPC: a timer or the
    /// application. Otherwise it would stay for ever.
    fn check_not_stuck(&self) -> Result<(), Violation> {
        let waits_for_others = self.rpc.deadline().is_some()
            || self.rpc.state() == State::InService
            || self.rpc.state() == State::Ended
            || self.rpc.received()
            || self.rpc.buffers() == Buffers::Pending;
        ensure!(waits_for_others, "nothing will happen to {:?}", self.rpc);
        Ok(())
    }
}

/// A host.
#[derive(Debug)]
pub struct Host {
    address: PeerKey,
    config: Config,
    max_payload: u32,
    next_id: u64,
    /// RPCs that there have been.
    instances: u64,
    table: Table<Call>,
    peers: BTreeMap<PeerKey, Peer>,
    /// When a packet of an RPC came from each host for the last time.
    heard: BTreeMap<PeerKey, Time>,
    region: Region,
}

impl Host {
    /// A host without RPCs.
    pub fn new(setup: &Setup) -> Self {
        Self {
            address: setup.address,
            config: setup.config,
            max_payload: setup.max_payload,
            next_id: setup.first_id,
            instances: 0,
            table: Table::new(setup.hash_key),
            peers: BTreeMap::new(),
            heard: BTreeMap::new(),
            region: Region::new(setup.bpages),
        }
    }

    /// The host's address.
    pub fn address(&self) -> PeerKey {
        self.address
    }

    /// Number of RPCs that the host knows.
    pub fn rpcs(&self) -> usize {
        self.table.len()
    }

    /// When [`Host::on_timer`] is to be called.
    pub fn next_deadline(&self) -> Option<Time> {
        self.table.next_deadline()
    }

    /// Changes the path's MTU: packets that are sent from now on carry at most
    /// this many payload bytes.
    pub fn set_max_payload(&mut self, max_payload: u32) {
        self.max_payload = max_payload;
    }

    /// The id that the next call will have.
    pub fn next_id(&self) -> u64 {
        self.next_id
    }

    /// The application calls `server`.
    pub fn call(
        &mut self,
        now: Time,
        server: PeerKey,
        request: Vec<u8>,
        out: &mut Outbox,
    ) -> Result<Handle, Violation> {
        let id = self.next_id;
        self.next_id = id.wrapping_add(2);
        let key = RpcKey::client(id);
        let tx = self.outgoing_message(&request)?;
        let rpc = Rpc::client(id, tx, now, &self.config);
        let instance = self
            .insert(key, Call::new(rpc, server, request))
            .map_err(|_| Violation::new("no memory for a call"))?;
        self.flush(now, key, out)?;
        Ok(Handle { key, instance })
    }

    /// The server's application takes a request; none if the RPC is over.
    pub fn take_request(
        &mut self,
        now: Time,
        handle: Handle,
        out: &mut Outbox,
    ) -> Result<Option<Delivered>, Violation> {
        let key = handle.key;
        let Some(call) = find(&mut self.table, handle) else {
            return Ok(None);
        };
        let delivered = deliver(call, &self.region)?;
        call.received = Received::default();
        self.flush(now, key, out)?;
        Ok(Some(delivered))
    }

    /// The server's application answers; without effect if the RPC is over.
    pub fn reply(
        &mut self,
        now: Time,
        handle: Handle,
        response: Vec<u8>,
        out: &mut Outbox,
    ) -> Result<(), Violation> {
        let tx = self.outgoing_message(&response)?;
        let Some(call) = find(&mut self.table, handle) else {
            return Ok(());
        };
        call.rpc
            .reply(tx, now, &self.config)
            .map_err(|refused| Violation::new(format!("a response is refused: {refused:?}")))?;
        call.outgoing = response;
        self.flush(now, handle.key, out)
    }

    /// The client's application takes a response, which ends the RPC; none if
    /// it is over already.
    pub fn take_response(
        &mut self,
        now: Time,
        handle: Handle,
        out: &mut Outbox,
    ) -> Result<Option<Delivered>, Violation> {
        let key = handle.key;
        let Some(call) = find(&mut self.table, handle) else {
            return Ok(None);
        };
        let delivered = deliver(call, &self.region)?;
        let server = call.remote;
        ensure!(
            call.rpc.state() == State::Ended,
            "{key:?} goes on after its response was taken"
        );
        self.remove(now, key, out)?;
        let entry = AckEntry {
            client_id: key.id,
            server_port: SERVER_PORT,
        };
        if let Some(acks) = self.peer(server).queue_ack(entry) {
            out.send_control(server, key.id, Packet::Ack(acks))?;
        }
        Ok(Some(delivered))
    }

    /// The client's application gives a call up; without effect if it is over.
    pub fn abandon(&mut self, now: Time, key: RpcKey, out: &mut Outbox) -> Result<(), Violation> {
        self.remove(now, key, out)
    }

    /// The client's application takes note of a failed call.
    pub fn end_call(
        &mut self,
        now: Time,
        handle: Handle,
        out: &mut Outbox,
    ) -> Result<(), Violation> {
        if find(&mut self.table, handle).is_none() {
            return Ok(());
        }
        self.remove(now, handle.key, out)
    }

    /// The application gives back the memory of a message.
    pub fn give_back(
        &mut self,
        now: Time,
        offsets: &[u32],
        out: &mut Outbox,
    ) -> Result<(), Violation> {
        self.region.release(offsets)?;
        self.serve_waiters(now, out)
    }

    /// It is time for something.
    pub fn on_timer(&mut self, now: Time, out: &mut Outbox) -> Result<(), Violation> {
        while let Some(key) = self.table.pop_due(now) {
            let Some(call) = self.table.get_mut(&key) else {
                return Err(Violation::new(format!("{key:?} is due and is not there")));
            };
            if let Some(&heard) = self.heard.get(&call.remote) {
                call.rpc.host_heard(heard);
            }
            if let Some(event) = call.rpc.on_timer(now, &self.config) {
                self.on_event(now, key, event, out)?;
            }
            self.flush(now, key, out)?;
            if let Some(next) = self.table.get(&key).and_then(|call| call.rpc.deadline()) {
                ensure!(next > now, "{key:?} is due again at once");
            }
        }
        Ok(())
    }

    /// Checks that nothing is left of what has been.
    pub fn check_idle(&self) -> Result<(), Violation> {
        if let Some((key, call)) = self.table.iter().next() {
            return Err(Violation::new(format!(
                "{} RPCs are left, one is {key:?}: {:?}",
                self.table.len(),
                call.rpc
            )));
        }
        self.region.check_idle()
    }

    /// One line for each RPC: its state.
    pub fn dump(&self) -> Vec<String> {
        let line = |(_, call): (&RpcKey, &Call)| format!("{:?}", call.rpc);
        self.table.iter().map(line).collect()
    }

    fn outgoing_message(&self, bytes: &[u8]) -> Result<Tx, Violation> {
        let length = u32::try_from(bytes.len())
            .map_err(|_| Violation::new("a message longer than 4 GiB"))?;
        Ok(Tx::new(length, self.config.unsched_bytes, self.max_payload))
    }

    fn peer(&mut self, address: PeerKey) -> &mut Peer {
        self.peers.entry(address).or_default()
    }

    /// Adds an RPC, with memory allocated before, as under a lock.
    fn insert(&mut self, key: RpcKey, mut call: Call) -> Result<u64, AllocError> {
        if !self.table.room() {
            let reservation = Reservation::new(self.table.grown_capacity(), GFP_KERNEL)?;
            drop(self.table.adopt(reservation));
        }
        self.instances += 1;
        call.instance = self.instances;
        let call = KBox::new(call, GFP_KERNEL)?;
        self.table.insert(key, call).map_err(|_| AllocError)?;
        Ok(self.instances)
    }

    /// Removes an RPC and gives back what it has.
    fn remove(&mut self, now: Time, key: RpcKey, out: &mut Outbox) -> Result<(), Violation> {
        let Some(mut call) = self.table.remove(&key) else {
            return Ok(());
        };
        self.region.cancel_wait(&key);
        if let Some(lease) = call.lease.take() {
            self.region.free(lease)?;
            self.serve_waiters(now, out)?;
        }
        Ok(())
    }

    /// Gives memory that came back to those that wait.
    fn serve_waiters(&mut self, now: Time, out: &mut Outbox) -> Result<(), Violation> {
        loop {
            let table = &self.table;
            let length_of = |key: &RpcKey| Some(table.get(key)?.rpc.rx()?.length());
            let Some((key, lease)) = self.region.next_waiter(length_of)? else {
                return Ok(());
            };
            if let Some(call) = self.table.get_mut(&key) {
                call.lease = Some(lease);
                call.rpc.buffers_granted(now, &self.config);
            }
            self.flush(now, key, out)?;
        }
    }

    fn on_event(
        &mut self,
        now: Time,
        key: RpcKey,
        event: Event,
        out: &mut Outbox,
    ) -> Result<(), Violation> {
        let is_client = homa_proto::key::is_client(key.id);
        let instance = self.table.get(&key).map_or(0, |call| call.instance);
        let handle = Handle { key, instance };
        match event {
            Event::Received if is_client => out.notices.push(Notice::Response(handle)),
            Event::Received => out.notices.push(Notice::Request(handle)),
            Event::Failed(error) => {
                ensure!(is_client, "a server's RPC has failed: {error:?}");
                out.notices.push(Notice::Failed(handle, error));
            }
            Event::Ended(reason) => {
                ensure!(!is_client, "a client's RPC has ended: {reason:?}");
                out.notices.push(Notice::Forgotten(handle, reason));
                self.remove(now, key, out)?;
            }
            Event::NeedBuffers(_) => {
                return Err(Violation::new("memory is asked for without DATA"));
            }
        }
        Ok(())
    }

    /// Sends what an RPC has to send and notes when it is due.
    fn flush(&mut self, now: Time, key: RpcKey, out: &mut Outbox) -> Result<(), Violation> {
        for _ in 0..MOST_PACKETS_AT_ONCE {
            let Some(call) = self.table.get_mut(&key) else {
                return Ok(());
            };
            let granted = call.rpc.rx().map(Rx::granted);
            let transmit = call.rpc.poll_transmit(now, &self.config, self.max_payload);
            let Some(transmit) = transmit else {
                call.check_not_stuck()?;
                let deadline = call.rpc.deadline();
                self.table.set_deadline(&key, deadline);
                return Ok(());
            };
            check_transmit(call, &transmit, granted, &self.config, self.max_payload)?;
            self.transmit(key, transmit, out)?;
        }
        Err(Violation::new(format!("{key:?} never stops sending")))
    }

    fn transmit(
        &mut self,
        key: RpcKey,
        transmit: Transmit,
        out: &mut Outbox,
    ) -> Result<(), Violation> {
        let Some(call) = self.table.get_mut(&key) else {
            return Ok(());
        };
        let remote = call.remote;
        let packet = match transmit {
            Transmit::Data {
                segment,
                message_length,
            } => {
                let payload = range(&call.outgoing, segment.offset, segment.len)?.to_vec();
                let peer = self.peer(remote);
                let priority = match segment.priority {
                    Priority::Unscheduled => peer.unscheduled_priority(message_length),
                    Priority::Level(level) => level,
                };
                let data = Data {
                    message_length,
                    incoming: segment.incoming,
                    ack: peer.take_ack(),
                    cutoff_version: peer.cutoff_version(),
                    retransmit: segment.retransmit,
                    offset: segment.offset,
                    payload_len: segment.len,
                };
                let packet = Packet::Data(data);
                return out.send(remote, key.id, packet, &payload, priority);
            }
            Transmit::Grant(grant) => Packet::Grant(grant),
            Transmit::Resend(resend) => Packet::Resend(resend),
            Transmit::Busy => Packet::Busy,
            Transmit::NeedAck => Packet::NeedAck,
            Transmit::Ack => Packet::Ack(self.peer(remote).drain_acks()),
        };
        out.send_control(remote, key.id, packet)
    }
}

fn find(table: &mut Table<Call>, handle: Handle) -> Option<&mut Call> {
    table
        .get_mut(&handle.key)
        .filter(|call| call.instance == handle.instance)
}

/// Hands a complete message to the application.
fn deliver(call: &mut Call, region: &Region) -> Result<Delivered, Violation> {
    let length = call.rpc.rx().map(Rx::length);
    ensure!(
        call.rpc.delivered(),
        "a message was announced and is not complete: {:?}",
        call.rpc
    );
    let (Some(length), Some(lease)) = (length, call.lease.take()) else {
        return Err(Violation::new("a complete message has no memory"));
    };
    Ok(Delivered {
        bytes: region.read(lease.offsets(), length)?,
        offsets: lease.offsets().to_vec(),
    })
}

/// Checks what the engine wants to send. `granted` is the limit of the incoming
/// message before.
fn check_transmit(
    call: &mut Call,
    transmit: &Transmit,
    granted: Option<u32>,
    config: &Config,
    max_payload: u32,
) -> Result<(), Violation> {
    match transmit {
        Transmit::Data { segment, .. } => match call.rpc.tx() {
            Some(tx) => call.sent.add(segment, max_payload, tx),
            None => Err(Violation::new("DATA without an outgoing message")),
        },
        Transmit::Grant(grant) => {
            let rx = call.rpc.rx();
            let limit = rx.map_or(0, |rx| rx.received_bytes().saturating_add(config.window));
            ensure!(
                grant.offset <= limit && Some(grant.offset) > granted,
                "GRANT {} is not between {granted:?} and {limit}",
                grant.offset
            );
            Ok(())
        }
        Transmit::Resend(resend) => call.received.check_resend(resend, call.rpc.rx()),
        Transmit::Busy | Transmit::NeedAck | Transmit::Ack => Ok(()),
    }
}

fn range(bytes: &[u8], offset: u32, len: u32) -> Result<&[u8], Violation> {
    let start = usize::try_from(offset).expect("an index");
    let len = usize::try_from(len).expect("an index");
    bytes
        .get(start..start + len)
        .ok_or_else(|| Violation::new(format!("a segment beyond the message: {start}+{len}")))
}
