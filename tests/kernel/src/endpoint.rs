// SPDX-License-Identifier: GPL-2.0
//! A socket as the tests of the ABI need it: every call as the kernel sees it,
//! every result as the kernel gives it.

use crate::check::ensure;
use crate::check::Failure;
use crate::errno::Errno;
use crate::sys;
use crate::sys::Data;
use crate::sys::Pages;
use crate::sys::RecvCall;
use crate::sys::RecvDone;
use crate::sys::SendCall;
use crate::sys::Target;
use homa::abi::RcvbufArgs;
use homa::abi::RecvmsgArgs;
use homa::abi::SendmsgArgs;
use homa::abi::IPPROTO_HOMA;
use homa::abi::SO_HOMA_RCVBUF;
use homa::abi::SO_HOMA_SERVER;
use homa::Family;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::Ipv6Addr;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::os::fd::OwnedFd;
use std::os::fd::RawFd;
use std::sync::atomic::AtomicU16;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::Instant;

/// Both address families, for tests that hold for each.
pub(crate) const FAMILIES: [Family; 2] = [Family::V4, Family::V6];

/// Longest time that a test waits for something that must happen.
pub(crate) const SOON: Duration = Duration::from_secs(10);

/// How a request to a port that takes none may fail: its host says so, or is
/// silent.
pub(crate) const CLOSED_PORT: [Errno; 2] = [Errno::ENOTCONN, Errno::ETIMEDOUT];

/// Time in which something that must not happen would have happened.
pub(crate) const A_WHILE: Duration = Duration::from_millis(100);

/// Length of `struct homa_recvmsg_args`.
pub(crate) const RECV_ARGS_LEN: usize = 88;

/// A port that no other test has used.
pub(crate) fn new_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(5000);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The domain of `socket(2)` for a family.
pub(crate) fn domain(family: Family) -> i32 {
    match family {
        Family::V4 => libc::AF_INET,
        Family::V6 => libc::AF_INET6,
    }
}

/// The address of this host in a family, with a port.
pub(crate) fn loopback(family: Family, port: u16) -> SocketAddr {
    let ip: IpAddr = match family {
        Family::V4 => Ipv4Addr::LOCALHOST.into(),
        Family::V6 => Ipv6Addr::LOCALHOST.into(),
    };
    SocketAddr::new(ip, port)
}

/// `struct sockaddr_in` or `struct sockaddr_in6`, as bytes.
pub(crate) fn sockaddr(addr: SocketAddr) -> Vec<u8> {
    let domain: u16 = if addr.is_ipv4() { 2 } else { 10 };
    let mut bytes = domain.to_ne_bytes().to_vec();
    bytes.extend_from_slice(&addr.port().to_be_bytes());
    match addr.ip() {
        IpAddr::V4(ip) => {
            bytes.extend_from_slice(&ip.octets());
            bytes.resize(16, 0);
        }
        IpAddr::V6(ip) => {
            bytes.extend_from_slice(&[0; 4]);
            bytes.extend_from_slice(&ip.octets());
            bytes.resize(28, 0);
        }
    }
    bytes
}

/// The address in the bytes of a sockaddr. Flow and scope must be 0.
pub(crate) fn parse_sockaddr(bytes: &[u8]) -> Option<SocketAddr> {
    let domain = u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?);
    let port = u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?);
    let ip: IpAddr = match domain {
        2 => <[u8; 4]>::try_from(bytes.get(4..8)?).ok()?.into(),
        10 => <[u8; 16]>::try_from(bytes.get(8..24)?).ok()?.into(),
        _ => return None,
    };
    let addr = SocketAddr::new(ip, port);
    // A v4 address may be followed by anything that the caller had there.
    let expected = sockaddr(addr);
    bytes.starts_with(&expected).then_some(addr)
}

/// The bytes of `struct homa_sendmsg_args`.
pub(crate) fn send_args_bytes(args: &SendmsgArgs) -> [u8; 24] {
    let mut bytes = [0; 24];
    bytes[0..8].copy_from_slice(&args.id.to_ne_bytes());
    bytes[8..16].copy_from_slice(&args.completion_cookie.to_ne_bytes());
    bytes[16..20].copy_from_slice(&args.flags.to_ne_bytes());
    bytes[20..24].copy_from_slice(&args.reserved.to_ne_bytes());
    bytes
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_ne_bytes(word)
}

fn long(bytes: &[u8], at: usize) -> u64 {
    let mut long = [0; 8];
    long.copy_from_slice(&bytes[at..at + 8]);
    u64::from_ne_bytes(long)
}

