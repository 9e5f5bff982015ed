// SPDX-License-Identifier: GPL-2.0

//! ICMP errors about packets that went out. Runs in softirq context.
//!
//! Anybody can send one. It counts only if what it quotes names an RPC that this host has with that
//! peer: RPC ids can't be guessed.

use homa_proto::key::RpcKey;
use homa_proto::rpc::RpcError;
use homa_proto::rpc::State;
use homa_proto::table::Table;
use net::protocol::IcmpError;
use net::protocol::IcmpKind;
use net::Address;
use net::BhSpinLock;
use net::RcuGuard;
use net::Sock;

use crate::input;
use crate::input::peer_key;
use crate::namespace::Namespace;
use crate::rpc::Rpc;
use crate::Homa;

/// RPCs that are failed under one hold of a lock.
const BATCH: usize = 8;

/// What an ICMP error quotes of a packet of ours.
struct Quoted {
    our_port: u16,
    remote_port: u16,
    id: u64,
}

impl Quoted {
    fn parse(header: &[u8]) -> Option<Self> {
        let port = |at: usize| {
            let bytes = header.get(at..)?.first_chunk()?;
            Some(u16::from_be_bytes(*bytes))
        };
        Some(Self {
            our_port: port(0)?,
            remote_port: port(2)?,
            id: u64::from_be_bytes(*header.get(20..)?.first_chunk()?),
        })
    }
}

/// Which RPCs an error ends.
struct Victims {
    remote: Address,
    /// Those with this port; all if there is none.
    port: Option<u16>,
}

impl Victims {
    fn matches(&self, rpc: &Rpc) -> bool {
        rpc.remote.address == self.remote
            && self.port.is_none_or(|port| rpc.remote.port == port)
            && rpc.machine.state() != State::Ended
    }
}

/// Takes an ICMP error: ends the RPCs of the socket that it concerns.
pub(crate) fn receive(namespace: &Namespace, rcu: &RcuGuard, icmp: &IcmpError<'_>) {
    let Some(quoted) = Quoted::parse(icmp.quoted) else {
        return;
    };
    let Some(sock) = namespace.ports.lookup(rcu, quoted.our_port) else {
        return;
    };
    let (error, port) = match icmp.kind {
        IcmpKind::PortUnreachable => (RpcError::PortUnreachable, Some(quoted.remote_port)),
        IcmpKind::ProtocolUnreachable => (RpcError::ProtocolUnreachable, None),
        IcmpKind::HostUnreachable => (RpcError::HostUnreachable, None),
    };
    let victims = Victims {
        remote: icmp.remote,
        port,
    };
    let key = RpcKey::new(peer_key(&icmp.remote), quoted.id);
    let Ok(shard) = sock.shard(&key) else {
        return;
    };
    let genuine = shard.lock().get(&key).is_some_and(|rpc| {
        rpc.remote.address == icmp.remote && rpc.remote.port == quoted.remote_port
    });
    if genuine {
        for shard in sock.shards() {
            while fail_some(&sock, shard, &victims, error) {}
        }
    }
}

/// Ends some RPCs of a shard, as many as the stack has room for; returns whether there may be more.
#[inline(never)]
fn fail_some(
    sock: &Sock<Homa>,
    shard: &BhSpinLock<Table<Rpc>>,
    victims: &Victims,
    error: RpcError,
) -> bool {
    let mut keys = [None; BATCH];
    let mut outcomes = [const { None }; BATCH];
    {
        let mut table = shard.lock();
        let found = table.iter().filter(|(_, rpc)| victims.matches(rpc));
        for (place, (key, _)) in keys.iter_mut().zip(found) {
            *place = Some(*key);
        }
        for (key, outcome) in keys.iter().flatten().zip(&mut outcomes) {
            let rpc = table.get_mut(key);
            if let Some(event) = rpc.and_then(|rpc| rpc.machine.fail(error)) {
                *outcome = Some(input::apply(sock, &mut table, key, event));
            }
            table.set_deadline(key, None);
        }
    }
    for outcome in outcomes.into_iter().flatten() {
        outcome.run(sock);
    }
    keys.iter().all(Option::is_some)
}
