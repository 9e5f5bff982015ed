// SPDX-License-Identifier: GPL-2.0

//! Virtual time: a queue of what happens when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

/// A point in virtual time or a stretch of it, in nanoseconds.
pub type Time = u64;

/// So many microseconds.
pub const fn us(microseconds: u64) -> Time {
    microseconds * 1_000
}

/// So many milliseconds.
pub const fn ms(milliseconds: u64) -> Time {
    us(milliseconds * 1_000)
}

/// Writes a time as milliseconds, exactly.
#[derive(Clone, Copy, Debug)]
pub struct Millis(pub Time);

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / ms(1), self.0 % ms(1))
    }
}

#[derive(Debug)]
struct Entry<E> {
    at: Time,
    number: u64,
    event: E,
}

impl<E> Entry<E> {
    fn order(&self) -> (Time, u64) {
        (self.at, self.number)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

/// What is going to happen, in order. Events of the same time happen in the
/// order in which they were added.
#[derive(Debug)]
pub struct Clock<E> {
    now: Time,
    added: u64,
    events: BinaryHeap<Reverse<Entry<E>>>,
}

impl<E> Clock<E> {
    /// A clock at time 0 with nothing to happen.
    pub fn new() -> Self {
        Self {
            now: 0,
            added: 0,
            events: BinaryHeap::new(),
        }
    }

    /// The time of the event that was taken last, or until which
    /// [`Clock::advance`] moved the clock.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Lets `event` happen at `at`, or now if that is past.
    pub fn at(&mut self, at: Time, event: E) {
        self.events.push(Reverse(Entry {
            at: at.max(self.now),
            number: self.added,
            event,
        }));
        self.added += 1;
    }

    /// Lets `event` happen in a while.
    pub fn after(&mut self, delay: Time, event: E) {
        self.at(self.now.saturating_add(delay), event);
    }

    /// Takes the next event and moves the clock to its time.
    pub fn next_event(&mut self) -> Option<E> {
        let Reverse(entry) = self.events.pop()?;
        self.now = entry.at;
        Some(entry.event)
    }

    /// Like [`Clock::next_event`], but takes none later than `limit`.
    pub fn next_event_until(&mut self, limit: Time) -> Option<E> {
        match self.events.peek() {
            Some(Reverse(entry)) if entry.at <= limit => self.next_event(),
            _ => None,
        }
    }

    /// Moves the clock forward to `to` without an event.
    pub fn advance(&mut self, to: Time) {
        self.now = self.now.max(to);
    }
}

impl<E> Default for Clock<E> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_then_in_order() {
        let mut clock = Clock::new();
        clock.at(20, 'd');
        clock.at(10, 'a');
        clock.at(10, 'b');
        clock.after(10, 'c');
        assert_eq!(clock.next_event_until(9), None);
        let order: String = std::iter::from_fn(|| clock.next_event()).collect();
        assert_eq!(order, "abcd");
        assert_eq!(clock.now(), 20);
    }

    #[test]
    fn the_past_is_now() {
        let mut clock = Clock::new();
        clock.advance(50);
        clock.at(10, ());
        assert_eq!(clock.next_event(), Some(()));
        assert_eq!(clock.now(), 50);
    }

    #[test]
    fn times_are_written_in_milliseconds() {
        assert_eq!(Millis(ms(5) + us(10) + 1).to_string(), "5.010001");
    }
}
