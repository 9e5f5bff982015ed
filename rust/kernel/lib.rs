// SPDX-License-Identifier: GPL-2.0

//! A stand-in for the parts of Rust-for-Linux's `kernel` crate that Homa uses, with the same names
//! and signatures.
//!
//! Three crates bear the name `kernel` in this project, and the module and the protocol engine
//! compile against each of them unchanged:
//!
//! | face | built when | over |
//! |---|---|---|
//! | genuine | the kernel was built with `CONFIG_RUST=y` and its Rust metadata is at hand | itself; not in this tree |
//! | stand-in | any other kernel, from 5.10 on | the C helpers, through the crate `bindings` |
//! | hosted | `cfg(hosted)`: tests, fuzzers and the simulator on the build host | std |
//!
//! What is here is a subset of the genuine crate: code that compiles against this crate should
//! compile against that one, so nothing is added, except what only tests may use (`hosted`). One
//! suite of contract tests (`tests/kernel-contract/`) holds all three to the same behaviour.

#![no_std]

pub mod alloc;
pub mod error;
#[cfg(hosted)]
pub mod hosted;
pub mod module;
#[cfg(not(hosted))]
mod panic;
pub mod prelude;
pub mod print;
pub mod str;
pub mod sync;

pub use self::module::Module;
pub use self::module::ThisModule;

/// Begins the lines that this crate itself logs.
const __LOG_PREFIX: &[u8] = b"homa\0";
