// SPDX-License-Identifier: GPL-2.0

//! A pool under honest and hostile applications.

use std::collections::BTreeMap;

use homa_proto::key::RpcKey;
use homa_proto::pool::BadOffset;
use homa_proto::pool::Lease;
use homa_proto::pool::Pool;
use homa_proto::pool::BPAGE_SIZE;
use homa_proto::pool::CHUNK_ALIGN;
use kernel::alloc::flags::GFP_KERNEL;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

#[derive(Clone, Debug)]
enum Step {
    Alloc(u32),
    /// Return some chunks that are out.
    Release(Vec<Index>),
    /// Return some chunks that are out, and something else.
    Hostile(Vec<Index>, u32),
    FreeLease(u32),
    Wait(u32),
}

fn length() -> impl Strategy<Value = u32> {
    prop_oneof![1u32..=300, 1u32..=100_000, 1u32..=1_000_000]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => length().prop_map(Step::Alloc),
        3 => vec(any::<Index>(), 1..16).prop_map(Step::Release),
        1 => (vec(any::<Index>(), 0..5), any::<u32>())
            .prop_map(|(good, bad)| Step::Hostile(good, bad)),
        1 => length().prop_map(Step::FreeLease),
        1 => length().prop_map(Step::Wait),
    ]
}

/// What is out: the length of each chunk by its offset.
struct Model {
    region_len: u64,
    out: BTreeMap<u32, u32>,
    waiting: Vec<(u64, u32)>,
}

impl Model {
    fn on_lease(&mut self, lease: &Lease, length: u32) {
        let mut left = length;
        for &offset in lease.offsets() {
            let len = left.min(BPAGE_SIZE);
            left -= len;
            assert_eq!(offset % CHUNK_ALIGN, 0);
            let end = u64::from(offset) + u64::from(len);
            assert!(end <= self.region_len);
            // In one bpage.
            assert_eq!(offset / BPAGE_SIZE, (offset + (len - 1)) / BPAGE_SIZE);
            // Apart from its neighbours.
            if let Some((&before, &its_len)) = self.out.range(..=offset).next_back() {
                assert!(before + its_len <= offset);
            }
            if let Some((&behind, _)) = self.out.range(offset..).next() {
                assert!(end <= u64::from(behind));
            }
            self.out.insert(offset, len);
        }
        assert_eq!(left, 0);
    }

    /// Takes chunks out.
    fn pick(&mut self, indexes: &[Index]) -> Vec<u32> {
        let mut picked = Vec::new();
        for index in indexes {
            if self.out.is_empty() {
                break;
            }
            let offset = *self.out.keys().nth(index.index(self.out.len())).unwrap();
            self.out.remove(&offset);
            picked.push(offset);
        }
        picked
    }
}

fn run(bpages: u32, steps: Vec<Step>) {
    let region_len = u64::from(bpages * BPAGE_SIZE);
    let mut pool = Pool::new(region_len, GFP_KERNEL).unwrap();
    let mut model = Model {
        region_len,
        out: BTreeMap::new(),
        waiting: Vec::new(),
    };
    let mut next_id = 2;
    for step in steps {
        match step {
            Step::Alloc(length) => {
                if let Some(lease) = pool.alloc(length) {
                    model.on_lease(&lease, length);
                }
            }
            Step::Release(indexes) => {
                let offsets = model.pick(&indexes);
                assert_eq!(pool.release(&offsets), Ok(()));
            }
            Step::Hostile(indexes, bad) => {
                let before = pool.available_bytes();
                let out = model.out.clone();
                let mut offsets = model.pick(&indexes);
                model.out = out;
                if model.out.contains_key(&bad) {
                    continue;
                }
                offsets.insert(offsets.len() / 2, bad);
                assert_eq!(pool.release(&offsets), Err(BadOffset));
                // The same chunk twice.
                if let Some((&offset, _)) = model.out.iter().next() {
                    assert_eq!(pool.release(&[offset, offset]), Err(BadOffset));
                }
                assert_eq!(pool.available_bytes(), before);
            }
            Step::FreeLease(length) => {
                let before = pool.available_bytes();
                if let Some(lease) = pool.alloc(length) {
                    pool.free_lease(lease);
                }
                // Room at the end of a bpage may be given up, and come back.
                assert!(pool.available_bytes() <= region_len);
                assert!(pool.available_bytes() + u64::from(BPAGE_SIZE) > before);
            }
            Step::Wait(length) => {
                if pool.wait(RpcKey::client(next_id), length).is_ok() {
                    model.waiting.push((next_id, length));
                }
                next_id += 2;
            }
        }
        while let Some((key, lease)) = pool.next_waiter() {
            let shortest = model.waiting.iter().map(|&(_, length)| length).min();
            let at = model.waiting.iter().position(|it| it.0 == key.id).unwrap();
            let (_, length) = model.waiting.remove(at);
            assert_eq!(Some(length), shortest);
            model.on_lease(&lease, length);
        }
    }
    for (id, _) in model.waiting {
        assert!(pool.cancel_wait(&RpcKey::client(id)));
    }
    for &offset in model.out.keys() {
        assert_eq!(pool.release(&[offset]), Ok(()));
    }
    assert_eq!(pool.available_bytes(), region_len);
}

/// A failure is printed with its smallest input, which makes a better test than a
/// file with seeds.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_application(bpages in 0u32..150, steps in vec(step(), 1..100)) {
        run(bpages, steps);
    }
}
