// SPDX-License-Identifier: GPL-2.0

//! A host's receive buffer region: the engine's pool, memory behind it, and a
//! second account of who has which part.

use std::collections::BTreeMap;

use homa_proto::key::RpcKey;
use homa_proto::pool::Lease;
use homa_proto::pool::Pool;
use homa_proto::pool::TooManyWaiting;
use homa_proto::pool::BPAGE_SIZE;
use kernel::alloc::flags::GFP_KERNEL;

use crate::violation::ensure;
use crate::violation::Violation;

/// A receive buffer region.
#[derive(Debug)]
pub struct Region {
    pool: Pool,
    memory: Vec<u8>,
    /// What is given out: where each piece begins and how long it is.
    lent: BTreeMap<u32, u32>,
    available_at_first: u64,
}

impl Region {
    /// A region of so many bpages.
    pub fn new(bpages: u32) -> Self {
        let length = u64::from(bpages) * u64::from(BPAGE_SIZE);
        let pool = Pool::new(length, GFP_KERNEL).expect("memory for a pool");
        let available_at_first = pool.available_bytes();
        Self {
            pool,
            memory: vec![0; usize::try_from(length).expect("a region fits into memory")],
            lent: BTreeMap::new(),
            available_at_first,
        }
    }

    /// Takes memory for a message of `length` bytes.
    pub fn alloc(&mut self, length: u32) -> Result<Option<Lease>, Violation> {
        let lease = self.pool.alloc(length);
        if let Some(lease) = &lease {
            self.lend(lease, length)?;
        }
        Ok(lease)
    }

    /// Puts an RPC on the list of those that wait for memory.
    pub fn wait(&mut self, key: RpcKey, length: u32) -> Result<(), TooManyWaiting> {
        self.pool.wait(key, length)
    }

    /// Takes an RPC from that list.
    pub fn cancel_wait(&mut self, key: &RpcKey) {
        self.pool.cancel_wait(key);
    }

    /// The next RPC that waits and can have its memory now; `length_of` tells
    /// how long its message is.
    pub fn next_waiter(
        &mut self,
        length_of: impl FnOnce(&RpcKey) -> Option<u32>,
    ) -> Result<Option<(RpcKey, Lease)>, Violation> {
        let Some((key, lease)) = self.pool.next_waiter() else {
            return Ok(None);
        };
        let length = length_of(&key)
            .ok_or_else(|| Violation::new(format!("{key:?} waits for memory and is gone")))?;
        self.lend(&lease, length)?;
        Ok(Some((key, lease)))
    }

    /// Gives back the memory of a message that was not delivered.
    pub fn free(&mut self, lease: Lease) -> Result<(), Violation> {
        self.take_back(lease.offsets())?;
        self.pool.free_lease(lease);
        Ok(())
    }

    /// The application gives back the memory of a message.
    pub fn release(&mut self, offsets: &[u32]) -> Result<(), Violation> {
        self.take_back(offsets)?;
        self.pool
            .release(offsets)
            .map_err(|_| Violation::new(format!("the pool refuses to take back {offsets:?}")))
    }

    /// Writes bytes of a message to where they belong.
    pub fn write(&mut self, lease: &Lease, offset: u32, bytes: &[u8]) -> Result<(), Violation> {
        let mut offset = offset;
        let mut bytes = bytes;
        while !bytes.is_empty() {
            let (place, run) = locate(lease, offset)?;
            let count = bytes.len().min(index(run));
            let (now, later) = bytes.split_at(count);
            self.memory
                .get_mut(index(place)..index(place) + count)
                .ok_or_else(|| Violation::new(format!("{place} is beyond the region")))?
                .copy_from_slice(now);
            bytes = later;
            offset += u32::try_from(count).expect("less than a bpage");
        }
        Ok(())
    }

    /// Reads a whole message as an application does, by its offsets alone.
    pub fn read(&self, offsets: &[u32], length: u32) -> Result<Vec<u8>, Violation> {
        let mut message = Vec::with_capacity(index(length));
        for (&place, size) in offsets.iter().zip(pieces(length)) {
            let piece = self
                .memory
                .get(index(place)..index(place) + index(size))
                .ok_or_else(|| Violation::new(format!("{place} is beyond the region")))?;
            message.extend_from_slice(piece);
        }
        ensure!(
            message.len() == index(length),
            "{offsets:?} is not memory for {length} bytes"
        );
        Ok(message)
    }

    /// Checks that all memory is back.
    pub fn check_idle(&self) -> Result<(), Violation> {
        ensure!(
            self.lent.is_empty(),
            "memory was not given back: {:?}",
            self.lent
        );
        let available = self.pool.available_bytes();
        ensure!(
            available == self.available_at_first,
            "all memory is back, but {available} bytes of {} are available",
            self.available_at_first
        );
        Ok(())
    }

    fn lend(&mut self, lease: &Lease, length: u32) -> Result<(), Violation> {
        let offsets = lease.offsets();
        ensure!(
            offsets.len() == pieces(length).count(),
            "{offsets:?} is not memory for {length} bytes"
        );
        for (&place, size) in offsets.iter().zip(pieces(length)) {
            let end = u64::from(place) + u64::from(size);
            ensure!(
                index(place) + index(size) <= self.memory.len(),
                "{place}..{end} is beyond the region"
            );
            ensure!(place % 64 == 0, "{place} is not aligned");
            ensure!(
                place / BPAGE_SIZE == (place + size - 1) / BPAGE_SIZE,
                "{place}..{end} is not inside one bpage"
            );
            let before = self.lent.range(..place + size).next_back();
            ensure!(
                before.is_none_or(|(&start, &size)| start + size <= place),
                "{place}..{end} was given out before: {before:?}"
            );
            self.lent.insert(place, size);
        }
        Ok(())
    }

    fn take_back(&mut self, offsets: &[u32]) -> Result<(), Violation> {
        for place in offsets {
            ensure!(
                self.lent.remove(place).is_some(),
                "{place} was not given out"
            );
        }
        Ok(())
    }
}

fn locate(lease: &Lease, offset: u32) -> Result<(u32, u32), Violation> {
    match lease.locate(offset) {
        Some((place, run)) if run > 0 => Ok((place, run)),
        other => Err(Violation::new(format!(
            "{lease:?} says that byte {offset} is at {other:?}"
        ))),
    }
}

/// Lengths of the pieces of a message's memory.
fn pieces(length: u32) -> impl Iterator<Item = u32> {
    let step = usize::try_from(BPAGE_SIZE).expect("a bpage fits into memory");
    (0..length)
        .step_by(step)
        .map(move |start| (length - start).min(BPAGE_SIZE))
}

fn index(place: u32) -> usize {
    usize::try_from(place).expect("a region fits into memory")
}
