// SPDX-License-Identifier: GPL-2.0
//! RPCs that fail: how the client learns of it, and of which peer.

use super::DEADLINE;
use crate::check::ensure;
use crate::check::ensure_eq;
use crate::check::pass;
use crate::check::Failure;
use crate::check::Outcome;
use crate::check::Verdict;
use crate::endpoint::loopback;
use crate::endpoint::new_port;
use crate::endpoint::parse_sockaddr;
use crate::endpoint::Endpoint;
use crate::endpoint::Got;
use crate::endpoint::CLOSED_PORT;
use crate::endpoint::FAMILIES;
use crate::errno::Errno;
use crate::groups::Setup;
use crate::netns;
use crate::tap::Test;
use homa::Family;
use std::net::IpAddr;
use std::net::SocketAddr;

pub(super) fn tests(setup: &Setup) -> Vec<Test> {
    let mut tests = Vec::new();
    for (family, label) in FAMILIES.into_iter().zip(["IPv4", "IPv6"]) {
        let name = format!("abi failure: a closed port fails the RPC ({label})");
        tests.push(Test::new(name, DEADLINE, move || closed_port(family)));
        let name = format!("abi failure: many failures are all reported ({label})");
        tests.push(Test::new(name, DEADLINE, move || many(family)));
    }
    let (dead, netns) = (setup.dead, setup.client_netns.clone());
    let name = "abi failure: a silent host gives ETIMEDOUT";
    tests.push(Test::new(name, DEADLINE, move || match dead {
        Some(ip) => silent_host(ip, netns.as_deref()),
        None => Ok(Verdict::Skip("no --dead-addr was given".into())),
    }));
    tests
}

/// The peer of a failed RPC: a sockaddr in the first 28 bytes of the offsets.
fn peer_of(got: &Got) -> Option<SocketAddr> {
    let words = got.args.bpage_offsets.iter().take(7);
    let bytes: Vec<u8> = words.flat_map(|word| word.to_ne_bytes()).collect();
    parse_sockaddr(&bytes)
}

/// Checks that an RPC failed in one of the ways expected.
fn failed_as(got: &Got, expected: &[Errno]) -> Result<(), Failure> {
    ensure!(
        got.result.is_err_and(|errno| expected.contains(&errno)),
        "the RPC ended by {:?}, expected one of {expected:?}",
        got.result
    );
    Ok(())
}

/// Checks how a failed RPC is reported.
fn check_failed(
    client: &Endpoint,
    got: &Got,
    expected: &[Errno],
    (id, cookie, peer): (u64, u64, SocketAddr),
) -> Result<(), Failure> {
    failed_as(got, expected)?;
    ensure_eq!(got.args.id, id, "id");
    ensure_eq!(got.args.completion_cookie, cookie, "cookie");
    ensure_eq!(got.args.num_bpages, 0, "num_bpages");
    ensure_eq!(peer_of(got), Some(peer), "peer in the offsets");
    ensure_eq!(got.name, None, "msg_name");
    ensure_eq!(
        client.try_recv().result,
        Err(Errno::EAGAIN),
        "the client afterwards"
    );
    Ok(())
}

fn closed_port(family: Family) -> Outcome {
    let client = Endpoint::client(family)?;
    for (cookie, len) in [(1, 1), (2, 1_000), (u64::MAX, 500_000)] {
        let dest = loopback(family, new_port());
        let id = client.request(dest, &vec![1; len], cookie)?;
        let got = client.recv()?;
        check_failed(&client, &got, &CLOSED_PORT, (id, cookie, dest))?;
    }
    pass()
}

fn many(family: Family) -> Outcome {
    const COUNT: u64 = 50;
    let client = Endpoint::client(family)?;
    let mut open = Vec::new();
    for cookie in 0..COUNT {
        let dest = loopback(family, new_port());
        open.push((client.request(dest, b"x", cookie)?, cookie, dest));
    }
    while !open.is_empty() {
        let got = client.recv()?;
        failed_as(&got, &CLOSED_PORT)?;
        let found = open.iter().position(|(id, ..)| *id == got.args.id);
        let Some(found) = found else {
            return Err(Failure::new(format!("RPC {} failed twice", got.args.id)));
        };
        let (_, cookie, dest) = open.swap_remove(found);
        ensure_eq!(got.args.completion_cookie, cookie, "cookie");
        ensure_eq!(peer_of(&got), Some(dest), "peer in the offsets");
    }
    ensure!(
        client.try_recv().result == Err(Errno::EAGAIN),
        "more RPCs failed than were begun"
    );
    pass()
}

fn silent_host(ip: IpAddr, netns: Option<&str>) -> Outcome {
    let client = netns::inside(netns, || Endpoint::client(Family::of(ip)))?;
    let dest = SocketAddr::new(ip, 4000);
    let id = client.request(dest, b"anybody there?", 9)?;
    let got = client.recv()?;
    let silence = [Errno::ETIMEDOUT, Errno::EHOSTUNREACH];
    check_failed(&client, &got, &silence, (id, 9, dest))?;
    pass()
}
