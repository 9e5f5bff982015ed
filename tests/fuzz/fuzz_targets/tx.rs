// SPDX-License-Identifier: GPL-2.0

//! Any grants, requests and sizes for an outgoing message: segments stay inside
//! of it, and in the end all of it was sent.

#![no_main]

use arbitrary::Arbitrary;
use homa_proto::tx::Tx;
use homa_proto::wire::Resend;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Step {
    Poll(u16),
    Grant(u32, u8),
    Resend(u32, u32),
    Restart,
}

fuzz_target!(|input: (u16, u32, u32, Vec<Step>)| {
    let (length, unsched_bytes, segment_len, steps) = input;
    let length = u32::from(length) + 1;
    let mut tx = Tx::new(length, unsched_bytes, segment_len);
    for step in steps {
        match step {
            Step::Poll(max_payload) => {
                let max_payload = u32::from(max_payload);
                let sent = tx.sent();
                if let Some(segment) = tx.poll_segment(max_payload) {
                    let end = segment.offset + segment.len;
                    assert!((1..=max_payload).contains(&segment.len));
                    assert!(end <= length);
                    assert_eq!(segment.retransmit, tx.sent() == sent);
                    assert!(segment.retransmit || segment.offset == sent);
                }
            }
            Step::Grant(offset, priority) => tx.on_grant(offset, priority),
            Step::Resend(offset, length) => {
                tx.on_resend(&Resend {
                    offset,
                    length,
                    priority: 0,
                });
            }
            Step::Restart => tx.restart(),
        }
        assert!(tx.sent() <= length && tx.granted() <= length);
        assert!(tx.unscheduled() <= tx.granted());
    }
    tx.on_grant(length, 0);
    while tx.poll_segment(60_000).is_some() {}
    assert!(tx.fully_sent());
});
