// SPDX-License-Identifier: GPL-2.0

//! Where one segment of a message ends and the next begins.

/// How many layouts a message can have.
///
/// The MTU of a path shrinks once or twice in a message's life, if at all. When
/// it shrinks more often, what is sent is cut to fit and the cuts are not
/// remembered.
const MAX_LAYOUTS: usize = 3;

/// From `start` to the start of the next layout, segments have `segment_len`
/// bytes.
#[derive(Clone, Copy, Debug)]
struct Layout {
    start: u32,
    segment_len: u32,
}

/// The layouts of a message, each with a smaller segment length than the one
/// before. Those that are not used yet lie beyond any message.
#[derive(Debug)]
pub(super) struct Layouts([Layout; MAX_LAYOUTS]);

impl Layouts {
    /// One layout for the whole message.
    pub(super) fn new(segment_len: u32) -> Self {
        let unused = Layout {
            start: u32::MAX,
            segment_len: 1,
        };
        let mut layouts = [unused; MAX_LAYOUTS];
        layouts[0] = Layout {
            start: 0,
            segment_len: segment_len.max(1),
        };
        Self(layouts)
    }

    /// From `start` on, where nothing was sent yet, segments are to have at most
    /// `max_len` bytes.
    pub(super) fn shrink(&mut self, start: u32, max_len: u32) {
        let wanted = Layout {
            start,
            segment_len: max_len.max(1),
        };
        for layout in &mut self.0 {
            if layout.start >= start {
                // Unused, or used for bytes that were not sent yet.
                if layout.start == u32::MAX || layout.segment_len > max_len {
                    *layout = wanted;
                }
                return;
            }
            if layout.segment_len <= max_len {
                return;
            }
        }
    }

    /// The end of the segment that holds the byte `offset`, if the message goes
    /// on as far; `unscheduled` is the end of the unscheduled bytes.
    pub(super) fn segment_end(&self, offset: u32, unscheduled: u32) -> u32 {
        let mut layout = self.0[0];
        let mut limit = u32::MAX;
        for next in &self.0[1..] {
            if next.start > offset {
                limit = next.start;
                break;
            }
            layout = *next;
        }
        let mut start = layout.start;
        if offset < unscheduled {
            limit = limit.min(unscheduled);
        } else {
            start = start.max(unscheduled);
        }
        let len = layout.segment_len;
        let into_segment = offset
            .saturating_sub(start)
            .checked_rem(len)
            .unwrap_or_default();
        offset
            .saturating_sub(into_segment)
            .saturating_add(len)
            .min(limit)
    }
}
