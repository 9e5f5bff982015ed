// SPDX-License-Identifier: GPL-2.0

//! Single values on the heap.

use super::log::Text;
use super::tracked::Drops;
use super::tracked::Tracked;
use core::fmt::Write;
use core::pin::Pin;
use kernel::prelude::*;

/// More than the kernel's `kmalloc` can give.
struct TooLarge {
    _bytes: [u8; 64 << 20],
}

#[repr(align(64))]
struct Aligned(u8);

pub(super) fn value() -> Result {
    let mut number = KBox::new(1, GFP_KERNEL)?;
    *number += 1;
    check!(*number == 2);
    check!(KBox::into_inner(number) == 2);

    let in_softirq = KBox::new([7_u8; 300], GFP_ATOMIC)?;
    check!(in_softirq.iter().all(|&byte| byte == 7));

    let large = KVBox::new(3_u64, GFP_KERNEL)?;
    check!(*large == 3);
    Ok(())
}

pub(super) fn drops() -> Result {
    let drops = Drops::none();
    let tracked = KBox::new(drops.track(1), GFP_KERNEL)?;
    check!(drops.count() == 0);
    drop(tracked);
    check!(drops.count() == 1);

    let tracked = KBox::new(drops.track(2), GFP_KERNEL)?;
    let moved = KBox::into_inner(tracked);
    check!(moved.value == 2);
    check!(drops.count() == 1);
    drop(moved);
    check!(drops.count() == 2);
    Ok(())
}

pub(super) fn replaced() -> Result {
    let drops = Drops::none();
    let memory = KBox::drop_contents(KBox::new(drops.track(1), GFP_KERNEL)?);
    check!(drops.count() == 1);
    let tracked = KBox::write(memory, drops.track(2));
    check!(tracked.value == 2);
    drop(tracked);
    check!(drops.count() == 2);
    Ok(())
}

pub(super) fn uninitialized() -> Result {
    let drops = Drops::none();
    drop(KBox::<Tracked<'_>>::new_uninit(GFP_KERNEL)?);
    check!(drops.count() == 0);
    let memory = KBox::<Tracked<'_>>::new_uninit(GFP_KERNEL)?;
    let tracked = memory.write(drops.track(3));
    check!(tracked.value == 3);
    Ok(())
}

pub(super) fn pinned() -> Result {
    let pinned: Pin<KBox<u32>> = KBox::pin(4, GFP_KERNEL)?;
    check!(*pinned == 4);
    let pinned: Pin<KBox<u32>> = KBox::into_pin(KBox::new(5, GFP_KERNEL)?);
    check!(*pinned == 5);
    let pinned: Pin<KBox<u32>> = KBox::new(6, GFP_KERNEL)?.into();
    check!(*pinned == 6);
    Ok(())
}

pub(super) fn without_size() -> Result {
    let nothing = KBox::new((), GFP_KERNEL)?;
    check!((&raw const *nothing).is_aligned());
    KBox::into_inner(nothing);
    Ok(())
}

pub(super) fn aligned() -> Result {
    // Several, as one may be aligned by chance.
    let mut boxes = KVec::new();
    for i in 0..16_u8 {
        boxes.push(KBox::new(Aligned(i), GFP_KERNEL)?, GFP_KERNEL)?;
    }
    for (aligned, i) in boxes.iter().zip(0..) {
        let address: *const Aligned = &raw const **aligned;
        check!(address.addr() % 64 == 0);
        check!(aligned.0 == i);
    }
    Ok(())
}

pub(super) fn too_large() -> Result {
    check!(KBox::<TooLarge>::new_uninit(GFP_KERNEL | __GFP_NOWARN).is_err());
    Ok(())
}

pub(super) fn formatted() -> Result {
    let mut text = Text::new();
    write!(text, "{:?}", KBox::new(7, GFP_KERNEL)?)?;
    check!(text.is("7"));
    Ok(())
}
