// SPDX-License-Identifier: GPL-2.0

//! A deterministic simulator of many hosts that run the Homa protocol engine.
//!
//! Virtual time, one thread, and all chance from one seed: a seed means the same
//! run on every machine, bit for bit. Real packet bytes travel over the
//! simulated links, payload included, and every byte of every message is
//! checked where it arrives.
//!
//! # The parts
//!
//! | module | what it is |
//! |---|---|
//! | [`scenario`] | the parameters of a run, drawn from a seed |
//! | [`world`] | all hosts, the network and the applications: the event loop |
//! | [`host`] | the engine's parts put together as the kernel module does it |
//! | [`network`] | delay, jitter, loss, duplication, damage, rates and queues |
//! | [`app`] | what clients ask for |
//! | [`content`] | the bytes of messages |
//! | [`ledger`] | the book of all calls |
//! | [`audit`], [`region`] | second accounts of bytes and memory |
//! | [`trace`], [`report`] | what happened: text, digest, numbers |
//! | [`clock`], [`rng`] | virtual time and chance |
//! | [`script`] | small worlds in which a test tells each step |
//! | [`runner`] | runs a scenario, says how to run it again |
//!
//! # What is checked
//!
//! At every step:
//!
//! * a payload is kept exactly if it brings bytes that were not there; the
//!   engine's count of received bytes is right;
//! * new bytes are sent in order, within the grant, cut at the end of the
//!   unscheduled bytes; what is sent again never crosses the end of a segment;
//! * a RESEND asks only for what is missing, a GRANT only for the window;
//! * every packet parses to what was emitted;
//! * receive buffers do not overlap;
//! * whatever an RPC waits for, a timer or the application will end it; no timer
//!   is due again at once;
//! * a call ends once, within 30 s.
//!
//! At the end: no RPC, no receive buffer and no memory is left, and nothing
//! failed but what may.
//!
//! A function that can find that something does not hold returns a
//! [`violation::Violation`].

#![expect(
    clippy::missing_errors_doc,
    reason = "an error means everywhere that an invariant does not hold"
)]
#![expect(
    clippy::missing_panics_doc,
    reason = "a panic is a failed run like any other, reported by the runner"
)]

pub mod app;
pub mod audit;
pub mod clock;
pub mod content;
pub mod host;
pub mod ledger;
pub mod network;
pub mod region;
pub mod report;
pub mod rng;
pub mod runner;
pub mod scenario;
pub mod script;
pub mod trace;
pub mod violation;
pub mod world;
