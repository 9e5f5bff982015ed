// SPDX-License-Identifier: GPL-2.0

//! `recvmsg(2)`.

use core::mem::size_of;

use homa_proto::key;
use homa_proto::key::RpcKey;
use homa_proto::rpc::RpcError;
use homa_proto::wire::AckEntry;
use homa_proto::wire::Packet;
use kernel::prelude::*;
use kernel::sync::Arc;
use net::errno::ESHUTDOWN;
use net::uapi;
use net::uapi::RecvmsgArgs;
use net::wait;
use net::wait::Direction;
use net::Endpoint;
use net::Msg;
use net::SkbQueue;
use net::Sock;

use crate::buffers::BufferLease;
use crate::buffers::Buffers;
use crate::errno;
use crate::input;
use crate::input::Outcome;
use crate::output;
use crate::output::Work;
use crate::peers::Peer;
use crate::rpc::Rpc;
use crate::Homa;

/// `recvmsg(2)`: takes back buffers, then waits for a message. Returns its length.
pub(crate) fn receive(sock: &Sock<Homa>, msg: &mut Msg, nonblocking: bool) -> Result<usize> {
    let control = msg.control::<RecvmsgArgs>().ok_or(EINVAL)?;
    if control.is_null() || msg.control_len() != size_of::<RecvmsgArgs>() {
        return Err(EINVAL);
    }
    let mut args = control.read()?;
    let result = receive_args(sock, msg, &mut args, nonblocking);
    if let Err(error) = control.write(&args) {
        // The caller doesn't know which buffers it has: they are ours again.
        if result.is_ok() {
            give_back(sock, &args)?;
        }
        return Err(error);
    }
    result
}

fn give_back(sock: &Sock<Homa>, args: &RecvmsgArgs) -> Result {
    let count = usize::try_from(args.num_bpages).map_err(|_| EINVAL)?;
    sock.buffers
        .release(args.bpage_offsets.get(..count).ok_or(EINVAL)?)?;
    serve_waiters(sock);
    Ok(())
}

fn receive_args(
    sock: &Sock<Homa>,
    msg: &mut Msg,
    args: &mut RecvmsgArgs,
    nonblocking: bool,
) -> Result<usize> {
    let checked = if args.num_bpages > uapi::HOMA_MAX_BPAGES || args.reserved != 0 {
        Err(EINVAL)
    } else {
        give_back(sock, args)
    };
    args.num_bpages = 0;
    checked?;
    if args.id != 0 {
        // A message that anybody may receive can't be waited for by id.
        let key = RpcKey::client(args.id);
        if key::is_client(args.id) && sock.shard(&key)?.lock().get(&key).is_some() {
            args.id = 0;
        }
        return Err(EINVAL);
    }
    let arrival = wait::wait_for(sock, Direction::Receive, nonblocking, || {
        if sock.is_closed() {
            Some(None)
        } else {
            next_arrival(sock).map(Some)
        }
    })?;
    arrival.ok_or(ESHUTDOWN)?.deliver(sock, msg, args)
}

/// Gives memory to the RPCs that wait for it, as far as there is some.
#[inline(never)] // Rare, and its stack is not.
fn serve_waiters(sock: &Sock<Homa>) {
    while let Some((key, lease)) = Buffers::next_waiter(&sock.buffers) {
        let Ok(shard) = sock.shard(&key) else {
            return;
        };
        let now = net::time::now();
        let mut unused = Some(lease);
        let work = {
            let mut table = shard.lock();
            if let Some(rpc) = table.get_mut(&key) {
                rpc.buffers = unused.take();
                rpc.waiting = false;
                rpc.machine.buffers_granted(now, &sock.namespace().config);
            }
            Work::collect(sock, &mut table, &key, now)
        };
        drop(unused);
        work.run(sock, &key);
    }
}

/// What a reader gets: a message or an error, taken out of its RPC.
struct Arrival {
    key: RpcKey,
    remote: Endpoint,
    peer: Arc<Peer>,
    cookie: u64,
    body: Result<Message>,
    /// Client: the whole RPC, which is over.
    dead: Option<KBox<Rpc>>,
}

/// A complete incoming message.
struct Message {
    length: u32,
    packets: SkbQueue,
    buffers: BufferLease,
}

