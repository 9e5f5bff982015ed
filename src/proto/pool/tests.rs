// SPDX-License-Identifier: GPL-2.0

use std::vec;
use std::vec::Vec;

use kernel::alloc::flags::GFP_KERNEL;

use super::*;
use crate::key::PeerKey;

const PAGE: u32 = BPAGE_SIZE;

fn pool(bpages: u64) -> Pool {
    Pool::new(bpages << BPAGE_SHIFT, GFP_KERNEL).unwrap()
}

fn offsets(pool: &mut Pool, length: u32) -> Vec<u32> {
    pool.alloc(length).unwrap().offsets().to_vec()
}

fn key(id: u64) -> RpcKey {
    RpcKey::new(PeerKey::from_v4([192, 0, 2, 1]), id)
}

#[test]
fn whole_bpages_and_a_rest() {
    let mut pool = pool(40);
    // The reference's examples.
    assert_eq!(offsets(&mut pool, 200_000), [0, PAGE, 2 * PAGE, 3 * PAGE]);
    assert_eq!(offsets(&mut pool, 65_536), [4 * PAGE]);
    let million = offsets(&mut pool, 1_000_000);
    assert_eq!(million.len(), 16);
    // The rest lies behind that of the first message.
    assert_eq!(million[15], 3 * PAGE + 3392);
    let expected: Vec<u32> = (5..20).map(|bpage| bpage * PAGE).collect();
    assert_eq!(million[..15], expected);
}

#[test]
fn small_messages_share_a_bpage() {
    let mut pool = pool(2);
    assert_eq!(offsets(&mut pool, 1), [0]);
    assert_eq!(offsets(&mut pool, 65), [64]);
    assert_eq!(offsets(&mut pool, 64), [192]);
    assert_eq!(offsets(&mut pool, 100), [256]);
    assert_eq!(pool.available_bytes(), u64::from(2 * PAGE - 384));
}

#[test]
fn a_rest_that_does_not_fit_opens_another_bpage() {
    let mut pool = pool(3);
    assert_eq!(offsets(&mut pool, 60_000), [0]);
    // 30,000 does not fit; the new bpage has more room and stays open.
    assert_eq!(offsets(&mut pool, 30_000), [PAGE]);
    assert_eq!(offsets(&mut pool, 1000), [PAGE + 30_016]);
    // 65,000 leaves less room than there is in the open one.
    assert_eq!(offsets(&mut pool, 65_000), [2 * PAGE]);
    assert_eq!(offsets(&mut pool, 1000), [PAGE + 31_040]);
    assert_eq!(pool.alloc(60_000), None);
}

#[test]
fn a_rest_that_takes_all_of_a_bpage() {
    let mut pool = pool(2);
    assert_eq!(offsets(&mut pool, PAGE - 1), [0]);
    assert_eq!(offsets(&mut pool, PAGE - 1), [PAGE]);
    assert_eq!(pool.available_bytes(), 0);
    assert_eq!(pool.alloc(1), None);
}

#[test]
fn all_comes_back() {
    let mut pool = pool(16);
    let all = pool.available_bytes();
    let lengths = [1, 1000, 65_535, 65_536, 65_537, 300_000, 50_000];
    let leases: Vec<Lease> = lengths
        .iter()
        .map(|&length| pool.alloc(length).unwrap())
        .collect();
    for lease in leases {
        for &offset in lease.offsets() {
            assert_eq!(pool.release(&[offset]), Ok(()));
        }
    }
    assert_eq!(pool.available_bytes(), all);
    // The whole region is there for one message, from the beginning.
    let again = pool.alloc(1_000_000).unwrap();
    assert_eq!(again.offsets()[15], 15 * PAGE);
    pool.free_lease(again);
    assert_eq!(pool.available_bytes(), all);
}

#[test]
fn all_chunks_of_a_bpage_come_back_at_once() {
    let mut pool = pool(3);
    assert_eq!(offsets(&mut pool, 1), [0]);
    assert_eq!(offsets(&mut pool, 1), [64]);
    assert_eq!(pool.release(&[0, 64]), Ok(()));
    assert_eq!(pool.available_bytes(), u64::from(3 * PAGE));
}

#[test]
fn an_open_bpage_whose_chunks_came_back_is_free_as_a_whole() {
    let mut pool = pool(1);
    let small = pool.alloc(100).unwrap();
    assert_eq!(pool.alloc(PAGE), None);
    assert_eq!(pool.release(small.offsets()), Ok(()));
    assert_eq!(offsets(&mut pool, PAGE), [0]);
}

