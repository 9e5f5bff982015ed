// SPDX-License-Identifier: GPL-2.0

//! Maps the Cargo feature `hosted` to `cfg(hosted)`, the name that the sources use.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(hosted)");
    if std::env::var_os("CARGO_FEATURE_HOSTED").is_some() {
        println!("cargo::rustc-cfg=hosted");
    } else {
        println!(
            "cargo::error=Cargo builds only the hosted face of this crate: \
             enable its feature `hosted`, or run `make` for the kernel module"
        );
    }
}
