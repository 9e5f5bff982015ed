// SPDX-License-Identifier: GPL-2.0

//! Allocation fails at every point: an error comes back, nothing is lost, and
//! nothing leaks.

use homa_proto::key::RpcKey;
use homa_proto::pool::Pool;
use homa_proto::pool::BPAGE_SIZE;
use homa_proto::queue;
use homa_proto::queue::Queue;
use homa_proto::table;
use homa_proto::table::Table;
use kernel::alloc::flags::GFP_KERNEL;
use kernel::alloc::AllocError;
use kernel::alloc::KBox;
use kernel::hosted;

/// Runs `attempt` with the first, second, ... allocation failing, until it
/// succeeds because it needs no more. Returns how often it failed.
fn sweep<T>(mut attempt: impl FnMut() -> Result<T, AllocError>) -> usize {
    let live = hosted::stats().live;
    for allowed in 0..10_000 {
        let faults = hosted::fail_after(allowed);
        let result = attempt();
        let refused = faults.refused();
        drop(faults);
        match result {
            Ok(value) => {
                assert_eq!(refused, 0);
                drop(value);
                assert_eq!(hosted::stats().live, live);
                return allowed;
            }
            Err(AllocError) => {
                assert_eq!(refused, 1);
                assert_eq!(hosted::stats().live, live, "leak after {allowed}");
            }
        }
    }
    panic!("never succeeds");
}

#[test]
fn a_pool() {
    // 10 groups of bpages, the list of them, the bitmap, the waiters.
    let bpages = 640;
    let failures = sweep(|| Pool::new(bpages * u64::from(BPAGE_SIZE), GFP_KERNEL));
    assert!(failures >= 13, "{failures}");
}

#[test]
fn a_table_reservation() {
    // Slots, chains, next in chain, heap, places.
    let failures = sweep(|| table::Reservation::<u64>::new(1000, GFP_KERNEL));
    assert_eq!(failures, 5);
}

#[test]
fn a_queue_reservation() {
    let failures = sweep(|| queue::Reservation::<u64>::new(1000, GFP_KERNEL));
    assert_eq!(failures, 1);
}

#[test]
fn a_table_whose_growth_fails_stays_as_it_is() {
    let mut table = Table::new([1, 2]);
    let reservation = table::Reservation::new(4, GFP_KERNEL).unwrap();
    drop(table.adopt(reservation));
    for id in 1..=4 {
        let value = KBox::new(id, GFP_KERNEL).unwrap();
        assert!(table.insert(RpcKey::client(id * 2), value).is_ok());
    }
    let faults = hosted::fail_after(0);
    assert!(table::Reservation::<u64>::new(table.grown_capacity(), GFP_KERNEL).is_err());
    // Whatever happens to what is there needs no memory.
    for id in 1..=4 {
        assert_eq!(table.get(&RpcKey::client(id * 2)), Some(&id));
        assert!(table.set_deadline(&RpcKey::client(id * 2), Some(id)));
    }
    assert_eq!(table.pop_due(1), Some(RpcKey::client(2)));
    assert!(table.remove(&RpcKey::client(4)).is_some());
    assert_eq!(faults.refused(), 1);
}

#[test]
fn nothing_but_reservations_allocates() {
    let mut pool = Pool::new(100 * u64::from(BPAGE_SIZE), GFP_KERNEL).unwrap();
    let mut ready = Queue::new();
    let reservation = queue::Reservation::new(4, GFP_KERNEL).unwrap();
    drop(ready.adopt(reservation));
    let faults = hosted::fail_after(0);
    let lease = pool.alloc(1_000_000).unwrap();
    assert!(pool.wait(RpcKey::client(2), 100).is_ok());
    assert!(pool.next_waiter().is_some());
    pool.free_lease(lease);
    assert_eq!(ready.push(1), Ok(()));
    assert_eq!(ready.pop(), Some(1));
    assert_eq!(faults.refused(), 0);
}

#[test]
fn dropping_frees_everything() {
    let live = hosted::stats().live;
    let mut table = Table::new([1, 2]);
    let reservation = table::Reservation::new(100, GFP_KERNEL).unwrap();
    drop(table.adopt(reservation));
    for id in 1..=100 {
        let value = KBox::new(id, GFP_KERNEL).unwrap();
        assert!(table.insert(RpcKey::client(id * 2), value).is_ok());
    }
    let larger = table::Reservation::new(300, GFP_KERNEL).unwrap();
    drop(table.adopt(larger));
    drop(table);
    assert_eq!(hosted::stats().live, live);
}
