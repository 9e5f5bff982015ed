// SPDX-License-Identifier: MIT OR GPL-2.0
//! Sockets.

use crate::abi::RecvmsgArgs;
use crate::abi::SendmsgArgs;
use crate::abi::HOMA_MAX_MESSAGE_LENGTH;
use crate::abi::SO_HOMA_SERVER;
use crate::addr::RawAddr;
use crate::addr::SOCKADDR_IN6_LEN;
use crate::error::Error;
use crate::error::Result;
use crate::error::RpcError;
use crate::error::RpcFailure;
use crate::message::Message;
use crate::message::ReplyTo;
use crate::message::RpcId;
use crate::region::Region;
use crate::region::MAX_REGION_LEN;
use crate::sys;
use crate::sys::Mapping;
use std::io;
use std::io::IoSlice;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::Ipv6Addr;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::fd::AsRawFd;
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::OnceLock;
use std::time::Duration;
use std::time::Instant;

/// The address family of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6, and IPv4 by addresses of the form `::ffff:a.b.c.d`.
    V6,
}

impl Family {
    /// The family that is needed to talk to `addr`.
    #[must_use]
    pub fn of(addr: IpAddr) -> Self {
        match addr {
            IpAddr::V4(_) => Self::V4,
            IpAddr::V6(_) => Self::V6,
        }
    }

    fn domain(self) -> libc::c_int {
        match self {
            Self::V4 => libc::AF_INET,
            Self::V6 => libc::AF_INET6,
        }
    }

    fn unspecified(self) -> IpAddr {
        match self {
            Self::V4 => Ipv4Addr::UNSPECIFIED.into(),
            Self::V6 => Ipv6Addr::UNSPECIFIED.into(),
        }
    }
}

/// A Homa socket, for clients and servers.
///
/// All methods take `&self`, and any number of threads may use a socket at once;
/// each message is received by one of them. Dropping the socket closes it and
/// ends its RPCs.
///
/// Calls wait unless [`set_nonblocking`](Self::set_nonblocking) says otherwise.
/// A call during which a signal is handled fails with [`Error::Interrupted`] and
/// can be repeated.
#[derive(Debug)]
pub struct Socket {
    fd: Arc<OwnedFd>,
    family: Family,
    region: OnceLock<Arc<Region>>,
}

impl Socket {
    /// Opens a socket. It gets a port of its own and can be used as a client at
    /// once; to receive anything it needs a
    /// [receive region](Self::set_recv_region).
    ///
    /// # Errors
    ///
    /// [`Error::System`] if the kernel has no Homa, or no descriptor or port is
    /// left.
    pub fn new(family: Family) -> Result<Self> {
        let fd = sys::socket(family.domain())
            .map_err(|error| Error::from_system("open a Homa socket", None, error))?;
        Ok(Self {
            fd: Arc::new(fd),
            family,
            region: OnceLock::new(),
        })
    }

    /// The address family that the socket was opened for.
    #[must_use]
    pub fn family(&self) -> Family {
        self.family
    }

    /// Makes the socket a server at `port`, 1 to 32,767, on all addresses of
    /// this host. Port 0 changes nothing.
    ///
    /// # Errors
    ///
    /// [`Error::System`] if another socket has the port, or the port is out of
    /// range; [`Error::Shutdown`].
    pub fn bind(&self, port: u16) -> Result<()> {
        let addr = RawAddr::encode(SocketAddr::new(self.family.unspecified(), port));
        sys::bind(self.fd.as_fd(), &addr)
            .map_err(|error| Error::from_system("bind the socket to its port", None, error))
    }

    /// The socket's port: what was bound, or what the socket got when it was
    /// opened.
    ///
    /// # Errors
    ///
    /// [`Error::System`] if the kernel can't tell.
    pub fn local_port(&self) -> Result<u16> {
        let what = "find out the port of the socket";
        let addr = sys::local_addr(self.fd.as_fd())
            .map_err(|error| Error::from_system(what, None, error))?;
        addr.map(|addr| addr.port()).ok_or_else(|| {
            Error::from_system(what, None, io::Error::from(io::ErrorKind::InvalidData))
        })
    }

