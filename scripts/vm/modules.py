# SPDX-License-Identifier: GPL-2.0
"""Kernel modules: finding them, their dependencies, and unpacking them.

The packages' trees hold no modules.dep (it is made at installation), so the
dependencies are read from the modules themselves.
"""

import lzma
import re
import subprocess
from pathlib import Path

from .errors import RunnerError

SUFFIX = re.compile(r"\.ko(\.xz|\.zst|\.gz)?$")

# What tests use. Those a kernel lacks are left out; a test that needs one
# says so itself when modprobe fails.
WANTED = (
    "virtio_pci",
    "virtio_net",
    "virtio_blk",
    "virtio_console",
    "virtio_rng",
    "veth",
    "dummy",
    "bridge",
    "tun",
    "sch_netem",
    "sch_tbf",
    "sch_prio",
    "sch_ingress",
    "cls_u32",
    "cls_flower",
    "cls_basic",
    "act_mirred",
    "act_gact",
    "em_u32",
    "udp_tunnel",
    "ip6_udp_tunnel",
    "nf_tables",
    "nft_ct",
    "nf_conntrack",
    "inet_diag",
    "udp_diag",
    "libcrc32c",
)


def normal(name: str) -> str:
    """A module's name as the kernel spells it."""
    return name.replace("-", "_")


def index(tree: Path) -> dict[str, Path]:
    """All modules of a tree by name."""
    found: dict[str, Path] = {}
    for path in sorted(tree.rglob("*.ko*")):
        if SUFFIX.search(path.name):
            found[normal(SUFFIX.sub("", path.name))] = path
    return found


def builtin(tree: Path) -> set[str]:
    """Names of what is built into the kernel."""
    listing = tree / "modules.builtin"
    if not listing.is_file():
        return set()
    lines = listing.read_text(encoding="utf-8").split()
    return {normal(SUFFIX.sub("", Path(line).name)) for line in lines}


def unpack(path: Path) -> bytes:
    """A module's ELF bytes, whatever it is packed with."""
    if path.name.endswith(".xz"):
        return lzma.decompress(path.read_bytes())
    if path.name.endswith((".zst", ".gz")):
        tool = "zstd" if path.name.endswith(".zst") else "gzip"
        try:
            return subprocess.run([tool, "-dc", path], check=True, stdout=subprocess.PIPE).stdout
        except FileNotFoundError:
            raise RunnerError(f"{path} needs the program '{tool}'; install it.") from None
    return path.read_bytes()


def modinfo(data: bytes, key: str) -> list[str]:
    """The values of a key in a module's .modinfo section."""
    # Entries of .modinfo are NUL-terminated "key=value"; the first one of the
    # section follows padding, which is NUL as well.
    pattern = re.compile(rb"(?<=\0)" + re.escape(key.encode()) + rb"=([^\0]*)\0")
    return [match.decode() for match in pattern.findall(data)]


def depends(data: bytes) -> list[str]:
    """Names of the modules that this one needs."""
    needed: list[str] = []
    for value in modinfo(data, "depends"):
        needed += [normal(name) for name in value.split(",") if name]
    return needed


def closure(tree: Path, names: tuple[str, ...] | list[str]) -> dict[Path, bytes]:
    """The named modules and all they need: path below `tree` to ELF bytes.

    Names that the kernel has built in or does not have are left out.
    """
    available = index(tree)
    chosen: dict[Path, bytes] = {}
    waiting = [normal(name) for name in names]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        path = available.get(name)
        if name in seen or path is None:
            continue
        seen.add(name)
        data = unpack(path)
        plain = path.relative_to(tree).with_name(SUFFIX.sub(".ko", path.name))
        chosen[plain] = data
        waiting += depends(data)
    return chosen
