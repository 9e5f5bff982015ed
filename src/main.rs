// SPDX-License-Identifier: GPL-2.0

//! Homa: a message-oriented, receiver-driven transport protocol for datacenters.
//!
//! This crate adapts system calls, packets and timers to the protocol engine (`homa_proto`).
//!
//! | module | what it does |
//! |---|---|
//! | [`socket`] | state of a socket: its RPCs, what is ready to be received, opening and closing |
//! | [`namespace`] | state of a network namespace: ports, peers, ids |
//! | [`peers`] | hosts we talk to, with the route to each |
//! | [`rpc`] | an RPC with its packets, pages and buffers |
//! | [`buffers`] | the region that an application lends for incoming messages |
//! | [`input`] | packets that come in |
//! | [`icmp`] | ICMP errors about packets that went out |
//! | [`output`] | packets that go out |
//! | [`send`], [`receive`] | `sendmsg`, `recvmsg` |
//! | [`options`] | socket options |
//! | [`timer`] | what is due |
//! | [`errno`] | the engine's errors as error codes |
//!
//! # Locks
//!
//! Outermost first: the port table and a bucket of peers (`Table`), a shard of a socket's RPCs
//! (`Shard`), then one of the ready queue, the buffer pool, a peer's state or route, the time a
//! timer is due (`Leaf`). All disable softirqs; system calls, packet input and timers take them in
//! the same order. None is held while user memory is copied, a packet is handed to IP, a thread is
//! woken, or large memory is freed.

#![no_std]
#![deny(unsafe_code)]
#![deny(missing_docs)]

mod buffers;
mod errno;
mod icmp;
mod input;
mod namespace;
mod options;
mod output;
mod peers;
mod receive;
mod rpc;
mod send;
mod socket;
mod timer;

use kernel::prelude::*;
use net::protocol::IcmpError;
use net::Endpoint;
use net::Msg;
use net::OptionValue;
use net::Protocol;
use net::RcuGuard;
use net::Skb;
use net::Sock;
use net::UserPtr;

use crate::namespace::Namespace;
use crate::socket::Socket;

module! {
    type: HomaModule,
    name: "homa",
    authors: ["The Homa module developers"],
    description: "Homa transport protocol (IPPROTO_HOMA sockets)",
    license: "GPL",
}

/// The loaded module.
struct HomaModule {
    _registration: net::Registration<Homa>,
}

impl kernel::Module for HomaModule {
    fn init(_module: &'static ThisModule) -> Result<Self> {
        let registration = net::Registration::new()?;
        pr_info!("ready: IP protocol 146, IPv4 and IPv6\n");
        Ok(Self {
            _registration: registration,
        })
    }
}

/// The protocol, as the kernel's networking sees it.
pub(crate) struct Homa;

impl Protocol for Homa {
    type Namespace = Namespace;
    type Socket = Socket;

    fn namespace() -> Result<KBox<Namespace>> {
        Namespace::new()
    }

    fn release_routes(namespace: &Namespace) {
        namespace.peers.close();
    }

    fn socket(_namespace: &Namespace) -> Result<KBox<Socket>> {
        Socket::new()
    }

    fn open(sock: &Sock<Self>) -> Result {
        socket::open(sock)
    }

    fn close(sock: &Sock<Self>) {
        socket::shutdown(sock);
    }

    fn bind(sock: &Sock<Self>, local: &Endpoint) -> Result {
        socket::bind(sock, local)
    }

    fn shutdown(sock: &Sock<Self>, _how: net::protocol::Shutdown) -> Result {
        socket::shutdown(sock);
        Ok(())
    }

    fn set_option(sock: &Sock<Self>, level: i32, name: u32, value: &OptionValue) -> Result {
        options::set(sock, level, name, value)
    }

    fn get_option(
        sock: &Sock<Self>,
        level: i32,
        name: u32,
        value: *mut core::ffi::c_void,
        len: &UserPtr<i32>,
    ) -> Result {
        options::get(sock, level, name, value, len)
    }

    fn send(sock: &Sock<Self>, msg: &mut Msg) -> Result<usize> {
        send::send(sock, msg)
    }

    fn receive_message(sock: &Sock<Self>, msg: &mut Msg, nonblocking: bool) -> Result<usize> {
        receive::receive(sock, msg, nonblocking)
    }

    fn poll(sock: &Sock<Self>) -> u32 {
        socket::poll(sock)
    }

    fn receive(namespace: &Namespace, rcu: &RcuGuard, skb: Skb) {
        input::receive(namespace, rcu, skb);
    }

    fn icmp_error(namespace: &Namespace, rcu: &RcuGuard, error: &IcmpError<'_>) {
        icmp::receive(namespace, rcu, error);
    }

    fn timer(sock: &Sock<Self>) {
        timer::run(sock);
    }
}

net::protocol_callbacks!(Homa);
