// SPDX-License-Identifier: GPL-2.0

//! An application that returns whatever offsets it likes: memory that is out is
//! never given out again.

#![no_main]

use std::collections::BTreeMap;

use arbitrary::Arbitrary;
use homa_proto::pool::Pool;
use homa_proto::pool::BPAGE_SIZE;
use kernel::alloc::flags::GFP_KERNEL;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Step {
    Alloc(u32),
    /// Return offsets: those that are out, by number, or any.
    Release(Vec<(bool, u32)>),
}

fuzz_target!(|input: (u8, Vec<Step>)| {
    let (bpages, steps) = input;
    let region_len = u64::from(bpages) * u64::from(BPAGE_SIZE);
    let mut pool = Pool::new(region_len, GFP_KERNEL).unwrap();
    let mut out: BTreeMap<u32, u32> = BTreeMap::new();
    for step in steps {
        match step {
            Step::Alloc(length) => {
                let mut left = length % 1_000_000 + 1;
                let Some(lease) = pool.alloc(left) else {
                    continue;
                };
                for &offset in lease.offsets() {
                    let len = left.min(BPAGE_SIZE);
                    left -= len;
                    let end = offset.checked_add(len - 1).unwrap();
                    assert!(u64::from(end) < region_len);
                    let before = out.range(..=end).next_back();
                    assert!(before.is_none_or(|(start, len)| start + (len - 1) < offset));
                    out.insert(offset, len);
                }
                assert_eq!(left, 0);
            }
            Step::Release(choices) => {
                let known: Vec<u32> = out.keys().copied().collect();
                let offsets: Vec<u32> = choices
                    .iter()
                    .map(
                        |&(good, number)| match known.get(number as usize % known.len().max(1)) {
                            Some(&offset) if good => offset,
                            _ => number,
                        },
                    )
                    .collect();
                let before = pool.available_bytes();
                if pool.release(&offsets).is_ok() {
                    for offset in offsets {
                        assert!(out.remove(&offset).is_some());
                    }
                } else {
                    assert_eq!(pool.available_bytes(), before);
                }
            }
        }
    }
    for &offset in out.keys() {
        assert!(pool.release(&[offset]).is_ok());
    }
    assert_eq!(pool.available_bytes(), region_len);
});