    /// Gives the socket memory to receive into: `len` bytes, rounded up to whole
    /// pages. This can be done once.
    ///
    /// All messages that have arrived and that the application holds have to fit
    /// there at the same time; further ones wait at their senders. See
    /// [`DEFAULT_REGION_LEN`](crate::DEFAULT_REGION_LEN) and
    /// [`min_region_len`](crate::min_region_len).
    ///
    /// # Errors
    ///
    /// [`Error::System`] if the length is too small or above 2^32, the socket has
    /// a region already, or there is no memory.
    pub fn set_recv_region(&self, len: usize) -> Result<()> {
        const PAGE: usize = 4096;
        let what = "set the receive region";
        let failed = |error| Error::from_system(what, None, error);
        let len = len
            .checked_next_multiple_of(PAGE)
            .filter(|&len| len as u64 <= MAX_REGION_LEN)
            .ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
        let mapping = Mapping::new(len).map_err(failed)?;
        sys::set_region(self.fd.as_fd(), &mapping).map_err(failed)?;
        let region = Region::new(mapping, Arc::downgrade(&self.fd));
        self.region
            .set(Arc::new(region))
            .map_err(|_| failed(io::ErrorKind::AlreadyExists.into()))
    }

    /// Says whether the socket takes requests. [`bind`](Self::bind) turns this
    /// on.
    ///
    /// # Errors
    ///
    /// [`Error::System`] if the kernel refuses.
    pub fn set_server(&self, on: bool) -> Result<()> {
        sys::set_int(self.fd.as_fd(), SO_HOMA_SERVER, libc::c_int::from(on))
            .map_err(|error| Error::from_system("change whether requests are taken", None, error))
    }

    /// Whether the socket takes requests.
    ///
    /// # Errors
    ///
    /// [`Error::System`] if the kernel can't tell.
    pub fn is_server(&self) -> Result<bool> {
        sys::get_int(self.fd.as_fd(), SO_HOMA_SERVER)
            .map(|value| value != 0)
            .map_err(|error| Error::from_system("find out whether requests are taken", None, error))
    }

    /// Says whether calls fail with [`Error::WouldBlock`] instead of waiting.
    ///
    /// # Errors
    ///
    /// [`Error::System`] if the kernel refuses.
    pub fn set_nonblocking(&self, on: bool) -> Result<()> {
        sys::set_nonblocking(self.fd.as_fd(), on)
            .map_err(|error| Error::from_system("change whether calls wait", None, error))
    }

    /// Ends all RPCs of the socket and makes every call on it fail with
    /// [`Error::Shutdown`], also those in which threads are waiting. The port is
    /// free at once.
    ///
    /// # Errors
    ///
    /// [`Error::System`] if the kernel refuses.
    pub fn shutdown(&self) -> Result<()> {
        sys::shutdown(self.fd.as_fd())
            .map_err(|error| Error::from_system("shut the socket down", None, error))
    }

    /// Sends a request to `dest` and returns its id. `cookie` comes back with the
    /// response ([`Message::cookie`]) or the failure ([`RpcError::cookie`]).
    ///
    /// Returns once the message is queued. An IPv4 destination is possible on an
    /// IPv6 socket.
    ///
    /// # Errors
    ///
    /// [`Error::MessageLength`]; [`Error::WouldBlock`] or
    /// [`Error::Interrupted`] while outgoing messages fill the memory allowed for
    /// them; [`Error::Shutdown`]; [`Error::System`], for instance without a route
    /// to the peer.
    pub fn send_request(&self, dest: SocketAddr, message: &[u8], cookie: u64) -> Result<RpcId> {
        self.send_request_vectored(dest, &[IoSlice::new(message)], cookie)
    }