/// The bytes of `struct homa_recvmsg_args`.
pub(crate) fn recv_args_bytes(args: &RecvmsgArgs) -> [u8; RECV_ARGS_LEN] {
    let mut bytes = [0; RECV_ARGS_LEN];
    bytes[0..8].copy_from_slice(&args.id.to_ne_bytes());
    bytes[8..16].copy_from_slice(&args.completion_cookie.to_ne_bytes());
    bytes[16..20].copy_from_slice(&args.num_bpages.to_ne_bytes());
    bytes[20..24].copy_from_slice(&args.reserved.to_ne_bytes());
    for (slot, offset) in bytes[24..].chunks_mut(4).zip(args.bpage_offsets) {
        slot.copy_from_slice(&offset.to_ne_bytes());
    }
    bytes
}

/// The struct in the bytes of `struct homa_recvmsg_args`.
pub(crate) fn parse_recv_args(bytes: &[u8; RECV_ARGS_LEN]) -> RecvmsgArgs {
    let mut args = RecvmsgArgs {
        id: long(bytes, 0),
        completion_cookie: long(bytes, 8),
        num_bpages: word(bytes, 16),
        reserved: word(bytes, 20),
        ..RecvmsgArgs::default()
    };
    for (index, offset) in args.bpage_offsets.iter_mut().enumerate() {
        *offset = word(bytes, 24 + 4 * index);
    }
    args
}

/// What a receive call came to.
#[derive(Debug, Clone)]
pub(crate) struct Got {
    /// Length of the message, or the error.
    pub(crate) result: sys::Result<usize>,
    /// The args afterwards.
    pub(crate) args: RecvmsgArgs,
    /// The sender's address, if the call wrote one.
    pub(crate) name: Option<SocketAddr>,
    /// `msg_namelen` afterwards.
    pub(crate) name_len: u32,
    /// `msg_controllen` afterwards.
    pub(crate) control_len: usize,
}

impl Got {
    /// The bpages that the message occupies.
    pub(crate) fn offsets(&self) -> &[u32] {
        let count = self.args.num_bpages as usize;
        self.args.bpage_offsets.get(..count).unwrap_or_default()
    }

    /// Args that give the message's bpages back.
    pub(crate) fn to_return(&self) -> RecvmsgArgs {
        give_back(self.offsets())
    }
}

/// Args that give bpages back, at most 16 of them.
pub(crate) fn give_back(offsets: &[u32]) -> RecvmsgArgs {
    let mut args = RecvmsgArgs::default();
    for (slot, offset) in args.bpage_offsets.iter_mut().zip(offsets) {
        *slot = *offset;
        args.num_bpages += 1;
    }
    args
}

/// A socket, perhaps with a receive region.
#[derive(Debug)]
pub(crate) struct Endpoint {
    fd: OwnedFd,
    family: Family,
    region: Option<Pages>,
}

impl Endpoint {
    /// A new socket without a region.
    pub(crate) fn bare(family: Family) -> Result<Self, Failure> {
        let fd = sys::socket(domain(family), libc::SOCK_DGRAM, IPPROTO_HOMA).map_err(|errno| {
            Failure::new(format!(
                "can't open a Homa socket: {errno}; is the module loaded?"
            ))
        })?;
        Ok(Self {
            fd,
            family,
            region: None,
        })
    }

    /// A new socket with the smallest possible region.
    pub(crate) fn client(family: Family) -> Result<Self, Failure> {
        let mut endpoint = Self::bare(family)?;
        let pages = Pages::new(homa::min_region_len().next_multiple_of(4096))?;
        endpoint.set_region(pages)?;
        Ok(endpoint)
    }

    /// A new server at a port of its own, which is returned, too.
    pub(crate) fn server(family: Family) -> Result<(Self, SocketAddr), Failure> {
        let endpoint = Self::client(family)?;
        let addr = loopback(family, new_port());
        endpoint.bind(addr.port())?;
        Ok((endpoint, addr))
    }

    pub(crate) fn raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// The descriptor and the region, to be released apart.
    pub(crate) fn into_parts(self) -> (OwnedFd, Option<Pages>) {
        (self.fd, self.region)
    }

    pub(crate) fn region(&self) -> Result<&Pages, Failure> {
        self.region
            .as_ref()
            .ok_or_else(|| Failure::new("the endpoint has no region"))
    }

    /// Makes `pages` the socket's region.
    pub(crate) fn set_region(&mut self, pages: Pages) -> sys::Result<()> {
        self.set_rcvbuf(pages.address(), pages.len() as u64)?;
        self.region = Some(pages);
        Ok(())
    }

