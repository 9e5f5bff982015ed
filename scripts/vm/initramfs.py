# SPDX-License-Identifier: GPL-2.0
"""What a machine boots into: tools, modules, tests.

Three archives in one file. The first (tools) depends on the build root only,
the second (the kernel's modules) on the kernel; both are kept in the cache.
The third is made for each run.
"""

import hashlib
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from . import modules, paths
from .cpio import Archive
from .errors import RunnerError

BUSYBOX = "busybox"
# Those of busybox's applets that start programs prefer its applets to programs:
# with its shell, `ip` would not be iproute2's. So all of these are the real ones.
SHELL = "dash"
STARTERS = tuple(
    "chroot chrt env find nice nohup nsenter setpriv setsid taskset timeout unshare xargs".split()
)
# Programs put beside busybox; they hide its applets of the same name.
TOOLS = (SHELL, "bash", *STARTERS, "ip", "tc", "ss", "bridge", "ethtool", "tcpdump", "kmod", "nft")
KMOD_NAMES = ("modprobe", "insmod", "rmmod", "lsmod", "modinfo", "depmod")
OPTIONAL_TOOLS = frozenset({"nft", "ss", "bridge"})

# Pieces that this version does not use may still be another run's.
_KEEP_SECONDS = 86400.0

_LIBRARY = re.compile(r"(?:=>\s*)?(/\S+)\s+\(0x[0-9a-f]+\)")


@dataclass(frozen=True)
class Item:
    """One thing the guest runs and what the runner should know of it."""

    name: str
    command: str


@dataclass
class Contents:
    """What a run adds to the initramfs."""

    items: list[Item] = field(default_factory=list)
    module: Path | None = None
    programs: list[Path] = field(default_factory=list)
    files: dict[str, Path] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)


def build(kernel: paths.Kernel, contents: Contents, output: Path) -> None:
    """Write the whole initramfs for one machine."""
    pieces = [_tools(), _kernel_modules(kernel)]
    with output.open("wb") as out:
        for piece in pieces:
            with piece.open("rb") as source:
                shutil.copyfileobj(source, out)
        archive = Archive(out)
        _add_run(archive, kernel, contents)
        archive.close()


