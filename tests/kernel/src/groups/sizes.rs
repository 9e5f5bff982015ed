// SPDX-License-Identifier: GPL-2.0
//! Messages of all sizes, both ways, between a client here and a server at the
//! addresses given. Every byte is compared.

use super::Setup;
use crate::check::pass;
use crate::check::Failure;
use crate::check::Outcome;
use crate::check::Verdict;
use crate::client;
use crate::client::Load;
use crate::exchange::Exchange;
use crate::exchange::HEADER_LEN;
use crate::netns;
use crate::stats::Summary;
use crate::tap::Test;
use homa::abi::HOMA_BPAGE_SIZE;
use homa::abi::HOMA_MAX_MESSAGE_LENGTH;
use homa::Family;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::net::SocketAddr;
use std::time::Duration;

/// MTUs whose packet boundaries are tested unless one is named: of Ethernet,
/// with jumbo frames, and of the loopback device.
const MTUS: [usize; 3] = [1_500, 9_000, 65_536];

/// Headers in a packet before its part of the message: IP and Homa.
const HEADERS: [usize; 2] = [20 + 56, 40 + 56];

/// Bytes that are sent without waiting for a grant.
const UNSCHEDULED: usize = 40_000;

/// Time that the TAP runner leaves a test beyond what its client has.
pub(super) const MARGIN: Duration = Duration::from_secs(15);

/// What a test of this group runs.
pub(super) struct Plan {
    pub(super) exchanges: Vec<Exchange>,
    pub(super) outstanding: usize,
    pub(super) threads: usize,
}

pub(super) fn tests(setup: &Setup) -> Vec<Test> {
    let mut tests = Vec::new();
    for &ip in &setup.servers {
        let family = Family::of(ip);
        for (what, plan) in plans(setup) {
            tests.push(test("sizes", &what, family, ip, setup, plan));
        }
        if ip.is_ipv4() && !setup.brief {
            let sizes = boundaries(setup.mtu).into_iter().step_by(5);
            let plan = Plan {
                exchanges: both_ways(sizes, setup.seed),
                outstanding: 4,
                threads: 1,
            };
            let what = "an IPv6 socket reaches it, too";
            tests.push(test("sizes", what, Family::V6, ip, setup, plan));
        }
    }
    tests
}

/// A test that runs `plan` against the server at `ip`.
pub(super) fn test(
    group: &str,
    what: &str,
    family: Family,
    ip: IpAddr,
    setup: &Setup,
    plan: Plan,
) -> Test {
    let port = match ip {
        IpAddr::V4(_) => setup.port,
        IpAddr::V6(_) => setup.port6,
    };
    let dest = SocketAddr::new(ip, port);
    let netns = setup.client_netns.clone();
    let deadline = setup.deadline;
    Test::new(
        format!("{group} {ip}: {what}"),
        deadline + MARGIN,
        move || run(family, netns.as_deref(), dest, deadline, plan),
    )
}

fn run(
    family: Family,
    netns: Option<&str>,
    dest: SocketAddr,
    deadline: Duration,
    plan: Plan,
) -> Outcome {
    let socket = netns::inside(netns, || super::open_client(family))?;
    let load = Load {
        dest,
        exchanges: plan.exchanges,
        outstanding: plan.outstanding,
        threads: plan.threads,
        deadline,
    };
    let report = client::run(&socket, &load).map_err(|reason| Failure::new(reason))?;
    let Some(summary) = Summary::of(report.times) else {
        return pass();
    };
    Ok(Verdict::Pass(format!(
        "{} RPCs, {} bytes out, {} back, round trip {summary}",
        summary.count, report.request_bytes, report.response_bytes
    )))
}

fn plans(setup: &Setup) -> Vec<(String, Plan)> {
    let seed = setup.seed;
    let alone = |what: &str, exchanges| {
        let plan = Plan {
            exchanges,
            outstanding: 1,
            threads: 1,
        };
        (what.to_owned(), plan)
    };
    let mut plans = vec![
        alone(
            &format!("each size from 1 to {} bytes, both ways", setup.small),
            both_ways(1..=setup.small, seed),
        ),
        alone(
            "around each boundary, both ways",
            both_ways(boundaries(setup.mtu), seed),
        ),
    ];
    if !setup.brief {
        plans.push(alone(
            "around each boundary, as request",
            with_small(boundaries(setup.mtu), seed, |size, small| (size, small)),
        ));
        plans.push(alone(
            "around each boundary, as response",
            with_small(boundaries(setup.mtu), seed, |size, small| {
                (HEADER_LEN + small, size)
            }),
        ));
    }
    let crowds = [(200, 400, 4), (10, 200, 1), (500, 1_000, 1)];
    let crowds = crowds.into_iter().take(if setup.brief { 1 } else { 3 });
    for (outstanding, count, threads) in crowds {
        let max = (20_000_000 / outstanding).min(HOMA_MAX_MESSAGE_LENGTH);
        let plural = if threads == 1 { "" } else { "s" };
        let what = format!("{outstanding} RPCs under way at once, of {threads} thread{plural}");
        plans.push((
            what,
            Plan {
                exchanges: mixed(count, max, seed),
                outstanding,
                threads,
            },
        ));
    }
    let largest = std::iter::repeat_n(HOMA_MAX_MESSAGE_LENGTH, 16);
    plans.push((
        "8 RPCs of the maximum length under way at once".into(),
        Plan {
            exchanges: both_ways(largest, seed),
            outstanding: 8,
            threads: 1,
        },
    ));
    plans
}

