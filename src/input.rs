// SPDX-License-Identifier: GPL-2.0

//! Packets that come in. All of it runs in softirq context, within one RCU critical section.
//!
//! Parts that not every packet needs are never inlined: the stack is short here, under whatever was
//! interrupted.

use homa_proto::key::PeerKey;
use homa_proto::key::RpcKey;
use homa_proto::rpc;
use homa_proto::rpc::Event;
use homa_proto::rpc::Reaction;
use homa_proto::rpc::Stray;
use homa_proto::table::Table;
use homa_proto::wire;
use homa_proto::wire::AckEntry;
use homa_proto::wire::Cutoffs;
use homa_proto::wire::Data;
use homa_proto::wire::Packet;
use homa_proto::wire::Parsed;
use kernel::prelude::*;
use kernel::sync::Arc;
use net::errno;
use net::skb::Payload;
use net::Address;
use net::Endpoint;
use net::RcuGuard;
use net::Skb;
use net::Sock;

use crate::buffers::Allocated;
use crate::buffers::Buffers;
use crate::namespace::Namespace;
use crate::output;
use crate::output::Work;
use crate::peers::Peer;
use crate::peers::PeerId;
use crate::rpc::Rpc;
use crate::Homa;

/// Where the payload of a DATA packet begins, in bytes.
#[expect(clippy::cast_possible_truncation, reason = "it is 56")]
pub(crate) const DATA_HEADER: u32 = wire::DATA_LEN as u32;

/// A packet that was found well-formed.
struct Input {
    parsed: Parsed,
    /// Who sent it.
    from: Endpoint,
    /// Our address to which it was sent.
    to: Address,
    now: u64,
}

impl Input {
    /// The RPC that the packet belongs to.
    fn key(&self) -> RpcKey {
        RpcKey::new(peer_key(&self.from.address), self.parsed.common.local_id())
    }

    /// The peer, as seen from the address that it sent to: answers come from there.
    fn peer_id(&self) -> PeerId {
        PeerId {
            remote: self.from.address,
            local: self.to,
            interface: self.from.interface,
        }
    }
}

/// Returns the engine's name of a host.
pub(crate) fn peer_key(address: &Address) -> PeerKey {
    PeerKey(address.bytes())
}

/// Takes a packet.
pub(crate) fn receive(namespace: &Namespace, rcu: &RcuGuard, mut skb: Skb) {
    let packet_len = skb.len();
    let Some(header) = skb.header(wire::MAX_HEADER) else {
        return;
    };
    let Ok(parsed) = wire::parse(header, packet_len) else {
        return;
    };
    let (source, to) = skb.addresses();
    let interface = if source.is_global() {
        0
    } else {
        skb.interface()
    };
    let input = Input {
        parsed,
        from: Endpoint {
            address: source,
            port: parsed.common.sport,
            interface,
        },
        to,
        now: net::time::now(),
    };

    let sock = namespace
        .ports
        .lookup(rcu, parsed.common.dport)
        .filter(|sock| accepts(sock, &input));
    let Some(sock) = sock else {
        skb.reject_port_unreachable();
        return;
    };

    match &parsed.packet {
        Packet::Freeze => return,
        Packet::Cutoffs(cutoffs) => return note_cutoffs(namespace, &input, cutoffs),
        Packet::Data(Data { ack: Some(ack), .. }) => acknowledge(namespace, rcu, &source, ack),
        Packet::Ack(acks) => {
            for ack in acks.as_slice() {
                acknowledge(namespace, rcu, &source, ack);
            }
        }
        _ => {}
    }
    dispatch(&sock, &input, skb);
}

/// Returns whether packets like this may reach the socket: it has the address family, and takes
/// requests if this belongs to one.
fn accepts(sock: &Sock<Homa>, input: &Input) -> bool {
    let family = if input.from.address.v4().is_some() {
        !sock.is_ipv6() || !sock.is_v6only()
    } else {
        sock.is_ipv6()
    };
    family && (!input.parsed.common.is_to_server() || sock.is_server())
}

/// Takes note of the priorities that a host wants to be used towards it.
#[inline(never)]
fn note_cutoffs(namespace: &Namespace, input: &Input, cutoffs: &Cutoffs) {
    let seen = input.peer_id();
    let chosen = PeerId {
        local: Address::UNSPECIFIED,
        ..seen
    };
    for id in [seen, chosen] {
        if let Some(peer) = namespace.peers.find(&id) {
            peer.state().on_cutoffs(cutoffs);
        }
    }
}

/// Ends the RPC of which `source` says that it has the whole response.
#[inline(never)]
fn acknowledge(namespace: &Namespace, rcu: &RcuGuard, source: &Address, ack: &AckEntry) {
    let Some(sock) = namespace.ports.lookup(rcu, ack.server_port) else {
        return;
    };
    let key = RpcKey::new(peer_key(source), ack.server_id());
    let Ok(shard) = sock.shard(&key) else {
        return;
    };
    let mut dead = None;
    {
        let mut table = shard.lock();
        let event = table.get_mut(&key).and_then(|rpc| rpc.machine.on_ack());
        if let Some(event) = event {
            dead = apply(&sock, &mut table, &key, event).dead;
        }
    }
    drop(dead);
}

/// What an event of an RPC asks for, once its lock is released.
#[derive(Default)]
pub(crate) struct Outcome {
    /// There is something new to be received.
    pub(crate) wake: bool,
    /// The RPC is over.
    pub(crate) dead: Option<KBox<Rpc>>,
}

