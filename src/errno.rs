// SPDX-License-Identifier: GPL-2.0

//! The engine's errors as error codes: the one place where they meet.

use homa_proto::rpc::NotInService;
use homa_proto::rpc::RpcError;
use kernel::prelude::*;
use net::errno;

/// Returns the code with which `recvmsg` returns an RPC that failed.
pub(crate) fn of_rpc(error: RpcError) -> Error {
    match error {
        RpcError::TimedOut => ETIMEDOUT,
        RpcError::PortUnreachable => errno::ENOTCONN.into(),
        RpcError::HostUnreachable => errno::EHOSTUNREACH.into(),
        RpcError::ProtocolUnreachable => errno::EPROTONOSUPPORT.into(),
        RpcError::Fault => EFAULT,
    }
}

/// Returns the code with which `sendmsg` refuses a response.
pub(crate) fn of_reply(_error: NotInService) -> Error {
    EINVAL
}
