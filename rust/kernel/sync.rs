// SPDX-License-Identifier: GPL-2.0

//! Sharing between threads of execution.

pub mod arc;
mod refcount;

pub use self::arc::Arc;
pub use self::arc::ArcBorrow;
