// SPDX-License-Identifier: GPL-2.0

//! Hosts that a namespace talks to.
//!
//! The table is a cache of bounded size: a bucket has a few places, and a new host takes that of
//! the one which came first. What is forgotten with a host can be had again (its route by looking
//! it up, its cutoffs by its next CUTOFFS, acknowledgments by its next NEED_ACK), so nobody can make
//! us remember more than the table holds. RPCs keep their peer themselves.

use core::sync::atomic::AtomicBool;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering;

use homa_proto::peer::Peer as PeerState;
use kernel::prelude::*;
use kernel::sync::Arc;
use net::Address;
use net::BhGuard;
use net::BhSpinLock;
use net::LockClass;
use net::Route;
use net::Sock;

use crate::input::DATA_HEADER;
use crate::Homa;

const BUCKETS: usize = 1024;
const WAYS: usize = 4;

/// Longest segment of a message in one packet, whatever the MTU, in bytes: its pages and headers
/// fit into one packet buffer, and its IP length into 16 bits.
const MAX_SEGMENT: u32 = 61_440;

/// What makes a peer: two sockets that reach a host in different ways have two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PeerId {
    /// The host.
    pub(crate) remote: Address,
    /// Our own address towards it; [`Address::UNSPECIFIED`] leaves the choice to the routing table.
    pub(crate) local: Address,
    /// Index of the interface, or 0.
    pub(crate) interface: i32,
}

/// A host that we talk to.
pub(crate) struct Peer {
    id: PeerId,
    state: BhSpinLock<PeerState>,
    route: BhSpinLock<Arc<Route>>,
    max_payload: AtomicU32,
    heard: AtomicU64,
}

impl Peer {
    fn new(sock: &Sock<Homa>, id: PeerId) -> Result<Arc<Self>> {
        let route = Route::lookup(sock, id.remote, id.local, id.interface)?;
        let max_payload = max_payload(&route)?;
        Ok(Arc::new(
            Self {
                id,
                state: BhSpinLock::new(PeerState::new(), LockClass::Leaf),
                route: BhSpinLock::new(Arc::new(route, GFP_ATOMIC)?, LockClass::Leaf),
                max_payload: AtomicU32::new(max_payload),
                heard: AtomicU64::new(0),
            },
            GFP_ATOMIC,
        )?)
    }

    /// Takes the lock of the protocol's state.
    pub(crate) fn state(&self) -> BhGuard<'_, PeerState> {
        self.state.lock()
    }

    /// Returns how many bytes of a message fit into one packet.
    pub(crate) fn max_payload(&self) -> u32 {
        self.max_payload.load(Ordering::Relaxed)
    }

    /// Returns when a packet of an RPC came from the host for the last time.
    pub(crate) fn heard(&self) -> u64 {
        self.heard.load(Ordering::Relaxed)
    }

    /// Notes that a packet of an RPC came from the host.
    pub(crate) fn note_heard(&self, now: u64) {
        self.heard.store(now, Ordering::Relaxed);
    }

    /// Returns the route, looked up again if it doesn't stand any more.
    pub(crate) fn route(&self, sock: &Sock<Homa>) -> Result<Arc<Route>> {
        let known = self.route.lock().clone();
        if known.is_usable() {
            return Ok(known);
        }
        let route = Route::lookup(sock, self.id.remote, self.id.local, self.id.interface)?;
        let max_payload = max_payload(&route)?;
        let route = Arc::new(route, GFP_ATOMIC)?;
        self.max_payload.store(max_payload, Ordering::Relaxed);
        let old = core::mem::replace(&mut *self.route.lock(), route.clone());
        drop(old);
        Ok(route)
    }
}

/// Returns how many bytes of a message fit into one packet on `route`; `EINVAL` if none do.
fn max_payload(route: &Route) -> Result<u32> {
    let headers = route.ip_header_len().saturating_add(DATA_HEADER);
    match route.mtu().saturating_sub(headers).min(MAX_SEGMENT) {
        0 => Err(EINVAL),
        payload => Ok(payload),
    }
}

/// The hosts that a namespace talks to.
pub(crate) struct Peers {
    closed: AtomicBool,
    buckets: KVec<BhSpinLock<Bucket>>,
    hash_key: [u64; 2],
}

struct Bucket {
    ways: [Option<Arc<Peer>>; WAYS],
    /// The place that is taken next.
    next: usize,
}

impl Peers {
    /// Makes an empty table.
    pub(crate) fn new() -> Result<Self> {
        let mut buckets = KVec::with_capacity(BUCKETS, GFP_KERNEL)?;
        for _ in 0..BUCKETS {
            let bucket = Bucket {
                ways: [const { None }; WAYS],
                next: 0,
            };
            buckets.push(BhSpinLock::new(bucket, LockClass::Table), GFP_KERNEL)?;
        }
        Ok(Self {
            closed: AtomicBool::new(false),
            buckets,
            hash_key: [net::time::random_u64(), net::time::random_u64()],
        })
    }

    /// Returns the bucket of a host. Keyed, so that nobody can choose addresses that meet in one.
    fn bucket(&self, remote: &Address) -> Option<&BhSpinLock<Bucket>> {
        let bytes = remote.bytes();
        let (left, right) = (bytes.first_chunk()?, bytes.last_chunk()?);
        let [left_key, right_key] = self.hash_key;
        let left = u64::from_ne_bytes(*left) ^ left_key;
        let right = u64::from_ne_bytes(*right) ^ right_key;
        let product = u128::from(left).wrapping_mul(u128::from(right));
        // The middle bits depend on all bits of both factors.
        let [_, _, _, _, _, _, _, a, b, ..] = product.to_ne_bytes();
        let index = usize::from(u16::from_ne_bytes([a, b]));
        self.buckets.get(index % BUCKETS)
    }

    /// Returns the peer, if it is known.
    pub(crate) fn find(&self, id: &PeerId) -> Option<Arc<Peer>> {
        let bucket = self.bucket(&id.remote)?.lock();
        let known = bucket.ways.iter().flatten().find(|peer| peer.id == *id);
        known.cloned()
    }

    /// Returns the peer; if it is not known, with a route as the options of `sock` ask. The errors
    /// are those of the routing table, `ENOMEM`, and `EINVAL` if its MTU leaves no room for data.
    pub(crate) fn get(&self, sock: &Sock<Homa>, id: &PeerId) -> Result<Arc<Peer>> {
        if let Some(peer) = self.find(id) {
            return Ok(peer);
        }
        let peer = Peer::new(sock, *id)?;
        let evicted = self.enter(&peer);
        drop(evicted);
        Ok(peer)
    }

    /// Forgets all peers, and remembers none from here on.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        for bucket in &self.buckets[..] {
            let forgotten = core::mem::take(&mut bucket.lock().ways);
            drop(forgotten);
        }
    }

    /// Enters a peer and returns the one that had its place.
    fn enter(&self, peer: &Arc<Peer>) -> Option<Arc<Peer>> {
        let mut bucket = self.bucket(&peer.id.remote)?.lock();
        // Under the lock: whoever closes the table empties the bucket after this is set.
        if self.closed.load(Ordering::Relaxed) {
            return None;
        }
        let place = bucket.next % WAYS;
        bucket.next = place.wrapping_add(1);
        bucket.ways.get_mut(place)?.replace(peer.clone())
    }
}
