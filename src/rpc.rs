// SPDX-License-Identifier: GPL-2.0

//! An RPC of a socket: the engine's state machine, and what it is about.

use homa_proto::rpc::Rpc as Machine;
use homa_proto::rpc::RpcError;
use homa_proto::tx::Tx;
use kernel::prelude::*;
use kernel::sync::Arc;
use net::Endpoint;
use net::Pages;
use net::SkbQueue;
use net::SockRef;

use crate::buffers::BufferLease;
use crate::peers::Peer;
use crate::Homa;

/// The bytes of an outgoing message, charged to its socket while they exist.
pub(crate) struct Outgoing {
    pages: Pages,
    sock: SockRef<Homa>,
}

impl Outgoing {
    /// Charges `pages` to the socket.
    pub(crate) fn new(sock: SockRef<Homa>, pages: Pages) -> Result<Arc<Self>> {
        sock.charge(pages.memory());
        Ok(Arc::new(Self { pages, sock }, GFP_KERNEL)?)
    }

    /// Returns the bytes.
    pub(crate) fn pages(&self) -> &Pages {
        &self.pages
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        self.sock.uncharge(self.pages.memory());
        self.sock.wake_writers();
    }
}

/// An RPC. Lives in its socket's table, under the lock of its shard.
pub(crate) struct Rpc {
    /// The protocol's side of it.
    pub(crate) machine: Machine,
    /// The other host.
    pub(crate) peer: Arc<Peer>,
    /// The other end.
    pub(crate) remote: Endpoint,
    /// What the client wants to have back with the response.
    pub(crate) cookie: u64,
    /// Our message.
    pub(crate) outgoing: Option<Arc<Outgoing>>,
    /// Packets of the other end's message.
    pub(crate) packets: SkbQueue,
    /// Where that message goes to.
    pub(crate) buffers: Option<BufferLease>,
    /// Whether the RPC waits for buffers.
    pub(crate) waiting: bool,
    /// Whether the RPC stands in the ready queue. Whatever stands there is removed from the table
    /// only by the thread that takes it out of the queue, so that the queue is never longer than
    /// the table.
    pub(crate) queued: bool,
    /// Why the RPC failed.
    pub(crate) failed: Option<RpcError>,
    /// Whether the RPC is over and waits, queued, to be removed.
    pub(crate) ended: bool,
}

impl Rpc {
    /// Makes an RPC to be sent as a client.
    pub(crate) fn client(
        machine: Machine,
        peer: Arc<Peer>,
        remote: Endpoint,
        cookie: u64,
        request: Arc<Outgoing>,
    ) -> Result<KBox<Self>> {
        Self::new(machine, peer, remote, cookie, Some(request), GFP_KERNEL)
    }

    /// Makes an RPC that a packet has begun.
    pub(crate) fn server(
        machine: Machine,
        peer: Arc<Peer>,
        remote: Endpoint,
    ) -> Result<KBox<Self>> {
        Self::new(machine, peer, remote, 0, None, GFP_ATOMIC)
    }

    fn new(
        machine: Machine,
        peer: Arc<Peer>,
        remote: Endpoint,
        cookie: u64,
        outgoing: Option<Arc<Outgoing>>,
        flags: kernel::alloc::Flags,
    ) -> Result<KBox<Self>> {
        Ok(KBox::new(
            Self {
                machine,
                peer,
                remote,
                cookie,
                outgoing,
                packets: SkbQueue::new(),
                buffers: None,
                waiting: false,
                queued: false,
                failed: None,
                ended: false,
            },
            flags,
        )?)
    }

    /// Makes the engine's view of a message of `length` bytes to `peer`.
    pub(crate) fn message(peer: &Peer, length: u32, unsched_bytes: u32) -> Tx {
        Tx::new(length, unsched_bytes, peer.max_payload())
    }
}