    /// Sets `SO_HOMA_RCVBUF`.
    pub(crate) fn set_rcvbuf(&self, start: u64, length: u64) -> sys::Result<()> {
        let mut bytes = [start.to_ne_bytes(), length.to_ne_bytes()].concat();
        let value = Target::Bytes(&mut bytes);
        sys::setsockopt(&self.fd, IPPROTO_HOMA, SO_HOMA_RCVBUF, value, 16)
    }

    /// Reads `SO_HOMA_RCVBUF`.
    pub(crate) fn rcvbuf(&self) -> Result<RcvbufArgs, Failure> {
        let bytes = sys::getsockopt(&self.fd, IPPROTO_HOMA, SO_HOMA_RCVBUF, 16)?;
        ensure!(
            bytes.len() == 16,
            "SO_HOMA_RCVBUF has {} bytes",
            bytes.len()
        );
        Ok(RcvbufArgs {
            start: long(&bytes, 0),
            length: long(&bytes, 8),
        })
    }

    /// Sets `SO_HOMA_SERVER`.
    pub(crate) fn set_server(&self, value: i32) -> sys::Result<()> {
        let mut bytes = value.to_ne_bytes();
        let value = Target::Bytes(&mut bytes);
        sys::setsockopt(&self.fd, IPPROTO_HOMA, SO_HOMA_SERVER, value, 4)
    }

    /// Reads `SO_HOMA_SERVER`.
    pub(crate) fn is_server(&self) -> Result<u32, Failure> {
        let bytes = sys::getsockopt(&self.fd, IPPROTO_HOMA, SO_HOMA_SERVER, 4)?;
        ensure!(bytes.len() == 4, "SO_HOMA_SERVER has {} bytes", bytes.len());
        Ok(word(&bytes, 0))
    }

    /// Binds to a port on all addresses.
    pub(crate) fn bind(&self, port: u16) -> sys::Result<()> {
        let ip: IpAddr = match self.family {
            Family::V4 => Ipv4Addr::UNSPECIFIED.into(),
            Family::V6 => Ipv6Addr::UNSPECIFIED.into(),
        };
        sys::bind(&self.fd, &sockaddr(SocketAddr::new(ip, port)))
    }

    /// The socket's port.
    pub(crate) fn port(&self) -> Result<u16, Failure> {
        let bytes = sys::getsockname(&self.fd)?;
        let port = bytes.get(2..4).and_then(|port| port.try_into().ok());
        port.map(u16::from_be_bytes)
            .ok_or_else(|| Failure::new("getsockname gave no port"))
    }

    /// Calls `sendmsg` with good arguments, except for `args` and `flags`.
    pub(crate) fn send_with(
        &self,
        dest: SocketAddr,
        bytes: &[u8],
        args: &mut SendmsgArgs,
        flags: i32,
    ) -> sys::Result<usize> {
        let mut control = send_args_bytes(args);
        let result = sys::sendmsg(
            self.raw_fd(),
            SendCall {
                name: Some(&sockaddr(dest)),
                data: Data::Bytes(bytes),
                control: Target::Bytes(&mut control),
                control_len: 0,
                flags,
            },
        );
        args.id = long(&control, 0);
        args.completion_cookie = long(&control, 8);
        args.flags = word(&control, 16);
        args.reserved = word(&control, 20);
        result
    }

    /// Sends a request; returns its id.
    pub(crate) fn request(
        &self,
        dest: SocketAddr,
        bytes: &[u8],
        cookie: u64,
    ) -> Result<u64, Failure> {
        let mut args = SendmsgArgs {
            completion_cookie: cookie,
            ..SendmsgArgs::default()
        };
        let result = self.send_with(dest, bytes, &mut args, 0)?;
        ensure!(result == 0, "sendmsg returned {result} instead of 0");
        Ok(args.id)
    }

    /// Sends a response.
    pub(crate) fn reply(&self, dest: SocketAddr, id: u64, bytes: &[u8]) -> sys::Result<usize> {
        let mut args = SendmsgArgs {
            id,
            ..SendmsgArgs::default()
        };
        self.send_with(dest, bytes, &mut args, 0)
    }

    /// Calls `recvmsg` with `args`.
    pub(crate) fn recv_with(&self, args: &RecvmsgArgs, flags: i32) -> Got {
        recv_on(self.raw_fd(), args, flags)
    }

    /// Gives a message's bpages back by a call that receives nothing: it names an
    /// RPC that no client has.
    pub(crate) fn release(&self, got: &Got) -> Result<(), Failure> {
        let args = RecvmsgArgs {
            id: u64::MAX,
            ..got.to_return()
        };
        let got = self.recv_with(&args, libc::MSG_DONTWAIT);
        ensure!(
            got.result == Err(Errno::EINVAL),
            "giving bpages back gave {:?}",
            got.result
        );
        Ok(())
    }

