// SPDX-License-Identifier: GPL-2.0

//! Names of RPCs and peers.
//!
//! An RPC has one 64-bit id that differs between its two ends in bit 0 only:
//! even at the client, odd at the server. Every packet carries the id as its
//! *sender* sees it; the receiver's own id is that with bit 0 flipped. So the
//! low bit of an id tells the role of whoever uses it.
//!
//! A client chooses its ids, so there an id alone is a name. Ids of different
//! clients may collide at a server, so there the client's address belongs to
//! the name.

#[cfg(test)]
mod tests;

/// A host's address: IPv6, or IPv4 in the v4-mapped form `::ffff:a.b.c.d`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerKey(pub [u8; 16]);

impl PeerKey {
    /// The address of no host; stands in the keys of client RPCs.
    pub const ANY: Self = Self([0; 16]);

    /// The key of an IPv4 address.
    pub const fn from_v4(a: [u8; 4]) -> Self {
        let [b0, b1, b2, b3] = a;
        Self([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, b0, b1, b2, b3])
    }

    /// The IPv4 address, if this is a v4-mapped one.
    pub const fn to_v4(self) -> Option<[u8; 4]> {
        match self.0 {
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d] => Some([a, b, c, d]),
            _ => None,
        }
    }
}

/// The name of an RPC on one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RpcKey {
    /// The client's address if we are the server, else [`PeerKey::ANY`].
    pub peer: PeerKey,
    /// The id as this host sees it.
    pub id: u64,
}

impl RpcKey {
    /// The key of the RPC with the local id `id` whose other end is `peer`.
    pub const fn new(peer: PeerKey, id: u64) -> Self {
        if is_client(id) {
            Self::client(id)
        } else {
            Self { peer, id }
        }
    }

    /// The key of an RPC of which this host is the client.
    pub const fn client(id: u64) -> Self {
        Self {
            peer: PeerKey::ANY,
            id,
        }
    }
}

/// True if whoever calls an RPC `id` is its client.
pub const fn is_client(id: u64) -> bool {
    id & 1 == 0
}

/// The id at the other end of an RPC: of a packet's `sender_id`, the receiver's.
pub const fn other_end(id: u64) -> u64 {
    id ^ 1
}