/// Takes the next message or error out of the socket.
fn next_arrival(sock: &Sock<Homa>) -> Option<Arrival> {
    loop {
        let key = sock.next_ready()?;
        let shard = sock.shard(&key).ok()?;
        let mut table = shard.lock();
        let Some(rpc) = table.get_mut(&key) else {
            continue;
        };
        rpc.queued = false;
        if rpc.ended {
            let dead = sock.remove(&mut table, &key);
            drop(table);
            drop(dead);
            continue;
        }
        let body = take_body(rpc);
        let (remote, peer, cookie) = (rpc.remote, rpc.peer.clone(), rpc.cookie);
        let is_client = rpc.machine.is_client();
        let dead = if is_client {
            sock.remove(&mut table, &key)
        } else {
            rpc.machine.delivered();
            let deadline = rpc.machine.deadline();
            table.set_deadline(&key, deadline);
            None
        };
        return Some(Arrival {
            key,
            remote,
            peer,
            cookie,
            body,
            dead,
        });
    }
}

fn take_body(rpc: &mut Rpc) -> Result<Message> {
    if let Some(error) = rpc.failed {
        return Err(errno::of_rpc(error));
    }
    let length = rpc.machine.rx().map(homa_proto::rx::Rx::length);
    Ok(Message {
        length: length.ok_or(EINVAL)?,
        packets: core::mem::take(&mut rpc.packets),
        buffers: rpc.buffers.take().ok_or(EINVAL)?,
    })
}

impl Arrival {
    /// Copies the message to its place and tells the caller about it.
    fn deliver(
        mut self,
        sock: &Sock<Homa>,
        msg: &mut Msg,
        args: &mut RecvmsgArgs,
    ) -> Result<usize> {
        drop(self.dead.take());
        args.id = self.key.id;
        args.completion_cookie = self.cookie;
        let is_client = key::is_client(self.key.id);
        let message = core::mem::replace(&mut self.body, Err(EINVAL));
        if message.is_err() {
            self.name_peer(sock, args);
        }
        match message?.copy_out(sock, args) {
            Ok(length) => {
                msg.set_name(&self.remote, sock.is_ipv6());
                if is_client {
                    self.acknowledge(sock);
                }
                Ok(length)
            }
            Err(error) => {
                if is_client {
                    self.acknowledge(sock);
                } else {
                    self.end(sock);
                }
                Err(error)
            }
        }
    }

    /// Tells the caller which host an RPC that failed was with. The socket layer copies `msg_name`
    /// only of calls that succeed, so the address stands where the offsets of a message would.
    fn name_peer(&self, sock: &Sock<Homa>, args: &mut RecvmsgArgs) {
        let (address, _) = self.remote.to_sockaddr(sock.is_ipv6());
        for (to, from) in args.bpage_offsets.iter_mut().zip(address.chunks_exact(4)) {
            if let Some(bytes) = from.first_chunk() {
                *to = u32::from_ne_bytes(*bytes);
            }
        }
    }

    /// Client: has the server forget the RPC, soon.
    fn acknowledge(&self, sock: &Sock<Homa>) {
        let entry = AckEntry {
            client_id: self.key.id,
            server_port: self.remote.port,
        };
        let full = self.peer.state().queue_ack(entry);
        if let Some(acks) = full {
            // The server asks for what gets lost.
            let ack = Packet::Ack(acks);
            let _lost = output::send_control(sock, &self.peer, &self.remote, self.key.id, &ack);
        }
    }

    /// Server: forgets an RPC whose request can't be delivered.
    fn end(&self, sock: &Sock<Homa>) {
        let Ok(shard) = sock.shard(&self.key) else {
            return;
        };
        let outcome = {
            let mut table = shard.lock();
            let rpc = table.get_mut(&self.key);
            match rpc.and_then(|rpc| rpc.machine.fail(RpcError::Fault)) {
                Some(event) => input::apply(sock, &mut table, &self.key, event),
                None => Outcome::default(),
            }
        };
        outcome.run(sock);
    }
}

impl Message {
    /// Copies the message to its buffers, which then are the caller's. Returns its length.
    fn copy_out(mut self, sock: &Sock<Homa>, args: &mut RecvmsgArgs) -> Result<usize> {
        let region = sock.buffers.region().ok_or(EFAULT)?;
        while let Some(skb) = self.packets.pop() {
            self.buffers.copy_packet(&region, &skb)?;
            skb.consume();
        }
        args.num_bpages = self.buffers.hand_over(&mut args.bpage_offsets);
        Ok(self.length as usize)
    }
}
