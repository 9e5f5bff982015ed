# SPDX-License-Identifier: GPL-2.0
"""Choice between KVM and software emulation.

/dev/kvm being there proves little: under some hypervisors QEMU starts with it
and the guest's kernel then stands still. So a kernel is booted once, and the
result kept for this host kernel and processor.
"""

import hashlib
import os
import platform
import re
import subprocess
from pathlib import Path

from . import paths

KVM = "kvm"
TCG = "tcg"

_PROBE_SECONDS = 10
_MARK = b"Linux version "


def choose(kernel: paths.Kernel, qemu: str) -> str:
    """The accelerator to use on this machine."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return TCG
    remembered = _result_file(qemu)
    if remembered.is_file():
        return remembered.read_text(encoding="ascii").strip()
    result = KVM if _boots(kernel, qemu) else TCG
    remembered.write_text(result + "\n", encoding="ascii")
    return result


def _result_file(qemu: str) -> Path:
    version = subprocess.run([qemu, "--version"], check=True, stdout=subprocess.PIPE).stdout
    key = hashlib.sha256()
    key.update(version)
    key.update(platform.release().encode() + platform.version().encode())
    key.update(_processor())
    return paths.vm_cache() / f"accel-{key.hexdigest()[:16]}"


def _processor() -> bytes:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    lines = re.findall(r"^(?:vendor_id|model name|flags)\s*:.*$", text, re.MULTILINE)
    return "\n".join(lines[:3]).encode()


def _boots(kernel: paths.Kernel, qemu: str) -> bool:
    """Whether the kernel, without a root, comes as far as its panic."""
    command = [
        qemu, "-M", "pc", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
        "-accel", KVM, "-cpu", "max", "-smp", "2", "-m", "512M", "-serial", "stdio",
        "-kernel", str(kernel.vmlinuz), "-append", "console=ttyS0 panic=-1",
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_SECONDS
        )
    except subprocess.TimeoutExpired:
        return False
    return _MARK in done.stdout and b"Kernel panic" in done.stdout
