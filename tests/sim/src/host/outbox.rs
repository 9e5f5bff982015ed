// SPDX-License-Identifier: GPL-2.0

//! What comes out of a host: packets and notices.

use homa_proto::key;
use homa_proto::key::PeerKey;
use homa_proto::key::RpcKey;
use homa_proto::rpc::Discard;
use homa_proto::rpc::EndReason;
use homa_proto::rpc::RpcError;
use homa_proto::rpc::StrayDrop;
use homa_proto::wire;
use homa_proto::wire::Common;
use homa_proto::wire::Packet;
use homa_proto::wire::ParseError;
use homa_proto::wire::Parsed;

use crate::violation::ensure;
use crate::violation::Violation;

/// The port of every server here.
pub(super) const SERVER_PORT: u16 = 1;

/// The port of every client here.
const CLIENT_PORT: u16 = 0x8000;

/// A packet that a host sends.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// Where to.
    pub to: PeerKey,
    /// Its header.
    pub header: Parsed,
    /// The whole packet.
    pub bytes: Vec<u8>,
    /// Its priority level.
    pub priority: u8,
}

/// An RPC as its application knows it. Another RPC that gets the same key later
/// has another handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    /// The RPC's name.
    pub key: RpcKey,
    /// Which of all RPCs that the host has had.
    pub(super) instance: u64,
}

/// Something that the host's application, or whoever keeps the books, is to
/// know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A request is complete.
    Request(Handle),
    /// A response is complete.
    Response(Handle),
    /// A call failed.
    Failed(Handle, RpcError),
    /// A server's RPC is over and was forgotten.
    Forgotten(Handle, EndReason),
    /// A packet had no effect.
    Discarded(Why),
}

/// Why a packet had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is no valid packet.
    Invalid(ParseError),
    /// No RPC, and none to be made.
    Stray(StrayDrop),
    /// Its RPC had no use for it.
    Rpc(Discard),
    /// It comes from another host than the RPC's server.
    WrongSender,
    /// No memory for a new RPC.
    NoMemory,
    /// Too many RPCs wait for receive buffers.
    TooManyWaiting,
}

/// What comes out of a host.
#[derive(Debug, Default)]
pub struct Outbox {
    /// Packets, in order.
    pub packets: Vec<Outgoing>,
    /// Notices, in order.
    pub notices: Vec<Notice>,
}

impl Outbox {
    /// Sends a packet at the priority of control packets; `id` is the RPC's id
    /// at the sender.
    pub(super) fn send_control(
        &mut self,
        to: PeerKey,
        id: u64,
        packet: Packet,
    ) -> Result<(), Violation> {
        self.send(to, id, packet, &[], wire::CONTROL_PRIORITY)
    }

    /// Sends a packet.
    pub(super) fn send(
        &mut self,
        to: PeerKey,
        id: u64,
        packet: Packet,
        payload: &[u8],
        priority: u8,
    ) -> Result<(), Violation> {
        ensure!(
            priority < wire::NUM_PRIORITIES,
            "there is no priority {priority}"
        );
        let (sport, dport) = if key::is_client(id) {
            (CLIENT_PORT, SERVER_PORT)
        } else {
            (SERVER_PORT, CLIENT_PORT)
        };
        let common = Common {
            sport,
            dport,
            sender_id: id,
        };
        let header = Parsed { common, packet };
        let mut buffer = [0; wire::MAX_HEADER];
        let length = wire::emit(&common, &packet, &mut buffer);
        let mut bytes = buffer[..length].to_vec();
        bytes.extend_from_slice(payload);
        let seen = wire::parse(&bytes[..bytes.len().min(wire::MAX_HEADER)], bytes.len());
        ensure!(
            seen == Ok(header),
            "{header:?} was emitted and parses as {seen:?}"
        );
        self.packets.push(Outgoing {
            to,
            header,
            bytes,
            priority,
        });
        Ok(())
    }

    /// A packet had no effect.
    pub(super) fn discard(&mut self, why: Why) {
        self.notices.push(Notice::Discarded(why));
    }
}
