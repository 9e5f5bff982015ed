# SPDX-License-Identifier: GPL-2.0
"""Rate of the processor's time stamp counter.

An emulated machine reads the host's counter. It measures the counter's rate
when it boots, and on a busy host gets it wrong by as much as half: its clock is
then too fast for good, and so are all timers. So it is told.
"""

import ctypes
import functools
import mmap
import time

# rdtsc; shl rdx, 32; or rax, rdx; ret
_READ = b"\x0f\x31\x48\xc1\xe2\x20\x48\x09\xd0\xc3"
_SECONDS = 0.1
_TRIES = 50


@functools.cache
def kilohertz() -> int | None:
    """The rate, or None where no code can be made to read the counter."""
    try:
        page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        return None
    page.write(_READ)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    read = ctypes.CFUNCTYPE(ctypes.c_uint64)(address)
    first_time, first_count = _sample(read)
    time.sleep(_SECONDS)
    last_time, last_count = _sample(read)
    return round((last_count - first_count) * 1e6 / (last_time - first_time))


def _sample(read: "ctypes._FuncPointer") -> tuple[int, int]:
    """Time and count of one moment: the reading that was disturbed least."""
    best: tuple[int, int, int] | None = None
    for _ in range(_TRIES):
        before = time.monotonic_ns()
        count = int(read())
        after = time.monotonic_ns()
        if best is None or after - before < best[0]:
            best = (after - before, (before + after) // 2, count)
    assert best
    return best[1], best[2]
