// SPDX-License-Identifier: GPL-2.0

//! Short scripts: which packets come, and what is missing then.

use std::vec::Vec;

use super::*;

/// Beginning and end of each missing range.
fn missing(rx: &Rx) -> Vec<(u32, u32)> {
    rx.missing().map(|it| (it.start, it.end)).collect()
}

#[expect(clippy::unnecessary_wraps, reason = "this is what `on_data` returns")]
fn added(new_bytes: u32) -> Result<Added, Rejected> {
    Ok(Added { new_bytes })
}

#[test]
fn in_order() {
    let mut rx = Rx::new(3000, 3000);
    assert_eq!(missing(&rx), [(0, 3000)]);
    assert_eq!(rx.on_data(0, 1000), added(1000));
    assert_eq!(missing(&rx), [(1000, 3000)]);
    assert_eq!(rx.on_data(1000, 1000), added(1000));
    assert!(!rx.complete());
    assert_eq!(rx.on_data(2000, 1000), added(1000));
    assert!(rx.complete());
    assert_eq!(missing(&rx), []);
    assert_eq!(rx.received_bytes(), 3000);
}

#[test]
fn out_of_order() {
    let mut rx = Rx::new(5000, 5000);
    assert_eq!(rx.on_data(4000, 1000), added(1000));
    assert_eq!(missing(&rx), [(0, 4000)]);
    assert_eq!(rx.on_data(2000, 1000), added(1000));
    assert_eq!(missing(&rx), [(0, 2000), (3000, 4000)]);
    assert_eq!(rx.on_data(0, 1000), added(1000));
    assert_eq!(missing(&rx), [(1000, 2000), (3000, 4000)]);
    assert_eq!(rx.next_missing(1500), Some(1500..2000));
    assert_eq!(rx.next_missing(2000), Some(3000..4000));
    assert_eq!(rx.next_missing(4000), None);
    assert_eq!(rx.on_data(1000, 1000), added(1000));
    assert_eq!(rx.on_data(3000, 1000), added(1000));
    assert!(rx.complete());
}

/// A packet's offset and length, how many of its bytes are new, and what is
/// missing then.
type Overlap = (u32, u32, u32, &'static [(u32, u32)]);

#[test]
fn overlaps_in_every_way() {
    // Known: [100, 200) and [300, 400).
    let known = || {
        let mut rx = Rx::new(500, 500);
        assert!(rx.on_data(100, 100).is_ok());
        assert!(rx.on_data(300, 100).is_ok());
        rx
    };
    let cases: [Overlap; 10] = [
        (0, 50, 50, &[(50, 100), (200, 300), (400, 500)]),
        (0, 150, 100, &[(200, 300), (400, 500)]),
        (50, 100, 50, &[(0, 50), (200, 300), (400, 500)]),
        (150, 100, 50, &[(0, 100), (250, 300), (400, 500)]),
        (220, 20, 20, &[(0, 100), (200, 220), (240, 300), (400, 500)]),
        (250, 100, 50, &[(0, 100), (200, 250), (400, 500)]),
        (150, 200, 100, &[(0, 100), (400, 500)]),
        (50, 400, 200, &[(0, 50), (450, 500)]),
        (0, 500, 300, &[]),
        (350, 150, 100, &[(0, 100), (200, 300)]),
    ];
    for (offset, len, new_bytes, left) in cases {
        let mut rx = known();
        assert_eq!(rx.on_data(offset, len), added(new_bytes));
        assert_eq!(missing(&rx), left, "{offset}+{len}");
    }
    for (offset, len) in [(100, 100), (120, 10), (300, 100), (150, 0)] {
        assert_eq!(known().on_data(offset, len), Err(Rejected::Duplicate));
    }
}

#[test]
fn outside_of_the_message() {
    let mut rx = Rx::new(100, 100);
    for (offset, len) in [(0, 101), (100, 1), (101, 0), (1, u32::MAX), (u32::MAX, 1)] {
        assert_eq!(rx.on_data(offset, len), Err(Rejected::OutOfBounds));
    }
    assert_eq!(rx.received_bytes(), 0);
}

#[test]
fn an_empty_packet_leaves_no_trace() {
    let mut rx = Rx::new(100, 100);
    assert_eq!(rx.on_data(50, 0), Err(Rejected::Duplicate));
    assert_eq!(missing(&rx), [(0, 100)]);
    assert_eq!(rx.on_data(0, 100), added(100));
}

#[test]
fn gaps_are_bounded() {
    let mut rx = Rx::new(1_000_000, 1_000_000);
    let packet = |number: usize| u32::try_from(number).unwrap() * 2000 + 1000;
    for number in 0..MAX_GAPS {
        assert_eq!(rx.on_data(packet(number), 1000), added(1000));
    }
    let before = missing(&rx);
    assert_eq!(
        rx.on_data(packet(MAX_GAPS), 1000),
        Err(Rejected::TooFragmented)
    );
    // Nor may one gap become two.
    assert_eq!(rx.on_data(400, 100), Err(Rejected::TooFragmented));
    assert_eq!(missing(&rx), before);
    // What makes no new gap is welcome.
    assert_eq!(rx.on_data(packet(MAX_GAPS) - 1000, 1000), added(1000));
    assert_eq!(rx.on_data(0, 1000), added(1000));
    assert_eq!(rx.on_data(2400, 100), added(100));
}

#[test]
fn the_granted_limit() {
    let mut rx = Rx::new(300_000, 40_000);
    assert_eq!(missing(&rx), [(0, 40_000)]);
    // 1,000 bytes: as if the window began to move.
    rx.on_data(0, 1000).unwrap();
    assert_eq!(rx.poll_grant(200_000, 40_000), Some(201_000));
    assert_eq!(rx.poll_grant(200_000, 40_000), None);
    rx.on_data(1000, 39_000).unwrap();
    assert_eq!(rx.poll_grant(200_000, 40_000), None);
    rx.on_data(40_000, 1000).unwrap();
    assert_eq!(rx.poll_grant(200_000, 40_000), Some(241_000));
    // The rest of the message is granted however little it is.
    rx.on_data(41_000, 59_000).unwrap();
    assert_eq!(rx.poll_grant(200_000, 70_000), Some(300_000));
    assert_eq!(rx.granted(), 300_000);
    assert_eq!(rx.poll_grant(200_000, 1), None);
}

#[test]
fn a_sender_with_nothing_left_is_granted_less_than_a_quantum() {
    let mut rx = Rx::new(300_000, 10_000);
    rx.on_data(0, 9999).unwrap();
    assert_eq!(rx.poll_grant(10_000, 40_000), None);
    rx.on_data(9999, 1).unwrap();
    assert!(rx.caught_up());
    assert_eq!(rx.poll_grant(10_000, 40_000), Some(20_000));
}

#[test]
fn no_grant_for_what_came_unasked() {
    let mut rx = Rx::new(300_000, 0);
    rx.on_data(0, 100_000).unwrap();
    assert_eq!(missing(&rx), []);
    assert_eq!(rx.poll_grant(50_000, 40_000), Some(150_000));
    let mut short = Rx::new(100, 1000);
    assert_eq!(short.granted(), 100);
    assert_eq!(short.poll_grant(200_000, 1), None);
}

#[test]
fn a_gap_beyond_the_granted_limit_is_missing() {
    let mut rx = Rx::new(300_000, 10_000);
    rx.on_data(20_000, 1000).unwrap();
    assert_eq!(missing(&rx), [(0, 20_000)]);
}
