// SPDX-License-Identifier: GPL-2.0

//! Any packets of a message: the count of bytes is right, and what is said to be
//! missing completes it.

#![no_main]

use arbitrary::Arbitrary;
use homa_proto::rx::Rx;
use homa_proto::rx::MAX_GAPS;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    length: u16,
    incoming: u32,
    packets: Vec<(u32, u16)>,
    window: u32,
    quantum: u32,
}

fn count(there: &[bool]) -> usize {
    there.iter().filter(|&&byte| byte).count()
}

fuzz_target!(|input: Input| {
    let length = input.length % 2048 + 1;
    let mut there = vec![false; usize::from(length)];
    let length = u32::from(length);
    let mut rx = Rx::new(length, input.incoming);
    for (offset, len) in input.packets {
        let len = u32::from(len);
        // Most packets inside of the message, some anywhere.
        let offset = if len % 8 == 0 {
            offset
        } else {
            offset % length
        };
        if let Ok(added) = rx.on_data(offset, len) {
            let before = count(&there);
            there[offset as usize..(offset + len) as usize].fill(true);
            assert_eq!(count(&there) - before, added.new_bytes as usize);
        }
        assert_eq!(rx.received_bytes() as usize, count(&there));
        assert!(rx.missing().count() <= MAX_GAPS + 1);
        if let Some(limit) = rx.poll_grant(input.window, input.quantum) {
            assert!(limit <= length);
        }
    }
    while let Some(range) = rx.next_missing(0) {
        let bytes = &mut there[range.start as usize..range.end as usize];
        assert_eq!(count(bytes), 0);
        bytes.fill(true);
        assert!(rx.on_data(range.start, range.end - range.start).is_ok());
    }
    assert_eq!(rx.received_bytes() as usize, count(&there));
});
