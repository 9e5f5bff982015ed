// SPDX-License-Identifier: GPL-2.0

//! The engine's errors as error codes: the one place where they meet.

use homa_proto::rpc::ReplyError;
use homa_proto::rpc::RpcError;
use kernel::prelude::*;

/// Returns the code with which `recvmsg` returns an RPC that failed.
pub(crate) fn of_rpc(error: RpcError) -> Error {
    match error {
        RpcError::TimedOut => ETIMEDOUT,
        RpcError::PortUnreachable => ENOTCONN,
        RpcError::HostUnreachable => EHOSTUNREACH,
        RpcError::ProtocolUnreachable => EPROTONOSUPPORT,
        RpcError::Fault => EFAULT,
    }
}

/// Returns the code with which `sendmsg` refuses a response.
pub(crate) fn of_reply(error: ReplyError) -> Error {
    match error {
        ReplyError::NotInService => EINVAL,
    }
}
