// SPDX-License-Identifier: GPL-2.0

//! C strings. Literals are written `c"..."`.

pub use core::ffi::CStr;
