// SPDX-License-Identifier: GPL-2.0

//! Which bpages are free, and which chunks of the others are out.

use kernel::alloc::AllocError;
use kernel::alloc::Flags;
use kernel::alloc::KVec;

use super::BPAGE_SHIFT;
use super::BPAGE_SIZE;
use super::CHUNK_ALIGN;

/// Bpages in a group: as many as a word has bits.
const GROUP: u32 = u64::BITS;

/// For each place where a chunk can begin, whether one that is out does.
type Chunks = [u64; (BPAGE_SIZE / CHUNK_ALIGN / u64::BITS) as usize];

/// No chunk is out.
const NO_CHUNKS: Chunks = [0; (BPAGE_SIZE / CHUNK_ALIGN / u64::BITS) as usize];

/// [`GROUP`] bpages, or less in the last group.
///
/// They are allocated group by group, 8 KiB each, because the memory for a
/// large region in one piece would be hard to get.
#[derive(Debug)]
struct Group {
    free: u64,
    chunks: KVec<Chunks>,
}

impl Group {
    fn new(count: u32, flags: Flags) -> Result<Self, AllocError> {
        let count_usize = usize::try_from(count).map_err(|_| AllocError)?;
        let mut chunks = KVec::with_capacity(count_usize, flags)?;
        for _ in 0..count {
            chunks.push(NO_CHUNKS, flags)?;
        }
        let free = u64::MAX
            .checked_shr(GROUP.saturating_sub(count))
            .unwrap_or_default();
        Ok(Self { free, chunks })
    }
}

/// All bpages of a region.
#[derive(Debug)]
pub(super) struct Bpages {
    groups: KVec<Group>,
    /// A bit for each group that has a free bpage.
    groups_with_free: KVec<u64>,
    free: u32,
}

/// The word of a bitmap in which bit `number` is, and the bit.
fn bit(number: u32) -> (usize, u64) {
    let mask = 1u64.rotate_left(number);
    ((number / u64::BITS) as usize, mask)
}

/// The number of the lowest bit set in a bitmap.
fn lowest(words: &[u64]) -> Option<u32> {
    let mut first = 0u32;
    for &word in words {
        if word != 0 {
            return Some(first.saturating_add(word.trailing_zeros()));
        }
        first = first.saturating_add(u64::BITS);
    }
    None
}

impl Bpages {
    /// `count` bpages, all of them free.
    pub(super) fn new(count: u32, flags: Flags) -> Result<Self, AllocError> {
        let group_count = count.div_ceil(GROUP);
        let mut groups = KVec::new();
        let mut groups_with_free = KVec::new();
        let mut left = count;
        for number in 0..group_count {
            let size = left.min(GROUP);
            left = left.saturating_sub(size);
            groups.push(Group::new(size, flags)?, flags)?;
            let (word, mask) = bit(number);
            match groups_with_free.get_mut(word) {
                Some(word) => *word |= mask,
                None => groups_with_free.push(mask, flags)?,
            }
        }
        Ok(Self {
            groups,
            groups_with_free,
            free: count,
        })
    }

    /// Number of free bpages.
    pub(super) fn free(&self) -> u32 {
        self.free
    }

    /// Takes the lowest free bpage.
    pub(super) fn take_free(&mut self) -> Option<u32> {
        let number = lowest(&self.groups_with_free)?;
        let group = self.groups.get_mut(number as usize)?;
        let in_group = group.free.trailing_zeros();
        // Clears the lowest bit.
        group.free &= group.free.wrapping_sub(1);
        if group.free == 0 {
            let (word, mask) = bit(number);
            *self.groups_with_free.get_mut(word)? &= !mask;
        }
        self.free = self.free.saturating_sub(1);
        Some(number.saturating_mul(GROUP).saturating_add(in_group))
    }

    /// Makes a bpage free of which no chunk is out; one that is free stays so.
    pub(super) fn put_free(&mut self, bpage: u32) {
        let (number, mask) = bit(bpage);
        let Some(group) = self.groups.get_mut(number) else {
            return;
        };
        if group.free & mask != 0 {
            return;
        }
        group.free |= mask;
        self.free = self.free.saturating_add(1);
        let (word, mask) = bit(bpage / GROUP);
        if let Some(word) = self.groups_with_free.get_mut(word) {
            *word |= mask;
        }
    }

    /// True if no chunk of the bpage is out.
    pub(super) fn is_unused(&self, bpage: u32) -> bool {
        self.chunks(bpage)
            .is_some_and(|chunks| chunks.iter().all(|&word| word == 0))
    }

    /// Notes that the chunk at `start` of a bpage is out, and returns its
    /// offset in the region.
    pub(super) fn mark(&mut self, bpage: u32, start: u32) -> u32 {
        let offset = (bpage << BPAGE_SHIFT) | start;
        self.mark_offset(offset);
        offset
    }

    /// Notes that the chunk at `offset` is out.
    pub(super) fn mark_offset(&mut self, offset: u32) {
        if let Some((word, mask)) = self.chunk_bit(offset) {
            *word |= mask;
        }
    }

    /// Notes that the chunk at `offset` is back; false if none was out there.
    pub(super) fn clear(&mut self, offset: u32) -> bool {
        match self.chunk_bit(offset) {
            Some((word, mask)) if *word & mask != 0 => {
                *word &= !mask;
                true
            }
            _ => false,
        }
    }

    fn chunks(&self, bpage: u32) -> Option<&Chunks> {
        let group = self.groups.get((bpage / GROUP) as usize)?;
        group.chunks.get((bpage % GROUP) as usize)
    }

    /// The word and bit that tell whether the chunk at `offset` is out; none if
    /// no chunk can be there.
    fn chunk_bit(&mut self, offset: u32) -> Option<(&mut u64, u64)> {
        if offset % CHUNK_ALIGN != 0 {
            return None;
        }
        let bpage = offset >> BPAGE_SHIFT;
        let group = self.groups.get_mut((bpage / GROUP) as usize)?;
        let chunks = group.chunks.get_mut((bpage % GROUP) as usize)?;
        let (word, mask) = bit((offset & (BPAGE_SIZE - 1)) / CHUNK_ALIGN);
        Some((chunks.get_mut(word)?, mask))
    }
}
