// SPDX-License-Identifier: GPL-2.0
//! `recvmsg`: arguments and results.

use super::Case;
use crate::check::ensure;
use crate::check::ensure_eq;
use crate::check::pass;
use crate::check::Failure;
use crate::check::Outcome;
use crate::endpoint::deliver;
use crate::endpoint::loopback;
use crate::endpoint::parse_recv_args;
use crate::endpoint::recv_args_bytes;
use crate::endpoint::Endpoint;
use crate::endpoint::CLOSED_PORT;
use crate::endpoint::RECV_ARGS_LEN;
use crate::errno::Errno;
use crate::sys;
use crate::sys::Pages;
use crate::sys::Protection;
use crate::sys::RecvCall;
use crate::sys::Target;
use homa::abi::RecvmsgArgs;
use homa::abi::HOMA_BPAGE_SIZE;
use homa::Family;
use std::net::IpAddr;
use std::net::SocketAddr;

pub(super) const CASES: &[Case] = &[
    ("a request comes with its odd id and its sender", request),
    ("a response comes with its id, cookie and sender", response),
    ("an empty socket gives EAGAIN", empty),
    ("O_NONBLOCK gives EAGAIN", nonblocking),
    ("without args it is refused", no_args),
    (
        "args of a wrong length are refused and left alone",
        args_len,
    ),
    ("args that can't be read are refused", unreadable_args),
    ("args that can't be written to give EFAULT", unwritable_args),
    ("more than 16 bpages are refused", too_many_bpages),
    ("a nonzero reserved field is refused", reserved),
    ("the id of no RPC is refused", unknown_id),
    (
        "a region that has become unwritable gives EFAULT",
        region_gone,
    ),
    ("the sender's address is optional", no_name),
    ("a socket that is no server takes no requests", no_server),
    (
        "a socket that is no server any more takes no requests",
        server_off,
    ),
    ("each message is received once", once),
    ("IPv4 clients reach IPv6 servers", mapped),
];

/// Calls `recvmsg` without waiting, with any control.
fn recv_control(socket: &Endpoint, control: Target<'_>, control_len: usize) -> sys::Result<usize> {
    let call = RecvCall {
        name: None,
        control,
        control_len,
        flags: libc::MSG_DONTWAIT,
    };
    sys::recvmsg(socket.raw_fd(), call).result
}

fn request(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let (id, got) = deliver(&client, &server, dest, b"request", 99)?;
    ensure_eq!(got.args.id, id + 1, "id at the server of the client's {id}");
    ensure_eq!(got.args.completion_cookie, 0, "cookie of a request");
    ensure_eq!(got.args.reserved, 0, "reserved");
    ensure_eq!(got.args.num_bpages, 1, "num_bpages");
    ensure_eq!(
        got.name,
        Some(loopback(family, client.port()?)),
        "address of the client"
    );
    let name_len = if family == Family::V4 { 16 } else { 28 };
    ensure_eq!(got.name_len, name_len, "msg_namelen");
    ensure_eq!(got.control_len, 0, "msg_controllen");
    pass()
}

fn response(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    for cookie in [0, 1, u64::MAX] {
        let (id, got) = deliver(&client, &server, dest, b"request", cookie)?;
        let peer = loopback(family, client.port()?);
        ensure_eq!(server.reply(peer, got.args.id, b"reply"), Ok(0), "reply");
        let got = client.recv()?;
        ensure_eq!(got.result, Ok(5), "length");
        ensure_eq!(got.args.id, id, "id");
        ensure_eq!(got.args.completion_cookie, cookie, "cookie");
        ensure_eq!(got.name, Some(dest), "address of the server");
        ensure_eq!(got.control_len, 0, "msg_controllen");
    }
    pass()
}

fn empty(family: Family) -> Outcome {
    let socket = Endpoint::client(family)?;
    let got = socket.try_recv();
    ensure_eq!(got.result, Err(Errno::EAGAIN), "result");
    ensure_eq!(got.args, RecvmsgArgs::default(), "args");
    pass()
}

fn nonblocking(family: Family) -> Outcome {
    let socket = Endpoint::client(family)?;
    sys::set_nonblocking(&socket)?;
    let got = socket.recv_with(&RecvmsgArgs::default(), 0);
    ensure_eq!(got.result, Err(Errno::EAGAIN), "result");
    pass()
}

fn no_args(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    client.request(dest, b"x", 0)?;
    let result = recv_control(&server, Target::Null, RECV_ARGS_LEN);
    ensure_eq!(result, Err(Errno::EINVAL), "null args");
    ensure_eq!(sys::read(&server), Err(Errno::EINVAL), "read");
    ensure_eq!(server.recv()?.result, Ok(1), "receiving afterwards");
    pass()
}

