// SPDX-License-Identifier: GPL-2.0

//! An RPC at its client or its server.
//!
//! # Vocabulary
//!
//! * The *client* sends the *request* and receives the *response*; the *server*
//!   receives the request, runs it, and sends the response. The low bit of the
//!   id tells which of them an [`Rpc`] is ([`crate::key`]).
//! * The *incoming message* is the one that the other end sends us, the
//!   *outgoing message* ours to it.
//! * *Silence* is the time since anything came that shows that the other end is
//!   alive and knows the RPC: every packet but RPC_UNKNOWN and ACK. Sending
//!   bytes for the first time ends it too.
//! * There is *doubt* when the other end says that it does not know the RPC, or
//!   something that contradicts the length of a message or our state. Then it
//!   does not end silence that the host is alive; in the second case nothing
//!   does but bytes that were missing, grants, and sound requests for bytes.
//!
//! # States
//!
//! ```text
//!          client                                server
//!
//!     Rpc::client()                         Rpc::server(), of a DATA packet
//!           |                                      |
//!           v                                      v
//!       Outgoing                               Incoming
//!           |  first DATA of the response          |  delivered()
//!           v                                      v
//!       Incoming                               InService
//!           |  delivered()                         |  reply()
//!           v                                      v
//!         Ended                                Outgoing
//!                                                  |  ACK
//!                                                  v
//!                                                Ended
//! ```
//!
//! Besides, silence and [`Rpc::fail`] lead to `Ended` from everywhere; a client
//! then returns [`Event::Failed`], a server [`Event::Ended`].
//!
//! # What a packet does
//!
//! | packet | client, Outgoing | client, Incoming | server, Incoming | server, InService | server, Outgoing |
//! |---|---|---|---|---|---|
//! | DATA | → Incoming, then as there | bytes kept | bytes kept | duplicate | duplicate |
//! | GRANT | raises the limit | – | – | – | raises the limit |
//! | RESEND | bytes again, or BUSY | – | BUSY | BUSY | bytes again, or BUSY |
//! | RPC_UNKNOWN | all bytes again | – | → Ended | → Ended | → Ended |
//! | BUSY | ends silence | ends silence | ends silence | ends silence | ends silence |
//! | NEED_ACK | RESEND of all | RESEND of what is missing; ACK if nothing | – | – | – |
//! | ACK | – | – | → Ended | → Ended | → Ended |
//!
//! "–": no effect ([`Discard::Unexpected`]). CUTOFFS and FREEZE concern no RPC.
//! A NEED_ACK that arrives while the response has no memory is answered BUSY.
//!
//! # Memory for the incoming message
//!
//! DATA for a message that has no memory yet returns [`Event::NeedBuffers`] and
//! its payload is not kept. The caller asks the pool, and
//!
//! * if there is memory, calls [`Rpc::buffers_granted`] and gives the same
//!   packet again;
//! * else lets the RPC wait in the pool and calls [`Rpc::buffers_pending`].
//!   Payloads are then dropped, silence does not count, nothing is granted. When
//!   memory comes, [`Rpc::buffers_granted`] asks for all that was sent again;
//! * or, if it cannot even wait, does nothing: the next DATA asks again.
//!
//! # What the time does
//!
//! | waiting for | first after | then | silence of `timeout_ns` |
//! |---|---|---|---|
//! | DATA, or a GRANT for a request | `resend_ns`: RESEND | doubling to `resend_max_ns` | → Ended |
//! | the ACK of a response all sent | `need_ack_ns`: NEED_ACK | doubling to `need_ack_max_ns` | → Ended |
//! | a GRANT for a response | `need_ack_max_ns`: NEED_ACK | the same | → Ended |
//!
//! Silence is that of the whole host, as far as the caller tells
//! ([`Rpc::host_heard`]) and there is no doubt, and nobody is given up before
//! five questions. A server that says it does not know an RPC, the request of
//! which it then gets again, has eight times `timeout_ns` for that.
//!
//! Nobody is waited for while there are bytes that we may send or grant, while
//! the incoming message waits for memory or is complete, and while the
//! application works. A BUSY postpones the next RESEND but does not make the
//! interval short again; other packets do.
//!
//! # Polling
//!
//! After every call that takes `&mut self`, poll [`Rpc::poll_transmit`] until it
//! returns `None`, then ask for the [`Rpc::deadline`].

mod input;
mod output;
mod stray;
#[cfg(test)]
mod tests;
mod timer;

use self::output::Pending;
use self::timer::Timer;
use crate::config::Config;
use crate::key;
use crate::rx::Rx;
use crate::tx::Segment;
use crate::tx::Tx;
use crate::wire::Data;
use crate::wire::Grant;
use crate::wire::Resend;

pub use self::stray::on_stray;
pub use self::stray::Stray;
pub use self::stray::StrayDrop;

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
    /// There is no incoming message.
    Unneeded,
    /// The next DATA asks for memory.
    Needed,
    /// The pool has none; the RPC waits there.
    Pending,
    /// There is memory.
    Have,
}

/// Why an RPC failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RpcError {
    /// Nothing came from the other end for too long.
    TimedOut,
    /// Nobody listens on the other end's port.
    PortUnreachable,
    /// The other end's host cannot be reached.
    HostUnreachable,
    /// The other end's host does not speak the protocol.
    ProtocolUnreachable,
    /// The incoming message could not be stored.
    Fault,
}

