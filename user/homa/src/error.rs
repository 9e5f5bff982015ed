// SPDX-License-Identifier: MIT OR GPL-2.0
//! What can go wrong, with the peer and the RPC where they are known.

use crate::abi::HOMA_MAX_MESSAGE_LENGTH;
use crate::message::RpcId;
use std::fmt;
use std::io;
use std::net::SocketAddr;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation on a socket failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The socket is non-blocking, and nothing is there to be received, or there
    /// is no room for more outgoing messages.
    WouldBlock,
    /// Nothing arrived within the time given.
    TimedOut,
    /// A signal arrived before the operation could complete.
    Interrupted,
    /// The socket was shut down.
    Shutdown,
    /// A message to be sent has this length, which is not 1 to
    /// [`HOMA_MAX_MESSAGE_LENGTH`] bytes.
    MessageLength(usize),
    /// The socket can't receive before [`Socket::set_recv_region`] was called.
    ///
    /// [`Socket::set_recv_region`]: crate::Socket::set_recv_region
    NoRecvRegion,
    /// One RPC failed. The socket and its other RPCs are not affected.
    Rpc(RpcError),
    /// A system call failed for another reason.
    System {
        /// What was tried, in a few words.
        what: &'static str,
        /// The other party, if the operation had one.
        peer: Option<SocketAddr>,
        /// The system's error.
        source: io::Error,
    },
}

/// The failure of one RPC, which [`Socket::recv`] reports to the client.
///
/// [`Socket::recv`]: crate::Socket::recv
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    /// Id that [`Socket::send_request`] returned.
    ///
    /// [`Socket::send_request`]: crate::Socket::send_request
    pub id: RpcId,
    /// Cookie that the request was sent with.
    pub cookie: u64,
    /// The server, if the kernel tells it.
    pub peer: Option<SocketAddr>,
    /// What happened.
    pub failure: RpcFailure,
}

/// Why an RPC failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RpcFailure {
    /// The server's host stopped answering.
    TimedOut,
    /// No server has the port there.
    PortUnreachable,
    /// The server's host can't be reached.
    HostUnreachable,
    /// The server's host does not speak Homa.
    ProtocolUnsupported,
    /// The response could not be written to the receive region.
    Fault,
    /// Another errno, for instance the one that the application aborted with.
    Errno(i32),
}

impl RpcFailure {
    /// The failure that `errno` stands for.
    #[must_use]
    pub fn from_errno(errno: i32) -> Self {
        match errno {
            libc::ETIMEDOUT => Self::TimedOut,
            libc::ENOTCONN => Self::PortUnreachable,
            libc::EHOSTUNREACH => Self::HostUnreachable,
            libc::EPROTONOSUPPORT => Self::ProtocolUnsupported,
            libc::EFAULT => Self::Fault,
            other => Self::Errno(other),
        }
    }

    /// The errno that stands for this failure.
    #[must_use]
    pub fn errno(self) -> i32 {
        match self {
            Self::TimedOut => libc::ETIMEDOUT,
            Self::PortUnreachable => libc::ENOTCONN,
            Self::HostUnreachable => libc::EHOSTUNREACH,
            Self::ProtocolUnsupported => libc::EPROTONOSUPPORT,
            Self::Fault => libc::EFAULT,
            Self::Errno(errno) => errno,
        }
    }
}

impl Error {
    /// The error that `source` means for any socket, or else a failed `what`.
    pub(crate) fn from_system(
        what: &'static str,
        peer: Option<SocketAddr>,
        source: io::Error,
    ) -> Self {
        match source.raw_os_error() {
            Some(libc::EAGAIN) => Self::WouldBlock,
            Some(libc::EINTR) => Self::Interrupted,
            Some(libc::ESHUTDOWN) => Self::Shutdown,
            _ => Self::System { what, peer, source },
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WouldBlock => f.write_str("the operation would have to wait"),
            Self::TimedOut => f.write_str("no message arrived in time"),
            Self::Interrupted => f.write_str("a signal interrupted the operation"),
            Self::Shutdown => f.write_str("the socket was shut down"),
            Self::MessageLength(len) => write!(
                f,
                "a message of {len} bytes can't be sent: 1 to {HOMA_MAX_MESSAGE_LENGTH} are possible"
            ),
            Self::NoRecvRegion => {
                f.write_str("the socket has no receive region: call set_recv_region first")
            }
            Self::Rpc(error) => error.fmt(f),
            Self::System {
                what,
                peer: Some(peer),
                source,
            } => write!(f, "could not {what} {peer}: {source}"),
            Self::System {
                what,
                peer: None,
                source,
            } => write!(f, "could not {what}: {source}"),
        }
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RPC {}", self.id)?;
        if let Some(peer) = self.peer {
            write!(f, " to {peer}")?;
        }
        write!(f, " failed: {}", self.failure)
    }
}

impl fmt::Display for RpcFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("the host stopped answering"),
            Self::PortUnreachable => f.write_str("no server has that port"),
            Self::HostUnreachable => f.write_str("the host can't be reached"),
            Self::ProtocolUnsupported => f.write_str("the host does not speak Homa"),
            Self::Fault => f.write_str("the receive region could not be written to"),
            Self::Errno(errno) => io::Error::from_raw_os_error(*errno).fmt(f),
        }
    }
}

impl std::error::Error for RpcError {}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::System { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let errno = match error {
            Error::WouldBlock => libc::EAGAIN,
            Error::TimedOut => return Self::new(io::ErrorKind::TimedOut, error),
            Error::Interrupted => libc::EINTR,
            Error::Shutdown => libc::ESHUTDOWN,
            Error::MessageLength(_) | Error::NoRecvRegion => {
                return Self::new(io::ErrorKind::InvalidInput, error)
            }
            Error::Rpc(ref rpc) => {
                let kind = Self::from_raw_os_error(rpc.failure.errno()).kind();
                return Self::new(kind, error);
            }
            Error::System { source, .. } => return source,
        };
        Self::from_raw_os_error(errno)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_and_errnos_correspond() {
        for errno in 1..134 {
            assert_eq!(RpcFailure::from_errno(errno).errno(), errno);
        }
    }

    #[test]
    fn messages_name_the_peer() {
        let error = Error::Rpc(RpcError {
            id: RpcId::from_raw(12),
            cookie: 0,
            peer: Some("10.0.0.2:99".parse().unwrap()),
            failure: RpcFailure::PortUnreachable,
        });
        assert_eq!(
            error.to_string(),
            "RPC 12 to 10.0.0.2:99 failed: no server has that port"
        );
    }

    #[test]
    fn kinds_survive_conversion_to_io_error() {
        let kind = |error: Error| io::Error::from(error).kind();
        assert_eq!(kind(Error::WouldBlock), io::ErrorKind::WouldBlock);
        assert_eq!(kind(Error::Interrupted), io::ErrorKind::Interrupted);
        assert_eq!(kind(Error::TimedOut), io::ErrorKind::TimedOut);
        assert_eq!(kind(Error::MessageLength(0)), io::ErrorKind::InvalidInput);
    }
}
