// SPDX-License-Identifier: GPL-2.0

//! Shared values on the heap.

use super::log::Text;
use super::tracked::Drops;
use core::fmt::Write;
use kernel::prelude::*;
use kernel::sync::Arc;
use kernel::sync::ArcBorrow;

pub(super) fn shared() -> Result {
    let first = Arc::new(5, GFP_KERNEL)?;
    let second = first.clone();
    check!(*first == 5);
    check!(*second == 5);
    check!(Arc::ptr_eq(&first, &second));
    check!(Arc::as_ptr(&first) == Arc::as_ptr(&second));
    let other = Arc::new(5, GFP_ATOMIC)?;
    check!(!Arc::ptr_eq(&first, &other));
    Ok(())
}

pub(super) fn drops() -> Result {
    let drops = Drops::none();
    let first = Arc::new(drops.track(1), GFP_KERNEL)?;
    let second = first.clone();
    drop(first);
    check!(drops.count() == 0);
    check!(second.value == 1);
    drop(second);
    check!(drops.count() == 1);
    Ok(())
}

pub(super) fn borrowed() -> Result {
    let drops = Drops::none();
    let owner = Arc::new(drops.track(2), GFP_KERNEL)?;
    let borrow: ArcBorrow<'_, _> = owner.as_arc_borrow();
    let copy = borrow;
    check!(copy.value == 2);
    check!(borrow.value == 2);
    let second: Arc<_> = borrow.into();
    check!(Arc::ptr_eq(&owner, &second));
    drop(owner);
    check!(drops.count() == 0);
    drop(second);
    check!(drops.count() == 1);
    Ok(())
}

pub(super) fn formatted() -> Result {
    let mut text = Text::new();
    write!(text, "{:?}", Arc::new("a", GFP_KERNEL)?)?;
    check!(text.is("\"a\""));
    Ok(())
}
