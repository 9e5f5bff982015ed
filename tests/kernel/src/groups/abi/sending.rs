// SPDX-License-Identifier: GPL-2.0
//! `sendmsg`: arguments and results of requests.

use super::Case;
use crate::check::ensure;
use crate::check::ensure_eq;
use crate::check::pass;
use crate::check::Failure;
use crate::check::Outcome;
use crate::endpoint::deliver;
use crate::endpoint::loopback;
use crate::endpoint::new_port;
use crate::endpoint::send_args_bytes;
use crate::endpoint::sockaddr;
use crate::endpoint::Endpoint;
use crate::endpoint::FAMILIES;
use crate::errno::Errno;
use crate::sys;
use crate::sys::Data;
use crate::sys::Pages;
use crate::sys::SendCall;
use crate::sys::Target;
use homa::abi::SendmsgArgs;
use homa::abi::HOMA_MAX_MESSAGE_LENGTH;
use homa::Family;
use std::collections::HashSet;
use std::net::SocketAddr;

pub(super) const CASES: &[Case] = &[
    ("a request returns 0 and a new even id", returns),
    ("a request without a destination is refused", no_destination),
    ("a control length is refused", control_len),
    ("args that can't be read are refused", unreadable_args),
    (
        "args that can't be written to fail, and the RPC ends",
        unwritable_args,
    ),
    ("unknown flags and reserved bits are refused", flags),
    (
        "destinations of the wrong family or length are refused",
        bad_destination,
    ),
    ("0 and 1,000,001 bytes are refused", bad_length),
    ("1 and 1,000,000 bytes are taken", extreme_lengths),
    ("data that can't be read is refused", unreadable_data),
    ("without a route the error says so", no_route),
    (
        "the memory limit gives EAGAIN, and ends with the RPCs",
        memory_limit,
    ),
    ("after shutdown nothing can be sent", after_shutdown),
];

/// A request that soon fills the memory for outgoing messages.
pub(super) static LARGE: [u8; 50_000] = [7; 50_000];

/// A call that would succeed.
fn good_call<'a>(name: &'a [u8], data: &'a [u8], control: &'a mut [u8]) -> SendCall<'a> {
    SendCall {
        name: Some(name),
        data: Data::Bytes(data),
        control: Target::Bytes(control),
        control_len: 0,
        flags: 0,
    }
}

/// Args for a request, as bytes.
fn request_args() -> [u8; 24] {
    send_args_bytes(&SendmsgArgs::default())
}

/// Makes sure that nothing has arrived at a server.
fn nothing_arrived(server: &Endpoint) -> Result<(), Failure> {
    let got = server.try_recv();
    ensure_eq!(got.result, Err(Errno::EAGAIN), "receiving afterwards");
    Ok(())
}

fn returns(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let mut ids = HashSet::new();
    for count in 0..10 {
        let mut args = SendmsgArgs {
            completion_cookie: count,
            ..SendmsgArgs::default()
        };
        let result = client.send_with(dest, b"request", &mut args, 0);
        ensure_eq!(result, Ok(0), "result");
        ensure!(
            args.id != 0 && args.id % 2 == 0,
            "{} is no id of a client",
            args.id
        );
        ensure!(ids.insert(args.id), "id {} was given twice", args.id);
        ensure_eq!(
            (args.completion_cookie, args.flags, args.reserved),
            (count, 0, 0),
            "other args afterwards"
        );
    }
    drop(server);
    pass()
}

fn no_destination(family: Family) -> Outcome {
    let client = Endpoint::client(family)?;
    let mut args = request_args();
    let call = SendCall {
        name: None,
        ..good_call(&[], b"x", &mut args)
    };
    let result = sys::sendmsg(client.raw_fd(), call);
    ensure_eq!(result, Err(Errno::EINVAL), "sendmsg without a name");
    ensure_eq!(sys::send(&client, b"x"), Err(Errno::EINVAL), "send");
    pass()
}

