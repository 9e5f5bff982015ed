// SPDX-License-Identifier: GPL-2.0
//! Calls that wait: what wakes them up, and with what result.

use super::sending;
use super::Case;
use crate::check::ensure;
use crate::check::ensure_eq;
use crate::check::pass;
use crate::check::Failure;
use crate::check::Outcome;
use crate::endpoint::deliver;
use crate::endpoint::loopback;
use crate::endpoint::new_port;
use crate::endpoint::recv_on;
use crate::endpoint::Endpoint;
use crate::endpoint::Got;
use crate::endpoint::A_WHILE;
use crate::endpoint::SOON;
use crate::errno::Errno;
use crate::sys;
use crate::sys::Target;
use crate::sys::Thread;
use homa::abi::RecvmsgArgs;
use homa::abi::SendmsgArgs;
use homa::Family;
use std::os::fd::IntoRawFd;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;
use std::time::Instant;

pub(super) const CASES: &[Case] = &[
    ("recvmsg waits for a message", message_wakes),
    ("several receivers get a message each", several),
    ("shutdown wakes all receivers", shutdown_wakes),
    ("shutdown ends what comes later", shutdown_stays),
    ("a signal interrupts recvmsg", signal),
    ("a signal interrupts sendmsg", signal_send),
    ("SO_SNDTIMEO limits sendmsg", send_timeout),
    ("shutdown wakes senders", shutdown_wakes_senders),
    ("responses wake senders", responses_wake_senders),
    (
        "close leaves a receiver waiting, until it is done",
        close_while_waiting,
    ),
];

/// Runs `wait` in another thread, which must still be waiting after a while.
/// Returns the thread's handle for signals, and where the result will come from.
fn start<T: Send + 'static>(
    wait: impl FnOnce() -> T + Send + 'static,
) -> Result<(Thread, Receiver<T>), Failure> {
    let (send_thread, thread) = mpsc::channel();
    let (send_result, result) = mpsc::channel();
    thread::spawn(move || {
        let known = send_thread.send(Thread::current());
        // A receiver that is gone has failed already.
        if known.is_ok() {
            drop(send_result.send(wait()));
        }
    });
    let thread = thread
        .recv()
        .map_err(|_| Failure::new("a thread did not start"))?;
    match result.recv_timeout(A_WHILE) {
        Err(mpsc::RecvTimeoutError::Timeout) => Ok((thread, result)),
        _ => Err(Failure::new("a call that had to wait returned at once")),
    }
}

/// The result of a waiting thread.
fn finish<T>(result: &Receiver<T>) -> Result<T, Failure> {
    result
        .recv_timeout(SOON)
        .map_err(|_| Failure::new("a waiting call was not woken up"))
}

/// Starts to receive on a socket in another thread.
fn start_recv(socket: &Endpoint) -> Result<(Thread, Receiver<Got>), Failure> {
    let fd = socket.raw_fd();
    start(move || recv_on(fd, &RecvmsgArgs::default(), 0))
}

/// Starts to send 50,000 bytes in another thread.
fn start_send(
    family: Family,
    client: &std::sync::Arc<Endpoint>,
    port: u16,
) -> Result<(Thread, Receiver<sys::Result<usize>>), Failure> {
    let client = std::sync::Arc::clone(client);
    start(move || {
        let mut args = SendmsgArgs::default();
        client.send_with(loopback(family, port), &sending::LARGE, &mut args, 0)
    })
}

fn message_wakes(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    for len in [1, 5_000, 300_000] {
        let (_, result) = start_recv(&server)?;
        let mut bytes = Vec::new();
        crate::pattern::append(&mut bytes, 2, 0, len);
        client.request(dest, &bytes, 0)?;
        let got = finish(&result)?;
        ensure_eq!(got.result, Ok(len), "result");
        ensure!(
            server.bytes(&got)? == bytes,
            "the message's bytes are wrong"
        );
        server.release(&got)?;
    }
    pass()
}

fn several(family: Family) -> Outcome {
    const COUNT: u8 = 8;
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let mut results = Vec::new();
    for _ in 0..COUNT {
        results.push(start_recv(&server)?.1);
    }
    for number in 0..COUNT {
        client.request(dest, &[number; 10], 0)?;
    }
    let mut numbers = Vec::new();
    for result in &results {
        let got = finish(result)?;
        ensure_eq!(got.result, Ok(10), "result");
        numbers.push(server.bytes(&got)?[0]);
    }
    numbers.sort_unstable();
    ensure_eq!(numbers, (0..COUNT).collect::<Vec<_>>(), "messages");
    ensure_eq!(server.try_recv().result, Err(Errno::EAGAIN), "afterwards");
    pass()
}

fn shutdown_wakes(family: Family) -> Outcome {
    let (server, _) = Endpoint::server(family)?;
    let mut results = Vec::new();
    for _ in 0..4 {
        results.push(start_recv(&server)?.1);
    }
    server.shutdown()?;
    for result in &results {
        let got = finish(result)?;
        ensure_eq!(got.result, Err(Errno::ESHUTDOWN), "result");
        ensure_eq!(got.args.id, 0, "id");
    }
    pass()
}