    /// Like [`send_request`](Self::send_request), with a message made of several
    /// pieces.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn send_request_vectored(
        &self,
        dest: SocketAddr,
        message: &[IoSlice<'_>],
        cookie: u64,
    ) -> Result<RpcId> {
        let mut args = SendmsgArgs {
            completion_cookie: cookie,
            ..SendmsgArgs::default()
        };
        self.send("send a request to", dest, message, &mut args)?;
        Ok(RpcId::from_raw(args.id))
    }

    /// Answers a request. Succeeds without effect if the client has gone away.
    ///
    /// # Errors
    ///
    /// As for [`send_request`](Self::send_request); [`Error::System`] if the
    /// request was answered before.
    pub fn send_reply(&self, to: ReplyTo, message: &[u8]) -> Result<()> {
        self.send_reply_vectored(to, &[IoSlice::new(message)])
    }

    /// Like [`send_reply`](Self::send_reply), with a message made of several
    /// pieces.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn send_reply_vectored(&self, to: ReplyTo, message: &[IoSlice<'_>]) -> Result<()> {
        let mut args = SendmsgArgs {
            id: to.id.as_raw(),
            ..SendmsgArgs::default()
        };
        self.send("send a response to", to.peer, message, &mut args)
    }

    fn send(
        &self,
        what: &'static str,
        dest: SocketAddr,
        message: &[IoSlice<'_>],
        args: &mut SendmsgArgs,
    ) -> Result<()> {
        let len = message
            .iter()
            .fold(0_usize, |sum, slice| sum.saturating_add(slice.len()));
        if !(1..=HOMA_MAX_MESSAGE_LENGTH).contains(&len) {
            return Err(Error::MessageLength(len));
        }
        let dest = self.destination(dest);
        sys::sendmsg(self.fd.as_fd(), &RawAddr::encode(dest), message, args)
            .map_err(|error| Error::from_system(what, Some(dest), error))
    }

    /// `dest` in the form that the socket's family needs.
    fn destination(&self, dest: SocketAddr) -> SocketAddr {
        match (self.family, dest.ip()) {
            (Family::V6, IpAddr::V4(ip)) => {
                SocketAddr::new(ip.to_ipv6_mapped().into(), dest.port())
            }
            _ => dest,
        }
    }

    /// Receives a request, or the response to any RPC of the socket.
    ///
    /// # Errors
    ///
    /// [`Error::Rpc`] if one of the socket's RPCs failed;
    /// [`Error::WouldBlock`], [`Error::Interrupted`], [`Error::Shutdown`];
    /// [`Error::NoRecvRegion`].
    pub fn recv(&self) -> Result<Message> {
        self.receive(false)
    }

    /// Like [`recv`](Self::recv), without waiting.
    ///
    /// # Errors
    ///
    /// As for [`recv`](Self::recv).
    pub fn try_recv(&self) -> Result<Message> {
        self.receive(true)
    }

    /// Like [`recv`](Self::recv), waiting at most as long as `timeout`.
    ///
    /// # Errors
    ///
    /// As for [`recv`](Self::recv); [`Error::TimedOut`].
    pub fn recv_timeout(&self, timeout: Duration) -> Result<Message> {
        let region = self.region.get().ok_or(Error::NoRecvRegion)?;
        let deadline = Instant::now().checked_add(timeout);
        let _waiting = region.receiver();
        loop {
            match self.try_recv() {
                Err(Error::WouldBlock) => {}
                result => return result,
            }
            let left = deadline.map_or(Duration::MAX, |deadline| {
                deadline.saturating_duration_since(Instant::now())
            });
            if left.is_zero() {
                return Err(Error::TimedOut);
            }
            // Readable or not, the next turn finds out whether a message is
            // there: another thread may have taken it.
            sys::wait_readable(self.fd.as_fd(), left)
                .map_err(|error| Error::from_system("wait for a message", None, error))?;
        }
    }

    fn receive(&self, nonblocking: bool) -> Result<Message> {
        let region = self.region.get().ok_or(Error::NoRecvRegion)?;
        let _receiving = region.receiver();
        loop {
            let (batch, more) = region.take_returns();
            let mut args = RecvmsgArgs {
                num_bpages: batch.count,
                bpage_offsets: batch.offsets,
                ..RecvmsgArgs::default()
            };
            // While there is more to give back, what a message waits for may be
            // just that: do not sleep yet.
            let result = sys::recvmsg(
                self.fd.as_fd(),
                region.mapping(),
                &mut args,
                nonblocking || more,
            );
            match result {
                Ok(received) => {
                    return Ok(Message::new(
                        Arc::clone(region),
                        received.placement,
                        RpcId::from_raw(received.id),
                        received.cookie,
                        received.peer,
                    ))
                }
                Err(error) if more && error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(receive_error(error, &args, &batch.offsets)),
            }
        }
    }
}

