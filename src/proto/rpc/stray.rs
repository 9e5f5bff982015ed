// SPDX-License-Identifier: GPL-2.0

//! Packets whose RPC is not known.

use crate::key;
use crate::wire::Packet;

/// Why a packet without an RPC is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrayDrop {
    /// The RPC is over, or never was.
    NoSuchRpc,
    /// It belongs to no RPC.
    NotOfAnRpc,
}

/// What to do with a packet whose RPC is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stray {
    /// Create a server's RPC ([`super::Rpc::server`]) and give it the packet.
    CreateServer,
    /// Answer `RPC_UNKNOWN`.
    ReplyUnknown,
    /// Answer ACK: the RPC is over for us, so the server may forget it.
    ReplyAck,
    /// Nothing.
    Drop(StrayDrop),
}

/// What to do with a packet whose RPC is not known; `local_id` is the RPC's id
/// as we would see it.
pub fn on_stray(packet: &Packet, local_id: u64) -> Stray {
    let is_client = key::is_client(local_id);
    match packet {
        Packet::Data(_) if !is_client => Stray::CreateServer,
        Packet::Resend(_) => Stray::ReplyUnknown,
        Packet::NeedAck if is_client => Stray::ReplyAck,
        Packet::Cutoffs(_) | Packet::Freeze => Stray::Drop(StrayDrop::NotOfAnRpc),
        Packet::Data(_)
        | Packet::Grant(_)
        | Packet::Unknown
        | Packet::Busy
        | Packet::NeedAck
        | Packet::Ack(_) => Stray::Drop(StrayDrop::NoSuchRpc),
    }
}
