// SPDX-License-Identifier: GPL-2.0

//! The bytes of an outgoing message, in pages that packets refer to.

use core::ptr::NonNull;

use bindings as c;
use kernel::prelude::*;

use crate::msg::Msg;

/// Bytes in a page.
pub const PAGE_SIZE: usize = 4096;

/// Largest block that is tried for: 2^3 pages, what the page allocator keeps per CPU.
const MAX_ORDER: u32 = 3;

/// Adjacent pages, from one allocation.
///
/// # Invariants
///
/// `page` is a valid page, first of `size` bytes, to which this value holds a reference.
struct Block {
    page: NonNull<c::page>,
    /// Offset of its first byte in the message.
    start: usize,
    size: usize,
}

impl Block {
    /// Allocates a block of at most `want` bytes, rounded up to pages. May sleep.
    fn new(start: usize, want: usize) -> Result<Self> {
        let pages = want.div_ceil(PAGE_SIZE).max(1);
        // A block is not larger than what is wanted, rounded up to a power of two.
        let order = pages.next_power_of_two().trailing_zeros().min(MAX_ORDER);
        for order in [order, 0] {
            // SAFETY: Called in process context, where it may sleep.
            if let Some(page) = NonNull::new(unsafe { c::homa_page_alloc(order) }) {
                // INVARIANT: The block has 2^order pages, and the reference is ours.
                return Ok(Self {
                    page,
                    start,
                    size: PAGE_SIZE << order,
                });
            }
        }
        Err(ENOMEM)
    }

    fn end(&self) -> usize {
        self.start.saturating_add(self.size)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: The reference is ours, and `self` is not used again.
        unsafe { c::homa_page_put(self.page.as_ptr()) };
    }
}

/// An outgoing message: its bytes are copied from user space once, and every packet that carries
/// some of them, also when they are retransmitted, refers to the same pages.
pub struct Pages {
    blocks: KVec<Block>,
    len: usize,
}

// SAFETY: Pages may be used on any CPU; nothing writes them once the value exists.
unsafe impl Send for Pages {}

// SAFETY: As above.
unsafe impl Sync for Pages {}

impl Pages {
    /// Copies all bytes that `sendmsg` was given. May sleep. `ENOMEM` or `EFAULT`.
    pub fn from_msg(msg: &mut Msg) -> Result<Self> {
        let len = msg.len();
        let mut blocks = KVec::with_capacity(len.div_ceil(PAGE_SIZE << MAX_ORDER), GFP_KERNEL)?;
        let mut start = 0usize;
        while start < len {
            let left = len.saturating_sub(start);
            let block = Block::new(start, left)?;
            let part = block.size.min(left);
            // SAFETY: The block is new and has `part` bytes; `msg` is this call's own.
            let copied =
                unsafe { c::homa_page_copy_from_msg(block.page.as_ptr(), 0, part, msg.as_ptr()) };
            if copied != part {
                return Err(EFAULT);
            }
            start = block.end();
            blocks.push(block, GFP_KERNEL)?;
        }
        Ok(Self { blocks, len })
    }

    /// Returns the length of the message in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the message is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the memory in use, in bytes.
    pub fn memory(&self) -> usize {
        let sizes = self.blocks.iter().map(|block| block.size);
        sizes.fold(0, usize::saturating_add)
    }

    /// Calls `f(page, offset in the page, length)` for each part of bytes `[offset, offset + len)`.
    pub(crate) fn for_each(
        &self,
        offset: usize,
        len: usize,
        mut f: impl FnMut(*mut c::page, u32, u32) -> Result,
    ) -> Result {
        let end = offset.checked_add(len).ok_or(EMSGSIZE)?;
        if end > self.len {
            return Err(EMSGSIZE);
        }
        let first = self.blocks.partition_point(|block| block.end() <= offset);
        for block in self.blocks.iter().skip(first) {
            if block.start >= end {
                break;
            }
            let from = offset.max(block.start);
            let part = end.min(block.end()).saturating_sub(from);
            let at = u32::try_from(from.saturating_sub(block.start)).map_err(|_| EMSGSIZE)?;
            let part = u32::try_from(part).map_err(|_| EMSGSIZE)?;
            f(block.page.as_ptr(), at, part)?;
        }
        Ok(())
    }
}
