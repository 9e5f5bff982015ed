// SPDX-License-Identifier: GPL-2.0

//! The wire format: packets as values, parsed from bytes and emitted to them.
//!
//! # Vocabulary
//!
//! * A *packet* is one Homa header and, for DATA, message bytes behind it. What
//!   carries it (IP protocol 146 or UDP) is not seen here.
//! * [`Common`] is what all packets begin with: the ports and the RPC's id as
//!   the sender sees it. [`Packet`] is the rest, by type.
//! * An *effective offset* is where a DATA packet's payload belongs in its
//!   message. The header has two fields for it: `seg.offset`, or `sequence`
//!   if `seg.offset` is all ones. We write the true offset to both.
//!
//! # Invariants
//!
//! [`parse()`] takes any bytes and never panics. What it returns is in range, so
//! that nothing beyond needs to check it again:
//!
//! * DATA: `1 <= message_length <= MAX_MESSAGE_LENGTH`, `payload_len >= 1`,
//!   `offset + payload_len <= message_length`, `incoming <= message_length`,
//!   the id is one that a sender may use for a request or response.
//! * RESEND: either [`Resend::ALL`] with offset 0, or a range that is not empty
//!   and ends at [`MAX_MESSAGE_LENGTH`] or before.
//! * Priorities are levels below [`NUM_PRIORITIES`]; larger ones are clamped.
//! * Acknowledged ids are client ids (even) and not 0; others are left out.
//!
//! `parse(emit(p)) == p` for every packet that keeps these.
//!
//! The format is that of the reference implementation's full build. Bytes that
//! it reserves are sent as 0 and ignored.

mod emit;
mod parse;
#[cfg(test)]
mod tests;

pub use self::emit::emit;
pub use self::parse::parse;
pub use self::parse::ParseError;

use crate::key;

/// The IP protocol number assigned to Homa.
pub const IPPROTO_HOMA: u8 = 146;

/// The largest message, in bytes.
pub const MAX_MESSAGE_LENGTH: u32 = 1_000_000;

/// Number of priority levels; level 0 is the least urgent.
pub const NUM_PRIORITIES: u8 = 8;

/// Priority of control packets: the most urgent.
pub const CONTROL_PRIORITY: u8 = NUM_PRIORITIES - 1;

/// Acknowledgments that fit into one ACK packet.
pub const MAX_ACKS: usize = 5;

/// No header is longer than this; as many bytes of a packet are enough to
/// parse it.
pub const MAX_HEADER: usize = 90;

/// Length of the part that all packets have.
pub const COMMON_LEN: usize = 28;

/// Length of a DATA header.
pub const DATA_LEN: usize = 56;

/// Length of a GRANT packet.
pub const GRANT_LEN: usize = 33;

/// Length of a RESEND packet.
pub const RESEND_LEN: usize = 37;

/// Length of a CUTOFFS packet.
pub const CUTOFFS_LEN: usize = 62;

/// Length of an ACK packet, however many acknowledgments it holds.
pub const ACK_LEN: usize = 80;

/// Where the list of an ACK packet has its entries, of 10 bytes each.
const ACK_PLACES: [usize; MAX_ACKS] = [30, 40, 50, 60, 70];

/// Where a CUTOFFS packet has its cutoffs.
const CUTOFF_PLACES: [usize; NUM_PRIORITIES as usize] = [28, 32, 36, 40, 44, 48, 52, 56];

/// Where the checksum field is, from the start of the header.
pub const CHECKSUM_OFFSET: usize = 16;

/// A packet's type, by its number on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PacketType {
    /// Message bytes.
    Data = 0x10,
    /// Permission to send more of a message.
    Grant = 0x11,
    /// Request to send bytes again.
    Resend = 0x12,
    /// The sender of this does not know the RPC.
    Unknown = 0x13,
    /// The sender of this is alive but has nothing to send yet.
    Busy = 0x14,
    /// Priorities to use for unscheduled bytes to the sender of this.
    Cutoffs = 0x15,
    /// Debugging aid of the reference; ignored.
    Freeze = 0x16,
    /// The server asks whether the response has arrived.
    NeedAck = 0x17,
    /// Responses that have arrived.
    Ack = 0x18,
}

impl PacketType {
    /// The type with this number.
    pub const fn from_wire(byte: u8) -> Option<Self> {
        Some(match byte {
            0x10 => Self::Data,
            0x11 => Self::Grant,
            0x12 => Self::Resend,
            0x13 => Self::Unknown,
            0x14 => Self::Busy,
            0x15 => Self::Cutoffs,
            0x16 => Self::Freeze,
            0x17 => Self::NeedAck,
            0x18 => Self::Ack,
            _ => return None,
        })
    }

    /// The number of this type.
    pub const fn to_wire(self) -> u8 {
        self as u8
    }

    /// Length of the header of packets of this type.
    pub const fn header_len(self) -> usize {
        match self {
            Self::Data => DATA_LEN,
            Self::Grant => GRANT_LEN,
            Self::Resend => RESEND_LEN,
            Self::Cutoffs => CUTOFFS_LEN,
            Self::Ack => ACK_LEN,
            Self::Unknown | Self::Busy | Self::Freeze | Self::NeedAck => COMMON_LEN,
        }
    }
}