    /// Receives without waiting.
    pub(crate) fn try_recv(&self) -> Got {
        self.recv_with(&RecvmsgArgs::default(), libc::MSG_DONTWAIT)
    }

    /// Receives, giving bpages back, within [`SOON`]. Failed RPCs are a result,
    /// too.
    pub(crate) fn recv_returning(&self, args: &RecvmsgArgs) -> Result<Got, Failure> {
        let start = Instant::now();
        let mut args = *args;
        loop {
            let got = self.recv_with(&args, libc::MSG_DONTWAIT);
            if got.result != Err(Errno::EAGAIN) {
                return Ok(got);
            }
            ensure!(start.elapsed() < SOON, "nothing arrived in time");
            sys::poll(&self.fd, libc::POLLIN, SOON)?;
            args = RecvmsgArgs::default();
        }
    }

    /// Receives within [`SOON`].
    pub(crate) fn recv(&self) -> Result<Got, Failure> {
        self.recv_returning(&RecvmsgArgs::default())
    }

    /// The bytes of a message.
    pub(crate) fn bytes(&self, got: &Got) -> Result<Vec<u8>, Failure> {
        let region = self.region()?;
        let mut left = got.result?;
        let mut bytes = Vec::with_capacity(left);
        for offset in got.offsets() {
            let len = left.min(homa::abi::HOMA_BPAGE_SIZE);
            bytes.extend(region.read(*offset as usize, len));
            left -= len;
        }
        ensure!(left == 0, "{left} bytes lie in no bpage");
        Ok(bytes)
    }

    /// The poll bits that hold now, of all that can be asked for.
    pub(crate) fn poll_bits(&self) -> Result<i16, Failure> {
        const ALL: i16 = libc::POLLIN
            | libc::POLLRDNORM
            | libc::POLLOUT
            | libc::POLLWRNORM
            | libc::POLLPRI
            | libc::POLLRDHUP;
        Ok(sys::poll(&self.fd, ALL, Duration::ZERO)?)
    }

    pub(crate) fn shutdown(&self) -> sys::Result<()> {
        sys::shutdown(&self.fd, libc::SHUT_RDWR)
    }
}

impl AsRawFd for Endpoint {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// Calls `recvmsg` on a descriptor that may be closed meanwhile.
pub(crate) fn recv_on(fd: RawFd, args: &RecvmsgArgs, flags: i32) -> Got {
    let mut control = recv_args_bytes(args);
    let mut name = vec![0; 128];
    let RecvDone {
        result,
        name_len,
        control_len,
    } = sys::recvmsg(
        fd,
        RecvCall {
            name: Some(&mut name),
            control: Target::Bytes(&mut control),
            control_len: RECV_ARGS_LEN,
            flags,
        },
    );
    Got {
        result,
        args: parse_recv_args(&control),
        name: parse_sockaddr(&name),
        name_len,
        control_len,
    }
}

/// Has `server` receive a request of `client` and checks what must hold for
/// any. Returns what it got.
pub(crate) fn deliver(
    client: &Endpoint,
    server: &Endpoint,
    dest: SocketAddr,
    bytes: &[u8],
    cookie: u64,
) -> Result<(u64, Got), Failure> {
    let id = client.request(dest, bytes, cookie)?;
    let got = server.recv()?;
    ensure!(
        got.result == Ok(bytes.len()),
        "receiving a request of {} bytes gave {:?}",
        bytes.len(),
        got.result
    );
    ensure!(
        server.bytes(&got)? == bytes,
        "the request's bytes are wrong"
    );
    Ok((id, got))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive() {
        for text in ["127.0.0.1:9", "[::1]:4000", "[::ffff:1.2.3.4]:5"] {
            let addr: SocketAddr = text.parse().unwrap();
            assert_eq!(parse_sockaddr(&sockaddr(addr)), Some(addr));
        }
        let mut scoped = sockaddr("[::1]:4000".parse().unwrap());
        scoped[27] = 1;
        assert_eq!(parse_sockaddr(&scoped), None, "scope must be zero");
    }

    #[test]
    fn args_survive() {
        let mut args = give_back(&[1, 70_000, u32::MAX]);
        args.id = 0x0102_0304_0506_0708;
        args.completion_cookie = u64::MAX;
        args.reserved = 9;
        let bytes = recv_args_bytes(&args);
        assert_eq!(bytes[16], 3);
        assert_eq!(parse_recv_args(&bytes), args);
    }
}
