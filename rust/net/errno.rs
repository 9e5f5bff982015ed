// SPDX-License-Identifier: GPL-2.0

//! Error codes of networking. The `kernel` crate of Linux 7.2 and before has them not.

use bindings as c;
use kernel::prelude::*;

/// A positive error number that becomes an [`Error`] with `?` or `into`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(i32);

impl From<Errno> for Error {
    fn from(errno: Errno) -> Self {
        // Never overflows: the numbers below are positive.
        Self::from_errno(errno.0.wrapping_neg())
    }
}

macro_rules! codes {
    ($($name:ident: $doc:literal;)*) => {
        $(
            #[doc = $doc]
            #[expect(clippy::cast_possible_wrap, reason = "error numbers are below 4096")]
            pub const $name: Errno = Errno(c::$name as i32);
        )*
    };
}

codes! {
    EADDRINUSE: "The address is in use.";
    EADDRNOTAVAIL: "No such address can be had.";
    EAFNOSUPPORT: "The address is of another family.";
    EHOSTUNREACH: "The host can't be reached.";
    ENETUNREACH: "The network can't be reached.";
    ENOBUFS: "There are no buffers.";
    ENOPROTOOPT: "There is no such option.";
    ENOTCONN: "Nobody is there.";
    EOPNOTSUPP: "The operation is not supported on sockets of this kind.";
    EPROTONOSUPPORT: "The host does not speak the protocol.";
    ESHUTDOWN: "The socket was shut down.";
}
