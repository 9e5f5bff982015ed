// SPDX-License-Identifier: GPL-2.0
//! Opening and binding.

use super::Case;
use crate::check::ensure;
use crate::check::ensure_eq;
use crate::check::pass;
use crate::check::Outcome;
use crate::endpoint::domain;
use crate::endpoint::loopback;
use crate::endpoint::new_port;
use crate::endpoint::sockaddr;
use crate::endpoint::Endpoint;
use crate::endpoint::FAMILIES;
use crate::errno::Errno;
use crate::netns;
use crate::sys;
use homa::abi::HOMA_MIN_DEFAULT_PORT;
use homa::abi::IPPROTO_HOMA;
use homa::Family;
use std::collections::HashSet;

pub(super) const CASES: &[Case] = &[
    ("opens, and tells what it is", opens),
    ("only datagram sockets exist", only_datagram),
    ("every socket has a port of its own", default_ports),
    ("listen and socketpair are refused", stream_calls),
    (
        "bind changes the port and makes a server",
        bind_changes_port,
    ),
    ("bind to port 0 changes nothing", bind_zero),
    (
        "bind again changes the port and frees the old one",
        bind_again,
    ),
    ("ports from 32768 can't be bound", bind_high),
    ("a port has one owner, over both families", bind_in_use),
    (
        "addresses of the wrong family or length are refused",
        bind_bad_address,
    ),
    ("bind after shutdown fails", bind_after_shutdown),
    ("close and shutdown free the port", port_is_freed),
    ("network namespaces have ports of their own", namespaces),
];

fn opens(family: Family) -> Outcome {
    let socket = Endpoint::bare(family)?;
    let option =
        |name| -> sys::Result<Vec<u8>> { sys::getsockopt(&socket, libc::SOL_SOCKET, name, 4) };
    let expected = [
        (libc::SO_PROTOCOL, IPPROTO_HOMA, "SO_PROTOCOL"),
        (libc::SO_TYPE, libc::SOCK_DGRAM, "SO_TYPE"),
        (libc::SO_DOMAIN, domain(family), "SO_DOMAIN"),
        (libc::SO_ERROR, 0, "SO_ERROR"),
    ];
    for (name, value, what) in expected {
        ensure_eq!(option(name)?, value.to_ne_bytes(), "{what}");
    }
    ensure_eq!(socket.is_server()?, 0, "SO_HOMA_SERVER of a new socket");
    pass()
}

fn only_datagram(family: Family) -> Outcome {
    for kind in [libc::SOCK_STREAM, libc::SOCK_SEQPACKET] {
        let error = sys::socket(domain(family), kind, IPPROTO_HOMA).err();
        ensure!(
            matches!(error, Some(Errno::EPROTONOSUPPORT | Errno::ESOCKTNOSUPPORT)),
            "opening type {kind} gave {error:?}"
        );
    }
    pass()
}

fn default_ports(family: Family) -> Outcome {
    let mut sockets = Vec::new();
    let mut ports = HashSet::new();
    for index in 0..64 {
        // The other family's sockets come out of the same ports.
        let family = if index % 4 == 3 {
            FAMILIES[index % 2]
        } else {
            family
        };
        let socket = Endpoint::bare(family)?;
        let port = socket.port()?;
        ensure!(
            port >= HOMA_MIN_DEFAULT_PORT,
            "default port {port} is below {HOMA_MIN_DEFAULT_PORT}"
        );
        ensure!(ports.insert(port), "default port {port} was given twice");
        sockets.push(socket);
    }
    pass()
}

fn stream_calls(family: Family) -> Outcome {
    let socket = Endpoint::bare(family)?;
    ensure_eq!(sys::listen(&socket), Err(Errno::EOPNOTSUPP), "listen");
    let pair = sys::socketpair(domain(family), libc::SOCK_DGRAM, IPPROTO_HOMA);
    ensure_eq!(pair, Err(Errno::EOPNOTSUPP), "socketpair");
    pass()
}

fn bind_changes_port(family: Family) -> Outcome {
    for port in [new_port(), 1, HOMA_MIN_DEFAULT_PORT - 1] {
        let socket = Endpoint::bare(family)?;
        ensure_eq!(socket.bind(port), Ok(()), "bind to {port}");
        ensure_eq!(socket.port()?, port, "port after bind");
        ensure_eq!(socket.is_server()?, 1, "SO_HOMA_SERVER after bind");
    }
    pass()
}

