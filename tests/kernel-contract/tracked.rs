// SPDX-License-Identifier: GPL-2.0

//! Values that count how often they are dropped.

use core::cell::Cell;

/// How many [`Tracked`] values were dropped.
pub(super) struct Drops(Cell<u32>);

/// A number that counts its drop.
pub(super) struct Tracked<'a> {
    drops: &'a Drops,
    /// The number.
    pub(super) value: u32,
}

impl Drops {
    /// None so far.
    pub(super) fn none() -> Self {
        Self(Cell::new(0))
    }

    /// Returns how many there were.
    pub(super) fn count(&self) -> u32 {
        self.0.get()
    }

    /// Makes a value that counts here.
    pub(super) fn track(&self, value: u32) -> Tracked<'_> {
        Tracked { drops: self, value }
    }
}

impl Clone for Tracked<'_> {
    fn clone(&self) -> Self {
        self.drops.track(self.value)
    }
}

impl Drop for Tracked<'_> {
    fn drop(&mut self) {
        let drops = &self.drops.0;
        drops.set(drops.get().saturating_add(1));
    }
}
