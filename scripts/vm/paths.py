# SPDX-License-Identifier: GPL-2.0
"""Where things are: the project, the cache, the kernels in it."""

import os
from dataclasses import dataclass
from pathlib import Path

from .errors import RunnerError

PROJECT = Path(__file__).resolve().parents[2]
GUEST_TESTS = PROJECT / "tests" / "guest"


def cache() -> Path:
    """The cache folder; everything in it can be rebuilt."""
    chosen = os.environ.get("HOMA_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "homa"


def vm_cache() -> Path:
    """The part of the cache that belongs to this package."""
    path = cache() / "vm"
    path.mkdir(parents=True, exist_ok=True)
    return path


@dataclass(frozen=True)
class Kernel:
    """A provisioned kernel."""

    series: str
    release: str
    vmlinuz: Path
    modules: Path

    def default_module(self, *, genuine: bool = False) -> Path:
        """Where the build puts homa.ko for this kernel."""
        folder = self.series + ("-genuine" if genuine else "")
        return cache() / "modules" / folder / "homa.ko"


def known_series() -> list[str]:
    """Series that are provisioned, oldest first."""
    folder = cache() / "kernels"
    if not folder.is_dir():
        return []
    found = [p.name for p in folder.iterdir() if p.is_symlink()]
    return sorted(found, key=lambda name: [int(n) for n in name.split(".") if n.isdigit()])


def kernel(series: str) -> Kernel:
    """Look up a series such as "7.3"."""
    folder = cache() / "kernels" / series
    if not folder.exists():
        have = ", ".join(known_series()) or "none"
        raise RunnerError(
            f"Kernel {series} is not in the cache (there: {have}); "
            f"fetch it with scripts/provision."
        )
    real = folder.resolve()
    release_file = real / "release"
    if not release_file.is_file():
        raise RunnerError(f"{real} has no file 'release'; provision kernel {series} again.")
    found = Kernel(
        series=series,
        release=release_file.read_text(encoding="utf-8").strip(),
        vmlinuz=real / "vmlinuz",
        modules=real / "modules",
    )
    for part in (found.vmlinuz, found.modules):
        if not part.exists():
            raise RunnerError(f"{part} is missing; provision kernel {series} again.")
    return found
