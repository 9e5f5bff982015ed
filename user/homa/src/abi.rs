// SPDX-License-Identifier: MIT OR GPL-2.0
//! The kernel's structs and constants, as in `linux/homa.h`.
//!
//! Plain data for those who make the system calls themselves. Integers are in
//! the machine's byte order.

/// Protocol number of Homa; also the level of its socket options.
pub const IPPROTO_HOMA: i32 = 146;

/// Longest request or response, in bytes. The shortest is 1 byte.
pub const HOMA_MAX_MESSAGE_LENGTH: usize = 1_000_000;

/// Binary logarithm of [`HOMA_BPAGE_SIZE`].
pub const HOMA_BPAGE_SHIFT: u32 = 16;

/// Unit in which the receive region is handed out, in bytes.
pub const HOMA_BPAGE_SIZE: usize = 1 << HOMA_BPAGE_SHIFT;

/// Most bpages that one message can occupy.
pub const HOMA_MAX_BPAGES: usize = HOMA_MAX_MESSAGE_LENGTH.div_ceil(HOMA_BPAGE_SIZE);

/// Lowest of the ports that sockets get when they are opened. The ports below,
/// from 1, can be bound.
pub const HOMA_MIN_DEFAULT_PORT: u16 = 0x8000;

/// Socket option: the receive region, [`RcvbufArgs`].
pub const SO_HOMA_RCVBUF: i32 = 10;

/// Socket option: whether the socket takes requests, a C `int`.
pub const SO_HOMA_SERVER: i32 = 11;

/// Flag of a request: its response goes only to a receiver that names its id.
pub const HOMA_SENDMSG_PRIVATE: u32 = 0x01;

/// All flags that `sendmsg` accepts.
pub const HOMA_SENDMSG_VALID_FLAGS: u32 = 0x01;

/// What `sendmsg` finds at `msg_control`: `struct homa_sendmsg_args`.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SendmsgArgs {
    /// In: 0 for a request, or the id of the request that is answered. Out: the
    /// id of the new RPC.
    pub id: u64,
    /// In: for a request, any value, which comes back with the response. For a
    /// response 0.
    pub completion_cookie: u64,
    /// In: [`HOMA_SENDMSG_PRIVATE`] or 0.
    pub flags: u32,
    /// In: 0.
    pub reserved: u32,
}

/// What `recvmsg` finds at `msg_control`: `struct homa_recvmsg_args`.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecvmsgArgs {
    /// In: 0 for any RPC that is not private, or the id of a private one. Out:
    /// the id of the RPC that is returned, 0 if there is none.
    pub id: u64,
    /// Out: what the request was sent with, if this is a response.
    pub completion_cookie: u64,
    /// In: how many entries of `bpage_offsets` are given back. Out: how many the
    /// message occupies.
    pub num_bpages: u32,
    /// In: 0.
    pub reserved: u32,
    /// In and out: places in the receive region, in bytes from its start.
    pub bpage_offsets: [u32; HOMA_MAX_BPAGES],
}

/// Value of [`SO_HOMA_RCVBUF`]: `struct homa_rcvbuf_args`.
#[repr(C, align(8))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RcvbufArgs {
    /// Address of the region's first byte, a multiple of the page size.
    pub start: u64,
    /// Bytes in the region, at most 2^32.
    pub length: u64,
}
