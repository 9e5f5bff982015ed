// SPDX-License-Identifier: GPL-2.0

//! What happens when Rust code panics in the kernel, which it never should: the place and the
//! reason go to the log, then the current context dies as with `BUG()` in C.

use core::panic::PanicInfo;

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    match info.location() {
        Some(place) => crate::pr_emerg!(
            "panicked at {}:{}: {}\n",
            place.file(),
            place.line(),
            info.message()
        ),
        None => crate::pr_emerg!("panicked: {}\n", info.message()),
    }
    // SAFETY: The function has no requirements.
    unsafe { bindings::homa_bug() };
    die()
}

/// Ends here, should `homa_bug` return. objtool wants to see that the code does not run on, and
/// does not know `homa_bug`.
#[cfg(target_arch = "x86_64")]
fn die() -> ! {
    // SAFETY: The instruction raises an exception, which does not return to it.
    unsafe { core::arch::asm!("ud2", options(noreturn, nomem, nostack)) }
}

/// Ends here, should `homa_bug` return.
#[cfg(not(target_arch = "x86_64"))]
fn die() -> ! {
    loop {
        core::hint::spin_loop();
    }
}