/// Why a server has no more to do for an RPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// The client has the response.
    Acked,
    /// The client does not know the RPC.
    UnknownToClient,
    /// It failed.
    Failed(RpcError),
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
    /// Client: the RPC is over; the application is to be told why.
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
    /// It would make too many gaps in its message.
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
    /// Set if the packet had no effect, but that it may have ended silence.
    pub discard: Option<Discard>,
}

/// A packet to be sent. The caller adds ports, ids, acknowledgments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmit {
    /// A DATA packet with this segment of the outgoing message.
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
    /// An ACK that names this RPC, and lists those that wait in
    /// [`crate::peer::Peer`].
    Ack,
}

/// A response was refused: the RPC has no request that was delivered and not
/// answered yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotInService;

/// An RPC.
///
/// # Invariants
///
/// * The state is `InService` at servers only.
/// * There is a `tx` exactly in `Outgoing`, an `rx` exactly in `Incoming`;
///   `buffers` is `Unneeded` exactly without `rx`.
#[derive(Debug)]
pub struct Rpc {
    id: u64,
    state: State,
    buffers: Buffers,
    pending: Pending,
    timer: Timer,
    tx: Option<Tx>,
    rx: Option<Rx>,
}

impl Rpc {
    /// An RPC that we call; `id` is even.
    pub fn client(id: u64, request: Tx, now: u64, config: &Config) -> Self {
        Self {
            id,
            state: State::Outgoing,
            buffers: Buffers::Unneeded,
            pending: Pending::default(),
            timer: Timer::new(now, config.resend_ns),
            tx: Some(request),
            rx: None,
        }
    }

    /// An RPC that another host calls with `data`, which is then to be given
    /// to [`Rpc::on_packet`]; `id` is odd.
    pub fn server(id: u64, data: &Data, now: u64, config: &Config) -> Self {
        Self {
            id,
            state: State::Incoming,
            buffers: Buffers::Needed,
            pending: Pending::default(),
            timer: Timer::new(now, config.resend_ns),
            tx: None,
            rx: Some(Rx::new(data.message_length, data.incoming)),
        }
    }

    /// The RPC's id as we see it.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// True if we are the client.
    pub fn is_client(&self) -> bool {
        key::is_client(self.id)
    }

    /// The RPC's state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether the incoming message has memory.
    pub fn buffers(&self) -> Buffers {
        self.buffers
    }

    /// The outgoing message; none once its bytes are not needed any more.
    pub fn tx(&self) -> Option<&Tx> {
        self.tx.as_ref()
    }

    /// The incoming message, from its first packet until it is delivered.
    pub fn rx(&self) -> Option<&Rx> {
        self.rx.as_ref()
    }

    /// True if the incoming message is complete and not delivered yet.
    pub fn received(&self) -> bool {
        self.rx.as_ref().is_some_and(Rx::complete)
    }

    /// The pool gave memory for the incoming message.
    ///
    /// If the RPC had to wait for it, what came meanwhile was dropped and is
    /// asked for again.
    pub fn buffers_granted(&mut self, now: u64, config: &Config) {
        match self.buffers {
            Buffers::Needed => {}
            Buffers::Pending => {
                self.pending.resend_all = true;
                self.progress(now, config);
            }
            Buffers::Unneeded | Buffers::Have => return,
        }
        self.buffers = Buffers::Have;
    }

    /// The pool has no memory for the incoming message, and the RPC waits there.
    pub fn buffers_pending(&mut self) {
        if self.buffers == Buffers::Needed {
            self.buffers = Buffers::Pending;
        }
    }

    /// The application has the incoming message. A server's RPC is in service
    /// then; a client's is over, and its acknowledgment is to be queued
    /// ([`crate::peer::Peer::queue_ack`]). Without effect, and false, if the
    /// message is not complete.
    pub fn delivered(&mut self) -> bool {
        if !self.received() {
            return false;
        }
        if self.is_client() {
            self.end();
        } else {
            self.state = State::InService;
            self.rx = None;
            self.buffers = Buffers::Unneeded;
        }
        true
    }

    /// Server: the application answers.
    ///
    /// # Errors
    ///
    /// [`NotInService`]; nothing has changed.
    pub fn reply(&mut self, response: Tx, now: u64, config: &Config) -> Result<(), NotInService> {
        if self.state != State::InService {
            return Err(NotInService);
        }
        self.state = State::Outgoing;
        self.tx = Some(response);
        self.progress(now, config);
        Ok(())
    }

    /// Ends the RPC because of what happened outside the protocol. None if it
    /// is over already.
    pub fn fail(&mut self, error: RpcError) -> Option<Event> {
        if self.state == State::Ended {
            return None;
        }
        self.end();
        Some(if self.is_client() {
            Event::Failed(error)
        } else {
            Event::Ended(EndReason::Failed(error))
        })
    }

    fn end(&mut self) {
        self.state = State::Ended;
        self.buffers = Buffers::Unneeded;
        self.pending = Pending::default();
        self.tx = None;
        self.rx = None;
    }
}
