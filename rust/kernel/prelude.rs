// SPDX-License-Identifier: GPL-2.0

//! What almost every file of a module needs: `use kernel::prelude::*;`.

pub use core::ffi::c_int;
pub use core::ffi::c_uint;
pub use core::ffi::c_void;
pub use core::ffi::CStr;
pub use core::mem::align_of;
pub use core::mem::size_of;
pub use core::pin::Pin;

pub use crate::alloc::flags::*;
pub use crate::alloc::Box;
pub use crate::alloc::KBox;
pub use crate::alloc::KVBox;
pub use crate::alloc::KVVec;
pub use crate::alloc::KVec;
pub use crate::alloc::Vec;
pub use crate::error::code::*;
pub use crate::error::Error;
pub use crate::error::Result;
pub use crate::module;
pub use crate::pr_alert;
pub use crate::pr_crit;
pub use crate::pr_debug;
pub use crate::pr_emerg;
pub use crate::pr_err;
pub use crate::pr_info;
pub use crate::pr_notice;
pub use crate::pr_warn;
pub use crate::ThisModule;
