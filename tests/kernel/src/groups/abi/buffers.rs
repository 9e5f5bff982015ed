// SPDX-License-Identifier: GPL-2.0
//! The receive region: where messages lie, and how bpages go back.

use super::Case;
use crate::check::ensure;
use crate::check::ensure_eq;
use crate::check::pass;
use crate::check::Failure;
use crate::check::Outcome;
use crate::endpoint::deliver;
use crate::endpoint::give_back;
use crate::endpoint::loopback;
use crate::endpoint::Endpoint;
use crate::endpoint::Got;
use crate::endpoint::A_WHILE;
use crate::errno::Errno;
use crate::pattern;
use homa::abi::RecvmsgArgs;
use homa::abi::HOMA_BPAGE_SIZE;
use homa::Family;
use std::net::SocketAddr;
use std::thread;

pub(super) const CASES: &[Case] = &[
    ("messages lie in whole bpages, the rest anywhere", placement),
    ("messages that are held do not overlap", no_overlap),
    (
        "a full region holds messages back until bpages return",
        full_region,
    ),
    ("any thread returns bpages, in any grouping", any_thread),
    (
        "a call that fails for its id still returns bpages",
        return_only,
    ),
    ("returning without a region is refused", no_region),
    ("returning what was not lent is refused", not_lent),
    ("returning twice is refused", twice),
    ("hostile returns harm nobody else", hostile),
];

const BPAGE: u32 = 1 << 16;

fn message(seed: u64, len: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    pattern::append(&mut bytes, seed, 0, len);
    bytes
}

/// Start and end of each piece of a message.
fn pieces(got: &Got) -> Result<Vec<(usize, usize)>, Failure> {
    let mut left = got.result?;
    let piece = |offset: &u32| {
        let len = left.min(HOMA_BPAGE_SIZE);
        left -= len;
        (*offset as usize, *offset as usize + len)
    };
    Ok(got.offsets().iter().map(piece).collect())
}

/// Gives bpages back with a call that finds no message.
fn take_back(socket: &Endpoint, args: &RecvmsgArgs) -> Result<(), Failure> {
    let got = socket.recv_with(args, libc::MSG_DONTWAIT);
    ensure_eq!(got.result, Err(Errno::EAGAIN), "giving bpages back");
    ensure_eq!(got.args.num_bpages, 0, "num_bpages afterwards");
    Ok(())
}

fn placement(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let region_len = server.rcvbuf()?.length;
    for (len, bpages) in [
        (1, 1),
        (65_535, 1),
        (65_536, 1),
        (65_537, 2),
        (131_072, 2),
        (200_000, 4),
        (983_040, 15),
        (983_041, 16),
        (1_000_000, 16),
    ] {
        let (_, got) = deliver(&client, &server, dest, &message(1, len), 0)?;
        ensure_eq!(got.offsets().len(), bpages, "bpages of {len} bytes");
        for (index, (start, end)) in pieces(&got)?.into_iter().enumerate() {
            ensure!(
                end as u64 <= region_len,
                "piece {index} of {len} bytes ends at {end}, after the region"
            );
            ensure!(
                start / HOMA_BPAGE_SIZE == (end - 1) / HOMA_BPAGE_SIZE,
                "piece {index} of {len} bytes, {start}..{end}, crosses bpages"
            );
        }
        take_back(&server, &got.to_return())?;
    }
    pass()
}

fn no_overlap(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let lens = [
        1, 100, 65_536, 3, 70_000, 20_000, 50_000, 200_000, 9, 131_072,
    ];
    let mut held = Vec::new();
    for (seed, len) in (0..).zip(lens) {
        let bytes = message(seed, len);
        let (_, got) = deliver(&client, &server, dest, &bytes, 0)?;
        held.push((bytes, got));
    }
    let mut all = Vec::new();
    for (bytes, got) in &held {
        ensure!(
            server.bytes(got)? == *bytes,
            "a message of {} bytes changed while it was held",
            bytes.len()
        );
        all.extend(pieces(got)?);
    }
    all.sort_unstable();
    for pair in all.windows(2) {
        ensure!(
            pair[0].1 <= pair[1].0,
            "{:?} and {:?} overlap",
            pair[0],
            pair[1]
        );
    }
    for (_, got) in held {
        take_back(&server, &got.to_return())?;
    }
    pass()
}