fn args_len(family: Family) -> Outcome {
    let socket = Endpoint::client(family)?;
    let before = RecvmsgArgs {
        id: 0x1122_3344_5566_7788,
        completion_cookie: 5,
        num_bpages: 99,
        reserved: 7,
        bpage_offsets: [1; 16],
    };
    for len in [0, 1, 24, RECV_ARGS_LEN - 1, RECV_ARGS_LEN + 1, 128] {
        let mut bytes = recv_args_bytes(&before);
        let result = recv_control(&socket, Target::Bytes(&mut bytes), len);
        ensure_eq!(result, Err(Errno::EINVAL), "args of {len} bytes");
        ensure_eq!(parse_recv_args(&bytes), before, "args of {len} bytes");
    }
    pass()
}

fn unreadable_args(family: Family) -> Outcome {
    let socket = Endpoint::client(family)?;
    let hidden = Pages::inaccessible()?;
    let result = recv_control(&socket, Target::Pages(&hidden), RECV_ARGS_LEN);
    ensure_eq!(result, Err(Errno::EFAULT), "args that can't be read");
    pass()
}

fn unwritable_args(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    client.request(dest, b"x", 0)?;
    sys::poll(&server, libc::POLLIN, crate::endpoint::SOON)?;
    let page = Pages::read_only(&recv_args_bytes(&RecvmsgArgs::default()))?;
    let result = recv_control(&server, Target::Pages(&page), RECV_ARGS_LEN);
    ensure_eq!(result, Err(Errno::EFAULT), "args that can't be written to");
    // The socket goes on working.
    deliver(&client, &server, dest, b"another", 0)?;
    pass()
}

fn too_many_bpages(family: Family) -> Outcome {
    let socket = Endpoint::client(family)?;
    for num_bpages in [17, 1000, u32::MAX] {
        let args = RecvmsgArgs {
            num_bpages,
            ..RecvmsgArgs::default()
        };
        let got = socket.recv_with(&args, libc::MSG_DONTWAIT);
        ensure_eq!(got.result, Err(Errno::EINVAL), "{num_bpages} bpages");
        ensure_eq!(got.args.id, 0, "id");
    }
    pass()
}

fn reserved(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    client.request(dest, b"x", 0)?;
    let args = RecvmsgArgs {
        reserved: 1,
        ..RecvmsgArgs::default()
    };
    let got = server.recv_with(&args, libc::MSG_DONTWAIT);
    ensure_eq!(got.result, Err(Errno::EINVAL), "reserved 1");
    ensure_eq!(server.recv()?.result, Ok(1), "receiving afterwards");
    pass()
}

fn unknown_id(family: Family) -> Outcome {
    let socket = Endpoint::client(family)?;
    for id in [2, 3, 0x7fff_ffff_ffff_fffe, u64::MAX] {
        let args = RecvmsgArgs {
            id,
            ..RecvmsgArgs::default()
        };
        let got = socket.recv_with(&args, libc::MSG_DONTWAIT);
        ensure_eq!(got.result, Err(Errno::EINVAL), "id {id}");
    }
    pass()
}

fn region_gone(family: Family) -> Outcome {
    for len in [10, 200_000] {
        let (server, dest) = Endpoint::server(family)?;
        let client = Endpoint::client(family)?;
        let (id, got) = deliver(&client, &server, dest, b"request", 42)?;
        let peer = loopback(family, client.port()?);
        client.region()?.protect(Protection::None)?;
        let response = vec![1; len];
        ensure_eq!(server.reply(peer, got.args.id, &response), Ok(0), "reply");
        let got = client.recv()?;
        ensure_eq!(got.result, Err(Errno::EFAULT), "receiving {len} bytes");
        ensure_eq!(got.args.id, id, "id of the RPC that failed");
        ensure_eq!(got.args.num_bpages, 0, "num_bpages");
        ensure_eq!(
            client.try_recv().result,
            Err(Errno::EAGAIN),
            "the client afterwards"
        );
        client.region()?.protect(Protection::ReadWrite)?;
        let (_, got) = deliver(&client, &server, dest, b"again", 0)?;
        ensure_eq!(server.reply(peer, got.args.id, b"ok"), Ok(0), "reply");
        ensure_eq!(client.recv()?.result, Ok(2), "receiving again");
    }
    pass()
}

