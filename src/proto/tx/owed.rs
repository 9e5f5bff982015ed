// SPDX-License-Identifier: GPL-2.0

//! The ranges of a message that are to be sent again.

use core::mem;
use core::ops::Range;

/// How many ranges are kept apart.
const MAX_RANGES: usize = 8;

/// A set of ranges: not empty, ordered, not touching each other.
///
/// It has place for [`MAX_RANGES`]. When one more is added, the two that are
/// nearest to each other become one, and what lies between them is sent again
/// without need: rare, harmless, and no allocation.
#[derive(Debug)]
pub(super) struct Owed {
    ranges: [(u32, u32); MAX_RANGES],
    count: usize,
}

impl Owed {
    /// No range.
    pub(super) const fn new() -> Self {
        Self {
            ranges: [(0, 0); MAX_RANGES],
            count: 0,
        }
    }

    /// True if there is no range.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first range.
    pub(super) fn first(&self) -> Option<Range<u32>> {
        self.as_slice().first().map(|&(start, end)| start..end)
    }

    fn as_slice(&self) -> &[(u32, u32)] {
        self.ranges.get(..self.count).unwrap_or_default()
    }

    /// Adds a range; an empty one has no effect.
    pub(super) fn add(&mut self, start: u32, end: u32) {
        if start >= end {
            return;
        }
        let mut added = (start, end);
        let mut rebuilt = Self::new();
        let mut placed = false;
        for &range in self.as_slice() {
            if range.1 < added.0 {
                rebuilt.append(range);
            } else if range.0 > added.1 {
                if !placed {
                    rebuilt.append(added);
                    placed = true;
                }
                rebuilt.append(range);
            } else {
                added = (added.0.min(range.0), added.1.max(range.1));
            }
        }
        if !placed {
            rebuilt.append(added);
        }
        *self = rebuilt;
    }

    /// Appends a range that lies behind all others.
    fn append(&mut self, range: (u32, u32)) {
        if self.count == MAX_RANGES {
            self.join_nearest(range.0);
        }
        match self.ranges.get_mut(self.count) {
            Some(slot) => {
                *slot = range;
                self.count = self.count.saturating_add(1);
            }
            // The new range is nearest to the last one.
            None => {
                if let Some(last) = self.ranges.last_mut() {
                    last.1 = range.1;
                }
            }
        }
    }

    /// Joins the two neighbours with the smallest distance, unless the last
    /// range is nearer to `next`.
    fn join_nearest(&mut self, next: u32) {
        let ends = self.ranges.iter().map(|range| range.1);
        let starts = self.ranges.iter().skip(1).map(|range| range.0);
        let distances = ends
            .zip(starts.chain([next]))
            .map(|(end, start)| start.saturating_sub(end));
        let nearest = distances.enumerate().min_by_key(|&(_, distance)| distance);
        let Some((index, _)) = nearest else { return };
        // All behind the joined pair move one place to the front.
        let mut moved = (0, 0);
        let behind = self.ranges.iter_mut().skip(index.saturating_add(1));
        for slot in behind.rev() {
            mem::swap(slot, &mut moved);
        }
        if let (Some(joined), (_, end @ 1..)) = (self.ranges.get_mut(index), moved) {
            joined.1 = end;
            self.count = self.count.saturating_sub(1);
        }
    }

    /// Takes out all that lies before `end`, which is in the first range.
    pub(super) fn remove_before(&mut self, end: u32) {
        let [first, ..] = &mut self.ranges;
        first.0 = end;
        if first.0 >= first.1 {
            self.ranges.rotate_left(1);
            self.count = self.count.saturating_sub(1);
        }
    }
}
