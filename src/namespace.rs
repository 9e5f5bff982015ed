// SPDX-License-Identifier: GPL-2.0

//! State of a network namespace.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering;

use homa_proto::config::Config;
use kernel::prelude::*;
use net::SockTable;

use crate::peers::Peers;
use crate::Homa;

/// Silence after which an RPC fails, in nanoseconds. Longer than the engine's own: on first contact
/// with a host the kernel asks for its link address, and asks again only a second later.
const TIMEOUT_NS: u64 = 4_000_000_000;

/// State of a network namespace.
pub(crate) struct Namespace {
    /// Its sockets, by port.
    pub(crate) ports: SockTable<Homa>,
    /// The hosts that its sockets talk to.
    pub(crate) peers: Peers,
    /// The tunables.
    pub(crate) config: Config,
    next_id: AtomicU64,
}

impl Namespace {
    /// Makes the state of a namespace without sockets.
    pub(crate) fn new() -> Result<KBox<Self>> {
        // Ids begin at a place that nobody can guess, so that those used before the module or the
        // host was restarted are not used again while they may be remembered elsewhere.
        let first_id = net::time::random_u64() & !1;
        Ok(KBox::new(
            Self {
                ports: SockTable::new()?,
                peers: Peers::new()?,
                config: Config {
                    timeout_ns: TIMEOUT_NS,
                    ..Config::DEFAULT
                },
                next_id: AtomicU64::new(first_id),
            },
            GFP_KERNEL,
        )?)
    }

    /// Returns an id for a new RPC: even, not 0, not used before in this namespace.
    pub(crate) fn next_id(&self) -> u64 {
        loop {
            let id = self.next_id.fetch_add(2, Ordering::Relaxed);
            if id != 0 {
                return id;
            }
        }
    }
}
