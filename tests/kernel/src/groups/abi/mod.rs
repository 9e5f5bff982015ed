// SPDX-License-Identifier: GPL-2.0
//! The system calls: what arguments are taken, what comes back, which errors.
//!
//! All of it runs over the loopback device of one network namespace, which must
//! be up. The expected values are those of the reference implementation.

mod blocking;
mod buffers;
mod failures;
mod options;
mod poll;
mod receiving;
mod replying;
mod sending;
mod sockets;

use super::Setup;
use crate::check::Outcome;
use crate::tap::Test;
use homa::Family;
use std::time::Duration;

/// Time for each test.
const DEADLINE: Duration = Duration::from_secs(60);

/// A test that is run for each address family.
type Case = (&'static str, fn(Family) -> Outcome);

pub(super) fn tests(setup: &Setup) -> Vec<Test> {
    let mut tests = Vec::new();
    let parts: [(&str, &[Case]); 8] = [
        ("socket", sockets::CASES),
        ("option", options::CASES),
        ("sendmsg", sending::CASES),
        ("reply", replying::CASES),
        ("recvmsg", receiving::CASES),
        ("bpages", buffers::CASES),
        ("poll", poll::CASES),
        ("blocking", blocking::CASES),
    ];
    for (part, cases) in parts {
        for (what, run) in cases {
            for (family, label) in [(Family::V4, "IPv4"), (Family::V6, "IPv6")] {
                let name = format!("abi {part}: {what} ({label})");
                tests.push(Test::new(name, DEADLINE, move || run(family)));
            }
        }
    }
    tests.extend(failures::tests(setup));
    tests
}
