// SPDX-License-Identifier: MIT OR GPL-2.0
//! Received messages.

use crate::region::Region;
use crate::sys::Placement;
use std::fmt;
use std::io::IoSlice;
use std::mem;
use std::net::SocketAddr;
use std::sync::Arc;

/// Identifies an RPC on the socket of one party.
///
/// The client's id is even; the server knows the same RPC by the odd id one
/// above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RpcId(u64);

impl RpcId {
    /// The id with the kernel's number `raw`.
    #[must_use]
    pub const fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    /// The kernel's number for this id.
    #[must_use]
    pub const fn as_raw(self) -> u64 {
        self.0
    }

    /// Whether this is the id by which a server knows an RPC.
    #[must_use]
    pub const fn is_server(self) -> bool {
        self.0 & 1 == 1
    }
}

impl fmt::Display for RpcId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Where the response to a request has to go.
///
/// Small and independent of the request's [`Message`], so that the message's
/// memory can be released before the response is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReplyTo {
    /// The client's address.
    pub peer: SocketAddr,
    /// Id under which the request was received.
    pub id: RpcId,
}

/// A received request or response.
///
/// Its bytes lie in the socket's receive region, in chunks of
/// 65,536 bytes of which the last may be shorter; a message that fits into one
/// chunk is contiguous. Dropping the message gives the memory back
/// to the kernel, which can't deliver further messages when all of the region is
/// held by messages not yet dropped. A message may outlive its socket.
///
/// # Examples
///
/// ```no_run
/// # fn example(socket: &homa::Socket) -> Result<(), homa::Error> {
/// let message = socket.recv()?;
/// let sum: u64 = message.chunks().flatten().map(|&byte| u64::from(byte)).sum();
/// println!("{} bytes from {}, sum {sum}", message.len(), message.peer());
/// # Ok(())
/// # }
/// ```
pub struct Message {
    region: Arc<Region>,
    placement: Placement,
    id: RpcId,
    cookie: u64,
    peer: SocketAddr,
}

impl Message {
    pub(crate) fn new(
        region: Arc<Region>,
        placement: Placement,
        id: RpcId,
        cookie: u64,
        peer: SocketAddr,
    ) -> Self {
        Self {
            region,
            placement,
            id,
            cookie,
            peer,
        }
    }

    /// Id of the RPC: for a response what [`Socket::send_request`] returned.
    ///
    /// [`Socket::send_request`]: crate::Socket::send_request
    #[must_use]
    pub fn id(&self) -> RpcId {
        self.id
    }

    /// Whether this is a request, which the receiver has to answer.
    #[must_use]
    pub fn is_request(&self) -> bool {
        self.id.is_server()
    }

    /// The cookie that the request was sent with, if this is its response.
    #[must_use]
    pub fn cookie(&self) -> u64 {
        self.cookie
    }

    /// Address of the sender. On an IPv6 socket, IPv4 addresses have the form
    /// `::ffff:a.b.c.d`.
    #[must_use]
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Where the response to this request has to go.
    #[must_use]
    pub fn reply_to(&self) -> ReplyTo {
        ReplyTo {
            peer: self.peer,
            id: self.id,
        }
    }

    /// Length in bytes, at least 1.
    #[must_use]
    pub fn len(&self) -> usize {
        self.placement.len()
    }

    /// Always false: Homa has no empty messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes, in the pieces in which they lie in memory.
    #[must_use]
    pub fn chunks(&self) -> Chunks<'_> {
        Chunks {
            message: self,
            next: 0,
        }
    }

    /// The bytes as one slice, if they lie in one piece. They do if there are at
    /// most 65,536 of them.
    #[must_use]
    pub fn as_slice(&self) -> Option<&[u8]> {
        self.region.mapping().whole(&self.placement)
    }

    /// A copy of the bytes.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        for chunk in self.chunks() {
            bytes.extend_from_slice(chunk);
        }
        bytes
    }

    /// The bytes for a vectored write or send, without copying them.
    #[must_use]
    pub fn io_slices(&self) -> Vec<IoSlice<'_>> {
        self.chunks().map(IoSlice::new).collect()
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        self.region.give_back(mem::take(&mut self.placement));
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("id", &self.id)
            .field("peer", &self.peer)
            .field("cookie", &self.cookie)
            .field("len", &self.len())
            .field("bpage_offsets", &self.placement.offsets())
            .finish_non_exhaustive()
    }
}

/// Iterator over the pieces of a [`Message`], from [`Message::chunks`].
#[derive(Debug, Clone)]
pub struct Chunks<'a> {
    message: &'a Message,
    next: usize,
}

impl<'a> Iterator for Chunks<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let message = self.message;
        let chunk = message
            .region
            .mapping()
            .chunk(&message.placement, self.next)?;
        self.next += 1;
        Some(chunk)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self
            .message
            .placement
            .offsets()
            .len()
            .saturating_sub(self.next);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Chunks<'_> {}
