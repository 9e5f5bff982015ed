// SPDX-License-Identifier: GPL-2.0

//! Short scripts: what is asked of a message, and which segments come.

use std::vec;
use std::vec::Vec;

use super::*;

const PAYLOAD: u32 = 1424;
const UNSCHEDULED: u32 = 40_000;

/// Offsets and lengths of all segments that come now.
fn poll_all(tx: &mut Tx, max_payload: u32) -> Vec<(u32, u32)> {
    let segments = core::iter::from_fn(|| tx.poll_segment(max_payload));
    segments.map(|it| (it.offset, it.len)).collect()
}

/// The end of the last segment, after checking that they follow each other.
fn end_of(segments: &[(u32, u32)], start: u32) -> u32 {
    segments.iter().fold(start, |at, &(offset, len)| {
        assert_eq!(offset, at);
        assert_ne!(len, 0);
        offset + len
    })
}

fn resend(offset: u32, length: u32) -> Resend {
    Resend {
        offset,
        length,
        priority: 7,
    }
}

/// A message of `length` bytes, all of them granted and sent.
fn all_sent(length: u32) -> Tx {
    let mut tx = Tx::new(length, UNSCHEDULED, PAYLOAD);
    tx.on_grant(length, 0);
    poll_all(&mut tx, PAYLOAD);
    assert!(tx.fully_sent());
    tx
}

#[test]
fn one_segment() {
    let mut tx = Tx::new(100, UNSCHEDULED, PAYLOAD);
    assert_eq!(
        (tx.length(), tx.unscheduled(), tx.granted()),
        (100, 100, 100)
    );
    assert!(tx.has_segment() && !tx.fully_sent());
    let segment = tx.poll_segment(PAYLOAD).unwrap();
    let expected = Segment {
        offset: 0,
        len: 100,
        retransmit: false,
        priority: Priority::Unscheduled,
        incoming: 100,
    };
    assert_eq!(segment, expected);
    assert_eq!(tx.poll_segment(PAYLOAD), None);
    assert!(!tx.has_segment() && tx.fully_sent());
}

#[test]
fn cut_at_the_end_of_the_unscheduled_bytes() {
    // The reference's example: packets of 8,544 bytes.
    let mut tx = Tx::new(300_000, UNSCHEDULED, 8544);
    let starts: Vec<u32> = poll_all(&mut tx, 8544).iter().map(|it| it.0).collect();
    assert_eq!(starts, [0, 8544, 17_088, 25_632, 34_176]);
    assert_eq!((tx.sent(), tx.granted()), (40_000, 40_000));
    tx.on_grant(40_001, 3);
    let segment = tx.poll_segment(8544).unwrap();
    let expected = Segment {
        offset: 40_000,
        len: 8544,
        retransmit: false,
        priority: Priority::Level(3),
        incoming: 40_000,
    };
    // A whole segment, for one byte granted.
    assert_eq!(segment, expected);
    assert_eq!(tx.poll_segment(8544), None);
    tx.on_grant(60_000, 2);
    assert_eq!(poll_all(&mut tx, 8544), [(48_544, 8544), (57_088, 8544)]);
}

#[test]
fn lengths_around_every_boundary() {
    for length in [
        1, 1423, 1424, 1425, 39_999, 40_000, 40_001, 999_999, 1_000_000,
    ] {
        let mut tx = Tx::new(length, UNSCHEDULED, PAYLOAD);
        let unscheduled = poll_all(&mut tx, PAYLOAD);
        assert_eq!(end_of(&unscheduled, 0), length.min(UNSCHEDULED));
        tx.on_grant(u32::MAX, 0);
        assert_eq!(tx.granted(), length);
        let scheduled = poll_all(&mut tx, PAYLOAD);
        assert_eq!(end_of(&scheduled, tx.unscheduled()), length);
        assert!(tx.fully_sent());
    }
}

