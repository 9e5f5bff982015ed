// SPDX-License-Identifier: GPL-2.0

//! What bindgen makes of `bindings.h`: the kernel's types that the module touches, and its own C
//! helpers. Made anew for each kernel, by the options in `bindgen_parameters`.
//!
//! The size of every type and the offset of every member are asserted here when this crate is
//! compiled.

#![no_std]
#![allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    improper_ctypes,
    unreachable_pub,
    unsafe_op_in_unsafe_fn,
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks,
    reason = "the names and shapes are those of C"
)]

include!(env!("HOMA_BINDINGS"));
