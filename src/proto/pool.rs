// SPDX-License-Identifier: GPL-2.0

//! The memory that an application lends for incoming messages.
//!
//! # Vocabulary
//!
//! * The *region* is the memory, in the application's address space; here it is
//!   but a range of offsets. It consists of *bpages* of 64 KiB.
//! * A *chunk* is a part of one bpage that belongs to one message. A message of
//!   `n` bytes has `n / 65536` chunks that are whole bpages, and one for the
//!   rest, so that a message of less than 64 KiB is contiguous.
//! * A *lease* is all chunks of a message. Once the message was delivered they
//!   belong to the application, which returns each by its offset, one by one or
//!   many at once, in any order.
//! * The *open* bpage is the one of which rests are cut, from its beginning to
//!   its end. There is one at most.
//! * A *waiter* is an RPC whose message found no memory.
//!
//! # Invariants
//!
//! * A bpage is either free or has a chunk that is out. The open one is not free.
//! * A chunk begins at a multiple of [`CHUNK_ALIGN`]. The bit of its beginning
//!   is set exactly while it is out, so that no offset but those given out is
//!   taken back, and none twice.
//! * Memory that is out is never given out again, whatever the application
//!   returns.
//!
//! # Cost
//!
//! Memory: 128 bytes for each bpage. Time: constant for each chunk; the lowest
//! free bpage is found in a bitmap of two levels. Low bpages are used first, so
//! that an application which falls behind seldom touches much of a large region.

mod bpages;
#[cfg(test)]
mod tests;
mod waiters;

use kernel::alloc::AllocError;
use kernel::alloc::Flags;

use self::bpages::Bpages;
use self::waiters::Waiter;
use self::waiters::Waiters;
use crate::key::RpcKey;

pub use self::waiters::MAX_WAITERS;

/// Size of a bpage in bytes.
pub const BPAGE_SIZE: u32 = 1 << BPAGE_SHIFT;

/// An offset's bpage number is the offset shifted right by this.
pub const BPAGE_SHIFT: u32 = 16;

/// The most bpages that one message takes.
pub const MAX_BPAGES: usize = 16;

/// Chunks begin at multiples of this many bytes: a cache line.
pub const CHUNK_ALIGN: u32 = 64;

/// The largest region, in bytes, all of which has offsets of 32 bits.
pub const MAX_REGION: u64 = 1 << 32;

/// The memory of one message: where in the region its chunks are. Each but the
/// last holds [`BPAGE_SIZE`] bytes of the message.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the memory stays taken"]
pub struct Lease {
    offsets: [u32; MAX_BPAGES],
    count: u8,
}

impl Lease {
    const EMPTY: Self = Self {
        offsets: [0; MAX_BPAGES],
        count: 0,
    };

    /// The offsets of the chunks in the region, in the message's order.
    pub fn offsets(&self) -> &[u32] {
        self.offsets
            .get(..usize::from(self.count))
            .unwrap_or_default()
    }

    /// Where in the region byte `offset` of the message is, and how many bytes
    /// of the chunk's bpage there are from there on at most. None beyond the
    /// message's last chunk.
    pub fn locate(&self, offset: u32) -> Option<(u32, u32)> {
        let chunk = usize::try_from(offset >> BPAGE_SHIFT).ok()?;
        let into_chunk = offset & (BPAGE_SIZE - 1);
        let place = self.offsets().get(chunk)?.checked_add(into_chunk)?;
        let left = BPAGE_SIZE.saturating_sub(place & (BPAGE_SIZE - 1));
        Some((place, left))
    }

    fn push(&mut self, offset: u32) {
        if let Some(slot) = self.offsets.get_mut(usize::from(self.count)) {
            *slot = offset;
            self.count = self.count.saturating_add(1);
        }
    }
}

/// An offset that does not name memory which the application has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadOffset;

/// There are too many waiting messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyWaiting;

/// The bpage of which rests are cut.
#[derive(Clone, Copy, Debug)]
struct Open {
    bpage: u32,
    /// How much of it is given away, from its beginning on.
    used: u32,
}

/// The room that a chunk for so many bytes takes.
const fn round_up(bytes: u32) -> u32 {
    bytes.saturating_add(CHUNK_ALIGN - 1) & !(CHUNK_ALIGN - 1)
}

/// A receive buffer region and the messages that wait for memory in it.
#[derive(Debug)]
pub struct Pool {
    bpages: Bpages,
    open: Option<Open>,
    waiters: Waiters,
}

