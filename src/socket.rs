// SPDX-License-Identifier: GPL-2.0

//! State of a socket.

use core::sync::atomic::AtomicBool;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering;

use homa_proto::key::RpcKey;
use homa_proto::queue;
use homa_proto::queue::Queue;
use homa_proto::table::Reservation;
use homa_proto::table::Table;
use kernel::alloc::Flags;
use kernel::prelude::*;
use kernel::sync::Arc;
use net::errno::ESHUTDOWN;
use net::uapi;
use net::uapi::poll as ready_to;
use net::BhSpinLock;
use net::Endpoint;
use net::LockClass;
use net::Sock;

use crate::buffers::Buffers;
use crate::rpc::Rpc;
use crate::Homa;

/// Shards of RPCs in a socket: two CPUs on two RPCs rarely meet in one.
const SHARDS: usize = 16;

/// Ports that sockets get when they are opened; those below are for `bind`.
#[expect(clippy::cast_possible_truncation, reason = "ports have 16 bits")]
const DEFAULT_PORTS: core::ops::RangeInclusive<u16> = uapi::HOMA_MIN_DEFAULT_PORT as u16..=u16::MAX;

/// `SO_SNDBUF` of a new socket, in bytes.
const SEND_BUFFER: i32 = 100_000_000;

/// No time at all: a timer that is not running.
const NEVER: u64 = u64::MAX;

/// State of a socket.
pub(crate) struct Socket {
    shards: KVec<BhSpinLock<Table<Rpc>>>,
    /// RPCs with something for the application: a message or an error.
    ready: BhSpinLock<Queue<RpcKey>>,
    /// Where incoming messages go to.
    pub(crate) buffers: Arc<Buffers>,
    /// RPCs in all shards, and those that are about to be inserted.
    rpcs: AtomicUsize,
    /// Bytes of memory in outgoing messages.
    send_memory: AtomicUsize,
    /// When the timer is due, for a look without the lock.
    timer_hint: AtomicU64,
    /// When the timer is due.
    timer: BhSpinLock<u64>,
    server: AtomicBool,
    closed: AtomicBool,
}

impl Socket {
    /// Makes the state of a new socket.
    pub(crate) fn new() -> Result<KBox<Self>> {
        let mut shards = KVec::with_capacity(SHARDS, GFP_KERNEL)?;
        for _ in 0..SHARDS {
            let hash_key = [net::time::random_u64(), net::time::random_u64()];
            let shard = BhSpinLock::new(Table::new(hash_key), LockClass::Shard);
            shards.push(shard, GFP_KERNEL)?;
        }
        Ok(KBox::new(
            Self {
                shards,
                ready: BhSpinLock::new(Queue::new(), LockClass::Leaf),
                buffers: Buffers::new()?,
                rpcs: AtomicUsize::new(0),
                send_memory: AtomicUsize::new(0),
                timer_hint: AtomicU64::new(NEVER),
                timer: BhSpinLock::new(NEVER, LockClass::Leaf),
                server: AtomicBool::new(false),
                closed: AtomicBool::new(false),
            },
            GFP_KERNEL,
        )?)
    }

    /// Returns whether the socket takes requests.
    pub(crate) fn is_server(&self) -> bool {
        self.server.load(Ordering::Relaxed)
    }

    /// Sets whether the socket takes requests.
    pub(crate) fn set_server(&self, on: bool) {
        self.server.store(on, Ordering::Relaxed);
    }

