// SPDX-License-Identifier: GPL-2.0

//! Socket options.

use core::ffi::c_void;
use core::mem::size_of;

use kernel::prelude::*;
use net::errno;
use net::uapi;
use net::uapi::RcvbufArgs;
use net::user::UserData;
use net::OptionValue;
use net::Sock;
use net::UserPtr;
use net::UserRegion;

use crate::Homa;

/// Alignment of a receive buffer region, in bytes.
const PAGE: u64 = net::pages::PAGE_SIZE as u64;

/// Longest receive buffer region, in bytes: offsets in it have 32 bits.
const MAX_REGION: u64 = 1 << 32;

/// Room for two messages of the greatest length, in bytes.
const TWO_MESSAGES: u64 = 2 * uapi::HOMA_MAX_MESSAGE_LENGTH as u64;

/// Returns the shortest receive buffer region, in bytes.
fn min_region() -> u64 {
    let partial = u64::from(net::time::possible_cpus()) << uapi::HOMA_BPAGE_SHIFT;
    partial.saturating_add(TWO_MESSAGES)
}

/// `setsockopt(2)`.
pub(crate) fn set(sock: &Sock<Homa>, level: i32, name: u32, value: &OptionValue) -> Result {
    if !is_ours(level) {
        return Err(errno::ENOPROTOOPT.into());
    }
    match name {
        uapi::SO_HOMA_RCVBUF => set_rcvbuf(sock, &value.read()?),
        uapi::SO_HOMA_SERVER => {
            sock.set_server(value.read::<i32>()? != 0);
            Ok(())
        }
        _ => Err(errno::ENOPROTOOPT.into()),
    }
}

/// `getsockopt(2)`.
pub(crate) fn get(
    sock: &Sock<Homa>,
    level: i32,
    name: u32,
    value: *mut c_void,
    len: &UserPtr<i32>,
) -> Result {
    if !is_ours(level) {
        return Err(errno::ENOPROTOOPT.into());
    }
    match name {
        uapi::SO_HOMA_RCVBUF => {
            let region = sock.buffers.region().unwrap_or_default();
            let args = RcvbufArgs {
                start: region.start(),
                length: region.length(),
            };
            write(value, len, &args)
        }
        uapi::SO_HOMA_SERVER => write(value, len, &i32::from(sock.is_server())),
        _ => Err(errno::ENOPROTOOPT.into()),
    }
}

fn is_ours(level: i32) -> bool {
    u32::try_from(level) == Ok(uapi::IPPROTO_HOMA)
}

/// Writes an option's value and its length: `EINVAL` if there is less room than that.
fn write<T: UserData>(to: *mut c_void, len: &UserPtr<i32>, value: &T) -> Result {
    let room = usize::try_from(len.read()?).map_err(|_| EINVAL)?;
    if room < size_of::<T>() {
        return Err(EINVAL);
    }
    UserPtr::new(to.cast()).write(value)?;
    len.write(&i32::try_from(size_of::<T>()).map_err(|_| EINVAL)?)
}

fn set_rcvbuf(sock: &Sock<Homa>, args: &RcvbufArgs) -> Result {
    UserRegion::new(args.start, PAGE).probe()?;
    if args.start % PAGE != 0 || args.length < min_region() || args.length > MAX_REGION {
        return Err(EINVAL);
    }
    // Only whole bpages are used, and only they count.
    let usable = args.length >> uapi::HOMA_BPAGE_SHIFT << uapi::HOMA_BPAGE_SHIFT;
    sock.buffers.set_region(UserRegion::new(args.start, usable))
}
