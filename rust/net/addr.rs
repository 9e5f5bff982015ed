// SPDX-License-Identifier: GPL-2.0

//! Addresses of hosts and of sockets.

use core::fmt;

use bindings as c;

/// Address of a host: IPv6, or IPv4 in its IPv6 form `::ffff:a.b.c.d`.
///
/// One form for both, so that a host has one key whichever family a socket has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Address([u8; 16]);

const V4_PREFIX: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

impl Address {
    /// `::`: no particular address.
    pub const UNSPECIFIED: Self = Self([0; 16]);

    /// Returns the address with these bytes, in network order.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the IPv4 address with these bytes, in network order.
    pub fn from_v4(bytes: [u8; 4]) -> Self {
        let [a, b, c, d] = bytes;
        Self([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d])
    }

    /// Returns the bytes, in network order.
    pub const fn bytes(&self) -> [u8; 16] {
        self.0
    }

    /// Returns the four bytes of an IPv4 address, or `None` for one of IPv6.
    pub fn v4(&self) -> Option<[u8; 4]> {
        let [prefix @ .., a, b, c, d] = self.0;
        (prefix == V4_PREFIX).then_some([a, b, c, d])
    }

    /// Returns whether the address means the same on every link, so that no interface index
    /// belongs to it.
    pub fn is_global(&self) -> bool {
        let [first, second, ..] = self.0;
        let link_local = first == 0xfe && second & 0xc0 == 0x80;
        // Of multicast, the scopes of interface and link.
        let local_multicast = first == 0xff && second & 0x0f <= 2;
        !link_local && !local_multicast
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some([a, b, c, d]) = self.v4() {
            return write!(f, "{a}.{b}.{c}.{d}");
        }
        let mut separator = "";
        for pair in self.0.chunks_exact(2) {
            if let &[high, low] = pair {
                write!(f, "{separator}{:x}", u16::from_be_bytes([high, low]))?;
                separator = ":";
            }
        }
        Ok(())
    }
}

/// Length of the longest socket address that [`Endpoint::to_sockaddr`] returns, in bytes.
pub const SOCKADDR_LEN: usize = 28;

/// Address and port of a socket, and the interface where the address is not global.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// The host.
    pub address: Address,
    /// The port on it, 1 to 65,535 (0: none).
    pub port: u16,
    /// Index of the interface (`sin6_scope_id`), or 0.
    pub interface: i32,
}

impl Endpoint {
    /// Returns the `sockaddr_in6` (if `ipv6`) or `sockaddr_in` of the endpoint, and its length.
    pub fn to_sockaddr(&self, ipv6: bool) -> ([u8; SOCKADDR_LEN], usize) {
        let mut bytes = [0; SOCKADDR_LEN];
        let mut len = 0;
        let mut put = |field: &[u8]| {
            for (to, from) in bytes.iter_mut().skip(len).zip(field) {
                *to = *from;
            }
            len = len.saturating_add(field.len());
        };
        if ipv6 {
            put(&c::HOMA_AF_INET6.to_ne_bytes());
            put(&self.port.to_be_bytes());
            // No flow label.
            put(&[0; 4]);
            put(&self.address.bytes());
            put(&self.interface.to_ne_bytes());
        } else {
            put(&c::HOMA_AF_INET.to_ne_bytes());
            put(&self.port.to_be_bytes());
            put(&self.address.v4().unwrap_or_default());
            // sin_zero
            put(&[0; 8]);
        }
        (bytes, len)
    }
}
