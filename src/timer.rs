// SPDX-License-Identifier: GPL-2.0

//! What is due. Runs in softirq context.

use homa_proto::key::RpcKey;
use homa_proto::table::Table;
use net::BhSpinLock;
use net::Sock;

use crate::input;
use crate::output::Work;
use crate::rpc::Rpc;
use crate::socket;
use crate::Homa;

/// RPCs that are dealt with in one run; others wait for the next, so that other softirqs get their
/// turn.
const BUDGET: usize = 256;

/// Deals with every RPC that is due, and starts the timer for the next.
pub(crate) fn run(sock: &Sock<Homa>) {
    sock.timer_expired();
    let now = net::time::now();
    let mut budget = BUDGET;
    let mut next = None;
    for shard in sock.shards() {
        while budget > 0 && run_one(sock, shard, now) {
            budget = budget.saturating_sub(1);
        }
        if let Some(deadline) = shard.lock().next_deadline() {
            next = Some(next.map_or(deadline, |next: u64| next.min(deadline)));
        }
    }
    if let Some(deadline) = next {
        socket::start_timer(sock, deadline);
    }
}

/// Deals with one RPC of a shard that is due; returns whether there was one.
fn run_one(sock: &Sock<Homa>, shard: &BhSpinLock<Table<Rpc>>, now: u64) -> bool {
    let mut table = shard.lock();
    let Some(key): Option<RpcKey> = table.pop_due(now) else {
        return false;
    };
    let config = &sock.namespace().config;
    let event = table.get_mut(&key).and_then(|rpc| {
        rpc.machine.host_heard(rpc.peer.heard());
        rpc.machine.on_timer(now, config)
    });
    let outcome = event.map(|event| input::apply(sock, &mut table, &key, event));
    let work = Work::collect(sock, &mut table, &key, now);
    drop(table);
    if let Some(outcome) = outcome {
        outcome.run(sock);
    }
    work.run(sock, &key);
    true
}
