# SPDX-License-Identifier: GPL-2.0
"""One machine: QEMU's command line and its process."""

import os
import shutil
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import accel, network, tsc
from .errors import RunnerError

# Room for the tar of /out, as a sparse file.
OUT_BYTES = 512 << 20

# Work of a booting kernel that no test looks at, and that costs a third of the
# boot under emulation: unpacking the certificates that sign modules, the
# self-tests of ciphers, and a source of randomness that times itself.
_QUICK = (
    "nokaslr initcall_blacklist=load_system_certificate_list,jent_mod_init cryptomgr.notests"
)

# A busy host may not run a processor of the machine for many seconds. That is no
# lock-up; true ones the runner's own patience finds.
_PATIENT = "watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=90"


@dataclass(frozen=True)
class Hardware:
    """What a machine is made of."""

    accelerator: str
    processors: int = 2
    memory: str = "1G"
    # One processor in virtual time: an instruction is a nanosecond.
    icount: bool = False


@dataclass(frozen=True)
class Boot:
    """What a machine starts with."""

    kernel: Path
    initramfs: Path
    append: str = ""


def program() -> str:
    """QEMU's path."""
    found = shutil.which("qemu-system-x86_64")
    if found is None:
        raise RunnerError(
            "qemu-system-x86_64 is not here; run through scripts/enter, whose build root has it."
        )
    return found


def _processor_arguments(hardware: Hardware) -> list[str]:
    if hardware.icount:
        # Two things make runs comparable: nothing outside moves the clock,
        # and string copies count each byte as one instruction with erms and
        # fsrm, eight times what they cost otherwise.
        return [
            "-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off",
            "-rtc", "base=2026-01-01,clock=vm", "-seed", "1",
            "-cpu", "max,-erms,-fsrm,-fzrm,-fsrs", "-smp", "1",
        ]  # fmt: skip
    acceleration = "kvm" if hardware.accelerator == accel.KVM else "tcg,thread=multi"
    return ["-accel", acceleration, "-cpu", "max", "-smp", str(hardware.processors)]


def _command_line(hardware: Hardware, append: str) -> str:
    words = [
        "console=ttyS0",
        "panic=-1",
        "loglevel=5",
        "printk.time=1",
        # Idle tasks must not be reported late, nor a flood be cut short.
        "printk.devkmsg=on",
        "log_buf_len=4M",
        "sysrq_always_enabled",
        _QUICK,
    ]
    if hardware.icount:
        words += ["norandmaps", "random.trust_cpu=on"]
    else:
        # Caches of their own for leak checks, and KFENCE where it exists.
        words += ["slab_nomerge", "kfence.sample_interval=20"]
        if hardware.accelerator == accel.TCG:
            words += ["tsc=reliable", "no_timer_check", _PATIENT]
            rate = tsc.kilohertz()
            words += [f"tsc_early_khz={rate}"] if rate else []
    return " ".join([*words, append]).strip()


def command(
    hardware: Hardware,
    boot: Boot,
    *,
    channel: Path | None,
    out: Path | None = None,
    port: network.Port | None = None,
) -> list[str]:
    """The whole command line. Without a channel the console is a person's."""
    line = [
        # A runner that is killed takes its machines along.
        "setpriv", "--pdeathsig", "KILL",
        program(),
        "-M", "pc,hpet=off", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
        *_processor_arguments(hardware),
        "-m", hardware.memory,
        "-kernel", str(boot.kernel),
        "-initrd", str(boot.initramfs),
        "-append", _command_line(hardware, boot.append),
        "-chardev", f"stdio,id=console,mux=on,signal={'on' if channel is None else 'off'}",
        "-serial", "chardev:console",
        "-mon", "chardev=console,mode=readline",
    ]  # fmt: skip
    if channel:
        line += ["-chardev", f"socket,id=channel,path={channel}", "-serial", "chardev:channel"]
    if out:
        line += [
            "-drive", f"if=none,id=out,format=raw,file={out}",
            "-device", "virtio-blk-pci,drive=out",
        ]  # fmt: skip
    if port:
        # romfile: no network boot, which costs firmware time.
        line += [
            "-netdev", f"tap,id=wire,ifname={port.tap},script=no,downscript=no,vhost=off",
            "-device", f"virtio-net-pci,netdev=wire,mac={port.mac},romfile=",
        ]  # fmt: skip
    return line


def listen(path: Path) -> socket.socket:
    """A socket for QEMU to connect its channel to."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen(1)
    return server


def start(line: list[str]) -> subprocess.Popen[bytes]:
    """Start a machine with its console on pipes."""
    process = subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    for stream in (process.stdin, process.stdout):
        if stream:
            os.set_blocking(stream.fileno(), False)
    return process


def close(process: subprocess.Popen[bytes]) -> None:
    """Release the pipes of an ended machine."""
    for stream in (process.stdin, process.stdout):
        if stream:
            try:
                stream.close()
            except BrokenPipeError:
                # Keys that it did not read any more.
                continue


def sparse_file(path: Path) -> None:
    """Make room for the guest's /out."""
    with path.open("wb") as out:
        out.truncate(OUT_BYTES)