fn bind_zero(family: Family) -> Outcome {
    let socket = Endpoint::bare(family)?;
    let before = socket.port()?;
    ensure_eq!(socket.bind(0), Ok(()), "bind to 0");
    ensure_eq!(socket.port()?, before, "port after bind to 0");
    ensure_eq!(socket.is_server()?, 0, "SO_HOMA_SERVER after bind to 0");
    pass()
}

fn bind_again(family: Family) -> Outcome {
    let (first, second) = (new_port(), new_port());
    let socket = Endpoint::bare(family)?;
    ensure_eq!(socket.bind(first), Ok(()), "first bind");
    ensure_eq!(socket.bind(first), Ok(()), "bind to the same port again");
    ensure_eq!(socket.bind(second), Ok(()), "bind to another port");
    ensure_eq!(socket.port()?, second, "port after the second bind");
    let other = Endpoint::bare(family)?;
    ensure_eq!(other.bind(first), Ok(()), "bind to the port given up");
    pass()
}

fn bind_high(family: Family) -> Outcome {
    let socket = Endpoint::bare(family)?;
    let own = socket.port()?;
    for port in [
        HOMA_MIN_DEFAULT_PORT,
        HOMA_MIN_DEFAULT_PORT + 1,
        65_535,
        own,
    ] {
        ensure_eq!(socket.bind(port), Err(Errno::EINVAL), "bind to {port}");
    }
    ensure_eq!(socket.port()?, own, "port after refused binds");
    pass()
}

fn bind_in_use(family: Family) -> Outcome {
    let port = new_port();
    let owner = Endpoint::bare(family)?;
    ensure_eq!(owner.bind(port), Ok(()), "first bind");
    for family in FAMILIES {
        let other = Endpoint::bare(family)?;
        let before = other.port()?;
        ensure_eq!(other.bind(port), Err(Errno::EADDRINUSE), "second bind");
        ensure_eq!(other.port()?, before, "port after a refused bind");
        ensure_eq!(other.is_server()?, 0, "server after a refused bind");
    }
    pass()
}

fn bind_bad_address(family: Family) -> Outcome {
    let socket = Endpoint::bare(family)?;
    let before = socket.port()?;
    for wrong in FAMILIES {
        if wrong != family {
            let mut addr = sockaddr(loopback(wrong, new_port()));
            addr.resize(28, 0);
            let result = sys::bind(&socket, &addr);
            ensure_eq!(result, Err(Errno::EAFNOSUPPORT), "wrong family");
        }
    }
    let addr = sockaddr(loopback(family, new_port()));
    for len in [4, 8, 12] {
        let result = sys::bind(&socket, &addr[..len]);
        ensure_eq!(result, Err(Errno::EINVAL), "address of {len} bytes");
    }
    ensure_eq!(socket.port()?, before, "port after refused binds");
    pass()
}

fn bind_after_shutdown(family: Family) -> Outcome {
    let socket = Endpoint::bare(family)?;
    ensure_eq!(socket.shutdown(), Ok(()), "shutdown");
    ensure_eq!(socket.bind(new_port()), Err(Errno::ESHUTDOWN), "bind");
    pass()
}

fn port_is_freed(family: Family) -> Outcome {
    let port = new_port();
    for round in 0..20 {
        let socket = Endpoint::bare(family)?;
        ensure_eq!(socket.bind(port), Ok(()), "bind in round {round}");
    }
    let shut = Endpoint::bare(family)?;
    ensure_eq!(shut.bind(port), Ok(()), "bind after close");
    for how in [libc::SHUT_RD, libc::SHUT_WR] {
        ensure_eq!(sys::shutdown(&shut, how), Ok(()), "shutdown {how}");
    }
    let next = Endpoint::bare(family)?;
    ensure_eq!(next.bind(port), Ok(()), "bind after shutdown");
    drop(shut);
    let other = Endpoint::bare(family)?;
    ensure_eq!(
        other.bind(port),
        Err(Errno::EADDRINUSE),
        "closing the old owner must not free the port of the new one"
    );
    pass()
}

fn namespaces(family: Family) -> Outcome {
    let port = new_port();
    let here = Endpoint::bare(family)?;
    ensure_eq!(here.bind(port), Ok(()), "bind here");
    let there = netns::inside_new(|| Endpoint::bare(family))?;
    ensure_eq!(there.bind(port), Ok(()), "bind in another namespace");
    drop(here);
    let again = Endpoint::bare(family)?;
    ensure_eq!(again.bind(port), Ok(()), "bind here again");
    pass()
}