/// The sizes at which something changes, and those beside them. Packets are
/// those of one MTU, or of all that matter.
pub(super) fn boundaries(mtu: Option<usize>) -> Vec<usize> {
    let mut edges = vec![UNSCHEDULED, HOMA_MAX_MESSAGE_LENGTH];
    edges.extend([1, 2, 3, 7, 14, 15].map(|count| count * HOMA_BPAGE_SIZE));
    let mtus = MTUS
        .into_iter()
        .filter(|one| mtu.is_none_or(|mtu| mtu == *one));
    for segment in mtus.flat_map(|mtu| HEADERS.map(|headers| mtu - headers)) {
        for count in [1, 2, 3, 7, 28] {
            edges.push(count * segment);
        }
        // A packet ends where the unscheduled bytes end; full ones follow.
        for count in [1, 2, 12] {
            edges.push(UNSCHEDULED + count * segment);
        }
    }
    let sizes: BTreeSet<usize> = edges
        .into_iter()
        .flat_map(|edge| [edge - 1, edge, edge + 1])
        .filter(|size| (1..=HOMA_MAX_MESSAGE_LENGTH).contains(size))
        .collect();
    sizes.into_iter().collect()
}

/// An exchange for each size, with request and response of that size.
pub(super) fn both_ways(sizes: impl IntoIterator<Item = usize>, seed: u64) -> Vec<Exchange> {
    let sizes = sizes.into_iter().enumerate();
    sizes
        .map(|(index, size)| Exchange::new(size, size, seed.wrapping_add(index as u64)))
        .collect()
}

/// An exchange for each size, with request and response as `lengths` says of it
/// and a small number that varies.
pub(super) fn with_small(
    sizes: impl IntoIterator<Item = usize>,
    seed: u64,
    lengths: impl Fn(usize, usize) -> (usize, usize),
) -> Vec<Exchange> {
    let sizes = sizes.into_iter().enumerate();
    sizes
        .map(|(index, size)| {
            let (request, response) = lengths(size, 1 + index % 50);
            Exchange::new(request, response, seed.wrapping_add(index as u64))
        })
        .collect()
}

/// Exchanges of random sizes up to `max` bytes: many small, few large.
pub(super) fn mixed(count: usize, max: usize, seed: u64) -> Vec<Exchange> {
    let mut random = Random(seed);
    (0..count)
        .map(|_| {
            let request = random.size(max);
            let response = random.size(max);
            Exchange::new(request, response, random.next())
        })
        .collect()
}

/// A small random generator: the same seed gives the same numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        let mixed = self.0 ^ (self.0 >> 33);
        mixed.wrapping_mul(0xff51_afd7_ed55_8ccd) >> 11
    }

    /// A number from 1 to `max`, with all orders of magnitude as likely.
    fn size(&mut self, max: usize) -> usize {
        let orders = u64::from(max.max(1).ilog2()) + 1;
        let top = 1_usize << (self.next() % orders + 1);
        let top = top.min(max.max(1));
        1 + usize::try_from(self.next() % top as u64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_hold_what_matters() {
        let sizes = boundaries(None);
        for size in [
            1_423, 1_424, 1_425, 8_904, 39_999, 40_000, 40_001, 41_424, 65_535, 65_536, 65_537,
            65_460, 983_040, 983_041, 999_999, 1_000_000,
        ] {
            assert!(sizes.contains(&size), "{size}");
        }
        assert!(sizes.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(sizes.last(), Some(&1_000_000));
        assert!(sizes.len() < 180, "{}", sizes.len());
        let few = boundaries(Some(1_500));
        assert!(few.contains(&1_424) && few.contains(&1_404) && !few.contains(&8_924));
        assert!(few.len() < 80, "{}", few.len());
    }

    #[test]
    fn small_companions_are_small_and_vary() {
        let exchanges = with_small([1_000, 2_000], 0, |size, small| (size, small));
        let lens: Vec<_> = exchanges
            .iter()
            .map(|one| (one.request_len(), one.response_len()))
            .collect();
        assert_eq!(lens, [(1_000, 1), (2_000, 2)]);
    }

    #[test]
    fn mixed_sizes_are_reproducible_and_within_bounds() {
        let one = mixed(2_000, 100_000, 7);
        assert_eq!(one, mixed(2_000, 100_000, 7));
        assert_ne!(one, mixed(2_000, 100_000, 8));
        let lens = || one.iter().map(Exchange::request_len);
        assert!(lens().all(|len| (1..=100_000).contains(&len)));
        assert!(lens().any(|len| len < 10));
        assert!(lens().any(|len| len > 50_000));
        assert!(mixed(50, 1, 7).iter().all(|one| one.request_len() == 1));
    }
}
