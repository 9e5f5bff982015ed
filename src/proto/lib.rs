// SPDX-License-Identifier: GPL-2.0

//! The Homa protocol engine.
//!
//! State machines and nothing else: no I/O, no clock, no locks, no kernel
//! types. Time is a number of nanoseconds that callers pass in, results are
//! returned, never done. The kernel module, the tests and the simulator of
//! many hosts run the same code.
//!
//! # The parts
//!
//! | module | what it is |
//! |---|---|
//! | [`wire`] | packets as bytes and as values |
//! | [`key`] | names of RPCs and peers |
//! | [`tx`] | an outgoing message: which bytes go next |
//! | [`rx`] | an incoming message: which bytes are there, which are missing |
//! | [`rpc`] | an RPC at its client or server, made of those two |
//! | [`peer`] | what is known about another host |
//! | [`pool`] | the memory that an application lends for incoming messages |
//! | [`table`] | finds RPCs by key and by deadline |
//! | [`queue`] | first in, first out, in memory set aside before |
//! | [`config`] | every tunable |
//!
//! # How the parts meet
//!
//! No part refers to another's instances; the caller carries keys and values
//! between them. A packet that arrives goes through [`wire::parse`]; what it
//! acknowledges and its CUTOFFS belong to [`peer`] and [`table`]; then the RPC
//! found in the [`table::Table`] takes it ([`rpc::Rpc::on_packet`]), or, if
//! there is none, [`rpc::on_stray`] says what to do. After each call that may
//! change an RPC (a packet, a timer, the application), the caller polls
//! [`rpc::Rpc::poll_transmit`] until it returns `None` and tells the table the
//! new [`rpc::Rpc::deadline`].
//!
//! # Memory
//!
//! What grows grows by reservation: the caller allocates outside its locks and
//! hands the memory over inside; see [`table::Reservation`]. No call allocates
//! unless it takes allocation flags.

#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#![cfg_attr(
    not(test),
    deny(
        clippy::arithmetic_side_effects,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unreachable,
        clippy::unwrap_used,
    )
)]

#[cfg(test)]
extern crate std;

pub mod config;
pub mod key;
pub mod peer;
pub mod pool;
pub mod queue;
pub mod rpc;
pub mod rx;
pub mod table;
pub mod tx;
pub mod wire;