impl Outcome {
    /// Does it. The caller holds no lock.
    pub(crate) fn run(self, sock: &Sock<Homa>) {
        if self.wake {
            sock.wake_reader();
        }
        drop(self.dead);
    }
}

/// Does what `event` of the RPC `key` asks for, under its lock.
pub(crate) fn apply(
    sock: &Sock<Homa>,
    table: &mut Table<Rpc>,
    key: &RpcKey,
    event: Event,
) -> Outcome {
    let mut outcome = Outcome::default();
    let Some(rpc) = table.get_mut(key) else {
        return outcome;
    };
    match event {
        // Answered where the packet is at hand; without it there is nothing to store.
        Event::NeedBuffers(_) => {}
        Event::Received => outcome.wake = sock.make_ready(key, rpc),
        Event::Failed(error) => {
            rpc.failed = Some(error);
            outcome.wake = sock.make_ready(key, rpc);
        }
        Event::Ended(_) if rpc.queued => rpc.ended = true,
        Event::Ended(_) => outcome.dead = sock.remove(table, key),
    }
    outcome
}

/// Gives a packet to its RPC, or deals with its having none.
#[inline(never)]
fn dispatch(sock: &Sock<Homa>, input: &Input, skb: Skb) {
    let key = input.key();
    let Ok(shard) = sock.shard(&key) else {
        return;
    };
    let mut skb = Some(skb);
    // A second time around if another CPU created or ended the RPC in between.
    for _ in 0..2 {
        {
            let mut table = shard.lock();
            if table.get(&key).is_some() {
                let outcome = feed(sock, &mut table, &key, input, &mut skb);
                let work = Work::collect(sock, &mut table, &key, input.now);
                drop(table);
                outcome.run(sock);
                work.run(sock, &key);
                return;
            }
        }
        if !stray(sock, input, &key) {
            return;
        }
    }
}

/// Gives a packet to its RPC, which is in `table`.
fn feed(
    sock: &Sock<Homa>,
    table: &mut Table<Rpc>,
    key: &RpcKey,
    input: &Input,
    skb: &mut Option<Skb>,
) -> Outcome {
    let config = &sock.namespace().config;
    let packet = &input.parsed.packet;
    let Some(rpc) = table.get_mut(key) else {
        return Outcome::default();
    };
    rpc.peer.note_heard(input.now);
    let mut reaction: Reaction = rpc.machine.on_packet(input.now, config, packet);
    if let Some(Event::NeedBuffers(length)) = reaction.event {
        match Buffers::alloc(&sock.buffers, key, length) {
            Allocated::Lease(lease) => {
                rpc.buffers = Some(lease);
                rpc.machine.buffers_granted(input.now, config);
                reaction = rpc.machine.on_packet(input.now, config, packet);
            }
            Allocated::Waiting => {
                rpc.waiting = true;
                rpc.machine.buffers_pending();
            }
            // Nothing is kept; the next packet asks again.
            Allocated::Refused => {}
        }
    }
    if let (true, Packet::Data(data)) = (reaction.keep_payload, packet) {
        if let Some(mut skb) = skb.take() {
            skb.detach(Payload {
                at: DATA_HEADER,
                len: data.payload_len,
                offset: data.offset,
            });
            rpc.packets.push(skb);
        }
    }
    match reaction.event {
        Some(event) => apply(sock, table, key, event),
        None => Outcome::default(),
    }
}

/// Deals with a packet whose RPC is not known. Returns whether it is now.
#[inline(never)]
fn stray(sock: &Sock<Homa>, input: &Input, key: &RpcKey) -> bool {
    let packet = &input.parsed.packet;
    let reply = match rpc::on_stray(packet, key.id) {
        Stray::CreateServer => return create(sock, input, key).is_ok(),
        Stray::ReplyUnknown => Packet::Unknown,
        Stray::ReplyAck => Packet::Ack(wire::Acks::new()),
        Stray::Drop(_) => return false,
    };
    // A lost answer is asked for again.
    let _lost = answer(sock, input, key, reply);
    false
}

#[inline(never)]
fn answer(sock: &Sock<Homa>, input: &Input, key: &RpcKey, reply: Packet) -> Result {
    let peer = sock.namespace().peers.get(sock, &input.peer_id())?;
    let reply = match reply {
        Packet::Ack(_) => Packet::Ack(peer.state().drain_acks()),
        other => other,
    };
    output::send_control(sock, &peer, &input.from, key.id, &reply)
}

/// Creates the server's side of an RPC that a DATA packet begins.
#[inline(never)]
fn create(sock: &Sock<Homa>, input: &Input, key: &RpcKey) -> Result {
    let Packet::Data(data) = &input.parsed.packet else {
        return Err(EINVAL);
    };
    if sock.buffers.region().is_none() {
        return Err(errno::ENOBUFS.into());
    }
    let namespace = sock.namespace();
    let peer: Arc<Peer> = namespace.peers.get(sock, &input.peer_id())?;
    let machine = rpc::Rpc::server(key.id, data, input.now, &namespace.config);
    let rpc = Rpc::server(machine, peer, input.from)?;
    match sock.insert(key, rpc, GFP_ATOMIC) {
        // Another CPU was faster: good as well.
        Err(error) if error == EEXIST => Ok(()),
        result => result,
    }
}
