// SPDX-License-Identifier: GPL-2.0

//! A binary heap of deadlines from which any slot's can be taken out.

use kernel::alloc::AllocError;
use kernel::alloc::Flags;
use kernel::alloc::KVVec;

use super::at;

/// The place of a slot that has no deadline.
const NOWHERE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Entry {
    deadline: u64,
    slot: u32,
}

/// At most one deadline for each slot.
///
/// # Invariants
///
/// * The first `len` entries form a heap: none is due before its parent, which
///   is at half its place.
/// * `places[e.slot]` is the place of each entry `e` of these, and [`NOWHERE`]
///   for all other slots.
pub(super) struct Deadlines {
    heap: KVVec<Entry>,
    len: u32,
    places: KVVec<u32>,
}

impl Deadlines {
    /// Without memory.
    pub(super) const fn new() -> Self {
        Self {
            heap: KVVec::new(),
            len: 0,
            places: KVVec::new(),
        }
    }

    /// For the slots before `capacity`.
    pub(super) fn with_capacity(capacity: usize, flags: Flags) -> Result<Self, AllocError> {
        let unused = Entry {
            deadline: 0,
            slot: NOWHERE,
        };
        let mut heap = KVVec::with_capacity(capacity, flags)?;
        let mut places = KVVec::with_capacity(capacity, flags)?;
        for _ in 0..capacity {
            heap.push(unused, flags)?;
            places.push(NOWHERE, flags)?;
        }
        Ok(Self {
            heap,
            len: 0,
            places,
        })
    }

    /// Copies the deadlines of `old`, which has no larger capacity.
    pub(super) fn take_over(&mut self, old: &Self) {
        for (to, from) in self.heap.iter_mut().zip(old.heap.iter()) {
            *to = *from;
        }
        for (to, from) in self.places.iter_mut().zip(old.places.iter()) {
            *to = *from;
        }
        self.len = old.len;
    }

    /// The earliest deadline and its slot.
    pub(super) fn first(&self) -> Option<(u64, u32)> {
        let entry = self.get(0)?;
        Some((entry.deadline, entry.slot))
    }

    /// Sets or clears the deadline of a slot.
    pub(super) fn set(&mut self, slot: u32, deadline: Option<u64>) {
        let Some(&place) = self.places.get(at(slot)) else {
            return;
        };
        match deadline {
            Some(deadline) => {
                let place = if place == NOWHERE {
                    let end = self.len;
                    self.len = end.saturating_add(1);
                    end
                } else {
                    place
                };
                self.settle(place, Entry { deadline, slot });
            }
            None if place == NOWHERE => {}
            None => self.take_out(place, slot),
        }
    }

    /// What was in the slot `from` is in the slot `to` now, which has no
    /// deadline.
    pub(super) fn rename(&mut self, from: u32, to: u32) {
        let Some(place) = self.places.get_mut(at(from)) else {
            return;
        };
        let place = core::mem::replace(place, NOWHERE);
        if let Some(entry) = self.get(place) {
            self.put(place, Entry { slot: to, ..entry });
        }
    }

    fn take_out(&mut self, place: u32, slot: u32) {
        let last = self.len.saturating_sub(1);
        let moved = self.get(last);
        self.len = last;
        if let Some(gone) = self.places.get_mut(at(slot)) {
            *gone = NOWHERE;
        }
        if place != last {
            if let Some(moved) = moved {
                self.settle(place, moved);
            }
        }
    }

    fn get(&self, place: u32) -> Option<Entry> {
        if place >= self.len {
            return None;
        }
        self.heap.get(at(place)).copied()
    }

    fn put(&mut self, place: u32, entry: Entry) {
        let slot = self.places.get_mut(at(entry.slot));
        if let (Some(to), Some(slot)) = (self.heap.get_mut(at(place)), slot) {
            *to = entry;
            *slot = place;
        }
    }

    /// Puts an entry where it belongs, beginning at `place`, whose own entry it
    /// replaces.
    fn settle(&mut self, place: u32, entry: Entry) {
        let risen = self.rise(place, &entry);
        let settled = if risen == place {
            self.sink(place, &entry)
        } else {
            risen
        };
        self.put(settled, entry);
    }

    /// Moves entries that are due later than `entry` down from above `place`;
    /// returns the place that became free.
    fn rise(&mut self, mut place: u32, entry: &Entry) -> u32 {
        while let Some(above) = place.checked_sub(1) {
            let parent_place = above / 2;
            match self.get(parent_place) {
                Some(parent) if parent.deadline > entry.deadline => {
                    self.put(place, parent);
                    place = parent_place;
                }
                _ => break,
            }
        }
        place
    }

    /// Moves entries that are due earlier than `entry` up from below `place`;
    /// returns the place that became free.
    fn sink(&mut self, mut place: u32, entry: &Entry) -> u32 {
        loop {
            let left_place = place.saturating_mul(2).saturating_add(1);
            let right_place = left_place.saturating_add(1);
            let Some(left) = self.get(left_place) else {
                return place;
            };
            let (child_place, child) = match self.get(right_place) {
                Some(right) if right.deadline < left.deadline => (right_place, right),
                _ => (left_place, left),
            };
            if child.deadline >= entry.deadline {
                return place;
            }
            self.put(place, child);
            place = child_place;
        }
    }
}
