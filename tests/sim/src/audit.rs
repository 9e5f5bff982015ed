// SPDX-License-Identifier: GPL-2.0

//! Second opinions on the messages of one RPC: simple, slow accounts of which
//! bytes came and which went, against which the engine's are checked.

use homa_proto::rx::Rx;
use homa_proto::tx::Segment;
use homa_proto::tx::Tx;
use homa_proto::wire::Resend;

use crate::violation::ensure;
use crate::violation::Violation;

/// The bytes of an incoming message that are there, one bit each.
#[derive(Debug, Default)]
pub struct Received {
    words: Vec<u64>,
    count: u32,
}

impl Received {
    /// Counts the bytes of a range that were not there before and notes them.
    pub fn add(&mut self, offset: u32, len: u32) -> u32 {
        let before = self.count;
        for (word, mask) in words(offset, len) {
            if word >= self.words.len() {
                self.words.resize(word + 1, 0);
            }
            self.count += (mask & !self.words[word]).count_ones();
            self.words[word] |= mask;
        }
        self.count - before
    }

    /// How many bytes of a range are there.
    pub fn count_in(&self, offset: u32, len: u32) -> u32 {
        words(offset, len)
            .map(|(word, mask)| (mask & self.words.get(word).unwrap_or(&0)).count_ones())
            .sum()
    }

    /// Checks that the engine has the same account.
    pub fn check(&self, rx: &Rx) -> Result<(), Violation> {
        let engine = rx.received_bytes();
        ensure!(
            engine == self.count,
            "the engine counts {engine} bytes received, {} are",
            self.count
        );
        ensure!(
            rx.complete() == (self.count == rx.length()),
            "the engine takes a message for complete: {}, with {} bytes of {}",
            rx.complete(),
            self.count,
            rx.length()
        );
        Ok(())
    }

    /// Checks that only bytes are asked for again that are not there.
    pub fn check_resend(&self, resend: &Resend, rx: Option<&Rx>) -> Result<(), Violation> {
        if resend.length == Resend::ALL {
            ensure!(
                self.count == 0,
                "RESEND asks for all with {} bytes received",
                self.count
            );
            return Ok(());
        }
        let end = u64::from(resend.offset) + u64::from(resend.length);
        ensure!(resend.length > 0, "RESEND asks for nothing");
        ensure!(
            rx.is_some_and(|rx| end <= u64::from(rx.length())),
            "RESEND asks for bytes beyond the message, to {end}"
        );
        let present = self.count_in(resend.offset, resend.length);
        ensure!(
            present == 0,
            "RESEND {}..{end} asks for {present} bytes that are there",
            resend.offset
        );
        Ok(())
    }
}

/// The words of a bitmap that a range touches, and which bits of each.
fn words(offset: u32, len: u32) -> impl Iterator<Item = (usize, u64)> {
    let start = u64::from(offset);
    let end = start + u64::from(len);
    (start / 64..end.div_ceil(64)).map(move |word| {
        let first = start.max(word * 64) - word * 64;
        let behind = end.min(word * 64 + 64) - word * 64;
        let mask = (u64::MAX << first) & (u64::MAX >> (64 - behind));
        (usize::try_from(word).expect("a small bitmap"), mask)
    })
}

/// The segments of an outgoing message that were sent.
#[derive(Debug, Default)]
pub struct Sent {
    /// Where each segment ends; together they are all that was sent.
    ends: Vec<u32>,
    /// The payload limits that they were sent with, each smaller than the one
    /// before.
    limits: Vec<u32>,
}

/// An outgoing message remembers the ends of its segments for so many payload
/// limits.
const REMEMBERED_LIMITS: usize = 3;

impl Sent {
    /// Notes a segment of a packet that carries at most `max_payload` bytes, and
    /// checks that it may be sent.
    pub fn add(&mut self, segment: &Segment, max_payload: u32, tx: &Tx) -> Result<(), Violation> {
        let start = segment.offset;
        let end = start.saturating_add(segment.len);
        let sent = self.ends.last().copied().unwrap_or(0);
        ensure!(segment.len > 0, "a segment without bytes");
        ensure!(
            segment.len <= max_payload,
            "{segment:?} is longer than {max_payload}"
        );
        ensure!(
            end <= tx.length() && segment.incoming <= tx.length(),
            "{segment:?} goes beyond the message"
        );
        if segment.retransmit {
            ensure!(end <= sent, "{segment:?} was never sent before");
            let whole = self.ends.partition_point(|&end| end <= start);
            ensure!(
                end <= self.ends[whole] || self.limits.len() > REMEMBERED_LIMITS,
                "{segment:?} crosses the end of a segment, {}",
                self.ends[whole]
            );
        } else {
            ensure!(
                start == sent,
                "{segment:?} does not follow what was sent, {sent}"
            );
            ensure!(
                start < tx.granted(),
                "{segment:?} begins beyond the grant, {}",
                tx.granted()
            );
            ensure!(
                start >= tx.unscheduled() || end <= tx.unscheduled(),
                "{segment:?} crosses the end of the unscheduled bytes"
            );
            self.ends.push(end);
            if self.limits.last().is_none_or(|&last| max_payload < last) {
                self.limits.push(max_payload);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_once() {
        let mut received = Received::default();
        assert_eq!(received.add(60, 10), 10);
        assert_eq!(received.add(0, 64), 60);
        assert_eq!(received.add(50, 100), 80);
        assert_eq!(received.add(0, 150), 0);
        assert_eq!(received.count_in(149, 100), 1);
        assert_eq!(received.count_in(150, 1_000), 0);
        assert_eq!(received.count_in(64, 64), 64);
    }

    #[test]
    fn the_account_is_compared_with_the_engines() {
        let mut received = Received::default();
        let mut rx = Rx::new(1_000, 1_000);
        rx.on_data(0, 400).unwrap();
        assert!(received.check(&rx).is_err());
        received.add(0, 400);
        received.check(&rx).unwrap();
        let resend = |offset, length| Resend {
            offset,
            length,
            priority: 7,
        };
        received.check_resend(&resend(400, 600), Some(&rx)).unwrap();
        for bad in [resend(399, 10), resend(400, 601), Resend::all(7)] {
            received.check_resend(&bad, Some(&rx)).unwrap_err();
        }
    }

    #[test]
    fn segments_are_compared_with_what_was_sent() {
        let mut tx = Tx::new(3_000, 1_500, 1_000);
        let mut sent = Sent::default();
        while let Some(segment) = tx.poll_segment(1_000) {
            sent.add(&segment, 1_000, &tx).unwrap();
        }
        assert_eq!(sent.ends, [1_000, 1_500]);
        let again = |offset, len| Segment {
            offset,
            len,
            retransmit: true,
            priority: homa_proto::tx::Priority::Unscheduled,
            incoming: 1_500,
        };
        sent.add(&again(0, 1_000), 1_000, &tx).unwrap();
        sent.add(&again(1_200, 300), 1_000, &tx).unwrap();
        sent.add(&again(900, 200), 1_000, &tx).unwrap_err();
        sent.add(&again(1_400, 200), 1_000, &tx).unwrap_err();
        let new = Segment {
            retransmit: false,
            ..again(1_500, 100)
        };
        sent.add(&new, 1_000, &tx).unwrap_err();
    }
}