    /// Returns whether the socket was shut down.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Notes that outgoing messages hold `bytes` more.
    pub(crate) fn charge(&self, bytes: usize) {
        self.send_memory.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Notes that outgoing messages hold `bytes` less.
    pub(crate) fn uncharge(&self, bytes: usize) {
        self.send_memory.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Returns the shards, in order.
    pub(crate) fn shards(&self) -> &[BhSpinLock<Table<Rpc>>] {
        &self.shards
    }

    /// Returns the shard of an RPC.
    pub(crate) fn shard(&self, key: &RpcKey) -> Result<&BhSpinLock<Table<Rpc>>> {
        // Ids count up by 2: neighbours fall into different shards. Other hosts choose the ids of
        // their requests, which can cost them speed and nobody else: each shard is a hash table.
        let [.., low] = key.id.to_be_bytes();
        self.shards
            .get(usize::from(low >> 1) % SHARDS)
            .ok_or(EINVAL)
    }

    /// Adds an RPC. `ENOMEM`, `ESHUTDOWN`, or `EEXIST` if there is one with this key.
    pub(crate) fn insert(&self, key: &RpcKey, rpc: KBox<Rpc>, flags: Flags) -> Result {
        let expected = self.rpcs.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let result = self
            .reserve_ready(expected, flags)
            .and_then(|()| self.insert_counted(key, rpc, flags));
        if result.is_err() {
            self.rpcs.fetch_sub(1, Ordering::Relaxed);
        }
        result
    }

    fn insert_counted(&self, key: &RpcKey, rpc: KBox<Rpc>, flags: Flags) -> Result {
        let shard = self.shard(key)?;
        loop {
            let capacity = {
                let mut table = shard.lock();
                // Under the lock: whoever shuts the socket down empties the shards after this is
                // set.
                if self.is_closed() {
                    return Err(ESHUTDOWN.into());
                }
                if table.room() {
                    let refused = table.insert(*key, rpc).err();
                    drop(table);
                    return if refused.is_none() {
                        Ok(())
                    } else {
                        Err(EEXIST)
                    };
                }
                table.grown_capacity()
            };
            let larger = Reservation::new(capacity, flags)?;
            let old = shard.lock().adopt(larger);
            drop(old);
        }
    }

    /// Has the ready queue hold `count` RPCs.
    fn reserve_ready(&self, count: usize, flags: Flags) -> Result {
        loop {
            let capacity = {
                let ready = self.ready.lock();
                if ready.capacity() >= count {
                    return Ok(());
                }
                ready.grown_capacity().max(count)
            };
            let larger = queue::Reservation::new(capacity, flags)?;
            let old = self.ready.lock().adopt(larger);
            drop(old);
        }
    }

    /// Takes an RPC out of its table, given as `table`. Drop what is returned without a lock.
    pub(crate) fn remove(&self, table: &mut Table<Rpc>, key: &RpcKey) -> Option<KBox<Rpc>> {
        let rpc = table.remove(key)?;
        self.forget(key, &rpc);
        Some(rpc)
    }

    fn forget(&self, key: &RpcKey, rpc: &Rpc) {
        self.rpcs.fetch_sub(1, Ordering::Relaxed);
        if rpc.waiting {
            self.buffers.cancel_wait(key);
        }
    }

    /// Enters an RPC, given as `rpc`, in the ready queue, unless it stands there. Returns whether a
    /// reader is to be woken.
    pub(crate) fn make_ready(&self, key: &RpcKey, rpc: &mut Rpc) -> bool {
        if rpc.queued {
            return false;
        }
        // There is room: see `Rpc::queued`, and `insert`.
        rpc.queued = self.ready.lock().push(*key).is_ok();
        rpc.queued
    }

    /// Takes the next RPC out of the ready queue.
    pub(crate) fn next_ready(&self) -> Option<RpcKey> {
        self.ready.lock().pop()
    }

    /// Notes that the timer is running out, and will run again only when it is started.
    pub(crate) fn timer_expired(&self) {
        let mut due = self.timer.lock();
        *due = NEVER;
        self.timer_hint.store(NEVER, Ordering::Relaxed);
    }
}

/// Has the timer run at `deadline`, or earlier if something is due earlier.
pub(crate) fn start_timer(sock: &Sock<Homa>, deadline: u64) {
    if deadline >= sock.timer_hint.load(Ordering::Relaxed) {
        return;
    }
    let mut due = sock.timer.lock();
    if deadline < *due && !sock.is_closed() {
        *due = deadline;
        sock.timer_hint.store(deadline, Ordering::Relaxed);
        sock.start_timer(deadline);
    }
}

/// Opens a socket: gives it a port.
pub(crate) fn open(sock: &Sock<Homa>) -> Result {
    let ports = &sock.namespace().ports;
    let port = ports.set_port(sock, None, DEFAULT_PORTS)?;
    sock.set_port(port);
    sock.set_send_buffer(SEND_BUFFER);
    Ok(())
}

/// `bind(2)`: takes a port below those that are given out, and makes the socket a server.
pub(crate) fn bind(sock: &Sock<Homa>, local: &Endpoint) -> Result {
    if sock.is_closed() {
        return Err(ESHUTDOWN.into());
    }
    if local.port == 0 {
        return Ok(());
    }
    if DEFAULT_PORTS.contains(&local.port) {
        return Err(EINVAL);
    }
    let ports = &sock.namespace().ports;
    let port = ports.set_port(sock, Some(local.port), DEFAULT_PORTS)?;
    sock.set_port(port);
    sock.set_server(true);
    Ok(())
}

/// Ends everything that the socket does: its port is free, its RPCs are gone, and whoever waits on
/// it gets `ESHUTDOWN`.
pub(crate) fn shutdown(sock: &Sock<Homa>) {
    sock.closed.store(true, Ordering::Release);
    sock.namespace().ports.remove(sock);
    for shard in sock.shards() {
        loop {
            let removed = shard.lock().pop();
            let Some((key, rpc)) = removed else {
                break;
            };
            sock.forget(&key, &rpc);
        }
    }
    sock.wake_all();
}

/// `poll(2)`.
pub(crate) fn poll(sock: &Sock<Homa>) -> u32 {
    let mut bits = 0;
    if sock.is_closed() || !sock.ready.lock().is_empty() {
        bits |= ready_to::IN | ready_to::RDNORM;
    }
    if sock.is_closed() || has_send_memory(sock) {
        bits |= ready_to::OUT | ready_to::WRNORM;
    }
    bits
}

/// Returns whether outgoing messages hold less memory than `SO_SNDBUF` says.
pub(crate) fn has_send_memory(sock: &Sock<Homa>) -> bool {
    sock.send_memory.load(Ordering::Relaxed) < sock.send_buffer()
}
