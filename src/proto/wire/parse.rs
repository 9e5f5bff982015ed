// SPDX-License-Identifier: GPL-2.0

//! Bytes to packets.

use super::AckEntry;
use super::Acks;
use super::Common;
use super::Cutoffs;
use super::Data;
use super::Grant;
use super::Packet;
use super::PacketType;
use super::Parsed;
use super::Resend;
use super::ACK_PLACES;
use super::COMMON_LEN;
use super::CONTROL_PRIORITY;
use super::CUTOFF_PLACES;
use super::DATA_LEN;
use super::MAX_ACKS;
use super::MAX_MESSAGE_LENGTH;
use super::NUM_PRIORITIES;

/// The value of `seg.offset` that refers to `sequence`.
const USE_SEQUENCE: u32 = u32::MAX;

/// Why a packet is not one of ours; each is a drop reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// Shorter than the common header, or than the header of its type.
    TooShort,
    /// No such packet type.
    UnknownType,
    /// DATA under an id that no sender uses.
    BadId,
    /// DATA of a message without bytes, or with more than are allowed.
    BadMessageLength,
    /// DATA without payload.
    NoPayload,
    /// DATA whose payload begins or ends beyond the end of its message.
    BeyondMessage,
    /// RESEND of a range that is empty or in no message.
    BadRange,
}

/// Reads from a header at constant places.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn get<const N: usize>(&self, at: usize) -> Result<[u8; N], ParseError> {
        self.0
            .get(at..)
            .and_then(<[u8]>::first_chunk)
            .copied()
            .ok_or(ParseError::TooShort)
    }

    fn get_u8(&self, at: usize) -> Result<u8, ParseError> {
        self.get(at).map(u8::from_be_bytes)
    }

    fn get_u16(&self, at: usize) -> Result<u16, ParseError> {
        self.get(at).map(u16::from_be_bytes)
    }

    fn get_u32(&self, at: usize) -> Result<u32, ParseError> {
        self.get(at).map(u32::from_be_bytes)
    }

    fn get_u64(&self, at: usize) -> Result<u64, ParseError> {
        self.get(at).map(u64::from_be_bytes)
    }

    fn priority(&self, at: usize) -> Result<u8, ParseError> {
        // Levels that we don't have must not disturb: take the nearest.
        Ok(self.get_u8(at)?.min(CONTROL_PRIORITY))
    }

    fn common(&self) -> Result<Common, ParseError> {
        Ok(Common {
            sport: self.get_u16(0)?,
            dport: self.get_u16(2)?,
            sender_id: self.get_u64(20)?,
        })
    }

    fn ack_entry(&self, at: usize) -> Result<Option<AckEntry>, ParseError> {
        let entry = AckEntry {
            client_id: self.get_u64(at)?,
            server_port: self.get_u16(at.saturating_add(8))?,
        };
        // 0 means none; an odd id is no client's.
        let names_an_rpc = entry.client_id != 0 && crate::key::is_client(entry.client_id);
        Ok(names_an_rpc.then_some(entry))
    }

    fn data(&self, packet_len: usize) -> Result<Data, ParseError> {
        let message_length = self.get_u32(28)?;
        if message_length == 0 || message_length > MAX_MESSAGE_LENGTH {
            return Err(ParseError::BadMessageLength);
        }
        let seg_offset = self.get_u32(52)?;
        let offset = if seg_offset == USE_SEQUENCE {
            self.get_u32(4)?
        } else {
            seg_offset
        };
        let payload_len = packet_len
            .checked_sub(DATA_LEN)
            .and_then(|len| u32::try_from(len).ok())
            .ok_or(ParseError::TooShort)?;
        if payload_len == 0 {
            return Err(ParseError::NoPayload);
        }
        if offset
            .checked_add(payload_len)
            .is_none_or(|end| end > message_length)
        {
            return Err(ParseError::BeyondMessage);
        }
        Ok(Data {
            message_length,
            incoming: self.get_u32(32)?.min(message_length),
            ack: self.ack_entry(36)?,
            cutoff_version: self.get_u16(46)?,
            retransmit: self.get_u8(48)? != 0,
            offset,
            payload_len,
        })
    }

    fn resend(&self) -> Result<Resend, ParseError> {
        let offset = self.get_u32(28)?;
        let length = self.get_u32(32)?;
        let priority = self.priority(36)?;
        if length == Resend::ALL {
            return Ok(Resend::all(priority));
        }
        if length == 0
            || offset
                .checked_add(length)
                .is_none_or(|end| end > MAX_MESSAGE_LENGTH)
        {
            return Err(ParseError::BadRange);
        }
        Ok(Resend {
            offset,
            length,
            priority,
        })
    }

    fn cutoffs(&self) -> Result<Cutoffs, ParseError> {
        let mut unsched_cutoffs = [0; NUM_PRIORITIES as usize];
        for (at, cutoff) in CUTOFF_PLACES.into_iter().zip(&mut unsched_cutoffs) {
            *cutoff = self.get_u32(at)?;
        }
        Ok(Cutoffs {
            unsched_cutoffs,
            version: self.get_u16(60)?,
        })
    }

    fn acks(&self) -> Result<Acks, ParseError> {
        let count = usize::from(self.get_u16(28)?).min(MAX_ACKS);
        let mut acks = Acks::default();
        for &at in ACK_PLACES.iter().take(count) {
            if let Some(entry) = self.ack_entry(at)? {
                acks.push(entry);
            }
        }
        Ok(acks)
    }
}

/// Parses a packet.
///
/// `packet_len` is the length of the whole packet from its Homa header on;
/// `header` is its beginning, at least the smaller of `packet_len` and
/// [`super::MAX_HEADER`] bytes.
///
/// # Errors
///
/// One of [`ParseError`] if the packet is not valid; it is then to be dropped.
pub fn parse(header: &[u8], packet_len: usize) -> Result<Parsed, ParseError> {
    // What is beyond the packet is not part of it.
    let reader = Reader(header.get(..packet_len).unwrap_or(header));
    if packet_len < COMMON_LEN {
        return Err(ParseError::TooShort);
    }
    let packet_type = PacketType::from_wire(reader.get_u8(11)?).ok_or(ParseError::UnknownType)?;
    if packet_len < packet_type.header_len() {
        return Err(ParseError::TooShort);
    }
    let common = reader.common()?;
    let packet = match packet_type {
        PacketType::Data => {
            // Ids 0 and 1 are used by nobody, and an RPC 0 could not be
            // acknowledged.
            if common.sender_id < 2 {
                return Err(ParseError::BadId);
            }
            Packet::Data(reader.data(packet_len)?)
        }
        PacketType::Grant => Packet::Grant(Grant {
            offset: reader.get_u32(28)?,
            priority: reader.priority(32)?,
        }),
        PacketType::Resend => Packet::Resend(reader.resend()?),
        PacketType::Unknown => Packet::Unknown,
        PacketType::Busy => Packet::Busy,
        PacketType::Cutoffs => Packet::Cutoffs(reader.cutoffs()?),
        PacketType::Freeze => Packet::Freeze,
        PacketType::NeedAck => Packet::NeedAck,
        PacketType::Ack => Packet::Ack(reader.acks()?),
    };
    Ok(Parsed { common, packet })
}
