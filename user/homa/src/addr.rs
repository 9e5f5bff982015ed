// SPDX-License-Identifier: MIT OR GPL-2.0
//! Socket addresses as the bytes that the kernel reads and writes.

use std::net::Ipv4Addr;
use std::net::Ipv6Addr;
use std::net::SocketAddr;
use std::net::SocketAddrV4;
use std::net::SocketAddrV6;

/// Bytes in `struct sockaddr_in`.
const SOCKADDR_IN_LEN: usize = 16;

/// Bytes in `struct sockaddr_in6`, the longest address of Homa.
pub(crate) const SOCKADDR_IN6_LEN: usize = 28;

/// `sa_family` of the two families.
const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;
const _: () = assert!(libc::AF_INET == 2 && libc::AF_INET6 == 10);

/// An address as `struct sockaddr_in` or `struct sockaddr_in6`, with its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawAddr {
    pub(crate) bytes: [u8; SOCKADDR_IN6_LEN],
    /// How many of the bytes the address has.
    pub(crate) len: libc::socklen_t,
}

impl RawAddr {
    /// Room for an address that the kernel will fill in.
    pub(crate) const EMPTY: Self = Self {
        bytes: [0; SOCKADDR_IN6_LEN],
        len: 28,
    };

    pub(crate) fn encode(addr: SocketAddr) -> Self {
        let mut bytes = [0; SOCKADDR_IN6_LEN];
        bytes[2..4].copy_from_slice(&addr.port().to_be_bytes());
        match addr {
            SocketAddr::V4(v4) => {
                bytes[..2].copy_from_slice(&AF_INET.to_ne_bytes());
                bytes[4..8].copy_from_slice(&v4.ip().octets());
                Self { bytes, len: 16 }
            }
            SocketAddr::V6(v6) => {
                bytes[..2].copy_from_slice(&AF_INET6.to_ne_bytes());
                bytes[4..8].copy_from_slice(&v6.flowinfo().to_ne_bytes());
                bytes[8..24].copy_from_slice(&v6.ip().octets());
                bytes[24..28].copy_from_slice(&v6.scope_id().to_ne_bytes());
                Self { bytes, len: 28 }
            }
        }
    }

    /// The address in the first `len` bytes, unless those hold none.
    pub(crate) fn decode(&self) -> Option<SocketAddr> {
        let bytes = self.bytes.get(..self.len as usize)?;
        let family = u16::from_ne_bytes(array(bytes, 0)?);
        let port = u16::from_be_bytes(array(bytes, 2)?);
        match family {
            AF_INET if bytes.len() >= SOCKADDR_IN_LEN => {
                let ip = Ipv4Addr::from(array::<4>(bytes, 4)?);
                Some(SocketAddrV4::new(ip, port).into())
            }
            AF_INET6 => {
                let flowinfo = u32::from_ne_bytes(array(bytes, 4)?);
                let ip = Ipv6Addr::from(array::<16>(bytes, 8)?);
                let scope_id = u32::from_ne_bytes(array(bytes, 24)?);
                Some(SocketAddrV6::new(ip, port, flowinfo, scope_id).into())
            }
            _ => None,
        }
    }
}

/// `N` bytes of `bytes` from `at` on, if there are as many.
fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_encoding() {
        for text in [
            "10.1.2.3:4000",
            "0.0.0.0:0",
            "[fd00::2]:65535",
            "[::ffff:10.0.0.1]:1",
        ] {
            let addr: SocketAddr = text.parse().unwrap();
            assert_eq!(RawAddr::encode(addr).decode(), Some(addr), "{text}");
        }
        let scoped = SocketAddrV6::new(Ipv6Addr::LOCALHOST, 7, 5, 9).into();
        assert_eq!(RawAddr::encode(scoped).decode(), Some(scoped));
    }

    #[test]
    fn an_ipv4_address_has_the_layout_of_sockaddr_in() {
        let raw = RawAddr::encode("10.1.2.3:4000".parse().unwrap());
        assert_eq!(raw.len, 16);
        assert_eq!(raw.bytes[2..8], [0x0f, 0xa0, 10, 1, 2, 3]);
        assert!(raw.bytes[8..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn what_is_no_address_is_none() {
        assert_eq!(RawAddr::EMPTY.decode(), None);
        let mut short = RawAddr::encode("[::1]:1".parse().unwrap());
        short.len = 16;
        assert_eq!(short.decode(), None);
        short.len = 29;
        assert_eq!(short.decode(), None);
    }
}
