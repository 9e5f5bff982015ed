// SPDX-License-Identifier: GPL-2.0

//! The ABI (`include/uapi/linux/homa.h`) as Rust sees it.

pub use bindings::homa_rcvbuf_args as RcvbufArgs;
pub use bindings::homa_recvmsg_args as RecvmsgArgs;
pub use bindings::homa_sendmsg_args as SendmsgArgs;
pub use bindings::HOMA_BPAGE_SHIFT;
pub use bindings::HOMA_MAX_BPAGES;
pub use bindings::HOMA_MAX_MESSAGE_LENGTH;
pub use bindings::HOMA_MIN_DEFAULT_PORT;
pub use bindings::HOMA_SENDMSG_PRIVATE;
pub use bindings::HOMA_SENDMSG_VALID_FLAGS;
pub use bindings::IPPROTO_HOMA;
pub use bindings::SO_HOMA_RCVBUF;
pub use bindings::SO_HOMA_SERVER;

/// Readiness bits of `poll`.
pub mod poll {
    pub use bindings::HOMA_EPOLLIN as IN;
    pub use bindings::HOMA_EPOLLOUT as OUT;
    pub use bindings::HOMA_EPOLLRDNORM as RDNORM;
    pub use bindings::HOMA_EPOLLWRNORM as WRNORM;
}
