// SPDX-License-Identifier: MIT OR GPL-2.0
//! The receive region, and the way back of what messages borrowed from it.
//!
//! The kernel lends parts of the region with each message. Parts that the
//! application is done with are queued here and given back with the next receive
//! call, at no cost. There are two reasons not to wait for that call: a thread
//! is already waiting for a message (which may be waiting for room), or as many
//! parts are queued as one call can carry. They are then given back by a call of
//! their own.

use crate::abi::HOMA_BPAGE_SIZE;
use crate::abi::HOMA_MAX_BPAGES;
use crate::sys;
use crate::sys::Mapping;
use crate::sys::Placement;
use std::fs;
use std::os::fd::AsFd;
use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::Weak;

/// Length of a receive region that suits most applications, in bytes: 64 MiB.
///
/// Memory that no message has touched yet is not taken from the system, and the
/// kernel fills the region from its start, so a generous region is cheap.
pub const DEFAULT_REGION_LEN: usize = 64 << 20;

/// Longest region, in bytes.
pub(crate) const MAX_REGION_LEN: u64 = 1 << 32;

/// Length of the shortest receive region that the kernel accepts on this
/// machine, in bytes: two messages of the maximum length, and a bpage for each
/// possible CPU.
#[must_use]
pub fn min_region_len() -> usize {
    let cpus = fs::read_to_string("/sys/devices/system/cpu/possible")
        .ok()
        .and_then(|list| cpu_count(&list))
        .unwrap_or_else(sys::configured_cpus);
    cpus * HOMA_BPAGE_SIZE + 2_000_000
}

/// One more than the highest CPU of a list such as `0-3,8-11`.
fn cpu_count(list: &str) -> Option<usize> {
    let highest = list.trim().rsplit([',', '-']).next()?;
    highest.parse::<usize>().ok()?.checked_add(1)
}

/// Some parts of the region, at most as many as one call can give back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) offsets: [u32; HOMA_MAX_BPAGES],
    pub(crate) count: u32,
}

/// Parts on their way back to the kernel.
#[derive(Debug, Default)]
struct Returns {
    queue: Vec<u32>,
    /// Threads that are receiving or waiting to receive.
    receivers: usize,
}

impl Returns {
    /// Queues parts. What comes back must be given to the kernel at once.
    fn put(&mut self, offsets: impl IntoIterator<Item = u32>) -> Option<Batch> {
        self.queue.extend(offsets);
        let urgent = self.receivers > 0 || self.queue.len() >= HOMA_MAX_BPAGES;
        (urgent && !self.queue.is_empty()).then(|| self.take().0)
    }

    /// Takes as many parts as one call can give back, and tells whether there
    /// are more.
    fn take(&mut self) -> (Batch, bool) {
        let mut batch = Batch::default();
        let rest = self.queue.len().saturating_sub(HOMA_MAX_BPAGES);
        for (slot, offset) in batch.offsets.iter_mut().zip(self.queue.drain(rest..)) {
            *slot = offset;
            batch.count += 1;
        }
        (batch, rest > 0)
    }
}

/// A socket's receive region.
#[derive(Debug)]
pub(crate) struct Region {
    mapping: Mapping,
    /// Weak, so that a message that outlives its socket does not keep it open.
    socket: Weak<OwnedFd>,
    returns: Mutex<Returns>,
}

impl Region {
    pub(crate) fn new(mapping: Mapping, socket: Weak<OwnedFd>) -> Self {
        Self {
            mapping,
            socket,
            returns: Mutex::default(),
        }
    }

    pub(crate) fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    fn returns(&self) -> MutexGuard<'_, Returns> {
        // A queue is complete after each operation, so a panic elsewhere does
        // not spoil it.
        self.returns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Parts to give back with a receive call, and whether more are queued.
    pub(crate) fn take_returns(&self) -> (Batch, bool) {
        self.returns().take()
    }

    /// Declares that a thread is about to receive, until the guard is dropped.
    pub(crate) fn receiver(&self) -> Receiver<'_> {
        self.returns().receivers += 1;
        Receiver(self)
    }

    /// Gives the memory of a message back, now or with the next receive call.
    pub(crate) fn give_back(&self, placement: Placement) {
        let urgent = self.returns().put(placement.give_up());
        if let (Some(batch), Some(socket)) = (urgent, self.socket.upgrade()) {
            sys::return_bpages(socket.as_fd(), &batch);
        }
    }
}

/// See [`Region::receiver`].
pub(crate) struct Receiver<'a>(&'a Region);

impl Drop for Receiver<'_> {
    fn drop(&mut self) {
        let mut returns = self.0.returns();
        returns.receivers = returns.receivers.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_are_counted() {
        assert_eq!(cpu_count("0\n"), Some(1));
        assert_eq!(cpu_count("0-3\n"), Some(4));
        assert_eq!(cpu_count("0-3,8-11"), Some(12));
        assert_eq!(cpu_count("0,2"), Some(3));
        assert_eq!(cpu_count(""), None);
        assert_eq!(cpu_count("none"), None);
    }

    #[test]
    fn this_machine_needs_room_for_two_messages() {
        assert!(min_region_len() >= 2_000_000 + HOMA_BPAGE_SIZE);
        assert!(min_region_len() <= DEFAULT_REGION_LEN);
    }

    #[test]
    fn parts_wait_for_the_next_call() {
        let mut returns = Returns::default();
        assert_eq!(returns.put([1, 2, 3]), None);
        let (batch, more) = returns.take();
        assert_eq!(batch.offsets[..batch.count as usize], [1, 2, 3]);
        assert!(!more);
        assert_eq!(returns.take(), (Batch::default(), false));
    }

    #[test]
    fn a_waiting_thread_makes_a_return_urgent() {
        let mut returns = Returns {
            receivers: 1,
            ..Returns::default()
        };
        let batch = returns.put([7]).unwrap();
        assert_eq!(batch.offsets[..batch.count as usize], [7]);
        assert_eq!(returns.put([]), None);
    }

    #[test]
    fn a_full_batch_is_urgent() {
        let mut returns = Returns::default();
        assert_eq!(returns.put(0..15), None);
        assert_eq!(returns.put([15]).unwrap().count, 16);
        assert!(returns.queue.is_empty());
    }

    #[test]
    fn each_part_goes_back_once() {
        let mut returns = Returns {
            queue: (0..40).collect(),
            ..Returns::default()
        };
        let mut seen = Vec::new();
        loop {
            let (batch, more) = returns.take();
            seen.extend_from_slice(&batch.offsets[..batch.count as usize]);
            if !more {
                break;
            }
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..40).collect::<Vec<u32>>());
    }
}
