// SPDX-License-Identifier: GPL-2.0
//! Doing things in other network namespaces.
//!
//! A socket belongs to the namespace in which it was opened, whoever uses it
//! later. So only opening it has to happen there, in a thread made for that.

use crate::check::Failure;
use crate::sys;
use std::thread;

/// Runs `action` in the namespace with this name, or here if there is none.
pub(crate) fn inside<T: Send>(
    name: Option<&str>,
    action: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    let Some(name) = name else { return action() };
    in_thread(|| {
        enter(name)?;
        action()
    })
}

/// Runs `action` in a new namespace, which ends with the last socket of it.
pub(crate) fn inside_new<T: Send>(
    action: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    in_thread(|| {
        sys::new_netns()
            .map_err(|errno| Failure::new(format!("can't make a network namespace: {errno}")))?;
        action()
    })
}

/// Moves the calling thread to the namespace with this name.
pub(crate) fn enter(name: &str) -> Result<(), Failure> {
    sys::enter_netns(name).map_err(|errno| {
        Failure::new(format!(
            "can't enter the network namespace {name}: {errno}; `ip netns add {name}` makes it"
        ))
    })
}

fn in_thread<T: Send>(action: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    thread::scope(|scope| match scope.spawn(action).join() {
        Ok(result) => result,
        Err(_) => Err(Failure::new("a thread in another namespace panicked")),
    })
}
