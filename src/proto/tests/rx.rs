// SPDX-License-Identifier: GPL-2.0

//! An incoming message against the simplest model: a flag for each byte.

use std::ops::Range;

use homa_proto::rx::Rejected;
use homa_proto::rx::Rx;
use homa_proto::rx::MAX_GAPS;
use proptest::collection::vec;
use proptest::prelude::*;

/// The naive message.
struct Model {
    bytes: Vec<bool>,
}

impl Model {
    fn received(&self) -> usize {
        self.bytes.iter().filter(|&&byte| byte).count()
    }

    /// One behind the last byte that is there.
    fn end(&self) -> usize {
        self.bytes
            .iter()
            .rposition(|&byte| byte)
            .map_or(0, |at| at + 1)
    }

    /// The ranges before `limit` that are not there.
    fn missing(&self, limit: usize) -> Vec<Range<u32>> {
        let mut ranges: Vec<Range<u32>> = Vec::new();
        for (at, _) in self.bytes[..limit]
            .iter()
            .enumerate()
            .filter(|(_, &byte)| !byte)
        {
            let at = u32::try_from(at).unwrap();
            let next = at + 1;
            match ranges.last_mut() {
                Some(last) if last.end == at => last.end = next,
                _ => ranges.push(at..next),
            }
        }
        ranges
    }

    fn gaps(&self) -> Vec<Range<u32>> {
        self.missing(self.end())
    }
}

fn range(offset: u32, len: u32) -> Range<usize> {
    let start = usize::try_from(offset).unwrap();
    start..start + usize::try_from(len).unwrap()
}

fn check_packet(rx: &mut Rx, model: &mut Model, offset: u32, len: u32) {
    let before = model.bytes.clone();
    let new_bytes = before[range(offset, len)]
        .iter()
        .filter(|&&byte| !byte)
        .count();
    model.bytes[range(offset, len)].fill(true);
    match rx.on_data(offset, len) {
        Ok(added) => assert_eq!(usize::try_from(added.new_bytes).unwrap(), new_bytes),
        Err(Rejected::Duplicate) => assert_eq!(new_bytes, 0),
        Err(Rejected::TooFragmented) => {
            assert!(model.gaps().len() > MAX_GAPS);
            model.bytes = before;
        }
        Err(Rejected::OutOfBounds) => panic!("inside of the message"),
    }
    assert!(model.gaps().len() <= MAX_GAPS);
}

fn check_state(rx: &Rx, model: &Model) {
    assert_eq!(
        usize::try_from(rx.received_bytes()).unwrap(),
        model.received()
    );
    assert_eq!(rx.complete(), model.received() == model.bytes.len());
    let granted = usize::try_from(rx.granted()).unwrap();
    let mut missing = model.missing(model.end().max(granted));
    // The gap that reaches the end and the tail are told as one.
    assert_eq!(rx.missing().collect::<Vec<_>>(), missing);
    assert_eq!(rx.next_missing(0), missing.first().cloned());
    while let Some(range) = missing.pop() {
        let middle = range.start + (range.end - range.start) / 2;
        assert_eq!(rx.next_missing(middle), Some(middle..range.end));
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
    fn any_packets(
        length in 1u32..600,
        incoming in 0u32..700,
        packets in vec((any::<u16>(), 0u32..60), 1..80),
    ) {
        let mut rx = Rx::new(length, incoming);
        let mut model = Model { bytes: vec![false; usize::try_from(length).unwrap()] };
        for (offset, len) in packets {
            let offset = u32::from(offset) % length;
            let len = len.min(length - offset);
            check_packet(&mut rx, &mut model, offset, len);
            check_state(&rx, &model);
        }
        // Whatever is missing, asking for it completes the message.
        while let Some(range) = rx.next_missing(0) {
            let len = range.end - range.start;
            check_packet(&mut rx, &mut model, range.start, len);
            check_state(&rx, &model);
        }
        if incoming >= length {
            prop_assert!(rx.complete());
        }
    }

    #[test]
    fn grants_always_lead_to_the_end(
        length in 1u32..=1_000_000,
        incoming in 0u32..=1_000_000,
        window in 10_000u32..=1_000_000,
        quantum in 1u32..=1_000_000,
        packet in 1u32..=9000,
    ) {
        let mut rx = Rx::new(length, incoming);
        let mut sent = 0;
        let mut granted = rx.granted();
        while !rx.complete() {
            if sent < granted || sent == 0 {
                let len = packet.min(length - sent);
                prop_assert!(rx.on_data(sent, len).is_ok());
                sent += len;
            } else {
                prop_assert!(rx.caught_up());
            }
            if let Some(limit) = rx.poll_grant(window, quantum) {
                prop_assert!(limit > granted && limit <= length);
                prop_assert!(limit <= rx.received_bytes() + window);
                granted = limit;
            }
            prop_assert!(rx.complete() || sent < granted);
        }
    }
}
