// SPDX-License-Identifier: GPL-2.0

//! Allocation flags.

use kernel::prelude::*;

pub(super) fn operators() -> Result {
    let both = GFP_KERNEL | __GFP_ZERO;
    check!(both.contains(GFP_KERNEL));
    check!(both.contains(__GFP_ZERO));
    check!(!GFP_KERNEL.contains(__GFP_ZERO));
    check!((both & __GFP_ZERO) == __GFP_ZERO);
    check!((both & !__GFP_ZERO) == GFP_KERNEL);
    check!(GFP_KERNEL_ACCOUNT.contains(GFP_KERNEL));
    check!(GFP_ATOMIC != GFP_KERNEL);
    check!(GFP_NOWAIT != GFP_KERNEL);
    check!(__GFP_NOWARN != __GFP_ZERO);
    Ok(())
}
