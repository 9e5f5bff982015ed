// SPDX-License-Identifier: GPL-2.0
//! Error numbers with names, so that a failed comparison can be read.

use std::fmt;
use std::io;

/// The error number of a failed system call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errno(pub(crate) i32);

macro_rules! names {
    ($($name:ident)+) => {
        impl Errno {
            $(pub(crate) const $name: Self = Self(libc::$name);)+

            fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some(stringify!($name)),)+
                    _ => None,
                }
            }
        }
    };
}

names! {
    EADDRINUSE EADDRNOTAVAIL EAFNOSUPPORT EAGAIN EFAULT EHOSTUNREACH EINTR EINVAL ENETUNREACH
    ENOPROTOOPT ENOTCONN EOPNOTSUPP EPROTONOSUPPORT ESHUTDOWN
    ESOCKTNOSUPPORT ETIMEDOUT
}

impl Errno {
    /// The error of the system call that just failed.
    pub(crate) fn last() -> Self {
        Self(io::Error::last_os_error().raw_os_error().unwrap_or(0))
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "errno {}", self.0),
        }
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = io::Error::from_raw_os_error(self.0).to_string();
        let text = text.split(" (os error").next().unwrap_or_default();
        write!(f, "{self:?} ({text})")
    }
}
