// SPDX-License-Identifier: GPL-2.0
//! Messages over a network that loses packets. The caller makes it do so; here
//! every message must still arrive whole, and in time.

use super::sizes;
use super::sizes::Plan;
use super::Setup;
use crate::exchange::Exchange;
use crate::exchange::HEADER_LEN;
use crate::tap::Test;
use homa::Family;

pub(super) fn tests(setup: &Setup) -> Vec<Test> {
    let mut tests = Vec::new();
    for &ip in &setup.servers {
        for (what, plan) in plans(setup) {
            tests.push(sizes::test("loss", what, Family::of(ip), ip, setup, plan));
        }
    }
    tests
}

fn plans(setup: &Setup) -> Vec<(&'static str, Plan)> {
    let plan = |exchanges: Vec<Exchange>, outstanding, threads| Plan {
        exchanges,
        outstanding,
        threads,
    };
    let seed = setup.seed;
    let some = || sizes::boundaries(setup.mtu).into_iter().step_by(3);
    let large = std::iter::repeat_n(1_000_000, 6);
    vec![
        (
            "400 short RPCs, one at a time",
            plan(sizes::both_ways(1..=400, seed), 1, 1),
        ),
        (
            "around the boundaries, as request",
            plan(
                sizes::with_small(some(), seed, |size, small| (size, small)),
                4,
                1,
            ),
        ),
        (
            "around the boundaries, as response",
            plan(
                sizes::with_small(some(), seed, |size, small| (HEADER_LEN + small, size)),
                4,
                1,
            ),
        ),
        (
            "around the boundaries, both ways",
            plan(sizes::both_ways(some(), seed), 4, 1),
        ),
        (
            "the maximum length, both ways",
            plan(sizes::both_ways(large, seed), 2, 1),
        ),
        (
            "100 RPCs under way at once",
            plan(sizes::mixed(600, 60_000, seed), 100, 1),
        ),
        (
            "50 RPCs under way at once, of 4 threads",
            plan(sizes::mixed(400, 60_000, seed), 50, 4),
        ),
    ]
}
