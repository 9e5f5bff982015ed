// SPDX-License-Identifier: GPL-2.0

//! Errors of [`Vec`](super::Vec) methods that do not allocate.

use core::fmt;

use crate::error::code::EINVAL;
use crate::error::Error;

/// [`Vec::push_within_capacity`](super::Vec::push_within_capacity) found no room; gives the value
/// back.
pub struct PushError<T>(pub T);

/// [`Vec::remove`](super::Vec::remove) was given an index past the end.
pub struct RemoveError;

/// Why [`Vec::insert_within_capacity`](super::Vec::insert_within_capacity) did not insert; gives
/// the value back.
pub enum InsertError<T> {
    /// The index is greater than the length.
    IndexOutOfBounds(T),
    /// There is no room.
    OutOfCapacity(T),
}

const NO_ROOM: &str = "the vector is full";
const BAD_INDEX: &str = "the index is past the end of the vector";

impl<T> fmt::Debug for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NO_ROOM)
    }
}

impl fmt::Debug for RemoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(BAD_INDEX)
    }
}

impl<T> fmt::Debug for InsertError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InsertError::IndexOutOfBounds(_) => BAD_INDEX,
            InsertError::OutOfCapacity(_) => NO_ROOM,
        })
    }
}

// All three are `EINVAL`, not `ENOMEM`: memory is not what is missing.

impl<T> From<PushError<T>> for Error {
    fn from(_: PushError<T>) -> Error {
        EINVAL
    }
}

impl From<RemoveError> for Error {
    fn from(_: RemoveError) -> Error {
        EINVAL
    }
}

impl<T> From<InsertError<T>> for Error {
    fn from(_: InsertError<T>) -> Error {
        EINVAL
    }
}