#[test]
fn an_old_grant_only_changes_the_priority() {
    let mut tx = Tx::new(300_000, UNSCHEDULED, PAYLOAD);
    tx.on_grant(100_000, 1);
    tx.on_grant(50_000, 2);
    assert_eq!(tx.granted(), 100_000);
    while tx.sent() < UNSCHEDULED {
        tx.poll_segment(PAYLOAD);
    }
    let segment = tx.poll_segment(PAYLOAD).unwrap();
    assert_eq!(segment.priority, Priority::Level(2));
}

#[test]
fn what_is_owed_goes_first() {
    let mut tx = Tx::new(300_000, UNSCHEDULED, PAYLOAD);
    tx.poll_segment(PAYLOAD);
    tx.poll_segment(PAYLOAD);
    assert_eq!(tx.on_resend(&resend(0, PAYLOAD)), ResendOutcome::Queued);
    let segment = tx.poll_segment(PAYLOAD).unwrap();
    let expected = Segment {
        offset: 0,
        len: PAYLOAD,
        retransmit: true,
        priority: Priority::Level(7),
        incoming: PAYLOAD,
    };
    assert_eq!(segment, expected);
    assert_eq!(tx.poll_segment(PAYLOAD).unwrap().offset, 2 * PAYLOAD);
}

#[test]
fn resend_of_all() {
    let mut tx = Tx::new(5000, UNSCHEDULED, PAYLOAD);
    assert_eq!(tx.on_resend(&Resend::all(7)), ResendOutcome::NothingSentYet);
    tx.poll_segment(PAYLOAD);
    tx.poll_segment(PAYLOAD);
    assert_eq!(tx.on_resend(&Resend::all(7)), ResendOutcome::Queued);
    let first = tx.poll_segment(PAYLOAD).unwrap();
    assert_eq!((first.offset, first.incoming), (0, 2 * PAYLOAD));
    let expected = [(1424, 1424), (2848, 1424), (4272, 728)];
    assert_eq!(poll_all(&mut tx, PAYLOAD), expected);
}

#[test]
fn resend_grants_what_was_not_sent() {
    let mut tx = Tx::new(300_000, UNSCHEDULED, PAYLOAD);
    poll_all(&mut tx, PAYLOAD);
    // A lost grant: the receiver expects more than we may send.
    assert_eq!(
        tx.on_resend(&resend(40_000, 10_000)),
        ResendOutcome::NothingSentYet
    );
    assert_eq!(tx.granted(), 50_000);
    let segment = tx.poll_segment(PAYLOAD).unwrap();
    assert_eq!((segment.offset, segment.retransmit), (40_000, false));
    // A hostile one grants all at most.
    tx.on_resend(&resend(u32::MAX, 5));
    assert_eq!(tx.granted(), 300_000);
}

#[test]
fn resend_of_the_tail_includes_what_exceeded_the_grant() {
    let mut tx = Tx::new(300_000, UNSCHEDULED, PAYLOAD);
    poll_all(&mut tx, PAYLOAD);
    tx.on_grant(40_001, 0);
    poll_all(&mut tx, PAYLOAD);
    assert_eq!(tx.on_resend(&resend(40_000, 1)), ResendOutcome::Queued);
    assert_eq!(poll_all(&mut tx, PAYLOAD), [(40_000, PAYLOAD)]);
    // A gap that ends before the limit is sent as it is.
    assert_eq!(tx.on_resend(&resend(39_000, 1)), ResendOutcome::Queued);
    assert_eq!(poll_all(&mut tx, PAYLOAD), [(39_000, 1)]);
}

#[test]
fn pieces_end_where_segments_end() {
    let mut tx = all_sent(100_000);
    tx.on_resend(&resend(0, 100_000));
    let again = poll_all(&mut tx, PAYLOAD);
    let mut fresh = Tx::new(100_000, UNSCHEDULED, PAYLOAD);
    fresh.on_grant(100_000, 0);
    assert_eq!(again, poll_all(&mut fresh, PAYLOAD));
    // From the middle of a segment.
    tx.on_resend(&resend(2000, 1000));
    assert_eq!(poll_all(&mut tx, PAYLOAD), [(2000, 848), (2848, 152)]);
}

