// SPDX-License-Identifier: GPL-2.0

//! The kernel's log. That the lines arrive is seen from outside.

use core::fmt;
use kernel::prelude::*;

/// A short text in the making.
pub(super) struct Text {
    bytes: [u8; 32],
    len: usize,
}

impl Text {
    /// Nothing so far.
    pub(super) fn new() -> Self {
        Self {
            bytes: [0; 32],
            len: 0,
        }
    }

    /// Returns whether the text is this one.
    pub(super) fn is(&self, expected: &str) -> bool {
        self.bytes.get(..self.len) == Some(expected.as_bytes())
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        for byte in more.bytes() {
            *self.bytes.get_mut(self.len).ok_or(fmt::Error)? = byte;
            self.len = self.len.saturating_add(1);
        }
        Ok(())
    }
}

/// A number that counts how often it is asked for.
struct Counter(u32);

impl Counter {
    fn next(&mut self) -> u32 {
        self.0 = self.0.saturating_add(1);
        self.0
    }
}

pub(super) fn levels() -> Result {
    let mut counter = Counter(0);
    // Not above "error": those may show on every terminal of the machine.
    pr_err!("contract: err {}\n", counter.next());
    pr_warn!("contract: warn {}\n", counter.next());
    pr_notice!("contract: notice {}\n", counter.next());
    pr_info!("contract: info {}\n", counter.next());
    check!(counter.0 == 4);
    pr_debug!("contract: debug\n");
    Ok(())
}

pub(super) fn formatted() -> Result {
    let name = c"name";
    let mut port = Counter(98);
    pr_info!(
        "contract: {} {:?} {port} {:#x} {:>4}|\n",
        "text",
        name,
        255,
        7,
        port = port.next()
    );
    check!(port.0 == 99);
    Ok(())
}

pub(super) fn long() -> Result {
    let mut counter = Counter(0);
    pr_info!("contract: {:0>400}{}\n", 1, counter.next());
    pr_info!("contract: after the long one {}\n", counter.next());
    check!(counter.0 == 2);
    Ok(())
}
