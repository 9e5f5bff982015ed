// SPDX-License-Identifier: GPL-2.0

//! The missing ranges before the end of an incoming message.

use core::ops::Range;

/// How many gaps of a message are kept track of.
///
/// One gap is one burst of lost or reordered packets within the granted window,
/// 140 packets of 1,424 bytes by default: enough for one loss in every 10.
pub const MAX_GAPS: usize = 16;

/// There is no place for another gap.
#[derive(Debug)]
pub(super) struct Full;

/// An ordered set of gaps.
#[derive(Debug)]
pub(super) struct Gaps {
    gaps: [(u32, u32); MAX_GAPS],
    count: usize,
}

impl Gaps {
    /// No gap.
    pub(super) const fn new() -> Self {
        Self {
            gaps: [(0, 0); MAX_GAPS],
            count: 0,
        }
    }

    /// The gaps, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        self.gaps
            .get(..self.count)
            .unwrap_or_default()
            .iter()
            .map(|&(start, end)| start..end)
    }

    /// Adds a gap behind all others.
    pub(super) fn push(&mut self, gap: Range<u32>) -> Result<(), Full> {
        let slot = self.gaps.get_mut(self.count).ok_or(Full)?;
        *slot = (gap.start, gap.end);
        self.count = self.count.saturating_add(1);
        Ok(())
    }

    /// Takes a range out of the gaps and returns how many missing bytes it held.
    pub(super) fn fill(&mut self, range: Range<u32>) -> Result<u32, Full> {
        let mut left = Self::new();
        let mut filled = 0u32;
        for gap in self.iter() {
            let before = gap.start..gap.end.min(range.start);
            let after = gap.start.max(range.end)..gap.end;
            filled = filled
                .saturating_add(len(&gap))
                .saturating_sub(len(&before))
                .saturating_sub(len(&after));
            for piece in [before, after] {
                if !piece.is_empty() {
                    left.push(piece)?;
                }
            }
        }
        *self = left;
        Ok(filled)
    }
}

/// The number of bytes in a range that may be empty.
fn len(range: &Range<u32>) -> u32 {
    range.end.saturating_sub(range.start)
}