/// Lets a server hold messages of 200,000 bytes until no more arrive, of `count`
/// that were sent. Returns those held.
fn fill(
    client: &Endpoint,
    server: &Endpoint,
    dest: SocketAddr,
    count: u64,
) -> Result<Vec<Got>, Failure> {
    for seed in 0..count {
        client.request(dest, &message(seed, 200_000), seed)?;
    }
    let mut held: Vec<Got> = Vec::new();
    loop {
        crate::sys::poll(server, libc::POLLIN, A_WHILE * 10)?;
        let got = server.try_recv();
        match got.result {
            Ok(_) => held.push(got),
            Err(Errno::EAGAIN) if server.poll_bits()? & libc::POLLIN == 0 => return Ok(held),
            Err(Errno::EAGAIN) => {}
            Err(errno) => return Err(Failure::new(format!("filling the region: {errno}"))),
        }
    }
}

fn check_seeds(server: &Endpoint, seeds: &mut Vec<u64>, got: &Got) -> Result<(), Failure> {
    let bytes = server.bytes(got)?;
    let found = seeds
        .iter()
        .position(|seed| pattern::mismatch(&bytes, *seed, 0).is_none());
    let Some(found) = found else {
        return Err(Failure::new("a message came twice, or its bytes are wrong"));
    };
    seeds.swap_remove(found);
    Ok(())
}

fn full_region(family: Family) -> Outcome {
    const COUNT: u64 = 20;
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let fit = server.rcvbuf()?.length / 200_000;
    ensure!(
        fit < COUNT,
        "a region for {fit} messages is too large for the test"
    );
    let held = fill(&client, &server, dest, COUNT)?;
    ensure!(!held.is_empty(), "no message arrived");
    ensure!(
        (held.len() as u64) < COUNT,
        "{} messages are in a region for {fit}",
        held.len()
    );
    let mut seeds: Vec<u64> = (0..COUNT).collect();
    let mut give = Vec::new();
    for got in &held {
        check_seeds(&server, &mut seeds, got)?;
        give.push(got.to_return());
    }
    // One message goes back at a time; each makes room for another.
    while !seeds.is_empty() {
        let Some(args) = give.pop() else {
            return Err(Failure::new(format!(
                "{} messages are missing",
                seeds.len()
            )));
        };
        let got = server.recv_returning(&args)?;
        ensure_eq!(got.result, Ok(200_000), "receiving with room again");
        check_seeds(&server, &mut seeds, &got)?;
        give.push(got.to_return());
    }
    for args in give {
        take_back(&server, &args)?;
    }
    pass()
}

fn any_thread(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    for round in 0..10 {
        let mut offsets = Vec::new();
        for seed in 0..4 {
            let (_, got) = deliver(&client, &server, dest, &message(seed, 150_000), 0)?;
            offsets.extend_from_slice(got.offsets());
        }
        // Three threads give back every third bpage.
        let results: Vec<_> = thread::scope(|scope| {
            let workers: Vec<_> = (0..3)
                .map(|part| {
                    let (offsets, server) = (&offsets, &server);
                    scope.spawn(move || {
                        let part: Vec<u32> =
                            offsets.iter().skip(part).step_by(3).copied().collect();
                        take_back(server, &give_back(&part))
                    })
                })
                .collect();
            workers
                .into_iter()
                .map(thread::ScopedJoinHandle::join)
                .collect()
        });
        for result in results {
            match result {
                Ok(result) => result.map_err(|failure| failure.within(format!("round {round}")))?,
                Err(_) => return Err(Failure::new("a thread panicked")),
            }
        }
    }
    pass()
}

