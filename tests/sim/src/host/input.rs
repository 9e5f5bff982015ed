// SPDX-License-Identifier: GPL-2.0

//! What a host does with a packet.

use homa_proto::key::PeerKey;
use homa_proto::key::RpcKey;
use homa_proto::rpc::on_stray;
use homa_proto::rpc::Event;
use homa_proto::rpc::Reaction;
use homa_proto::rpc::Rpc;
use homa_proto::rpc::Stray;
use homa_proto::wire;
use homa_proto::wire::AckEntry;
use homa_proto::wire::Data;
use homa_proto::wire::Packet;
use homa_proto::wire::Parsed;

use super::Call;
use super::Host;
use super::Outbox;
use super::Why;
use crate::clock::Time;
use crate::violation::ensure;
use crate::violation::Violation;

impl Host {
    /// Takes a packet from the network.
    pub fn receive(
        &mut self,
        now: Time,
        from: PeerKey,
        bytes: &[u8],
        out: &mut Outbox,
    ) -> Result<(), Violation> {
        let header = &bytes[..bytes.len().min(wire::MAX_HEADER)];
        let parsed = match wire::parse(header, bytes.len()) {
            Ok(parsed) => parsed,
            Err(error) => {
                out.discard(Why::Invalid(error));
                return Ok(());
            }
        };
        if let Packet::Cutoffs(cutoffs) = &parsed.packet {
            self.peer(from).on_cutoffs(cutoffs);
            return Ok(());
        }
        self.give_named(now, from, &parsed, bytes, out)?;
        self.take_acks(now, from, &parsed.packet, out)
    }

    /// Gives a packet to the RPC that its header names.
    fn give_named(
        &mut self,
        now: Time,
        from: PeerKey,
        parsed: &Parsed,
        bytes: &[u8],
        out: &mut Outbox,
    ) -> Result<(), Violation> {
        let key = RpcKey::new(from, parsed.common.local_id());
        match self.table.get(&key) {
            Some(call) if call.remote != from => {
                out.discard(Why::WrongSender);
                return Ok(());
            }
            Some(_) => {}
            None => {
                if !self.on_stray(now, from, key, &parsed.packet, out)? {
                    return Ok(());
                }
            }
        }
        self.give_packet(now, key, &parsed.packet, bytes, out)?;
        self.flush(now, key, out)
    }

    /// Processes acknowledgments of RPCs that the header does not name.
    fn take_acks(
        &mut self,
        now: Time,
        from: PeerKey,
        packet: &Packet,
        out: &mut Outbox,
    ) -> Result<(), Violation> {
        let one;
        let entries: &[AckEntry] = match packet {
            Packet::Data(Data { ack: Some(ack), .. }) => {
                one = [*ack];
                &one
            }
            Packet::Ack(acks) => acks.as_slice(),
            _ => &[],
        };
        for entry in entries {
            let key = RpcKey::new(from, entry.server_id());
            let Some(call) = self.table.get_mut(&key) else {
                continue;
            };
            if let Some(event) = call.rpc.on_ack() {
                self.on_event(now, key, event, out)?;
            }
            self.flush(now, key, out)?;
        }
        Ok(())
    }

    /// Does what is to be done with a packet without an RPC; true if there is
    /// one now, to which the packet is to be given.
    fn on_stray(
        &mut self,
        now: Time,
        from: PeerKey,
        key: RpcKey,
        packet: &Packet,
        out: &mut Outbox,
    ) -> Result<bool, Violation> {
        match (on_stray(packet, key.id), packet) {
            (Stray::CreateServer, Packet::Data(data)) => {
                let rpc = Rpc::server(key.id, data, now, &self.config);
                if self.insert(key, Call::new(rpc, from, Vec::new())).is_ok() {
                    return Ok(true);
                }
                out.discard(Why::NoMemory);
            }
            (Stray::CreateServer, packet) => {
                let what = format!("an RPC is to be made of {packet:?}");
                return Err(Violation::new(what));
            }
            (Stray::ReplyUnknown, _) => out.send_control(from, key.id, Packet::Unknown)?,
            (Stray::ReplyAck, _) => {
                let acks = self.peer(from).drain_acks();
                out.send_control(from, key.id, Packet::Ack(acks))?;
            }
            (Stray::Drop(why), _) => out.discard(Why::Stray(why)),
        }
        Ok(false)
    }

    /// Gives a packet to its RPC, with memory for the message that it begins.
    fn give_packet(
        &mut self,
        now: Time,
        key: RpcKey,
        packet: &Packet,
        bytes: &[u8],
        out: &mut Outbox,
    ) -> Result<(), Violation> {
        let Some(call) = self.table.get_mut(&key) else {
            return Ok(());
        };
        self.heard.insert(call.remote, now);
        let mut reaction = call.rpc.on_packet(now, &self.config, packet);
        if let Some(Event::NeedBuffers(length)) = reaction.event {
            ensure!(
                !reaction.keep_payload,
                "a payload is to be kept without memory"
            );
            if let Some(lease) = self.region.alloc(length)? {
                call.lease = Some(lease);
                call.rpc.buffers_granted(now, &self.config);
                reaction = call.rpc.on_packet(now, &self.config, packet);
            } else {
                reaction.event = None;
                match self.region.wait(key, length) {
                    Ok(()) => call.rpc.buffers_pending(),
                    Err(_) => out.discard(Why::TooManyWaiting),
                }
            }
        }
        self.keep(key, packet, bytes, &reaction)?;
        if let Some(why) = reaction.discard {
            out.discard(Why::Rpc(why));
        }
        match reaction.event {
            Some(event) => self.on_event(now, key, event, out),
            None => Ok(()),
        }
    }

    /// Stores the payload of a packet if the engine says so, and checks that it
    /// says so exactly if there are new bytes in it.
    fn keep(
        &mut self,
        key: RpcKey,
        packet: &Packet,
        bytes: &[u8],
        reaction: &Reaction,
    ) -> Result<(), Violation> {
        let Some(call) = self.table.get_mut(&key) else {
            return Ok(());
        };
        let Packet::Data(data) = packet else {
            ensure!(
                !reaction.keep_payload,
                "a payload is to be kept of {packet:?}"
            );
            return Ok(());
        };
        if reaction.keep_payload {
            let Some(lease) = &call.lease else {
                return Err(Violation::new("a payload is to be kept without memory"));
            };
            let payload = &bytes[wire::DATA_LEN..];
            self.region.write(lease, data.offset, payload)?;
            let new = call.received.add(data.offset, data.payload_len);
            ensure!(
                new > 0,
                "{}+{} is kept and was there before",
                data.offset,
                data.payload_len
            );
        }
        match call.rpc.rx() {
            Some(rx) => call.received.check(rx),
            None => Ok(()),
        }
    }
}