impl Pool {
    /// A pool for a region of `region_len` bytes; what exceeds a multiple of
    /// [`BPAGE_SIZE`], or [`MAX_REGION`], is not used.
    ///
    /// # Errors
    ///
    /// No memory.
    pub fn new(region_len: u64, flags: Flags) -> Result<Self, AllocError> {
        let count = region_len.min(MAX_REGION) >> BPAGE_SHIFT;
        let count = u32::try_from(count).map_err(|_| AllocError)?;
        Ok(Self {
            bpages: Bpages::new(count, flags)?,
            open: None,
            waiters: Waiters::new(flags)?,
        })
    }

    /// Bytes that could be given out now.
    pub fn available_bytes(&self) -> u64 {
        let open = self
            .open
            .map_or(0, |open| BPAGE_SIZE.saturating_sub(open.used));
        (u64::from(self.bpages.free()) << BPAGE_SHIFT).saturating_add(u64::from(open))
    }

    /// Takes memory for a message of `length` bytes, `1..=2^20`; none if there
    /// is not enough.
    pub fn alloc(&mut self, length: u32) -> Option<Lease> {
        let whole = length >> BPAGE_SHIFT;
        let rest = round_up(length & (BPAGE_SIZE - 1));
        let chunks = whole.saturating_add(u32::from(rest != 0));
        if usize::try_from(chunks).map_or(true, |chunks| chunks > MAX_BPAGES) {
            return None;
        }
        let in_open = self
            .open
            .filter(|open| rest <= BPAGE_SIZE.saturating_sub(open.used));
        let wanted = if in_open.is_some() { whole } else { chunks };
        if wanted > self.bpages.free() {
            return None;
        }
        let mut lease = Lease::EMPTY;
        for _ in 0..whole {
            let bpage = self.bpages.take_free()?;
            lease.push(self.bpages.mark(bpage, 0));
        }
        if rest != 0 {
            let open = match in_open {
                Some(open) => open,
                None => Open {
                    bpage: self.bpages.take_free()?,
                    used: 0,
                },
            };
            lease.push(self.bpages.mark(open.bpage, open.used));
            self.open_roomier(Open {
                used: open.used.saturating_add(rest),
                ..open
            });
        }
        Some(lease)
    }

    /// Gives back the memory of a message that was never delivered.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a lease that was given back is not to be used again"
    )]
    pub fn free_lease(&mut self, lease: Lease) {
        for &offset in lease.offsets() {
            if self.bpages.clear(offset) {
                self.returned(offset >> BPAGE_SHIFT);
            }
        }
    }

    /// Takes back memory that the application returns: all of `offsets`, or
    /// none if one is bad.
    ///
    /// # Errors
    ///
    /// [`BadOffset`] if an offset is not one that was given out and not
    /// returned since.
    pub fn release(&mut self, offsets: &[u32]) -> Result<(), BadOffset> {
        // Bits are cleared as we go, which finds offsets that occur twice.
        let good = offsets
            .iter()
            .take_while(|&&offset| self.bpages.clear(offset))
            .count();
        if good < offsets.len() {
            for &offset in offsets.iter().take(good) {
                self.bpages.mark_offset(offset);
            }
            return Err(BadOffset);
        }
        for &offset in offsets {
            self.returned(offset >> BPAGE_SHIFT);
        }
        Ok(())
    }

    /// Remembers that an RPC waits for memory for a message of `length` bytes.
    ///
    /// # Errors
    ///
    /// [`TooManyWaiting`] if [`MAX_WAITERS`] wait already.
    pub fn wait(&mut self, key: RpcKey, length: u32) -> Result<(), TooManyWaiting> {
        self.waiters.push(Waiter { key, length })
    }

    /// Forgets a waiting RPC; true if it was waiting.
    pub fn cancel_wait(&mut self, key: &RpcKey) -> bool {
        self.waiters.remove(key)
    }

    /// The waiting RPC with the shortest message, and its memory, if there is
    /// enough now. To be polled until `None` after memory came back.
    ///
    /// If the RPC is over, the lease is to be given back with
    /// [`Pool::free_lease`].
    pub fn next_waiter(&mut self) -> Option<(RpcKey, Lease)> {
        let Waiter { key, length } = *self.waiters.first()?;
        let lease = self.alloc(length)?;
        self.waiters.remove_first();
        Some((key, lease))
    }

    /// Keeps open whichever of this bpage and the open one has more room.
    fn open_roomier(&mut self, candidate: Open) {
        match self.open {
            Some(open) if open.bpage != candidate.bpage && open.used < candidate.used => {}
            _ => self.open = Some(candidate),
        }
    }

    /// A chunk of this bpage came back.
    fn returned(&mut self, bpage: u32) {
        if !self.bpages.is_unused(bpage) {
            return;
        }
        self.bpages.put_free(bpage);
        // If it stayed open, messages that need whole bpages could not have it.
        self.open = self.open.filter(|open| open.bpage != bpage);
    }
}
