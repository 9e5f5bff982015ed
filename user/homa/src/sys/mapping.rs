// SPDX-License-Identifier: MIT OR GPL-2.0
//! Memory that the kernel writes messages to.

use crate::abi::HOMA_BPAGE_SIZE;
use crate::abi::HOMA_MAX_BPAGES;
use std::io;
use std::ptr;
use std::ptr::NonNull;
use std::slice;

/// Where a received message lies in the receive region.
///
/// It stands for the right to read that memory: the kernel leaves it alone until
/// it is given back, so whoever gives it back must give up this value.
///
/// # Invariants
///
/// Comes from the kernel, as the answer to one receive call, or is empty. Every
/// chunk lies within the region, and only the last is shorter than a bpage.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Placement {
    offsets: [u32; HOMA_MAX_BPAGES],
    count: usize,
    len: usize,
}

impl Placement {
    /// Checks what the kernel reported: `None` if a message of `len` bytes can't
    /// lie at the first `count` of `offsets` in a region of `region_len` bytes.
    pub(super) fn new(
        offsets: [u32; HOMA_MAX_BPAGES],
        count: usize,
        len: usize,
        region_len: usize,
    ) -> Option<Self> {
        let complete =
            len > 0 && count <= HOMA_MAX_BPAGES && len.div_ceil(HOMA_BPAGE_SIZE) == count;
        let placement = complete.then_some(Self {
            offsets,
            count,
            len,
        })?;
        let fits = |index| {
            let (offset, size) = placement.chunk(index)?;
            (offset.checked_add(size)? <= region_len).then_some(())
        };
        (0..count)
            .all(|index| fits(index).is_some())
            .then_some(placement)
    }

    /// Length of the message in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Where the pieces lie.
    pub(crate) fn offsets(&self) -> &[u32] {
        self.offsets.get(..self.count).unwrap_or_default()
    }

    /// Gives up the right to read the memory: what has to be given back.
    pub(crate) fn give_up(self) -> impl Iterator<Item = u32> {
        self.offsets.into_iter().take(self.count)
    }

    /// Offset and length of chunk `index`.
    fn chunk(&self, index: usize) -> Option<(usize, usize)> {
        let offset = *self.offsets().get(index)? as usize;
        let begin = index.checked_mul(HOMA_BPAGE_SIZE)?;
        let size = HOMA_BPAGE_SIZE.min(self.len.checked_sub(begin)?);
        Some((offset, size))
    }

    /// Offset of the first byte, if all others follow it directly.
    fn contiguous(&self) -> Option<usize> {
        let first = *self.offsets().first()? as usize;
        let follows = |(index, &offset): (usize, &u32)| {
            offset as usize == first.saturating_add(index.saturating_mul(HOMA_BPAGE_SIZE))
        };
        self.offsets()
            .iter()
            .enumerate()
            .all(follows)
            .then_some(first)
    }
}