#[test]
fn hostile_offsets() {
    let mut pool = pool(3);
    let taken = offsets(&mut pool, PAGE + 100);
    let before = pool.available_bytes();
    assert_eq!(taken, [0, PAGE]);
    let bad = [
        1,
        64,
        PAGE - 64,
        PAGE + 1,
        PAGE + 64,
        2 * PAGE,
        3 * PAGE,
        u32::MAX,
        u32::MAX - 63,
    ];
    for offset in bad {
        assert_eq!(pool.release(&[offset]), Err(BadOffset), "{offset}");
        // Good ones beside a bad one are not released.
        assert_eq!(pool.release(&[0, PAGE, offset]), Err(BadOffset));
        assert_eq!(pool.release(&[offset, 0, PAGE]), Err(BadOffset));
    }
    assert_eq!(pool.release(&[0, PAGE, 0]), Err(BadOffset));
    assert_eq!(pool.available_bytes(), before);
    assert_eq!(pool.release(&[]), Ok(()));
    assert_eq!(pool.release(&[PAGE, 0]), Ok(()));
    assert_eq!(pool.release(&[0]), Err(BadOffset));
    assert_eq!(pool.available_bytes(), u64::from(3 * PAGE));
}

#[test]
fn region_sizes() {
    let sizes = [
        (0, 0),
        (65_535, 0),
        (65_536, 1),
        (131_071, 1),
        (64 << 16, 64),
        (65 << 16, 65),
        (5000 << 16, 5000),
    ];
    for (region_len, bpages) in sizes {
        let mut pool = Pool::new(region_len, GFP_KERNEL).unwrap();
        assert_eq!(pool.available_bytes(), bpages << BPAGE_SHIFT);
        let mut expected = 0;
        while let Some(lease) = pool.alloc(PAGE) {
            assert_eq!(lease.offsets(), [expected]);
            expected = expected.wrapping_add(PAGE);
        }
        assert_eq!(u64::from(expected), bpages << BPAGE_SHIFT);
    }
    let pool = Pool::new(u64::MAX, GFP_KERNEL).unwrap();
    assert_eq!(pool.available_bytes(), MAX_REGION);
}

#[test]
fn the_highest_offsets_of_the_largest_region() {
    let mut pool = Pool::new(MAX_REGION, GFP_KERNEL).unwrap();
    let mut leases = vec![];
    while let Some(lease) = pool.alloc(16 * PAGE) {
        leases.push(lease);
    }
    let last = leases.pop().unwrap();
    assert_eq!(last.offsets()[15], u32::MAX - (PAGE - 1));
    assert_eq!(pool.release(last.offsets()), Ok(()));
    assert_eq!(pool.available_bytes(), u64::from(16 * PAGE));
}

#[test]
fn more_than_a_message_can_have() {
    let mut pool = pool(100);
    assert_eq!(pool.alloc(16 * PAGE + 1), None);
    assert_eq!(pool.alloc(u32::MAX), None);
    assert_eq!(offsets(&mut pool, 16 * PAGE).len(), MAX_BPAGES);
}

#[test]
fn bytes_are_located() {
    let mut pool = pool(8);
    assert_eq!(offsets(&mut pool, 1000), [0]);
    let lease = pool.alloc(2 * PAGE + 500).unwrap();
    assert_eq!(lease.offsets(), [PAGE, 2 * PAGE, 1024]);
    assert_eq!(lease.locate(0), Some((PAGE, PAGE)));
    assert_eq!(lease.locate(10), Some((PAGE + 10, PAGE - 10)));
    assert_eq!(lease.locate(PAGE), Some((2 * PAGE, PAGE)));
    assert_eq!(lease.locate(2 * PAGE + 7), Some((1031, PAGE - 1031)));
    assert_eq!(lease.locate(3 * PAGE), None);
}

#[test]
fn the_shortest_waits_least() {
    let mut pool = pool(4);
    let all = pool.alloc(4 * PAGE).unwrap();
    for (id, pages) in [(1, 3), (3, 1), (5, 2), (7, 1), (9, 3)] {
        assert_eq!(pool.wait(key(id), pages * PAGE), Ok(()));
    }
    assert_eq!(pool.next_waiter(), None);
    let all = all.offsets().to_vec();
    pool.release(&all[..3]).unwrap();
    let mut order = vec![];
    while let Some((key, lease)) = pool.next_waiter() {
        order.push(key.id);
        assert!(!lease.offsets().is_empty());
    }
    // Among equals who came first; the next one has to wait for more.
    assert_eq!(order, [3, 7]);
    pool.release(&all[3..]).unwrap();
    assert_eq!(pool.next_waiter().unwrap().0, key(5));
    assert!(pool.cancel_wait(&key(1)));
    assert!(!pool.cancel_wait(&key(1)));
    pool.release(&[0, PAGE, 2 * PAGE]).unwrap();
    assert_eq!(pool.next_waiter().unwrap().0, key(9));
    assert_eq!(pool.next_waiter(), None);
}

#[test]
fn waiters_are_bounded() {
    let mut pool = pool(0);
    for id in 0..MAX_WAITERS {
        let id = u64::try_from(id).unwrap();
        assert_eq!(pool.wait(key(id * 2 + 1), 1), Ok(()));
    }
    assert_eq!(pool.wait(key(100_001), 1), Err(TooManyWaiting));
    assert!(pool.cancel_wait(&key(1)));
    assert_eq!(pool.wait(key(100_001), 1), Ok(()));
}
