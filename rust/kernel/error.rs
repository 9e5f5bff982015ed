// SPDX-License-Identifier: GPL-2.0

//! Errors as the kernel knows them: small negative numbers.

use core::ffi::c_int;
use core::fmt;
use core::num::NonZeroI32;

use crate::alloc::AllocError;

/// The largest error number (`include/linux/err.h`).
const MAX_ERRNO: c_int = 4095;

/// Declares the error numbers, and a table of their names.
macro_rules! codes {
    ($($name:ident = $number:literal, $doc:literal;)*) => {
        /// The error codes.
        ///
        /// The numbers are those of `include/uapi/asm-generic/errno.h` and
        /// `include/linux/errno.h`.
        pub mod code {
            use super::Error;

            $(
                #[doc = $doc]
                pub const $name: Error = Error::constant($number);
            )*
        }

        /// Returns the name of the error with this number.
        fn name_of(number: c_int) -> Option<&'static str> {
            match number {
                $($number => Some(stringify!($name)),)*
                _ => None,
            }
        }
    };
}

codes! {
    EPERM = 1, "The operation is not permitted.";
    ENOENT = 2, "No such file or directory.";
    ESRCH = 3, "No such process.";
    EINTR = 4, "The system call was interrupted.";
    EIO = 5, "Input or output error.";
    ENXIO = 6, "No such device or address.";
    E2BIG = 7, "The argument list is too long.";
    ENOEXEC = 8, "Wrong format of an executable.";
    EBADF = 9, "Bad file descriptor.";
    ECHILD = 10, "No child processes.";
    EAGAIN = 11, "Try again.";
    ENOMEM = 12, "Out of memory.";
    EACCES = 13, "Permission denied.";
    EFAULT = 14, "Bad address.";
    ENOTBLK = 15, "A block device is needed.";
    EBUSY = 16, "The device or resource is in use.";
    EEXIST = 17, "It exists already.";
    EXDEV = 18, "A link between devices.";
    ENODEV = 19, "No such device.";
    ENOTDIR = 20, "Not a directory.";
    EISDIR = 21, "It is a directory.";
    EINVAL = 22, "Invalid argument.";
    ENFILE = 23, "Too many open files in the system.";
    EMFILE = 24, "Too many open files in the process.";
    ENOTTY = 25, "Not a terminal, or no such ioctl.";
    ETXTBSY = 26, "The program is running.";
    EFBIG = 27, "The file is too large.";
    ENOSPC = 28, "No space is left.";
    ESPIPE = 29, "It cannot seek.";
    EROFS = 30, "The file system is read-only.";
    EMLINK = 31, "Too many links.";
    EPIPE = 32, "Nobody reads any more.";
    EDOM = 33, "The argument is outside the function's domain.";
    ERANGE = 34, "The result cannot be represented.";
    EOVERFLOW = 75, "The value is too large for its type.";
    EMSGSIZE = 90, "The message is too long.";
    ETIMEDOUT = 110, "Timed out.";
    ERESTARTSYS = 512, "Restart the system call, if the signal's action allows.";
    ERESTARTNOINTR = 513, "Restart the system call.";
    ERESTARTNOHAND = 514, "Restart the system call if no handler ran.";
    ENOIOCTLCMD = 515, "No such ioctl command.";
    ERESTART_RESTARTBLOCK = 516, "Restart through `sys_restart_syscall`.";
    EPROBE_DEFER = 517, "Probe again later.";
    EOPENSTALE = 518, "A stale directory entry was found.";
    ENOPARAM = 519, "The parameter is not supported.";
    EBADHANDLE = 521, "Bad NFS file handle.";
    ENOTSYNC = 522, "The update is out of step.";
    EBADCOOKIE = 523, "The cookie is stale.";
    ENOTSUPP = 524, "The operation is not supported.";
    ETOOSMALL = 525, "The buffer or request is too small.";
    ESERVERFAULT = 526, "An error that has no translation.";
    EBADTYPE = 527, "The server does not support this type.";
    EJUKEBOX = 528, "It takes long; try again later.";
    EIOCBQUEUED = 529, "The request is queued.";
    ERECALLCONFLICT = 530, "It conflicts with a recalled state.";
    ENOGRACE = 531, "The server does not accept reclaims.";
}

/// A few architectures number some errors differently.
#[cfg(not(hosted))]
const _: () = assert!(
    bindings::EDEADLK == 35
        && bindings::EOVERFLOW == 75
        && bindings::EMSGSIZE == 90
        && bindings::ETIMEDOUT == 110,
    "this architecture's error numbers are not the generic ones; add them to rust/kernel/error.rs"
);

/// An error of the kernel, with its number.
///
/// # Invariants
///
/// The value is between `-MAX_ERRNO` and -1.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Error(NonZeroI32);

/// The result of what may fail with a kernel error.
pub type Result<T = (), E = Error> = core::result::Result<T, E>;

impl Error {
    /// Makes an error of a number that is known to be right when the code is compiled.
    const fn constant(number: c_int) -> Self {
        assert!(number > 0 && number <= MAX_ERRNO);
        match NonZeroI32::new(-number) {
            // INVARIANT: Just checked.
            Some(errno) => Self(errno),
            None => panic!("0 is no error number"),
        }
    }

    /// Makes an error of its negative number, as C functions return it.
    ///
    /// A number that is no error (0, positive, or less than -4095) becomes `EINVAL`, and is logged.
    pub fn from_errno(errno: c_int) -> Error {
        match NonZeroI32::new(errno) {
            // INVARIANT: Just checked.
            Some(errno) if (-MAX_ERRNO..0).contains(&errno.get()) => Self(errno),
            _ => {
                crate::pr_warn!("{errno} was taken for an error number; EINVAL is used instead\n");
                code::EINVAL
            }
        }
    }

    /// Returns the negative number.
    pub fn to_errno(self) -> c_int {
        self.0.get()
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.0.get().wrapping_neg();
        match name_of(number) {
            Some(name) => f.write_str(name),
            None => f.debug_tuple("Error").field(&number).finish(),
        }
    }
}

impl From<AllocError> for Error {
    fn from(_: AllocError) -> Error {
        code::ENOMEM
    }
}

impl From<core::num::TryFromIntError> for Error {
    fn from(_: core::num::TryFromIntError) -> Error {
        code::EINVAL
    }
}

impl From<core::str::Utf8Error> for Error {
    fn from(_: core::str::Utf8Error) -> Error {
        code::EINVAL
    }
}

impl From<core::alloc::LayoutError> for Error {
    fn from(_: core::alloc::LayoutError) -> Error {
        code::ENOMEM
    }
}

impl From<fmt::Error> for Error {
    fn from(_: fmt::Error) -> Error {
        code::EINVAL
    }
}

impl From<core::convert::Infallible> for Error {
    fn from(never: core::convert::Infallible) -> Error {
        match never {}
    }
}

/// Turns what a C function returned into a [`Result`]: a negative number is an error.
///
/// # Errors
///
/// The error with this number.
pub fn to_result(err: c_int) -> Result {
    if err < 0 {
        Err(Error::from_errno(err))
    } else {
        Ok(())
    }
}

/// Runs `f` and returns its value, or the negative number of its error, for a C caller.
pub fn from_result<T, F>(f: F) -> T
where
    T: From<i16>,
    F: FnOnce() -> Result<T>,
{
    f().unwrap_or_else(|error| {
        // By the invariants of `Error` the number fits.
        T::from(i16::try_from(error.to_errno()).unwrap_or(i16::MIN))
    })
}
