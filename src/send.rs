// SPDX-License-Identifier: GPL-2.0

//! `sendmsg(2)`.

use homa_proto::key;
use homa_proto::key::RpcKey;
use homa_proto::rpc::Rpc as Machine;
use homa_proto::rpc::State;
use kernel::prelude::*;
use kernel::sync::Arc;
use net::errno::ENETUNREACH;
use net::errno::EOPNOTSUPP;
use net::errno::ESHUTDOWN;
use net::uapi;
use net::uapi::SendmsgArgs;
use net::wait;
use net::wait::Direction;
use net::Address;
use net::Endpoint;
use net::Msg;
use net::Pages;
use net::Sock;
use net::UserPtr;

use crate::errno;
use crate::input::peer_key;
use crate::output;
use crate::output::Work;
use crate::peers::PeerId;
use crate::rpc::Outgoing;
use crate::rpc::Rpc;
use crate::socket;
use crate::Homa;

/// `sendmsg(2)`: sends a request or a response. Returns 0, whatever the length.
pub(crate) fn send(sock: &Sock<Homa>, msg: &mut Msg) -> Result<usize> {
    if !msg.has_name() {
        return Err(EINVAL);
    }
    let control = msg.control::<SendmsgArgs>().ok_or(EINVAL)?;
    let args = control.read()?;
    if args.flags & !uapi::HOMA_SENDMSG_VALID_FLAGS != 0 || args.reserved != 0 {
        return Err(EINVAL);
    }
    wait_for_memory(sock, msg.is_nonblocking())?;
    let remote = msg.name(sock.is_ipv6())?;
    if args.id == 0 {
        send_request(sock, msg, &remote, &control, args)?;
    } else {
        send_response(sock, msg, &remote, &args)?;
    }
    Ok(0)
}

/// Waits until outgoing messages hold less memory than the socket may use.
fn wait_for_memory(sock: &Sock<Homa>, nonblocking: bool) -> Result {
    wait::wait_for(sock, Direction::Send, nonblocking, || {
        if sock.is_closed() {
            Some(Err(ESHUTDOWN.into()))
        } else if socket::has_send_memory(sock) {
            Some(Ok(()))
        } else {
            None
        }
    })?
}

/// Copies the message in. `EINVAL` if its length is not allowed.
fn copy_message(sock: &Sock<Homa>, msg: &mut Msg) -> Result<(Arc<Outgoing>, u32)> {
    let length = u32::try_from(msg.len()).map_err(|_| EINVAL)?;
    if length == 0 || length > uapi::HOMA_MAX_MESSAGE_LENGTH {
        return Err(EINVAL);
    }
    let pages = Pages::from_msg(msg)?;
    Ok((Outgoing::new(sock.to_ref(), pages)?, length))
}

fn send_request(
    sock: &Sock<Homa>,
    msg: &mut Msg,
    remote: &Endpoint,
    control: &UserPtr<SendmsgArgs>,
    mut args: SendmsgArgs,
) -> Result {
    if args.flags & uapi::HOMA_SENDMSG_PRIVATE != 0 {
        return Err(EOPNOTSUPP.into());
    }
    if remote.address.v4().is_some() && sock.is_ipv6() && sock.is_v6only() {
        return Err(ENETUNREACH.into());
    }
    let namespace = sock.namespace();
    let peer = namespace.peers.get(
        sock,
        &PeerId {
            remote: remote.address,
            local: Address::UNSPECIFIED,
            interface: remote.interface,
        },
    )?;
    let (outgoing, length) = copy_message(sock, msg)?;
    let message = Rpc::message(&peer, length, namespace.config.unsched_bytes);
    let id = namespace.next_id();
    let machine = Machine::client(id, message, net::time::now(), &namespace.config);
    let rpc = Rpc::client(machine, peer, *remote, args.completion_cookie, outgoing)?;

    // Before anything is sent: a caller that can't be told the id must be able to try again.
    args.id = id;
    control.write(&args)?;
    let key = RpcKey::client(id);
    if let Err(error) = sock.insert(&key, rpc, GFP_KERNEL) {
        args.id = 0;
        control.write(&args)?;
        return Err(error);
    }
    output::push(sock, &key);
    Ok(())
}

fn send_response(
    sock: &Sock<Homa>,
    msg: &mut Msg,
    remote: &Endpoint,
    args: &SendmsgArgs,
) -> Result {
    if args.completion_cookie != 0 {
        return Err(EINVAL);
    }
    // Neither an RPC of which we are the client, nor one whose client has gone away, is there to be
    // answered; the caller can't know the latter, so it is no error.
    if key::is_client(args.id) {
        return Ok(());
    }
    let key = RpcKey::new(peer_key(&remote.address), args.id);
    let shard = sock.shard(&key)?;
    let peer = {
        let table = shard.lock();
        let Some(rpc) = table.get(&key) else {
            return Ok(());
        };
        if rpc.machine.state() != State::InService {
            return Err(EINVAL);
        }
        rpc.peer.clone()
    };
    let (outgoing, length) = copy_message(sock, msg)?;
    let config = &sock.namespace().config;
    let message = Rpc::message(&peer, length, config.unsched_bytes);
    let now = net::time::now();
    let work = {
        let mut table = shard.lock();
        let Some(rpc) = table.get_mut(&key) else {
            return Ok(());
        };
        rpc.machine
            .reply(message, now, config)
            .map_err(errno::of_reply)?;
        rpc.outgoing = Some(outgoing);
        Work::collect(sock, &mut table, &key, now)
    };
    work.run(sock, &key);
    Ok(())
}