fn no_name(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    client.request(dest, b"request", 0)?;
    sys::poll(&server, libc::POLLIN, crate::endpoint::SOON)?;
    let mut bytes = recv_args_bytes(&RecvmsgArgs::default());
    let start = std::time::Instant::now();
    loop {
        let result = recv_control(&server, Target::Bytes(&mut bytes), RECV_ARGS_LEN);
        if result == Err(Errno::EAGAIN) && start.elapsed() < crate::endpoint::SOON {
            std::thread::yield_now();
            continue;
        }
        ensure_eq!(result, Ok(7), "receiving without a name");
        break;
    }
    ensure!(parse_recv_args(&bytes).id % 2 == 1, "the id is not odd");
    pass()
}

/// Checks that `client` gets no answer from the port of `dest`.
fn refused(client: &Endpoint, dest: SocketAddr) -> Result<(), Failure> {
    let id = client.request(dest, b"x", 3)?;
    let got = client.recv()?;
    ensure!(
        got.result.is_err_and(|errno| CLOSED_PORT.contains(&errno)),
        "request to {dest} gave {:?}",
        got.result
    );
    ensure_eq!(got.args.id, id, "id of the request to {dest}");
    Ok(())
}

fn no_server(family: Family) -> Outcome {
    let target = Endpoint::client(family)?;
    let client = Endpoint::client(family)?;
    refused(&client, loopback(family, target.port()?))?;
    ensure_eq!(
        target.try_recv().result,
        Err(Errno::EAGAIN),
        "the socket that is no server"
    );
    ensure_eq!(target.set_server(1), Ok(()), "SO_HOMA_SERVER");
    let dest = loopback(family, target.port()?);
    deliver(&client, &target, dest, b"now it is", 0)?;
    pass()
}

fn server_off(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let (_, got) = deliver(&client, &server, dest, b"on", 0)?;
    // Left open, this RPC would fail together with the next.
    let peer = loopback(family, client.port()?);
    ensure_eq!(server.reply(peer, got.args.id, b"yes"), Ok(0), "reply");
    ensure_eq!(client.recv()?.result, Ok(3), "response");
    ensure_eq!(server.set_server(0), Ok(()), "SO_HOMA_SERVER");
    refused(&client, dest)?;
    ensure_eq!(server.set_server(1), Ok(()), "SO_HOMA_SERVER");
    deliver(&client, &server, dest, b"on again", 0)?;
    pass()
}

fn once(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    for size in [1, 1_000, HOMA_BPAGE_SIZE, 100_000] {
        let mut bytes = Vec::new();
        crate::pattern::append(&mut bytes, 5, 0, size);
        let (_, got) = deliver(&client, &server, dest, &bytes, 0)?;
        std::thread::sleep(crate::endpoint::A_WHILE);
        let again = server.recv_with(&got.to_return(), libc::MSG_DONTWAIT);
        ensure_eq!(again.result, Err(Errno::EAGAIN), "after {size} bytes");
    }
    pass()
}

fn mapped(family: Family) -> Outcome {
    if family == Family::V4 {
        return Ok(crate::check::Verdict::Skip(
            "an IPv4 socket has IPv4 peers only".into(),
        ));
    }
    let (server, dest) = Endpoint::server(Family::V6)?;
    let client = Endpoint::client(Family::V4)?;
    let to = loopback(Family::V4, dest.port());
    let (_, got) = deliver(&client, &server, to, b"request", 0)?;
    let IpAddr::V4(local) = to.ip() else {
        return Err(Failure::new("the IPv4 loopback address is none"));
    };
    let expected = SocketAddr::new(local.to_ipv6_mapped().into(), client.port()?);
    ensure_eq!(got.name, Some(expected), "address of the client");
    ensure_eq!(got.name_len, 28, "msg_namelen");
    ensure_eq!(server.reply(expected, got.args.id, b"ok"), Ok(0), "reply");
    let got = client.recv()?;
    ensure_eq!(client.bytes(&got)?, b"ok", "response");

    // And the other way: an IPv6 client, an IPv4 server.
    let (server, dest) = Endpoint::server(Family::V4)?;
    let client = Endpoint::client(Family::V6)?;
    let to = SocketAddr::new(local.to_ipv6_mapped().into(), dest.port());
    let (_, got) = deliver(&client, &server, to, b"request", 0)?;
    let peer = loopback(Family::V4, client.port()?);
    ensure_eq!(got.name, Some(peer), "address of the client");
    ensure_eq!(server.reply(peer, got.args.id, b"ok"), Ok(0), "reply");
    let got = client.recv()?;
    ensure_eq!(got.name, Some(to), "address of the server");
    pass()
}