/// What every packet begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Common {
    /// Homa port of the sending socket.
    pub sport: u16,
    /// Homa port of the receiving socket.
    pub dport: u16,
    /// The RPC's id as the sender of the packet sees it.
    pub sender_id: u64,
}

impl Common {
    /// The RPC's id as the receiver of the packet sees it.
    pub const fn local_id(&self) -> u64 {
        key::other_end(self.sender_id)
    }

    /// True if the receiver of the packet is the server of the RPC.
    pub const fn is_to_server(&self) -> bool {
        !key::is_client(self.local_id())
    }
}

/// An acknowledgment: the response of this RPC has arrived whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckEntry {
    /// The RPC's id at its client.
    pub client_id: u64,
    /// The server's port.
    pub server_port: u16,
}

impl AckEntry {
    /// The RPC's id at its server.
    pub const fn server_id(&self) -> u64 {
        self.client_id | 1
    }
}

/// A DATA header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Length of the whole message in bytes.
    pub message_length: u32,
    /// The receiver may expect bytes up to this offset without granting them.
    pub incoming: u32,
    /// An acknowledgment that travels along.
    pub ack: Option<AckEntry>,
    /// Version of the cutoffs that the sender has from this receiver; 0: none.
    pub cutoff_version: u16,
    /// Whether these bytes were sent before.
    pub retransmit: bool,
    /// Where the payload begins in the message.
    pub offset: u32,
    /// Bytes of payload in this packet. Not a field: the packet's length tells.
    pub payload_len: u32,
}

/// A GRANT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// All bytes before this offset may be sent.
    pub offset: u32,
    /// Priority level for them.
    pub priority: u8,
}

/// A RESEND.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resend {
    /// First byte to send again.
    pub offset: u32,
    /// How many bytes, or [`Resend::ALL`].
    pub length: u32,
    /// Priority level for them.
    pub priority: u8,
}

impl Resend {
    /// The `length` that means: I have nothing, send again all that you sent.
    pub const ALL: u32 = u32::MAX;

    /// The request for everything sent so far.
    pub const fn all(priority: u8) -> Self {
        Self {
            offset: 0,
            length: Self::ALL,
            priority,
        }
    }
}

/// A CUTOFFS packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cutoffs {
    /// Entry `i` is the largest message whose unscheduled bytes should have
    /// priority `i`.
    pub unsched_cutoffs: [u32; NUM_PRIORITIES as usize],
    /// To be echoed in DATA packets.
    pub version: u16,
}

/// The list of an ACK packet. The RPC that the header names is acknowledged
/// too and not in the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acks {
    entries: [AckEntry; MAX_ACKS],
    count: u8,
}

impl Acks {
    /// An empty list.
    pub const fn new() -> Self {
        const NONE: AckEntry = AckEntry {
            client_id: 0,
            server_port: 0,
        };
        Self {
            entries: [NONE; MAX_ACKS],
            count: 0,
        }
    }

    /// Adds an acknowledgment; false if there are already [`MAX_ACKS`].
    pub fn push(&mut self, entry: AckEntry) -> bool {
        match self.entries.get_mut(usize::from(self.count)) {
            Some(slot) => {
                *slot = entry;
                self.count = self.count.saturating_add(1);
                true
            }
            None => false,
        }
    }

    /// Takes out the acknowledgment that was added last.
    pub fn pop(&mut self) -> Option<AckEntry> {
        let last = self.count.checked_sub(1)?;
        self.count = last;
        self.entries.get_mut(usize::from(last)).map(core::mem::take)
    }

    /// The acknowledgments.
    pub fn as_slice(&self) -> &[AckEntry] {
        self.entries
            .get(..usize::from(self.count))
            .unwrap_or_default()
    }
}

/// A packet without what is common to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet {
    /// Message bytes.
    Data(Data),
    /// Permission to send more.
    Grant(Grant),
    /// Request to send again.
    Resend(Resend),
    /// The RPC is not known.
    Unknown,
    /// Alive, nothing to send yet.
    Busy,
    /// Priorities for unscheduled bytes.
    Cutoffs(Cutoffs),
    /// Debugging aid; ignored.
    Freeze,
    /// Has the response arrived?
    NeedAck,
    /// Responses that arrived.
    Ack(Acks),
}

impl Packet {
    /// The packet's type.
    pub const fn packet_type(&self) -> PacketType {
        match self {
            Self::Data(_) => PacketType::Data,
            Self::Grant(_) => PacketType::Grant,
            Self::Resend(_) => PacketType::Resend,
            Self::Unknown => PacketType::Unknown,
            Self::Busy => PacketType::Busy,
            Self::Cutoffs(_) => PacketType::Cutoffs,
            Self::Freeze => PacketType::Freeze,
            Self::NeedAck => PacketType::NeedAck,
            Self::Ack(_) => PacketType::Ack,
        }
    }
}

/// A whole packet header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// What all packets have.
    pub common: Common,
    /// What this type has.
    pub packet: Packet,
}
