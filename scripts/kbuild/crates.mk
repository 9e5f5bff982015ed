# SPDX-License-Identifier: GPL-2.0
#
# The crates of the module, in the order in which they need each other. Included
# by Kbuild (both builds) and by lint.mk.
#
# Our bindings crate is called homa_bindings, because the kernel tree has a crate
# `bindings` of its own and rustc refuses two of one name in a build; sources say
# `bindings` all the same, by the name given to --extern.

homa-crates := homa_bindings kernel homa_proto net homa

homa-root-homa_bindings := rust/bindings/lib.rs
homa-root-kernel        := rust/kernel/lib.rs
homa-root-homa_proto    := src/proto/lib.rs
homa-root-net           := rust/net/lib.rs
homa-root-homa          := src/main.rs

homa-needs-homa_bindings :=
homa-needs-kernel        := homa_bindings
homa-needs-homa_proto    := kernel
homa-needs-net           := homa_bindings kernel
homa-needs-homa          := kernel homa_proto net

# Generated code is not ours to lint.
homa-lints-homa_bindings := --cap-lints=allow

# $(call homa-extern,CRATE,FOLDER,SUFFIX): the options that give a crate to another.
homa-extern = --extern $(patsubst homa_bindings,bindings,$(1))=$(2)/lib$(1).$(3)

# rustc lists several rules in its dependency file; fixdep of older kernels
# expects the one of the target.
homa-one-rule = sed -i -e '/^$$/,$$d' -e '/^\#/d'
