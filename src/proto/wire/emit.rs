// SPDX-License-Identifier: GPL-2.0

//! Packets to bytes.

use super::Acks;
use super::Common;
use super::Cutoffs;
use super::Data;
use super::Packet;
use super::PacketType;
use super::ACK_PLACES;
use super::CUTOFF_PLACES;
use super::MAX_HEADER;

/// The TCP flags at the same place (SYN and RST); the reference always sets them.
const FLAGS: u8 = 0x06;

/// The TCP urgent pointer at the same place; the reference always sets it.
const URGENT: u16 = 0xb97d;

/// The data offset nibble of control packets: some NICs want 5 words of TCP header.
const DOFF_CONTROL: u8 = 5 << 4;

/// The data offset nibble of DATA: 14 words, the whole header.
const DOFF_DATA: u8 = 14 << 4;

/// Writes into a header at constant places; a place outside of it is skipped,
/// which no caller here asks for.
struct Writer<'a>(&'a mut [u8; MAX_HEADER]);

impl Writer<'_> {
    fn put<const N: usize>(&mut self, at: usize, bytes: [u8; N]) {
        if let Some(to) = self.0.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
            *to = bytes;
        }
    }

    fn put_u8(&mut self, at: usize, value: u8) {
        self.put(at, [value]);
    }

    fn put_u16(&mut self, at: usize, value: u16) {
        self.put(at, value.to_be_bytes());
    }

    fn put_u32(&mut self, at: usize, value: u32) {
        self.put(at, value.to_be_bytes());
    }

    fn put_u64(&mut self, at: usize, value: u64) {
        self.put(at, value.to_be_bytes());
    }

    fn common(&mut self, common: &Common, packet_type: PacketType) {
        self.put_u16(0, common.sport);
        self.put_u16(2, common.dport);
        self.put_u8(11, packet_type.to_wire());
        self.put_u8(12, DOFF_CONTROL);
        self.put_u8(13, FLAGS);
        self.put_u16(18, URGENT);
        self.put_u64(20, common.sender_id);
    }

    fn data(&mut self, data: &Data) {
        let ack = data.ack.unwrap_or_default();
        self.put_u32(4, data.offset);
        self.put_u8(12, DOFF_DATA);
        self.put_u32(28, data.message_length);
        self.put_u32(32, data.incoming);
        self.put_u64(36, ack.client_id);
        self.put_u16(44, ack.server_port);
        self.put_u16(46, data.cutoff_version);
        self.put_u8(48, u8::from(data.retransmit));
        self.put_u32(52, data.offset);
    }

    fn cutoffs(&mut self, cutoffs: &Cutoffs) {
        for (at, cutoff) in CUTOFF_PLACES.into_iter().zip(cutoffs.unsched_cutoffs) {
            self.put_u32(at, cutoff);
        }
        self.put_u16(60, cutoffs.version);
    }

    fn acks(&mut self, acks: &Acks) {
        self.put_u16(28, u16::from(acks.count));
        for (at, entry) in ACK_PLACES.into_iter().zip(acks.entries) {
            self.put_u64(at, entry.client_id);
            self.put_u16(at.saturating_add(8), entry.server_port);
        }
    }
}

/// Writes a header and returns its length: [`PacketType::header_len`] bytes at
/// the start of `out` are the header, the rest of `out` is 0.
///
/// The checksum field is 0. A DATA packet's payload is to follow directly.
pub fn emit(common: &Common, packet: &Packet, out: &mut [u8; MAX_HEADER]) -> usize {
    *out = [0; MAX_HEADER];
    let packet_type = packet.packet_type();
    let mut writer = Writer(out);
    writer.common(common, packet_type);
    match packet {
        Packet::Data(data) => writer.data(data),
        Packet::Grant(grant) => {
            writer.put_u32(28, grant.offset);
            writer.put_u8(32, grant.priority);
        }
        Packet::Resend(resend) => {
            writer.put_u32(28, resend.offset);
            writer.put_u32(32, resend.length);
            writer.put_u8(36, resend.priority);
        }
        Packet::Cutoffs(cutoffs) => writer.cutoffs(cutoffs),
        Packet::Ack(acks) => writer.acks(acks),
        Packet::Unknown | Packet::Busy | Packet::Freeze | Packet::NeedAck => {}
    }
    packet_type.header_len()
}
