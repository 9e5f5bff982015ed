// SPDX-License-Identifier: GPL-2.0

//! Safe abstractions of the kernel's networking for a transport protocol: what Rust-for-Linux's
//! `kernel` crate does not have (yet).
//!
//! # Vocabulary
//!
//! * [`Protocol`]: what a transport protocol implements: its state per namespace and per socket,
//!   and what happens at each system call, packet and timer.
//! * [`Sock`]: a socket, borrowed; [`SockRef`]: a counted reference to one.
//! * [`Skb`]: a packet, owned; [`SkbQueue`]: a list of them.
//! * [`Route`]: a cached route to a peer, and the way to send packets along it.
//! * [`BhSpinLock`]: a spinlock that may be taken in softirq and process context.
//! * [`Pages`]: the bytes of an outgoing message, shared with the packets that carry them.
//! * [`Msg`], [`UserPtr`], [`UserRegion`]: memory of the calling process.
//!
//! # Contexts
//!
//! Packet input and timers run in softirq context, system calls in process context. What may sleep
//! says so. Everything else works in both.

#![no_std]
#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]
#![deny(clippy::undocumented_unsafe_blocks)]

pub mod addr;
#[doc(hidden)]
pub mod callbacks;
pub mod errno;
pub mod lock;
pub mod msg;
pub mod pages;
pub mod protocol;
pub mod rcu;
pub mod route;
pub mod skb;
pub mod sock;
pub mod sock_table;
pub mod time;
pub mod uapi;
pub mod user;
pub mod wait;

#[doc(hidden)]
pub use bindings;

pub use self::addr::Address;
pub use self::addr::Endpoint;
pub use self::lock::BhGuard;
pub use self::lock::BhSpinLock;
pub use self::lock::LockClass;
pub use self::msg::Msg;
pub use self::msg::OptionValue;
pub use self::pages::Pages;
pub use self::protocol::Protocol;
pub use self::protocol::Registration;
pub use self::rcu::RcuGuard;
pub use self::route::Route;
pub use self::skb::Skb;
pub use self::skb::SkbQueue;
pub use self::sock::Sock;
pub use self::sock::SockRef;
pub use self::sock_table::SockTable;
pub use self::user::UserPtr;
pub use self::user::UserRegion;
