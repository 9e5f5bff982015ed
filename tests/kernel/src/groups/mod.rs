// SPDX-License-Identifier: GPL-2.0
//! The groups of tests.

mod abi;
mod loss;
mod sizes;

use crate::check::Failure;
use crate::tap::Test;
use clap::ValueEnum;
use homa::Family;
use homa::Socket;
use std::net::IpAddr;
use std::time::Duration;

/// A group of tests that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Group {
    /// The system calls: arguments, results and errors. Needs only loopback.
    Abi,
    /// Messages of all sizes, both ways, to the servers given.
    Sizes,
    /// Fewer messages, over a network that loses packets.
    Loss,
}

impl Group {
    /// What the group is for, in one line.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Abi => "the system calls: arguments, results, errors (loopback only)",
            Self::Sizes => "messages of all sizes, both ways, to --server-addr",
            Self::Loss => "messages over a network that loses packets, to --server-addr",
        }
    }

    /// The group's tests.
    pub(crate) fn tests(self, setup: &Setup) -> Vec<Test> {
        match self {
            Self::Abi => abi::tests(setup),
            Self::Sizes => sizes::tests(setup),
            Self::Loss => loss::tests(setup),
        }
    }
}

/// What the tests have to work with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setup {
    /// Addresses of the server, each of which is tested.
    pub(crate) servers: Vec<IpAddr>,
    /// Port of the server's IPv4 socket.
    pub(crate) port: u16,
    /// Port of the server's IPv6 socket.
    pub(crate) port6: u16,
    /// Namespace in which clients open their sockets.
    pub(crate) client_netns: Option<String>,
    /// An address that nothing answers at.
    pub(crate) dead: Option<IpAddr>,
    /// The MTU whose packet boundaries are tested; without, all common ones.
    pub(crate) mtu: Option<usize>,
    /// All sizes from 1 byte to this one are tested.
    pub(crate) small: usize,
    /// Whether some of the tests are left out.
    pub(crate) brief: bool,
    /// Time for each test that moves messages.
    pub(crate) deadline: Duration,
    /// Seed of all messages.
    pub(crate) seed: u64,
}

/// Opens a client's socket.
pub(crate) fn open_client(family: Family) -> Result<Socket, Failure> {
    let socket = Socket::new(family)?;
    socket.set_recv_region(homa::DEFAULT_REGION_LEN.max(homa::min_region_len()))?;
    Ok(socket)
}
