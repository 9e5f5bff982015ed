// SPDX-License-Identifier: GPL-2.0

use std::vec::Vec;

use kernel::alloc::flags::GFP_KERNEL;

use super::*;
use crate::key::PeerKey;

fn table() -> Table<u64> {
    let mut table = Table::new([1, 2]);
    grow(&mut table);
    table
}

fn grow(table: &mut Table<u64>) {
    let reservation = Reservation::new(table.grown_capacity(), GFP_KERNEL).unwrap();
    drop(table.adopt(reservation));
}

fn add(table: &mut Table<u64>, id: u64) {
    if !table.room() {
        grow(table);
    }
    let value = KBox::new(id * 10, GFP_KERNEL).unwrap();
    assert!(table.insert(RpcKey::client(id), value).is_ok());
}

#[test]
fn no_memory_no_room() {
    let mut table: Table<u64> = Table::new([0, 0]);
    assert!(table.is_empty() && !table.room());
    assert_eq!(table.get(&RpcKey::client(2)), None);
    assert_eq!(table.next_deadline(), None);
    assert_eq!(table.pop_due(u64::MAX), None);
    assert!(table.pop().is_none());
    assert!(!table.set_deadline(&RpcKey::client(2), Some(1)));
    let value = KBox::new(7, GFP_KERNEL).unwrap();
    let value = table.insert(RpcKey::client(2), value).unwrap_err();
    assert_eq!(*value, 7);
}

#[test]
fn keys_tell_hosts_apart() {
    let mut table = table();
    let hosts = [1, 2].map(|host| PeerKey::from_v4([192, 0, 2, host]));
    for (host, value) in hosts.into_iter().zip([10, 20]) {
        let value = KBox::new(value, GFP_KERNEL).unwrap();
        assert!(table.insert(RpcKey::new(host, 3), value).is_ok());
    }
    assert_eq!(table.get(&RpcKey::new(hosts[0], 3)), Some(&10));
    assert_eq!(table.get(&RpcKey::new(hosts[1], 3)), Some(&20));
    assert_eq!(table.get(&RpcKey::new(hosts[0], 5)), None);
    *table.get_mut(&RpcKey::new(hosts[1], 3)).unwrap() = 21;
    assert_eq!(*table.remove(&RpcKey::new(hosts[1], 3)).unwrap(), 21);
    assert!(!table.contains(&RpcKey::new(hosts[1], 3)));
    assert!(table.contains(&RpcKey::new(hosts[0], 3)));
}

#[test]
fn a_key_is_there_once() {
    let mut table = table();
    add(&mut table, 2);
    let value = KBox::new(5, GFP_KERNEL).unwrap();
    assert_eq!(*table.insert(RpcKey::client(2), value).unwrap_err(), 5);
    assert_eq!(table.get(&RpcKey::client(2)), Some(&20));
    assert_eq!(table.len(), 1);
}

#[test]
fn deadlines_come_in_order() {
    let mut table = table();
    for (id, deadline) in [(2, 50), (4, 10), (6, 30), (8, 10)] {
        add(&mut table, id);
        assert!(table.set_deadline(&RpcKey::client(id), Some(deadline)));
    }
    add(&mut table, 10);
    assert_eq!(table.next_deadline(), Some(10));
    assert_eq!(table.pop_due(9), None);
    let mut due: Vec<u64> = core::iter::from_fn(|| table.pop_due(10))
        .map(|key| key.id)
        .collect();
    due.sort_unstable();
    assert_eq!(due, [4, 8]);
    // Changed, cleared, removed.
    assert!(table.set_deadline(&RpcKey::client(2), Some(20)));
    assert_eq!(table.next_deadline(), Some(20));
    assert!(table.set_deadline(&RpcKey::client(2), None));
    assert_eq!(table.next_deadline(), Some(30));
    assert!(table.remove(&RpcKey::client(6)).is_some());
    assert_eq!(table.next_deadline(), None);
    assert_eq!(table.len(), 4);
}

#[test]
fn all_survives_growth() {
    let mut table = table();
    for id in 1..=1000 {
        add(&mut table, id * 2);
        assert!(table.set_deadline(&RpcKey::client(id * 2), Some(5000 - id)));
    }
    assert!(table.capacity() >= 1000);
    for id in 1..=1000 {
        assert_eq!(table.get(&RpcKey::client(id * 2)), Some(&(id * 20)));
    }
    let due: Vec<u64> = core::iter::from_fn(|| table.pop_due(u64::MAX))
        .map(|key| key.id)
        .collect();
    let expected: Vec<u64> = (1..=1000).rev().map(|id| id * 2).collect();
    assert_eq!(due, expected);
    assert_eq!(table.iter().count(), 1000);
    assert!(table.iter().all(|(key, &value)| value == key.id * 10));
}

#[test]
fn smaller_memory_is_not_taken() {
    let mut table = table();
    add(&mut table, 2);
    let small = Reservation::new(1, GFP_KERNEL).unwrap();
    assert_eq!(table.adopt(small).capacity(), 1);
    assert_eq!(table.get(&RpcKey::client(2)), Some(&20));
}

#[test]
fn old_memory_comes_back() {
    let mut table = table();
    let capacity = table.capacity();
    let larger = Reservation::new(capacity + 1, GFP_KERNEL).unwrap();
    assert_eq!(table.adopt(larger).capacity(), capacity);
}

#[test]
fn too_large_for_any_memory() {
    assert!(Reservation::<u64>::new(usize::MAX, GFP_KERNEL).is_err());
}

#[test]
fn popping_empties() {
    let mut table = table();
    for id in 1..=10 {
        add(&mut table, id * 2);
    }
    let mut ids: Vec<u64> = core::iter::from_fn(|| table.pop())
        .map(|(key, _)| key.id)
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=10).map(|id| id * 2).collect::<Vec<_>>());
    assert!(table.is_empty());
}

#[test]
fn the_hash_is_siphash() {
    use core::hash::Hasher;

    // std's default is SipHash-1-3 too, with a key of 0.
    let mut hasher = std::hash::DefaultHasher::new();
    let key = RpcKey {
        peer: PeerKey([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]),
        id: 0x1122_3344_5566_7788,
    };
    hasher.write(&key.peer.0);
    hasher.write(&key.id.to_le_bytes());
    assert_eq!(HashKey([0, 0]).hash(&key), hasher.finish());
}

#[test]
fn hashes_depend_on_every_part() {
    let peer = PeerKey([1; 16]);
    let other_peer = PeerKey([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
    let base = HashKey([1, 2]).hash(&RpcKey { peer, id: 3 });
    let others = [
        HashKey([1, 3]).hash(&RpcKey { peer, id: 3 }),
        HashKey([0, 2]).hash(&RpcKey { peer, id: 3 }),
        HashKey([1, 2]).hash(&RpcKey { peer, id: 5 }),
        HashKey([1, 2]).hash(&RpcKey {
            peer: other_peer,
            id: 3,
        }),
    ];
    assert!(others.iter().all(|&hash| hash != base));
}
