// SPDX-License-Identifier: GPL-2.0

//! The `pr_*!` macros: formatted messages to the kernel's log.
//!
//! A message is formatted into a buffer on the stack, so that logging needs no memory and works
//! everywhere. What does not fit into 240 bytes is cut off, and `[...]` says so.
//!
//! The prefix is the caller's `crate::__LOG_PREFIX`, a byte string that ends with 0. `module!`
//! defines it in the crate of the module; other crates that log define their own.
//!
//! Two things work here that do not with the genuine crate, so do not use them in a module:
//! `{}` for a type of one's own that implements `core::fmt::Display` (there it must implement a
//! trait of that crate; `{:?}` works in both), and `{:p}`, which there hashes the address.

use core::ffi::CStr;
use core::fmt;
use core::fmt::Write;

/// The longest message, in bytes, without its prefix.
const LINE_LEN: usize = 240;

/// Ends a message that was cut off.
const CUT: &str = "[...]\n";

/// How important a message is (`include/linux/kern_levels.h`).
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    Emerg,
    Alert,
    Crit,
    Err,
    Warning,
    Notice,
    Info,
    Debug,
}

/// A message of limited length, in the making.
///
/// # Invariants
///
/// `len <= LINE_LEN`, and the first `len` bytes of `bytes` are UTF-8.
pub(crate) struct Line {
    bytes: [u8; LINE_LEN],
    len: usize,
    cut: bool,
}

impl Line {
    /// Formats a message.
    pub(crate) fn new(args: fmt::Arguments<'_>) -> Self {
        // INVARIANT: No bytes are UTF-8.
        let mut line = Self {
            bytes: [0; LINE_LEN],
            len: 0,
            cut: false,
        };
        // The only error would be one of a `Display` of the caller's; what came before it stays.
        let _ = line.write_fmt(args);
        if line.cut {
            line.append(CUT);
        }
        line
    }

    /// Appends as much of `text` as there is room for.
    fn append(&mut self, text: &str) -> usize {
        let room = self.bytes.get_mut(self.len..).unwrap_or_default();
        // INVARIANT: Whole characters are appended, of which the last ends within the buffer.
        let fits = fit(text, room.len());
        for (to, from) in room.iter_mut().zip(fits.bytes()) {
            *to = from;
        }
        self.len = self.len.saturating_add(fits.len());
        fits.len()
    }

    /// Returns the message.
    pub(crate) fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..self.len).unwrap_or_default();
        // By the invariants this is UTF-8.
        core::str::from_utf8(bytes).unwrap_or_default()
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.cut {
            return Ok(());
        }
        // The mark must always have its place.
        let room = LINE_LEN.saturating_sub(CUT.len()).saturating_sub(self.len);
        let fits = fit(text, room);
        self.cut = fits.len() < text.len();
        self.append(fits);
        Ok(())
    }
}

/// Returns the start of `text` that fits into `room` bytes, in whole characters.
fn fit(text: &str, room: usize) -> &str {
    if text.len() <= room {
        return text;
    }
    (0..=room)
        .rev()
        .find_map(|len| text.get(..len))
        .unwrap_or_default()
}

/// Writes a message to the log. Called by the `pr_*!` macros.
///
/// `prefix` ends with 0; without that there is none.
#[doc(hidden)]
pub fn write(level: Level, prefix: &[u8], args: fmt::Arguments<'_>) {
    let prefix = CStr::from_bytes_until_nul(prefix).unwrap_or_default();
    emit(level, prefix, Line::new(args).as_str());
}

#[cfg(hosted)]
fn emit(level: Level, prefix: &CStr, text: &str) {
    crate::hosted::log(level, prefix, text);
}

#[cfg(not(hosted))]
fn emit(level: Level, prefix: &CStr, text: &str) {
    // SAFETY: `prefix` ends with 0; of `text` only as many bytes are read as it has.
    unsafe {
        bindings::homa_printk(
            level.number(),
            prefix.as_ptr(),
            text.as_ptr().cast(),
            text.len(),
        );
    }
}

impl Level {
    /// Returns the digit of the kernel's `KERN_*` prefix.
    #[cfg(not(hosted))]
    fn number(self) -> core::ffi::c_int {
        match self {
            Level::Emerg => 0,
            Level::Alert => 1,
            Level::Crit => 2,
            Level::Err => 3,
            Level::Warning => 4,
            Level::Notice => 5,
            Level::Info => 6,
            Level::Debug => 7,
        }
    }
}

/// Logs with the prefix of the calling crate. The other macros expand to it.
#[doc(hidden)]
#[macro_export]
#[expect(
    clippy::crate_in_macro_def,
    reason = "the prefix is that of the crate that calls"
)]
macro_rules! print_macro {
    ($level:ident, $($arg:tt)+) => {
        $crate::print::write(
            $crate::print::Level::$level,
            crate::__LOG_PREFIX,
            ::core::format_args!($($arg)+),
        )
    };
}

/// Logs that the system is unusable (level 0). Formats as `std::print!`; the line ends with `\n`.
#[macro_export]
macro_rules! pr_emerg {
    ($($arg:tt)*) => { $crate::print_macro!(Emerg, $($arg)*) };
}

/// Logs that something must be done at once (level 1).
#[macro_export]
macro_rules! pr_alert {
    ($($arg:tt)*) => { $crate::print_macro!(Alert, $($arg)*) };
}

/// Logs a critical condition (level 2).
#[macro_export]
macro_rules! pr_crit {
    ($($arg:tt)*) => { $crate::print_macro!(Crit, $($arg)*) };
}

/// Logs an error (level 3).
#[macro_export]
macro_rules! pr_err {
    ($($arg:tt)*) => { $crate::print_macro!(Err, $($arg)*) };
}

/// Logs a warning (level 4).
#[macro_export]
macro_rules! pr_warn {
    ($($arg:tt)*) => { $crate::print_macro!(Warning, $($arg)*) };
}

/// Logs something normal but significant (level 5).
#[macro_export]
macro_rules! pr_notice {
    ($($arg:tt)*) => { $crate::print_macro!(Notice, $($arg)*) };
}

/// Logs information (level 6).
///
/// # Examples
///
/// ```
/// use kernel::prelude::*;
///
/// const __LOG_PREFIX: &[u8] = b"homa\0";
///
/// # fn main() {
/// pr_info!("listening on port {}\n", 11211);
/// # }
/// ```
#[macro_export]
macro_rules! pr_info {
    ($($arg:tt)*) => { $crate::print_macro!(Info, $($arg)*) };
}

/// Logs what helps to find faults (level 7), in builds with debug assertions only.
#[macro_export]
macro_rules! pr_debug {
    ($($arg:tt)*) => {
        if cfg!(debug_assertions) {
            $crate::print_macro!(Debug, $($arg)*)
        }
    };
}
