// SPDX-License-Identifier: GPL-2.0

//! Packets that go out.

use homa_proto::key::RpcKey;
use homa_proto::rpc::Transmit;
use homa_proto::table::Table;
use homa_proto::tx::Priority;
use homa_proto::tx::Segment;
use homa_proto::wire;
use homa_proto::wire::Common;
use homa_proto::wire::Data;
use homa_proto::wire::Packet;
use homa_proto::wire::CONTROL_PRIORITY;
use kernel::prelude::*;
use kernel::sync::Arc;
use net::Endpoint;
use net::Route;
use net::Skb;
use net::Sock;

use crate::peers::Peer;
use crate::rpc::Outgoing;
use crate::rpc::Rpc;
use crate::socket;
use crate::Homa;

/// Packets that are decided on under one hold of the shard's lock.
const BATCH: usize = 8;

/// Packets of one RPC that are to be sent: decided on under its lock, sent without it.
pub(crate) struct Batch {
    items: [Option<Transmit>; BATCH],
    flow: Flow,
}

/// Where an RPC's packets come from and go to.
struct Flow {
    peer: Arc<Peer>,
    remote_port: u16,
    id: u64,
    outgoing: Option<Arc<Outgoing>>,
}

impl Batch {
    /// Takes what `rpc` has to send, as far as it fits.
    fn collect(sock: &Sock<Homa>, rpc: &mut Rpc, now: u64) -> Option<Self> {
        let config = &sock.namespace().config;
        let max_payload = rpc.peer.max_payload();
        let mut items = [None; BATCH];
        for item in &mut items {
            *item = rpc.machine.poll_transmit(now, config, max_payload);
            if item.is_none() {
                break;
            }
        }
        let [first, ..] = &items;
        first.as_ref()?;
        Some(Self {
            items,
            flow: Flow {
                peer: rpc.peer.clone(),
                remote_port: rpc.remote.port,
                id: rpc.machine.id(),
                outgoing: rpc.outgoing.clone(),
            },
        })
    }

    fn is_full(&self) -> bool {
        self.items.iter().all(Option::is_some)
    }

    /// Sends the packets. What can't be sent is lost; the other end asks for it again.
    fn send(&self, sock: &Sock<Homa>) {
        let Ok(route) = self.flow.peer.route(sock) else {
            return;
        };
        for item in self.items.iter().flatten() {
            // The same as a loss on the way.
            let _lost = self.flow.send(sock, &route, item);
        }
    }
}

impl Flow {
    fn common(&self, sock: &Sock<Homa>) -> Common {
        Common {
            sport: sock.port(),
            dport: self.remote_port,
            sender_id: self.id,
        }
    }

    fn send(&self, sock: &Sock<Homa>, route: &Route, item: &Transmit) -> Result {
        let packet = match *item {
            Transmit::Data {
                segment,
                message_length,
            } => return self.send_data(sock, route, &segment, message_length),
            Transmit::Grant(grant) => Packet::Grant(grant),
            Transmit::Resend(resend) => Packet::Resend(resend),
            Transmit::Busy => Packet::Busy,
            Transmit::NeedAck => Packet::NeedAck,
            Transmit::Ack => Packet::Ack(self.peer.state().drain_acks()),
        };
        transmit(sock, route, &self.common(sock), &packet)
    }

    fn send_data(
        &self,
        sock: &Sock<Homa>,
        route: &Route,
        segment: &Segment,
        message_length: u32,
    ) -> Result {
        let outgoing = self.outgoing.as_ref().ok_or(EINVAL)?;
        let (data, priority) = {
            let mut peer = self.peer.state();
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
            (data, priority)
        };
        let mut header = [0; wire::MAX_HEADER];
        let len = wire::emit(&self.common(sock), &Packet::Data(data), &mut header);
        let mut skb = Skb::with_header(header.get(..len).ok_or(EINVAL)?)?;
        let (offset, len) = (segment.offset as usize, segment.len as usize);
        skb.append(outgoing.pages(), offset, len)?;
        skb.send(sock, route, priority)
    }
}

/// Sends a packet without payload.
fn transmit(sock: &Sock<Homa>, route: &Route, common: &Common, packet: &Packet) -> Result {
    let mut header = [0; wire::MAX_HEADER];
    let len = wire::emit(common, packet, &mut header);
    let skb = Skb::with_header(header.get(..len).ok_or(EINVAL)?)?;
    skb.send(sock, route, CONTROL_PRIORITY)
}

/// What is left to do for an RPC when its shard's lock is released.
#[derive(Default)]
pub(crate) struct Work {
    batch: Option<Batch>,
    deadline: Option<u64>,
}

impl Work {
    /// Takes from the RPC `key`, if it is in `table`, what it has to send, and notes when it is due
    /// next. After each change of an RPC, before its lock is released.
    #[must_use]
    pub(crate) fn collect(
        sock: &Sock<Homa>,
        table: &mut Table<Rpc>,
        key: &RpcKey,
        now: u64,
    ) -> Self {
        let Some(rpc) = table.get_mut(key) else {
            return Self::default();
        };
        let batch = Batch::collect(sock, rpc, now);
        let deadline = rpc.machine.deadline();
        table.set_deadline(key, deadline);
        Self { batch, deadline }
    }

    /// Does it. The caller holds no lock.
    pub(crate) fn run(self, sock: &Sock<Homa>, key: &RpcKey) {
        if self.run_once(sock) {
            push(sock, key);
        }
    }

    /// Does it, and returns whether there may be more to send.
    fn run_once(self, sock: &Sock<Homa>) -> bool {
        if let Some(deadline) = self.deadline {
            socket::start_timer(sock, deadline);
        }
        self.batch.is_some_and(|batch| {
            batch.send(sock);
            batch.is_full()
        })
    }
}

/// Sends what the RPC `key` may send now.
pub(crate) fn push(sock: &Sock<Homa>, key: &RpcKey) {
    let Ok(shard) = sock.shard(key) else {
        return;
    };
    loop {
        let work = Work::collect(sock, &mut shard.lock(), key, net::time::now());
        if !work.run_once(sock) {
            return;
        }
    }
}

/// Sends a packet without payload that belongs to no RPC of ours.
pub(crate) fn send_control(
    sock: &Sock<Homa>,
    peer: &Peer,
    remote: &Endpoint,
    id: u64,
    packet: &Packet,
) -> Result {
    let common = Common {
        sport: sock.port(),
        dport: remote.port,
        sender_id: id,
    };
    let route = peer.route(sock)?;
    transmit(sock, &route, &common, packet)
}
