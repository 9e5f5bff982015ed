// SPDX-License-Identifier: GPL-2.0
//! Tests of the Homa kernel module from user space.
//!
//! One static program for the guest: a server, a client that checks every byte,
//! the groups of tests with TAP on standard output, and the demonstration.

#![deny(unsafe_code)]

mod check;
mod cli;
mod client;
mod demo;
mod endpoint;
mod errno;
mod exchange;
mod groups;
mod netns;
mod pattern;
mod server;
mod stats;
mod sys;
mod tap;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::Cli::parse().run() {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("homa-ktest: {}", failure.message);
            ExitCode::FAILURE
        }
    }
}