def _kept(name: str, write: Callable[[Archive], None]) -> Path:
    """A piece in the cache, written on first use; old ones of its kind go."""
    path = paths.vm_cache() / f"{name}.cpio"
    if not path.is_file():
        for other in path.parent.glob(f"{name.rpartition('-')[0]}-*.cpio"):
            if time.time() - other.stat().st_mtime > _KEEP_SECONDS:
                other.unlink(missing_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as out:
            archive = Archive(out)
            write(archive)
            archive.close()
        Path(out.name).replace(path)
    return path


def _tools() -> Path:
    programs = {BUSYBOX: _program(BUSYBOX)}
    for name in TOOLS:
        found = shutil.which(name)
        if found:
            programs[name] = Path(found)
        elif name not in OPTIONAL_TOOLS:
            _program(name)
    key = hashlib.sha256(Path(__file__).read_bytes())
    for name, path in sorted(programs.items()):
        status = path.stat()
        key.update(f"{name} {path} {status.st_size} {status.st_mtime_ns}\n".encode())
    return _kept(f"tools-{key.hexdigest()[:16]}", lambda archive: _add_tools(archive, programs))


def _program(name: str) -> Path:
    found = shutil.which(name)
    if found is None:
        raise RunnerError(
            f"The program '{name}' is missing; run through scripts/enter, whose build root has it."
        )
    return Path(found)


def _add_tools(archive: Archive, programs: dict[str, Path]) -> None:
    for folder in ("dev", "proc", "sys", "tmp", "run", "root", "etc", "out", "homa"):
        archive.folder(folder)
    archive.device("dev/console", 5, 1)
    archive.device("dev/null", 1, 3, 0o666)
    archive.file("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
    archive.file("etc/group", b"root:x:0:\nnogroup:x:65534:\n")
    archive.file("etc/hosts", b"127.0.0.1 localhost\n::1 localhost\n")
    libraries: set[str] = set()
    for name, path in programs.items():
        archive.copy(f"usr/bin/{name}", path, 0o755)
        libraries |= _libraries(path)
    for library in sorted(libraries):
        archive.copy(library, Path(library).resolve(), 0o755)
    # tc loads its distributions for netem from here.
    for table in sorted(Path("/usr/lib").glob("**/tc/*.dist")):
        archive.copy(str(table), table)
    links = {name: "kmod" for name in KMOD_NAMES} | {"sh": SHELL}
    links = {applet: BUSYBOX for applet in _applets(programs[BUSYBOX])} | links
    for name, target in links.items():
        if name not in programs:
            archive.link(f"usr/bin/{name}", target)
    # Everything is in one folder, whatever path a program or the kernel uses.
    for name in ("bin", "sbin", "usr/sbin"):
        archive.link(name, "/usr/bin")


def _libraries(program: Path) -> set[str]:
    """Shared libraries of a program, the loader among them."""
    done = subprocess.run(["ldd", program], check=False, capture_output=True, text=True)
    return set(_LIBRARY.findall(done.stdout)) if done.returncode == 0 else set()


def _applets(busybox: Path) -> list[str]:
    done = subprocess.run([busybox, "--list"], check=True, stdout=subprocess.PIPE, text=True)
    return [name for name in done.stdout.split() if name not in {BUSYBOX, "init", "linuxrc"}]


def _module_tree(kernel: paths.Kernel) -> Path:
    """The modules that guests may load, unpacked, in a folder of the cache."""
    version = hashlib.sha256(Path(modules.__file__).read_bytes()).hexdigest()[:8]
    tree = paths.vm_cache() / f"modules-{kernel.release}-{version}"
    if not tree.is_dir():
        partial = Path(tempfile.mkdtemp(dir=tree.parent, prefix="partial-"))
        for path, data in modules.closure(kernel.modules, modules.WANTED).items():
            place = partial / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        _publish(partial, tree)
    return tree


def _publish(partial: Path, final: Path) -> None:
    """Give a finished folder its name; another run may have been faster."""
    partial.chmod(0o755)
    try:
        partial.rename(final)
    except OSError:
        shutil.rmtree(partial)


def _kernel_modules(kernel: paths.Kernel) -> Path:
    tree = _module_tree(kernel)

    def write(archive: Archive) -> None:
        for path in sorted(tree.rglob("*.ko")):
            archive.copy(f"lib/modules/{kernel.release}/{path.relative_to(tree)}", path)

    return _kept(tree.name, write)


def _add_run(archive: Archive, kernel: paths.Kernel, contents: Contents) -> None:
    guest = paths.GUEST_TESTS
    archive.copy("init", guest / "init", 0o755)
    for path in sorted(guest.rglob("*.sh")):
        archive.copy(f"homa/guest/{path.relative_to(guest)}", path, 0o755)
    for program in contents.programs:
        archive.copy(f"homa/{program.name}", program, 0o755)
    if contents.module:
        archive.copy("homa/homa.ko", contents.module)
    for name, path in contents.files.items():
        archive.copy(name, path)
    _add_module_index(archive, kernel, contents.module)
    plan = "".join(f"{item.name}\t{item.command}\n" for item in contents.items)
    archive.file("homa/plan", plan.encode())
    lines = [f"{key}={_quote(value)}\nexport {key}\n" for key, value in contents.environment.items()]
    archive.file("homa/environment", "".join(lines).encode())


def _quote(value: str) -> str:
    return "'" + value.replace("'", "'\\''") + "'"


def _add_module_index(archive: Archive, kernel: paths.Kernel, module: Path | None) -> None:
    """modules.dep, modules.alias and so on, with the module under test in them."""
    with tempfile.TemporaryDirectory(prefix="homa-vm-") as scratch:
        tree = Path(scratch) / "lib" / "modules" / kernel.release
        tree.mkdir(parents=True)
        (tree / "kernel").symlink_to(_module_tree(kernel) / "kernel")
        if module:
            extra = tree / "extra" / module.name
            extra.parent.mkdir()
            shutil.copyfile(module, extra)
        for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
            listing = kernel.modules / name
            if listing.is_file():
                shutil.copyfile(listing, tree / name)
        done = subprocess.run(
            [_program("depmod"), "-b", scratch, kernel.release], check=False, capture_output=True
        )
        if done.returncode:
            raise RunnerError(f"depmod failed: {done.stderr.decode(errors='replace').strip()}")
        for listing in sorted(tree.glob("modules.*")):
            archive.copy(f"lib/modules/{kernel.release}/{listing.name}", listing)
        if module:
            archive.copy(f"lib/modules/{kernel.release}/extra/{module.name}", module)