fn return_only(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    for _ in 0..60 {
        // Without the returns the region would soon be full.
        let (_, got) = deliver(&client, &server, dest, &message(1, 200_000), 0)?;
        let args = RecvmsgArgs {
            id: u64::MAX,
            ..got.to_return()
        };
        let got = server.recv_with(&args, libc::MSG_DONTWAIT);
        ensure_eq!(got.result, Err(Errno::EINVAL), "receiving from no RPC");
    }
    pass()
}

fn no_region(family: Family) -> Outcome {
    let socket = Endpoint::bare(family)?;
    for offset in [0, 65_536, u32::MAX] {
        let got = socket.recv_with(&give_back(&[offset]), libc::MSG_DONTWAIT);
        ensure_eq!(got.result, Err(Errno::EINVAL), "offset {offset}");
        ensure_eq!(got.args.num_bpages, 0, "num_bpages afterwards");
    }
    pass()
}

fn not_lent(family: Family) -> Outcome {
    let socket = Endpoint::client(family)?;
    let end = u32::try_from(socket.rcvbuf()?.length).unwrap_or(u32::MAX);
    for offset in [0, BPAGE, end - 1, end, end + 1, u32::MAX] {
        let got = socket.recv_with(&give_back(&[offset]), libc::MSG_DONTWAIT);
        ensure_eq!(got.result, Err(Errno::EINVAL), "offset {offset} of {end}");
        ensure_eq!(got.args.num_bpages, 0, "num_bpages afterwards");
    }
    pass()
}

fn twice(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let (_, got) = deliver(&client, &server, dest, &message(1, 131_072), 0)?;
    take_back(&server, &got.to_return())?;
    let again = server.recv_with(&got.to_return(), libc::MSG_DONTWAIT);
    ensure_eq!(again.result, Err(Errno::EINVAL), "second return");
    // Twice in the same call.
    let (_, got) = deliver(&client, &server, dest, &message(2, 65_536), 0)?;
    let offset = got.args.bpage_offsets[0];
    let again = server.recv_with(&give_back(&[offset, offset]), libc::MSG_DONTWAIT);
    ensure_eq!(again.result, Err(Errno::EINVAL), "the same bpage twice");
    deliver(&client, &server, dest, &message(3, 200_000), 0)?;
    pass()
}

fn hostile(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let (bystander, bystander_dest) = Endpoint::server(family)?;
    let (_, held) = deliver(&client, &bystander, bystander_dest, &message(9, 100_000), 0)?;
    let mut random = 0x1234_5678_u32;
    for round in 0..200_u64 {
        let mut offsets = [0; 16];
        for offset in &mut offsets {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Mostly within the region, at any byte, and often more than once.
            *offset = match random % 4 {
                0 => random,
                1 => (random >> 8) % 0x30_0000,
                2 => ((random >> 8) % 40) * BPAGE,
                _ => (random >> 8) % 3,
            };
        }
        if round % 8 == 0 {
            client.request(dest, &message(round, 70_000), round)?;
        }
        let got = server.recv_with(&give_back(&offsets), libc::MSG_DONTWAIT);
        ensure!(
            matches!(got.result, Ok(_) | Err(Errno::EAGAIN | Errno::EINVAL)),
            "round {round} gave {:?}",
            got.result
        );
    }
    ensure!(
        bystander.bytes(&held)? == message(9, 100_000),
        "another socket's message changed"
    );
    take_back(&bystander, &held.to_return())?;
    drop(server);
    let (id, got) = deliver(&client, &bystander, bystander_dest, b"alive", 7)?;
    let peer = loopback(family, client.port()?);
    ensure_eq!(bystander.reply(peer, got.args.id, b"yes"), Ok(0), "reply");
    // The client's other RPCs end with the server that is gone.
    loop {
        let got = client.recv()?;
        if got.args.id == id {
            ensure_eq!(client.bytes(&got)?, b"yes", "response");
            return pass();
        }
        ensure!(got.result.is_err(), "the hostile server answered");
    }
}