/// Anonymous memory of this process, unmapped on drop.
///
/// # Invariants
///
/// `start` is the first of `len` bytes that stay mapped, readable and writable
/// until drop. Only the kernel writes to them.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the memory belongs to the process, not to a thread.
unsafe impl Send for Mapping {}
// SAFETY: shared references only read, and only what the kernel does not write
// meanwhile (see `Placement`).
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `len` bytes; pages are taken from the system when first written to.
    pub(crate) fn new(len: usize) -> io::Result<Self> {
        // SAFETY: a new anonymous mapping at an address of the kernel's choice
        // touches no existing memory.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        match NonNull::new(start.cast()) {
            Some(start) => Ok(Self { start, len }),
            None => Err(io::ErrorKind::AddrNotAvailable.into()),
        }
    }

    pub(crate) fn address(&self) -> usize {
        self.start.as_ptr().addr()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Piece `index` of a message that lies in this region.
    pub(crate) fn chunk<'a>(&'a self, placement: &'a Placement, index: usize) -> Option<&'a [u8]> {
        let (offset, len) = placement.chunk(index)?;
        self.lent(placement, offset, len)
    }

    /// A message that lies in this region, if it lies there in one piece.
    pub(crate) fn whole<'a>(&'a self, placement: &'a Placement) -> Option<&'a [u8]> {
        self.lent(placement, placement.contiguous()?, placement.len)
    }

    /// Bytes that belong to `placement`, which came from the socket that this
    /// region was given to.
    fn lent<'a>(&'a self, _: &'a Placement, offset: usize, len: usize) -> Option<&'a [u8]> {
        if offset.checked_add(len)? > self.len {
            return None;
        }
        // SAFETY: the bytes lie within the mapping (checked above), which is
        // initialised memory. The kernel lent them with the placement and does
        // not write to them before it gets them back, which consumes the
        // placement; nobody else writes to the mapping.
        Some(unsafe { slice::from_raw_parts(self.start.as_ptr().add(offset), len) })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `start` and `len` are those of a mapping of our own, to which
        // no references exist any more. munmap can't fail for such a range.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGION: usize = 64 * HOMA_BPAGE_SIZE;
    const BPAGE: u32 = 1 << 16;

    fn placement(offsets: &[u32], len: usize) -> Option<Placement> {
        let mut all = [0; HOMA_MAX_BPAGES];
        all[..offsets.len()].copy_from_slice(offsets);
        Placement::new(all, offsets.len(), len, REGION)
    }

    #[test]
    fn chunks_cover_the_message() {
        let found = placement(&[BPAGE, 5 * BPAGE, 0, 9 * BPAGE + 77], 200_000).unwrap();
        let chunks: Vec<_> = (0..).map_while(|index| found.chunk(index)).collect();
        assert_eq!(
            chunks,
            [
                (65_536, 65_536),
                (327_680, 65_536),
                (0, 65_536),
                (589_901, 3_392)
            ]
        );
        assert_eq!(found.contiguous(), None);
    }

    #[test]
    fn neighbours_are_contiguous() {
        let found = placement(&[BPAGE, 2 * BPAGE, 3 * BPAGE], 131_073).unwrap();
        assert_eq!(found.contiguous(), Some(65_536));
        assert_eq!(
            placement(&[12_345], 1).unwrap().contiguous(),
            Some(12_345),
            "a short message is always contiguous"
        );
    }

    #[test]
    fn nonsense_is_refused() {
        assert_eq!(placement(&[], 0), None, "empty message");
        assert_eq!(placement(&[0], 65_537), None, "too few bpages");
        assert_eq!(placement(&[0, BPAGE], 65_536), None, "too many bpages");
        assert_eq!(placement(&[64 * BPAGE], 1), None, "beyond the region");
        assert_eq!(placement(&[64 * BPAGE - 9], 10), None, "across the end");
        assert!(placement(&[64 * BPAGE - 10], 10).is_some());
        assert_eq!(placement(&[u32::MAX], 1), None, "far beyond the region");
        assert_eq!(
            Placement::new([0; HOMA_MAX_BPAGES], 17, 17 * HOMA_BPAGE_SIZE, REGION),
            None,
            "more bpages than there is room for"
        );
    }

    #[test]
    fn a_mapping_reads_as_zeros() {
        let mapping = Mapping::new(REGION).unwrap();
        assert_eq!(mapping.address() % 4096, 0);
        let found = placement(&[0, 3 * BPAGE], 70_000).unwrap();
        assert_eq!(mapping.chunk(&found, 1).unwrap(), &[0; 4_464][..]);
        assert_eq!(mapping.chunk(&found, 2), None);
        assert_eq!(mapping.whole(&found), None);
        let found = placement(&[0, BPAGE], 70_000).unwrap();
        assert_eq!(mapping.whole(&found).unwrap().len(), 70_000);
    }

    #[test]
    fn a_placement_of_a_larger_region_is_refused() {
        let mapping = Mapping::new(HOMA_BPAGE_SIZE).unwrap();
        let found = placement(&[BPAGE], 1).unwrap();
        assert_eq!(mapping.chunk(&found, 0), None);
    }
}
