// SPDX-License-Identifier: GPL-2.0
//! `sendmsg`: responses.

use super::Case;
use crate::check::ensure;
use crate::check::ensure_eq;
use crate::check::pass;
use crate::check::Failure;
use crate::check::Outcome;
use crate::endpoint::deliver;
use crate::endpoint::Endpoint;
use crate::endpoint::Got;
use crate::errno::Errno;
use homa::abi::SendmsgArgs;
use homa::Family;
use std::net::SocketAddr;

pub(super) const CASES: &[Case] = &[
    ("a response reaches the client", response),
    ("a cookie in a response is refused", cookie),
    ("ids that are not known succeed without effect", unknown_id),
    ("the port of the destination does not matter", port_ignored),
    ("responses of 0 and 1,000,001 bytes are refused", bad_length),
    ("a second response is refused, and never delivered", twice),
];

/// Address of the client that a request came from.
fn client_of(got: &Got) -> Result<SocketAddr, Failure> {
    got.name
        .ok_or_else(|| Failure::new("the request came without an address"))
}

fn response(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let (id, got) = deliver(&client, &server, dest, b"request", 77)?;
    let mut args = SendmsgArgs {
        id: got.args.id,
        ..SendmsgArgs::default()
    };
    let result = server.send_with(client_of(&got)?, b"response", &mut args, 0);
    ensure_eq!(result, Ok(0), "result");
    ensure_eq!(args.id, got.args.id, "id afterwards");
    let response = client.recv()?;
    ensure_eq!(response.result, Ok(8), "length of the response");
    ensure_eq!(client.bytes(&response)?, b"response", "response");
    ensure_eq!(response.args.id, id, "id of the response");
    ensure_eq!(response.args.completion_cookie, 77, "cookie");
    ensure_eq!(response.name, Some(dest), "address of the server");
    pass()
}

fn cookie(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let (_, got) = deliver(&client, &server, dest, b"request", 0)?;
    let mut args = SendmsgArgs {
        id: got.args.id,
        completion_cookie: 5,
        ..SendmsgArgs::default()
    };
    let peer = client_of(&got)?;
    let result = server.send_with(peer, b"response", &mut args, 0);
    ensure_eq!(result, Err(Errno::EINVAL), "response with a cookie");
    ensure_eq!(server.reply(peer, got.args.id, b"ok"), Ok(0), "without");
    let response = client.recv()?;
    ensure_eq!(client.bytes(&response)?, b"ok", "response");
    pass()
}

fn unknown_id(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let (id, got) = deliver(&client, &server, dest, b"request", 0)?;
    let peer = client_of(&got)?;
    // Another odd id, the client's own even one, and ids of no one.
    for wrong in [got.args.id ^ 0x1000, id, 1, u64::MAX] {
        let result = server.reply(peer, wrong, b"wrong");
        ensure_eq!(result, Ok(0), "response to {wrong}");
    }
    // The right id from another address.
    let other = SocketAddr::new(
        match family {
            Family::V4 => [127, 0, 0, 9].into(),
            Family::V6 => [0xfd00_u16, 0, 0, 0, 0, 0, 0, 9].into(),
        },
        peer.port(),
    );
    let result = server.reply(other, got.args.id, b"wrong");
    ensure_eq!(result, Ok(0), "response to another address");
    ensure_eq!(server.reply(peer, got.args.id, b"right"), Ok(0), "reply");
    let response = client.recv()?;
    ensure_eq!(client.bytes(&response)?, b"right", "response");
    pass()
}

fn port_ignored(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    for port in [0, 1, 65_535] {
        let (_, got) = deliver(&client, &server, dest, b"request", 0)?;
        let peer = SocketAddr::new(client_of(&got)?.ip(), port);
        ensure_eq!(server.reply(peer, got.args.id, b"here"), Ok(0), "reply");
        let response = client.recv()?;
        ensure_eq!(client.bytes(&response)?, b"here", "response");
    }
    pass()
}

fn bad_length(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let long = vec![1; 1_000_001];
    for bytes in [&[][..], &long] {
        let (_, got) = deliver(&client, &server, dest, b"request", 0)?;
        let result = server.reply(client_of(&got)?, got.args.id, bytes);
        ensure_eq!(result, Err(Errno::EINVAL), "{} bytes", bytes.len());
    }
    ensure_eq!(
        client.try_recv().result,
        Err(Errno::EAGAIN),
        "the client afterwards"
    );
    pass()
}

fn twice(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let mut refused = 0;
    for count in 0_u8..20 {
        let (_, got) = deliver(&client, &server, dest, &[count], 0)?;
        let peer = client_of(&got)?;
        ensure_eq!(server.reply(peer, got.args.id, b"first"), Ok(0), "first");
        // Once the client has acknowledged the response the id is not known.
        match server.reply(peer, got.args.id, b"second") {
            Err(Errno::EINVAL) => refused += 1,
            result => ensure_eq!(result, Ok(0), "second response"),
        }
        let response = client.recv()?;
        ensure_eq!(client.bytes(&response)?, b"first", "response");
        ensure_eq!(
            client
                .recv_with(&response.to_return(), libc::MSG_DONTWAIT)
                .result,
            Err(Errno::EAGAIN),
            "the client after the response"
        );
    }
    ensure!(refused > 0, "no second response was refused");
    pass()
}
