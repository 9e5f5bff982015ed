// SPDX-License-Identifier: GPL-2.0

//! Clock, random numbers, and the number of CPUs.

use bindings as c;

/// Returns nanoseconds of the monotonic clock.
pub fn now() -> u64 {
    // SAFETY: May be called in any context.
    unsafe { c::homa_ktime_get_ns() }
}

/// Returns a number nobody can predict.
pub fn random_u64() -> u64 {
    let mut bytes = [0u8; 8];
    // SAFETY: The pointer and the length are those of `bytes`.
    unsafe { c::homa_random_bytes(bytes.as_mut_ptr().cast(), bytes.len()) };
    u64::from_ne_bytes(bytes)
}

/// Returns the largest possible number of a CPU, plus one.
pub fn possible_cpus() -> u32 {
    // SAFETY: Reads a constant of the running kernel.
    unsafe { c::homa_nr_cpu_ids() }
}
