// SPDX-License-Identifier: GPL-2.0
//! `poll` and `epoll`.

use super::sending;
use super::Case;
use crate::check::ensure;
use crate::check::ensure_eq;
use crate::check::pass;
use crate::check::Failure;
use crate::check::Outcome;
use crate::endpoint::loopback;
use crate::endpoint::Endpoint;
use crate::endpoint::A_WHILE;
use crate::endpoint::SOON;
use crate::sys;
use crate::sys::Epoll;
use homa::Family;
use std::thread;
use std::time::Duration;

pub(super) const CASES: &[Case] = &[
    ("a new socket is writable and not readable", idle),
    ("a request makes readable, until it is received", request),
    ("a response makes readable, until it is received", response),
    ("a failed RPC makes readable, until it is received", failure),
    ("shutdown makes readable", shutdown),
    ("a full socket is not writable", full),
    ("poll wakes up for a request", wakes),
    ("poll wakes up for shutdown", wakes_for_shutdown),
    ("epoll tells the same, level and edge", epoll),
];

const READABLE: i16 = libc::POLLIN | libc::POLLRDNORM;
const WRITABLE: i16 = libc::POLLOUT | libc::POLLWRNORM;

fn idle(family: Family) -> Outcome {
    let socket = Endpoint::client(family)?;
    ensure_eq!(socket.poll_bits()?, WRITABLE, "poll bits with a region");
    let socket = Endpoint::bare(family)?;
    ensure_eq!(socket.poll_bits()?, WRITABLE, "poll bits without a region");
    pass()
}

/// Waits until the socket is readable, and checks all bits.
fn readable(socket: &Endpoint) -> Result<(), Failure> {
    sys::poll(socket, libc::POLLIN, SOON)?;
    ensure_eq!(
        socket.poll_bits()?,
        READABLE | WRITABLE,
        "poll bits with a message"
    );
    Ok(())
}

fn request(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    for len in [1, 1_000, 10_000] {
        client.request(dest, &vec![1; len], 0)?;
        readable(&server)?;
        let got = server.recv()?;
        ensure_eq!(got.result, Ok(len), "receiving");
        ensure_eq!(server.poll_bits()?, WRITABLE, "poll bits afterwards");
    }
    pass()
}

fn response(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    client.request(dest, b"x", 0)?;
    let got = server.recv()?;
    ensure_eq!(client.poll_bits()?, WRITABLE, "poll bits before");
    let peer = loopback(family, client.port()?);
    ensure_eq!(server.reply(peer, got.args.id, b"y"), Ok(0), "reply");
    readable(&client)?;
    ensure_eq!(client.recv()?.result, Ok(1), "receiving");
    ensure_eq!(client.poll_bits()?, WRITABLE, "poll bits afterwards");
    pass()
}

fn failure(family: Family) -> Outcome {
    let client = Endpoint::client(family)?;
    client.request(loopback(family, crate::endpoint::new_port()), b"x", 0)?;
    readable(&client)?;
    ensure!(client.recv()?.result.is_err(), "a closed port answered");
    ensure_eq!(client.poll_bits()?, WRITABLE, "poll bits afterwards");
    pass()
}

fn shutdown(family: Family) -> Outcome {
    let socket = Endpoint::client(family)?;
    socket.shutdown()?;
    let bits = socket.poll_bits()?;
    ensure!(bits & libc::POLLIN != 0, "poll bits are {bits:#x}");
    pass()
}

fn full(family: Family) -> Outcome {
    let (_server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    sending::fill(&client, dest)?;
    ensure_eq!(client.poll_bits()?, 0, "poll bits of a full socket");
    pass()
}

/// Polls in another thread while `action` runs; returns the bits.
fn poll_during(
    socket: &Endpoint,
    action: impl FnOnce() -> Result<(), Failure>,
) -> Result<i16, Failure> {
    thread::scope(|scope| {
        let poller = scope.spawn(|| sys::poll(socket, READABLE, SOON));
        thread::sleep(A_WHILE);
        ensure!(!poller.is_finished(), "poll did not wait");
        action()?;
        match poller.join() {
            Ok(bits) => Ok(bits?),
            Err(_) => Err(Failure::new("the polling thread panicked")),
        }
    })
}

fn wakes(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let bits = poll_during(&server, || client.request(dest, b"x", 0).map(drop))?;
    ensure_eq!(bits, READABLE, "bits that poll woke up with");
    pass()
}

fn wakes_for_shutdown(family: Family) -> Outcome {
    let socket = Endpoint::client(family)?;
    let bits = poll_during(&socket, || Ok(socket.shutdown()?))?;
    ensure!(bits & libc::POLLIN != 0, "poll woke up with bits {bits:#x}");
    pass()
}

fn epoll(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let level = Epoll::new(&server, libc::EPOLLIN)?;
    let edge = Epoll::new(&server, libc::EPOLLIN | libc::EPOLLET)?;
    ensure_eq!(level.wait(Duration::ZERO)?, 0, "level before");
    ensure_eq!(edge.wait(Duration::ZERO)?, 0, "edge before");
    for round in 0..2 {
        client.request(dest, b"x", 0)?;
        ensure_eq!(level.wait(SOON)?, libc::EPOLLIN, "level, round {round}");
        ensure_eq!(edge.wait(SOON)?, libc::EPOLLIN, "edge, round {round}");
        ensure_eq!(level.wait(SOON)?, libc::EPOLLIN, "level again");
        ensure_eq!(server.recv()?.result, Ok(1), "receiving");
        ensure_eq!(level.wait(Duration::ZERO)?, 0, "level afterwards");
    }
    pass()
}