fn control_len(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let name = sockaddr(dest);
    for control_len in [1, 16, 24] {
        let mut args = request_args();
        let call = SendCall {
            control_len,
            ..good_call(&name, b"x", &mut args)
        };
        let result = sys::sendmsg(client.raw_fd(), call);
        ensure_eq!(result, Err(Errno::EINVAL), "control length {control_len}");
    }
    nothing_arrived(&server)?;
    pass()
}

fn unreadable_args(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let name = sockaddr(dest);
    let hidden = Pages::inaccessible()?;
    for control in [Target::Null, Target::Pages(&hidden)] {
        let what = format!("args at {control:?}");
        let call = SendCall {
            control,
            ..good_call(&name, b"x", &mut [])
        };
        let result = sys::sendmsg(client.raw_fd(), call);
        ensure_eq!(result, Err(Errno::EFAULT), "{what}");
    }
    nothing_arrived(&server)?;
    pass()
}

fn unwritable_args(family: Family) -> Outcome {
    let (_server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let name = sockaddr(dest);
    let read_only = Pages::read_only(&request_args())?;
    let call = SendCall {
        control: Target::Pages(&read_only),
        ..good_call(&name, b"x", &mut [])
    };
    let result = sys::sendmsg(client.raw_fd(), call);
    ensure_eq!(result, Err(Errno::EFAULT), "args that can't be written to");
    ensure_eq!(
        client.try_recv().result,
        Err(Errno::EAGAIN),
        "the client afterwards"
    );
    pass()
}

fn flags(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    for (flags, reserved) in [(2, 0), (3, 0), (0x8000_0000, 0), (0, 1), (0, u32::MAX)] {
        let mut args = SendmsgArgs {
            flags,
            reserved,
            ..SendmsgArgs::default()
        };
        let result = client.send_with(dest, b"x", &mut args, 0);
        let what = format!("flags {flags:#x}, reserved {reserved:#x}");
        ensure_eq!(result, Err(Errno::EINVAL), "{what}");
        ensure_eq!(args.id, 0, "id with {what}");
    }
    nothing_arrived(&server)?;
    pass()
}

fn bad_destination(family: Family) -> Outcome {
    let client = Endpoint::client(family)?;
    for wrong in FAMILIES {
        if wrong != family {
            let mut name = sockaddr(loopback(wrong, new_port()));
            name.resize(28, 0);
            let mut args = request_args();
            let result = sys::sendmsg(client.raw_fd(), good_call(&name, b"x", &mut args));
            ensure_eq!(result, Err(Errno::EAFNOSUPPORT), "wrong family");
        }
    }
    let name = sockaddr(loopback(family, new_port()));
    for len in [4, 8, 12] {
        let mut args = request_args();
        let result = sys::sendmsg(client.raw_fd(), good_call(&name[..len], b"x", &mut args));
        ensure_eq!(result, Err(Errno::EINVAL), "destination of {len} bytes");
    }
    pass()
}

fn bad_length(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let long = vec![1; HOMA_MAX_MESSAGE_LENGTH + 1];
    for bytes in [&[][..], &long] {
        let mut args = SendmsgArgs::default();
        let result = client.send_with(dest, bytes, &mut args, 0);
        ensure_eq!(result, Err(Errno::EINVAL), "{} bytes", bytes.len());
        ensure_eq!(args.id, 0, "id of a refused request");
    }
    nothing_arrived(&server)?;
    ensure_eq!(
        client.try_recv().result,
        Err(Errno::EAGAIN),
        "the client afterwards"
    );
    pass()
}

fn extreme_lengths(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let mut long = Vec::new();
    crate::pattern::append(&mut long, 1, 0, HOMA_MAX_MESSAGE_LENGTH);
    for bytes in [&b"x"[..], &long] {
        let (_, got) = deliver(&client, &server, dest, bytes, 0)?;
        let give_back = got.to_return();
        ensure_eq!(
            server.recv_with(&give_back, libc::MSG_DONTWAIT).result,
            Err(Errno::EAGAIN),
            "giving the message back"
        );
    }
    pass()
}

fn unreadable_data(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let name = sockaddr(dest);
    let hidden = Pages::inaccessible()?;
    let mut args = request_args();
    let call = SendCall {
        data: Data::Pages(&hidden, 100),
        ..good_call(&name, &[], &mut args)
    };
    let result = sys::sendmsg(client.raw_fd(), call);
    ensure_eq!(result, Err(Errno::EFAULT), "data that can't be read");
    nothing_arrived(&server)?;
    ensure_eq!(
        client.try_recv().result,
        Err(Errno::EAGAIN),
        "the client afterwards"
    );
    pass()
}

fn no_route(family: Family) -> Outcome {
    // Documentation addresses, which no host has a route of its own to.
    let far: SocketAddr = match family {
        Family::V4 => "192.0.2.1:4000".parse(),
        Family::V6 => "[2001:db8::1]:4000".parse(),
    }
    .map_err(|_| Failure::new("an address of the test is wrong"))?;
    let client = crate::netns::inside_new(|| Endpoint::client(family))?;
    let mut args = SendmsgArgs::default();
    let result = client.send_with(far, b"x", &mut args, 0);
    ensure!(
        matches!(
            result,
            // IPv6 misses a source address before it misses the route.
            Err(Errno::ENETUNREACH | Errno::EHOSTUNREACH | Errno::EADDRNOTAVAIL)
        ),
        "sending without a route gave {result:?}"
    );
    ensure_eq!(
        client.try_recv().result,
        Err(Errno::EAGAIN),
        "the client afterwards"
    );
    pass()
}

/// Sends until there is no memory for more; returns the number of requests.
pub(super) fn fill(client: &Endpoint, dest: SocketAddr) -> Result<usize, Failure> {
    let mut bytes = 200_000_i32.to_ne_bytes();
    let value = Target::Bytes(&mut bytes);
    sys::setsockopt(client, libc::SOL_SOCKET, libc::SO_SNDBUF, value, 4)?;
    for count in 0..1_000 {
        let mut args = SendmsgArgs::default();
        match client.send_with(dest, &LARGE, &mut args, libc::MSG_DONTWAIT) {
            Ok(_) => {}
            Err(Errno::EAGAIN) => {
                ensure_eq!(args.id, 0, "id of a request that did not fit");
                ensure!(count > 0, "not even one request fitted");
                return Ok(count);
            }
            Err(errno) => return Err(Failure::new(format!("request {count} gave {errno}"))),
        }
    }
    Err(Failure::new("1,000 requests of 50,000 bytes fitted"))
}

fn memory_limit(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    let count = fill(&client, dest)?;
    // Answering them frees the memory.
    for _ in 0..count {
        let got = server.recv()?;
        ensure_eq!(got.result, Ok(50_000), "receiving a request");
        let Some(peer) = got.name else {
            return Err(Failure::new("a request came without an address"));
        };
        server.release(&got)?;
        ensure_eq!(server.reply(peer, got.args.id, b"r"), Ok(0), "replying");
        let got = client.recv()?;
        ensure_eq!(got.result, Ok(1), "receiving a response");
    }
    let mut args = SendmsgArgs::default();
    let start = std::time::Instant::now();
    loop {
        // Memory may be returned a moment after the response.
        match client.send_with(dest, &LARGE, &mut args, libc::MSG_DONTWAIT) {
            Err(Errno::EAGAIN) if start.elapsed() < crate::endpoint::SOON => {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            result => {
                ensure_eq!(result, Ok(0), "sending after the RPCs have ended");
                break;
            }
        }
    }
    pass()
}

fn after_shutdown(family: Family) -> Outcome {
    let (server, dest) = Endpoint::server(family)?;
    let client = Endpoint::client(family)?;
    client.shutdown()?;
    let mut args = SendmsgArgs::default();
    let result = client.send_with(dest, b"x", &mut args, 0);
    ensure_eq!(result, Err(Errno::ESHUTDOWN), "sending after shutdown");
    nothing_arrived(&server)?;
    pass()
}
