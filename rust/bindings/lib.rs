// SPDX-License-Identifier: GPL-2.0

//! What bindgen makes of `bindings.h`: the kernel's types that the module touches, and its own C
//! helpers. Made anew for each kernel, by the options in `bindgen_parameters`.
//!
//! The size of every type and the offset of every member are asserted here when this crate is
//! compiled.

#![no_std]

include!(env!("HOMA_BINDINGS"));
