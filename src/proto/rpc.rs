// SPDX-License-Identifier: GPL-2.0

//! An RPC at its client or its server.

use crate::config::Config;
use crate::rx::Rx;
use crate::tx::Segment;
use crate::tx::Tx;
use crate::wire::Data;
use crate::wire::Grant;
use crate::wire::Packet;
use crate::wire::Resend;

/// Where an RPC is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Our message is on its way (client: request; server: response).
    Outgoing,
    /// The other end's message is on its way, or here and not yet delivered.
    Incoming,
    /// Server only: the application has the request and works on it.
    InService,
    /// Over; nothing more will happen.
    Ended,
}

/// Whether the incoming message has memory to go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffers {
    /// There is no incoming message yet.
    Unneeded,
    /// Nobody has asked the pool yet.
    Needed,
    /// The pool has none; the RPC waits there.
    Pending,
    /// There is memory.
    Have,
}

/// Why an RPC failed at its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RpcError {
    /// Nothing came from the server for too long.
    TimedOut,
    /// Nobody listens on the server's port.
    PortUnreachable,
    /// The server's host cannot be reached.
    HostUnreachable,
    /// The server's host does not speak the protocol.
    ProtocolUnreachable,
    /// The response could not be stored.
    Fault,
}

/// Why a server has no more to do for an RPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// The client has the response.
    Acked,
    /// The client does not know the RPC.
    UnknownToClient,
    /// Nothing came from the client for too long.
    TimedOut,
    /// The client cannot be reached.
    Unreachable,
    /// The request could not be stored.
    Fault,
}

/// Something that the caller has to act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message of this length begins: ask the pool for memory, then call
    /// [`Rpc::buffers_granted`] and give the same packet again, or
    /// [`Rpc::buffers_pending`].
    NeedBuffers(u32),
    /// The incoming message is complete.
    Received,
    /// Client: the RPC failed; the application is to be told. It is over.
    Failed(RpcError),
    /// Server: the RPC is over and to be removed.
    Ended(EndReason),
}

/// Why a packet had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// All its bytes are there already.
    Duplicate,
    /// There is no memory for its message yet.
    NoBuffers,
    /// Too many gaps in its message.
    TooFragmented,
    /// It contradicts what is known of its message.
    Mismatch,
    /// It means nothing in this state of the RPC, or to this end of it.
    Unexpected,
}

/// What a packet leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Reaction {
    /// DATA: the payload belongs to the message and is to be kept.
    pub keep_payload: bool,
    /// What the caller has to do.
    pub event: Option<Event>,
    /// Set if the packet had no effect.
    pub discard: Option<Discard>,
}

/// A packet to be sent. The caller adds ports, ids, acknowledgments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmit {
    /// A DATA packet with this segment of our message.
    Data {
        /// The segment.
        segment: Segment,
        /// Length of the whole message.
        message_length: u32,
    },
    /// A GRANT.
    Grant(Grant),
    /// A RESEND.
    Resend(Resend),
    /// A BUSY.
    Busy,
    /// A NEED_ACK.
    NeedAck,
    /// An ACK for this RPC, and with it those that wait in
    /// [`crate::peer::Peer`].
    Ack,
}

/// Why a response was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyError {
    /// The RPC has no request that was delivered and not answered.
    NotInService,
}

/// Why a packet without an RPC is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrayDrop {
    /// We are the client and the RPC is over, or never was.
    NoSuchRpc,
    /// It belongs to no RPC.
    NotOfAnRpc,
}

/// What to do with a packet whose RPC is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stray {
    /// Create a server RPC ([`Rpc::server`]) and give it the packet.
    CreateServer,
    /// Answer RPC_UNKNOWN.
    ReplyUnknown,
    /// Answer ACK.
    ReplyAck,
    /// Nothing.
    Drop(StrayDrop),
}

/// What to do with a packet whose RPC is not known; `local_id` is the RPC's id
/// as we would see it.
pub fn on_stray(_packet: &Packet, _local_id: u64) -> Stray {
    todo!()
}

/// An RPC.
#[derive(Debug)]
pub struct Rpc {}

impl Rpc {
    /// An RPC that we call; `id` is even.
    pub fn client(_id: u64, _request: Tx, _now: u64, _config: &Config) -> Self {
        todo!()
    }
    /// An RPC that another host calls with `data`, which is then to be given
    /// to [`Rpc::on_packet`]; `id` is odd.
    pub fn server(_id: u64, _data: &Data, _now: u64, _config: &Config) -> Self {
        todo!()
    }
    /// The RPC's id as we see it.
    pub fn id(&self) -> u64 {
        todo!()
    }
    /// True if we are the client.
    pub fn is_client(&self) -> bool {
        todo!()
    }
    /// The RPC's state.
    pub fn state(&self) -> State {
        todo!()
    }
    /// Whether the incoming message has memory.
    pub fn buffers(&self) -> Buffers {
        todo!()
    }
    /// The outgoing message. None once its bytes are not needed any more.
    pub fn tx(&self) -> Option<&Tx> {
        todo!()
    }
    /// The incoming message.
    pub fn rx(&self) -> Option<&Rx> {
        todo!()
    }
    /// True if the incoming message is complete.
    pub fn received(&self) -> bool {
        todo!()
    }
    /// Takes a packet.
    pub fn on_packet(&mut self, _now: u64, _config: &Config, _packet: &Packet) -> Reaction {
        todo!()
    }
    /// Takes an acknowledgment of this RPC that came in another RPC's packet.
    pub fn on_ack(&mut self) -> Option<Event> {
        todo!()
    }
    /// The pool gave memory for the incoming message.
    pub fn buffers_granted(&mut self, _now: u64, _config: &Config) {
        todo!()
    }
    /// The pool has no memory for the incoming message, and the RPC waits.
    pub fn buffers_pending(&mut self) {
        todo!()
    }
    /// When [`Rpc::on_timer`] is to be called.
    pub fn deadline(&self) -> Option<u64> {
        todo!()
    }
    /// Takes note of the time; without effect before the deadline.
    pub fn on_timer(&mut self, _now: u64, _config: &Config) -> Option<Event> {
        todo!()
    }
    /// Server: the application has the request.
    pub fn delivered(&mut self) {
        todo!()
    }
    /// Server: the application answers.
    ///
    /// # Errors
    ///
    /// [`ReplyError`]; nothing has changed.
    pub fn reply(&mut self, _response: Tx, _now: u64, _config: &Config) -> Result<(), ReplyError> {
        todo!()
    }
    /// Ends the RPC because of what happened outside the protocol.
    pub fn fail(&mut self, _error: RpcError) -> Event {
        todo!()
    }
    /// Takes the next packet to be sent, with at most `max_payload` bytes of
    /// message.
    pub fn poll_transmit(
        &mut self,
        _now: u64,
        _config: &Config,
        _max_payload: u32,
    ) -> Option<Transmit> {
        todo!()
    }
}
