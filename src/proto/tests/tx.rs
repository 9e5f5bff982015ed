// SPDX-License-Identifier: GPL-2.0

//! An outgoing message under any sequence of grants, requests and MTUs.

use std::collections::BTreeSet;

use homa_proto::tx::Priority;
use homa_proto::tx::ResendOutcome;
use homa_proto::tx::Segment;
use homa_proto::tx::Tx;
use homa_proto::wire::Resend;
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    /// With the segment length divided by this: three lengths in all, as many
    /// as a message remembers.
    Poll {
        count: usize,
        divisor: u32,
    },
    Grant {
        offset: u32,
        priority: u8,
    },
    Resend {
        offset: u32,
        length: u32,
    },
    ResendAll,
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1usize..20, 1u32..=3).prop_map(|(count, divisor)| Step::Poll { count, divisor }),
        2 => (any::<u32>(), 0u8..8)
            .prop_map(|(offset, priority)| Step::Grant { offset: offset % 100_000, priority }),
        2 => (0u32..60_000, 1u32..20_000)
            .prop_map(|(offset, length)| Step::Resend { offset, length }),
        1 => Just(Step::ResendAll),
        1 => Just(Step::Restart),
    ]
}

/// What a careful observer of the segments knows.
struct Observer {
    length: u32,
    unscheduled: u32,
    sent: u32,
    /// Where segments that were sent for the first time begin and end.
    boundaries: BTreeSet<u32>,
    /// Whether each byte is owed.
    owed: Vec<bool>,
}

impl Observer {
    fn owed(&mut self, start: u32, end: u32) -> &mut [bool] {
        let index = |offset| usize::try_from(offset).unwrap();
        &mut self.owed[index(start)..index(end)]
    }

    fn on_segment(&mut self, segment: &Segment, max_payload: u32) {
        let end = segment.offset + segment.len;
        assert!((1..=max_payload).contains(&segment.len));
        assert!(end <= self.length);
        if segment.retransmit {
            assert!(end <= self.sent);
            assert!(end <= segment.incoming && segment.incoming <= self.sent);
            // No boundary inside.
            let inside = self.boundaries.range(segment.offset + 1..end);
            assert_eq!(inside.count(), 0, "{segment:?}");
            self.owed(segment.offset, end).fill(false);
        } else {
            assert_eq!(segment.offset, self.sent);
            assert_eq!(segment.incoming, self.unscheduled);
            let unscheduled = segment.offset < self.unscheduled;
            assert!(!unscheduled || end <= self.unscheduled);
            assert_eq!(segment.priority == Priority::Unscheduled, unscheduled);
            self.boundaries.insert(end);
            self.sent = end;
        }
    }
}

fn check(tx: &Tx, observer: &Observer) {
    assert_eq!(tx.sent(), observer.sent);
    assert!(tx.unscheduled() <= tx.granted() && tx.granted() <= tx.length());
    assert!(tx.sent() <= tx.length());
    if tx.fully_sent() {
        assert_eq!(tx.sent(), tx.length());
        assert!(!observer.owed.contains(&true));
    }
    if observer.owed.contains(&true) {
        assert!(tx.has_segment());
    }
}

/// A failure is printed with its smallest input, which makes a better test than a
/// file with seeds.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_steps(
        length in 1u32..60_000,
        unsched_bytes in 1u32..20_000,
        segment_len in 1u32..3000,
        steps in vec(step(), 1..60),
    ) {
        let mut tx = Tx::new(length, unsched_bytes, segment_len);
        let mut observer = Observer {
            length,
            unscheduled: unsched_bytes.min(length),
            sent: 0,
            boundaries: BTreeSet::new(),
            owed: vec![false; usize::try_from(length).unwrap()],
        };
        for step in steps {
            match step {
                Step::Poll { count, divisor } => {
                    let max_payload = (segment_len / divisor).max(1);
                    for _ in 0..count {
                        let expected = tx.has_segment();
                        let segment = tx.poll_segment(max_payload);
                        prop_assert_eq!(segment.is_some(), expected);
                        if let Some(segment) = segment {
                            observer.on_segment(&segment, max_payload);
                        }
                    }
                }
                Step::Grant { offset, priority } => {
                    let before = tx.granted();
                    tx.on_grant(offset, priority);
                    prop_assert_eq!(tx.granted(), before.max(offset.min(length)));
                }
                Step::Resend { offset, length } => {
                    let resend = Resend { offset, length, priority: 5 };
                    let end = (offset + length).min(observer.sent);
                    let outcome = tx.on_resend(&resend);
                    prop_assert_eq!(outcome == ResendOutcome::Queued, offset < observer.sent);
                    prop_assert!(tx.granted() >= (offset + length).min(observer.length));
                    if offset < end {
                        observer.owed(offset, end).fill(true);
                    }
                }
                Step::ResendAll => {
                    tx.on_resend(&Resend::all(5));
                    let sent = observer.sent;
                    observer.owed(0, sent).fill(true);
                }
                Step::Restart => {
                    tx.restart();
                    let sent = observer.sent;
                    observer.owed(0, sent).fill(true);
                }
            }
            check(&tx, &observer);
        }
        // Granted, all of it goes.
        tx.on_grant(length, 0);
        while let Some(segment) = tx.poll_segment(segment_len) {
            observer.on_segment(&segment, segment_len);
        }
        prop_assert!(tx.fully_sent());
        check(&tx, &observer);
    }
}
