// SPDX-License-Identifier: GPL-2.0
//! Socket options.

use super::Case;
use crate::check::ensure;
use crate::check::ensure_eq;
use crate::check::pass;
use crate::check::Outcome;
use crate::endpoint::Endpoint;
use crate::errno::Errno;
use crate::sys;
use crate::sys::Pages;
use crate::sys::Protection;
use crate::sys::Target;
use homa::abi::RcvbufArgs;
use homa::abi::HOMA_BPAGE_SIZE;
use homa::abi::IPPROTO_HOMA;
use homa::abi::SO_HOMA_RCVBUF;
use homa::abi::SO_HOMA_SERVER;
use homa::Family;

pub(super) const CASES: &[Case] = &[
    ("SO_HOMA_RCVBUF is empty at first", region_unset),
    ("SO_HOMA_RCVBUF is set once and read back", region_set),
    (
        "SO_HOMA_RCVBUF of a wrong length is refused",
        region_option_len,
    ),
    (
        "SO_HOMA_RCVBUF wants 2,000,000 bytes and a bpage per CPU",
        region_min,
    ),
    ("SO_HOMA_RCVBUF takes up to 4 GiB", region_max),
    (
        "SO_HOMA_RCVBUF wants a page-aligned start",
        region_unaligned,
    ),
    ("SO_HOMA_RCVBUF wants writable memory", region_unwritable),
    ("SO_HOMA_SERVER is set and read back", server),
    ("SO_HOMA_SERVER of a wrong length is refused", server_len),
    ("unknown options are refused", unknown),
    ("memory that can't be accessed is refused", bad_memory),
    ("SO_SNDBUF and SO_RCVBUF work", socket_level),
];

const PAGE: usize = 4096;

/// The shortest region, rounded up to pages.
fn min_pages() -> usize {
    homa::min_region_len().next_multiple_of(PAGE)
}

fn region_unset(family: Family) -> Outcome {
    let socket = Endpoint::bare(family)?;
    ensure_eq!(socket.rcvbuf()?, RcvbufArgs::default(), "unset region");
    pass()
}

fn region_set(family: Family) -> Outcome {
    let mut socket = Endpoint::bare(family)?;
    let len = min_pages() + 3 * PAGE;
    let pages = Pages::new(len)?;
    let expected = RcvbufArgs {
        start: pages.address(),
        length: (len / HOMA_BPAGE_SIZE * HOMA_BPAGE_SIZE) as u64,
    };
    socket.set_region(pages)?;
    ensure_eq!(socket.rcvbuf()?, expected, "region after setting it");

    let other = Pages::new(len)?;
    let again = socket.set_rcvbuf(other.address(), len as u64);
    ensure_eq!(again, Err(Errno::EINVAL), "second region");
    let again = socket.set_rcvbuf(expected.start, len as u64);
    ensure_eq!(again, Err(Errno::EINVAL), "same region again");
    ensure_eq!(socket.rcvbuf()?, expected, "region after refused calls");

    for (room, written) in [(16, 16), (32, 16), (128, 16)] {
        let value = sys::getsockopt(&socket, IPPROTO_HOMA, SO_HOMA_RCVBUF, room)?;
        ensure_eq!(value.len(), written, "length written with room for {room}");
    }
    for room in [0, 4, 15] {
        let value = sys::getsockopt(&socket, IPPROTO_HOMA, SO_HOMA_RCVBUF, room);
        ensure_eq!(value, Err(Errno::EINVAL), "reading with room for {room}");
    }
    pass()
}

fn region_option_len(family: Family) -> Outcome {
    let socket = Endpoint::bare(family)?;
    let pages = Pages::new(min_pages())?;
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&pages.address().to_ne_bytes());
    bytes[8..16].copy_from_slice(&(pages.len() as u64).to_ne_bytes());
    for len in [0, 4, 8, 15, 17, 32] {
        let value = Target::Bytes(&mut bytes);
        let result = sys::setsockopt(&socket, IPPROTO_HOMA, SO_HOMA_RCVBUF, value, len);
        ensure_eq!(result, Err(Errno::EINVAL), "option of {len} bytes");
    }
    ensure_eq!(socket.rcvbuf()?, RcvbufArgs::default(), "region");
    pass()
}

fn region_min(family: Family) -> Outcome {
    let socket = Endpoint::bare(family)?;
    let pages = Pages::new(min_pages())?;
    let min = homa::min_region_len() as u64;
    for len in [0, 1, 65_536, min - 1] {
        let result = socket.set_rcvbuf(pages.address(), len);
        ensure_eq!(result, Err(Errno::EINVAL), "region of {len} bytes");
    }
    let result = socket.set_rcvbuf(pages.address(), min);
    ensure_eq!(result, Ok(()), "region of {min} bytes");
    pass()
}

fn region_max(family: Family) -> Outcome {
    const MAX: u64 = 1 << 32;
    let socket = Endpoint::bare(family)?;
    let pages = Pages::new(1 << 32)?;
    for len in [MAX + 1, MAX + 65_536, 1 << 40, u64::MAX] {
        let result = socket.set_rcvbuf(pages.address(), len);
        ensure_eq!(result, Err(Errno::EINVAL), "region of {len} bytes");
    }
    ensure_eq!(
        socket.set_rcvbuf(pages.address(), MAX),
        Ok(()),
        "region of 4 GiB"
    );
    ensure_eq!(socket.rcvbuf()?.length, MAX, "length of the region");
    pass()
}

