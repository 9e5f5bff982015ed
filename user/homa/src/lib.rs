// SPDX-License-Identifier: MIT OR GPL-2.0
//! Sockets of the Homa transport protocol on Linux.
//!
//! Homa carries *remote procedure calls*: a client sends a request message, the
//! server that receives it sends one response message back. A message has 1 to
//! 1,000,000 bytes and arrives whole. There are no connections: one [`Socket`]
//! talks to any number of peers, with any number of RPCs under way at once, and
//! may be shared by any number of threads. RPCs are not ordered among
//! themselves.
//!
//! The kernel needs the `homa` module. Incoming messages are placed by the
//! kernel in a *receive region*, memory that the application shares with it, and
//! are read there without a further copy. A received [`Message`] borrows its
//! part of the region and gives it back when it is dropped.
//!
//! # Examples
//!
//! A server that answers each request with its own bytes:
//!
//! ```no_run
//! use homa::{Family, Socket};
//!
//! # fn main() -> Result<(), homa::Error> {
//! let socket = Socket::new(Family::V4)?;
//! socket.bind(4000)?;
//! socket.set_recv_region(homa::DEFAULT_REGION_LEN)?;
//! loop {
//!     let request = socket.recv()?;
//!     socket.send_reply_vectored(request.reply_to(), &request.io_slices())?;
//! }
//! # }
//! ```
//!
//! A client that calls it:
//!
//! ```no_run
//! use homa::{Family, Socket};
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), homa::Error> {
//! let socket = Socket::new(Family::V4)?;
//! socket.set_recv_region(homa::DEFAULT_REGION_LEN)?;
//!
//! let server = "10.0.0.2:4000".parse().unwrap();
//! let id = socket.send_request(server, b"hello", 0)?;
//! let response = socket.recv_timeout(Duration::from_secs(1))?;
//! assert_eq!(response.id(), id);
//! assert_eq!(response.to_vec(), b"hello");
//! # Ok(())
//! # }
//! ```
//!
//! # Layers
//!
//! [`abi`] holds the kernel's structs and constants as plain data; the private
//! module `sys` makes the system calls and is the only place with `unsafe`;
//! everything else is safe code over those two.

#![deny(missing_docs)]
#![deny(unsafe_code)]

pub mod abi;
mod addr;
mod error;
mod message;
mod region;
mod socket;
mod sys;

pub use error::Error;
pub use error::Result;
pub use error::RpcError;
pub use error::RpcFailure;
pub use message::Chunks;
pub use message::Message;
pub use message::ReplyTo;
pub use message::RpcId;
pub use region::min_region_len;
pub use region::DEFAULT_REGION_LEN;
pub use socket::Family;
pub use socket::Socket;