#[test]
fn the_mtu_shrinks() {
    let mut tx = Tx::new(20_000, UNSCHEDULED, 8000);
    assert_eq!(tx.poll_segment(8000).unwrap().len, 8000);
    // New segments of 3,000 bytes from 8,000 on.
    assert_eq!(tx.poll_segment(3000).unwrap().offset, 8000);
    // Growing again changes nothing.
    assert_eq!(tx.poll_segment(9000).unwrap().len, 3000);
    assert_eq!(poll_all(&mut tx, 3000), [(14_000, 3000), (17_000, 3000)]);
    // The first one is sent again in parts, and no part crosses its end.
    tx.on_resend(&Resend::all(0));
    let expected = [
        (0, 3000),
        (3000, 3000),
        (6000, 2000),
        (8000, 3000),
        (11_000, 3000),
        (14_000, 3000),
        (17_000, 3000),
    ];
    assert_eq!(poll_all(&mut tx, 3000), expected);
}

#[test]
fn the_mtu_shrinks_before_the_first_segment() {
    let mut tx = Tx::new(6000, UNSCHEDULED, 8000);
    assert_eq!(
        poll_all(&mut tx, 2000),
        [(0, 2000), (2000, 2000), (4000, 2000)]
    );
    tx.on_resend(&Resend::all(0));
    assert_eq!(
        poll_all(&mut tx, 8000),
        [(0, 2000), (2000, 2000), (4000, 2000)]
    );
}

#[test]
fn the_mtu_shrinks_more_often_than_is_remembered() {
    let mut tx = Tx::new(100_000, 100_000, 9000);
    let mut sent = vec![];
    for max_payload in (1000..9000).rev().step_by(1000) {
        let segment = tx.poll_segment(max_payload).unwrap();
        assert!(segment.len <= max_payload);
        sent.push((segment.offset, segment.len));
    }
    sent.extend(poll_all(&mut tx, 500));
    assert_eq!(end_of(&sent, 0), 100_000);
}

#[test]
fn restart() {
    let mut tx = Tx::new(300_000, UNSCHEDULED, PAYLOAD);
    let first = poll_all(&mut tx, PAYLOAD);
    tx.on_resend(&resend(0, 10));
    tx.restart();
    let segment = tx.poll_segment(PAYLOAD).unwrap();
    let expected = Segment {
        offset: 0,
        len: PAYLOAD,
        retransmit: true,
        priority: Priority::Unscheduled,
        incoming: 40_000,
    };
    assert_eq!(segment, expected);
    assert_eq!(poll_all(&mut tx, PAYLOAD), first[1..]);
}

#[test]
fn nothing_fits() {
    let mut tx = Tx::new(10, UNSCHEDULED, 0);
    assert_eq!(tx.poll_segment(0), None);
    assert_eq!(tx.poll_segment(100).unwrap().len, 1);
}

#[test]
fn owed_ranges_are_joined() {
    let mut owed = Owed::new();
    for start in [30, 10, 50] {
        owed.add(start, start + 5);
    }
    owed.add(5, 5);
    let mut ranges = vec![];
    owed.add(15, 30);
    owed.add(52, 60);
    while let Some(range) = owed.first() {
        owed.remove_before(range.end);
        ranges.push(range);
    }
    assert_eq!(ranges, [10..35, 50..60]);
    assert!(owed.is_empty());
}

#[test]
fn too_many_owed_ranges_join_the_nearest() {
    let mut owed = Owed::new();
    for start in (0..800).step_by(100) {
        owed.add(start, start + 10);
    }
    owed.add(720, 730);
    owed.add(350, 360);
    let mut ranges = vec![];
    while let Some(range) = owed.first() {
        owed.remove_before(range.end);
        ranges.push(range);
    }
    assert_eq!(
        ranges,
        [
            0..10,
            100..110,
            200..210,
            300..360,
            400..410,
            500..510,
            600..610,
            700..730
        ]
    );
}