fn region_unaligned(family: Family) -> Outcome {
    let socket = Endpoint::bare(family)?;
    let pages = Pages::new(min_pages() + PAGE)?;
    for shift in [1, 8, 2048, 4095] {
        let result = socket.set_rcvbuf(pages.address() + shift, min_pages() as u64);
        ensure_eq!(result, Err(Errno::EINVAL), "start shifted by {shift}");
    }
    let result = socket.set_rcvbuf(pages.address() + PAGE as u64, min_pages() as u64);
    ensure_eq!(result, Ok(()), "start shifted by a page");
    pass()
}

fn region_unwritable(family: Family) -> Outcome {
    let socket = Endpoint::bare(family)?;
    let pages = Pages::new(min_pages())?;
    let len = pages.len() as u64;
    for protection in [Protection::None, Protection::Read] {
        pages.protect(protection)?;
        let result = socket.set_rcvbuf(pages.address(), len);
        ensure_eq!(result, Err(Errno::EFAULT), "memory with {protection:?}");
    }
    for start in [0, u64::MAX - 4095, 0xffff_8880_0000_0000] {
        let result = socket.set_rcvbuf(start, len);
        ensure_eq!(result, Err(Errno::EFAULT), "start {start:#x}");
    }
    pages.protect(Protection::ReadWrite)?;
    let result = socket.set_rcvbuf(pages.address(), len);
    ensure_eq!(result, Ok(()), "writable memory");
    pass()
}

fn server(family: Family) -> Outcome {
    let socket = Endpoint::bare(family)?;
    for (value, expected) in [(1, 1), (0, 0), (-1, 1), (0, 0), (256, 1)] {
        ensure_eq!(socket.set_server(value), Ok(()), "setting {value}");
        ensure_eq!(socket.is_server()?, expected, "after setting {value}");
    }
    pass()
}

fn server_len(family: Family) -> Outcome {
    let socket = Endpoint::bare(family)?;
    for len in [0, 1, 3, 5, 8] {
        let mut bytes = [1; 8];
        let value = Target::Bytes(&mut bytes);
        let result = sys::setsockopt(&socket, IPPROTO_HOMA, SO_HOMA_SERVER, value, len);
        ensure_eq!(result, Err(Errno::EINVAL), "option of {len} bytes");
    }
    for room in [0, 3] {
        let value = sys::getsockopt(&socket, IPPROTO_HOMA, SO_HOMA_SERVER, room);
        ensure_eq!(value, Err(Errno::EINVAL), "reading with room for {room}");
    }
    let value = sys::getsockopt(&socket, IPPROTO_HOMA, SO_HOMA_SERVER, 64)?;
    ensure_eq!(value.len(), 4, "length written");
    pass()
}

fn unknown(family: Family) -> Outcome {
    let socket = Endpoint::bare(family)?;
    for name in [0, 1, 9, 0x7fff_ffff, -1] {
        let mut bytes = [0; 16];
        let value = Target::Bytes(&mut bytes);
        let result = sys::setsockopt(&socket, IPPROTO_HOMA, name, value, 16);
        ensure_eq!(result, Err(Errno::ENOPROTOOPT), "setting option {name}");
        let result = sys::getsockopt(&socket, IPPROTO_HOMA, name, 16);
        ensure_eq!(result, Err(Errno::ENOPROTOOPT), "reading option {name}");
    }
    let result = sys::getsockopt(&socket, libc::IPPROTO_TCP, SO_HOMA_SERVER, 16);
    ensure!(result.is_err(), "an option of TCP gave {result:?}");
    pass()
}

fn bad_memory(family: Family) -> Outcome {
    let socket = Endpoint::bare(family)?;
    let hidden = Pages::inaccessible()?;
    for (name, len) in [(SO_HOMA_RCVBUF, 16), (SO_HOMA_SERVER, 4)] {
        for target in [Target::Null, Target::Pages(&hidden)] {
            let result = sys::setsockopt(&socket, IPPROTO_HOMA, name, target, len);
            ensure_eq!(result, Err(Errno::EFAULT), "value of option {name}");
        }
        let result = sys::getsockopt_len_at(&socket, IPPROTO_HOMA, name, &hidden);
        ensure_eq!(result, Err(Errno::EFAULT), "length of option {name}");
    }
    pass()
}

fn socket_level(family: Family) -> Outcome {
    let socket = Endpoint::bare(family)?;
    for name in [libc::SO_SNDBUF, libc::SO_RCVBUF] {
        let mut bytes = 100_000_i32.to_ne_bytes();
        let value = Target::Bytes(&mut bytes);
        let result = sys::setsockopt(&socket, libc::SOL_SOCKET, name, value, 4);
        ensure_eq!(result, Ok(()), "setting option {name}");
        let value = sys::getsockopt(&socket, libc::SOL_SOCKET, name, 4)?;
        ensure_eq!(value, 200_000_i32.to_ne_bytes(), "option {name}");
    }
    pass()
}
