// SPDX-License-Identifier: GPL-2.0

//! Errors and their numbers.

use kernel::alloc::AllocError;
use kernel::error::from_result;
use kernel::error::to_result;
use kernel::prelude::*;

pub(super) fn codes() -> Result {
    for (error, number) in [
        (EPERM, 1),
        (ENOENT, 2),
        (EINTR, 4),
        (E2BIG, 7),
        (EAGAIN, 11),
        (ENOMEM, 12),
        (EFAULT, 14),
        (EBUSY, 16),
        (EINVAL, 22),
        (EPIPE, 32),
        (ERANGE, 34),
        (EOVERFLOW, 75),
        (ETIMEDOUT, 110),
        (ERESTARTSYS, 512),
        (ENOIOCTLCMD, 515),
        (ENOTSUPP, 524),
    ] {
        check!(error.to_errno() == -number);
        check!(Error::from_errno(-number) == error);
    }
    // A number without a constant: EADDRINUSE.
    check!(Error::from_errno(-98).to_errno() == -98);
    check!(Error::from_errno(-4095).to_errno() == -4095);
    Ok(())
}

pub(super) fn conversions() -> Result {
    check!(Error::from(AllocError) == ENOMEM);
    let narrow = u8::try_from(256_u32).map_err(Error::from);
    check!(narrow == Err(EINVAL));
    let bytes = kernel::kvec![0xff_u8]?;
    let text = core::str::from_utf8(&bytes).map_err(Error::from);
    check!(text == Err(EINVAL));
    check!(Error::from(core::fmt::Error) == EINVAL);
    Ok(())
}

pub(super) fn out_of_range() -> Result {
    check!(Error::from_errno(0) == EINVAL);
    check!(Error::from_errno(1) == EINVAL);
    check!(Error::from_errno(-4096) == EINVAL);
    check!(Error::from_errno(i32::MIN) == EINVAL);
    Ok(())
}

pub(super) fn results() -> Result {
    check!(to_result(0) == Ok(()));
    check!(to_result(7) == Ok(()));
    check!(to_result(-11) == Err(EAGAIN));
    Ok(())
}

pub(super) fn c_results() -> Result {
    let good: i32 = from_result(|| Ok(5));
    check!(good == 5);
    let bad: i32 = from_result(|| Err(ERESTARTSYS));
    check!(bad == -512);
    let bad: i64 = from_result(|| Err(EPERM));
    check!(bad == -1);
    Ok(())
}

pub(super) fn equality() -> Result {
    let copy = EINVAL;
    check!(copy == EINVAL);
    check!(EINVAL != EPERM);
    Ok(())
}