/// What a failed receive call means. `returned` is what `args.bpage_offsets`
/// held before the call.
fn receive_error(error: io::Error, args: &RecvmsgArgs, returned: &[u32]) -> Error {
    match error.raw_os_error() {
        Some(errno) if args.id != 0 => Error::Rpc(RpcError {
            id: RpcId::from_raw(args.id),
            cookie: args.completion_cookie,
            peer: failed_peer(args, returned),
            failure: RpcFailure::from_errno(errno),
        }),
        _ => Error::from_system("receive a message", None, error),
    }
}

/// The peer of a failed RPC, which the kernel puts where a message's offsets
/// would be. A kernel that does not leaves there what the caller put.
fn failed_peer(args: &RecvmsgArgs, returned: &[u32]) -> Option<SocketAddr> {
    if args.num_bpages != 0 || args.bpage_offsets == *returned {
        return None;
    }
    let mut addr = RawAddr::EMPTY;
    let words = args
        .bpage_offsets
        .iter()
        .flat_map(|word| word.to_ne_bytes());
    for (byte, value) in addr.bytes.iter_mut().zip(words.take(SOCKADDR_IN6_LEN)) {
        *byte = value;
    }
    addr.decode()
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args_with_peer(peer: SocketAddr) -> RecvmsgArgs {
        let mut args = RecvmsgArgs {
            id: 12,
            completion_cookie: 99,
            ..RecvmsgArgs::default()
        };
        let raw = RawAddr::encode(peer);
        for (word, bytes) in args.bpage_offsets.iter_mut().zip(raw.bytes.chunks(4)) {
            *word = u32::from_ne_bytes(bytes.try_into().unwrap());
        }
        args
    }

    #[test]
    fn a_failed_rpc_names_its_peer() {
        for peer in ["10.0.0.2:4000", "[fd00::2]:7"] {
            let peer: SocketAddr = peer.parse().unwrap();
            let args = args_with_peer(peer);
            let error = io::Error::from_raw_os_error(libc::ETIMEDOUT);
            match receive_error(error, &args, &[0; 16]) {
                Error::Rpc(rpc) => assert_eq!(
                    rpc,
                    RpcError {
                        id: RpcId::from_raw(12),
                        cookie: 99,
                        peer: Some(peer),
                        failure: RpcFailure::TimedOut
                    }
                ),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_kernel_that_does_not_tell_the_peer_is_understood() {
        let args = args_with_peer("10.0.0.2:4000".parse().unwrap());
        let returned = args.bpage_offsets;
        assert_eq!(failed_peer(&args, &returned), None);
        let untouched = RecvmsgArgs::default();
        assert_eq!(failed_peer(&untouched, &[0; 16]), None);
    }

    #[test]
    fn without_an_id_the_call_failed_and_no_rpc() {
        let args = RecvmsgArgs::default();
        let error = |errno| {
            let error = io::Error::from_raw_os_error(errno);
            receive_error(error, &args, &[0; 16])
        };
        assert!(matches!(error(libc::EAGAIN), Error::WouldBlock));
        assert!(matches!(error(libc::EINTR), Error::Interrupted));
        assert!(matches!(error(libc::ESHUTDOWN), Error::Shutdown));
        assert!(matches!(error(libc::EINVAL), Error::System { .. }));
    }
}