fn shutdown_stays(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    client.request(dest, b"never received", 0)?;
    sys::poll(&server, libc::POLLIN, SOON)?;
    for _ in 0..2 {
        ensure_eq!(server.shutdown(), Ok(()), "shutdown");
        for flags in [0, libc::MSG_DONTWAIT] {
            let got = server.recv_with(&RecvmsgArgs::default(), flags);
            ensure_eq!(got.result, Err(Errno::ESHUTDOWN), "flags {flags:#x}");
        }
    }
    pass()
}

/// Interrupts a thread until its result is there: a signal that comes before the
/// thread sleeps has no effect.
fn interrupt<T>(thread: Thread, result: &Receiver<T>) -> Result<T, Failure> {
    let start = Instant::now();
    loop {
        thread.interrupt()?;
        match result.recv_timeout(Duration::from_millis(50)) {
            Ok(result) => return Ok(result),
            Err(_) if start.elapsed() < SOON => {}
            Err(_) => return Err(Failure::new("signals did not wake the thread up")),
        }
    }
}

fn signal(family: Family) -> Outcome {
    sys::handle_interrupts()?;
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let (thread, result) = start_recv(&server)?;
    let got = interrupt(thread, &result)?;
    ensure_eq!(got.result, Err(Errno::EINTR), "result");
    ensure_eq!(got.args.num_bpages, 0, "num_bpages");
    deliver(&client, &server, dest, b"afterwards", 0)?;
    pass()
}

/// A client whose memory for outgoing messages is used up, its server, and the
/// number of requests that are under way.
fn full_client(
    family: Family,
) -> Result<(std::sync::Arc<Endpoint>, Endpoint, u16, usize), Failure> {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let count = sending::fill(&client, dest)?;
    Ok((std::sync::Arc::new(client), server, dest.port(), count))
}

fn signal_send(family: Family) -> Outcome {
    sys::handle_interrupts()?;
    let (client, _server, port, _) = full_client(family)?;
    let (thread, result) = start_send(family, &client, port)?;
    let sent = interrupt(thread, &result)?;
    ensure_eq!(sent, Err(Errno::EINTR), "result");
    pass()
}

fn send_timeout(family: Family) -> Outcome {
    let (client, _server, port, _) = full_client(family)?;
    let mut timeval = [0_i64.to_ne_bytes(), 200_000_i64.to_ne_bytes()].concat();
    let value = Target::Bytes(&mut timeval);
    sys::setsockopt(&*client, libc::SOL_SOCKET, libc::SO_SNDTIMEO, value, 16)?;
    let start = Instant::now();
    let mut args = SendmsgArgs::default();
    let sent = client.send_with(loopback(family, port), &sending::LARGE, &mut args, 0);
    ensure_eq!(sent, Err(Errno::EAGAIN), "result");
    ensure!(
        start.elapsed() >= Duration::from_millis(190),
        "sendmsg waited for {:?} only",
        start.elapsed()
    );
    pass()
}

fn shutdown_wakes_senders(family: Family) -> Outcome {
    let (client, _server, port, _) = full_client(family)?;
    let (_, result) = start_send(family, &client, port)?;
    client.shutdown()?;
    ensure_eq!(finish(&result)?, Err(Errno::ESHUTDOWN), "result");
    pass()
}

fn responses_wake_senders(family: Family) -> Outcome {
    let (client, server, port, count) = full_client(family)?;
    let (_, result) = start_send(family, &client, port)?;
    let peer = loopback(family, client.port()?);
    for _ in 0..count {
        let got = server.recv()?;
        server.release(&got)?;
        ensure_eq!(server.reply(peer, got.args.id, b"r"), Ok(0), "reply");
        ensure_eq!(client.recv()?.result, Ok(1), "response");
    }
    ensure_eq!(finish(&result)?, Ok(0), "result of the sender");
    pass()
}

fn close_while_waiting(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let (_, result) = start_recv(&server)?;
    // The region stays mapped; only the descriptor is closed.
    let (fd, region) = server.into_parts();
    sys::close(fd.into_raw_fd())?;
    let later = result.recv_timeout(A_WHILE);
    ensure!(later.is_err(), "close ended recvmsg with {later:?}");
    let other = Endpoint::bare(family)?;
    ensure_eq!(
        other.bind(dest.port()),
        Err(Errno::EADDRINUSE),
        "bind to the port while recvmsg waits there"
    );
    client.request(dest, b"wake up", 0)?;
    let got = finish(&result)?;
    ensure_eq!(got.result, Ok(7), "result");
    let start = Instant::now();
    while other.bind(dest.port()) != Ok(()) {
        ensure!(start.elapsed() < SOON, "the port was not freed");
        thread::sleep(Duration::from_millis(5));
    }
    drop(region);
    ensure_eq!(other.bind(new_port()), Ok(()), "bind to another port");
    pass()
}
