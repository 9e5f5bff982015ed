# SPDX-License-Identifier: GPL-2.0
"""The command line."""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from . import accel, initramfs, kernlog, network, paths, qemu, vmlinux
from .errors import RunnerError
from .report import Log, Printer
from .session import Limits, Machine, Session

_EPILOG = """\
examples:
  scripts/vm.py run --kernel 7.3 --script tests/guest/one/life.sh
  scripts/vm.py run --kernel 6.1 --vms 2 --script tests/guest/two/wire.sh
  scripts/vm.py shell 7.3

It starts itself again inside the build root (scripts/enter) when it is not
there. The exit status of "run" is 0 only if all tests passed, each TAP plan was
fulfilled, no kernel log shows anything bad, and all machines powered themselves
off; 1 otherwise; 2 when it could not run. Its last line is always
"# passed N failed N".
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="vm.py",
        description="Boot Debian kernels in QEMU and run tests of homa.ko in them.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run guest scripts and judge their TAP and kernel log")
    run.add_argument("--kernel", metavar="SERIES", required=True, help="for example 7.3")
    _add_guest(run)
    _add_run(run)
    shell = commands.add_parser(
        "shell", help="a shell in a machine with homa.ko loaded; exit ends it, so does Ctrl-A X"
    )
    shell.add_argument("kernel", metavar="SERIES", help="for example 7.3")
    _add_guest(shell)
    probe = commands.add_parser("accel", help="print the accelerator in use here: kvm or tcg")
    probe.add_argument("kernel", metavar="SERIES")
    return parser


def _add_guest(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--module", type=Path, help="homa.ko to put into the guest (default: that of the cache)"
    )
    parser.add_argument("--no-module", action="store_true", help="boot without homa.ko")
    parser.add_argument("--genuine", action="store_true", help="default module: the genuine build")
    parser.add_argument(
        "--program", type=Path, action="append", default=[], help="static program, put in /homa"
    )
    parser.add_argument(
        "--file", action="append", default=[], metavar="SOURCE:PATH", help="file for the guest"
    )
    parser.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE", help="variable for the scripts"
    )
    parser.add_argument("--smp", type=int, default=2, help="processors (default: 2)")
    parser.add_argument("--mem", default="1G", help="memory (default: 1G)")
    parser.add_argument(
        "--accel", choices=("auto", accel.KVM, accel.TCG), default="auto", help="default: auto"
    )
    parser.add_argument(
        "--icount",
        action="store_true",
        help="virtual time: one processor, one nanosecond per instruction",
    )
    parser.add_argument("--append", default="", help="more words for the kernel's command line")


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--script", type=Path, action="append", default=[], help="guest script below tests/guest"
    )
    parser.add_argument(
        "--exec",
        action="append",
        default=[],
        metavar="COMMAND",
        help="shell command that prints TAP, run after the scripts",
    )
    parser.add_argument("--vms", type=int, default=1, help="machines, joined by taps (default: 1)")
    parser.add_argument(
        "--timeout", type=float, default=900, help="seconds for the whole run (default: 900)"
    )
    parser.add_argument(
        "--test-timeout",
        type=float,
        default=120,
        help="seconds without a line of output before a test counts as hung (default: 120)",
    )
    parser.add_argument("--allow", action="append", default=[], metavar="REGEX",
                        help="kernel log line to forgive in this run")  # fmt: skip
    parser.add_argument("--out", type=Path, help="folder for what the guest leaves in /out")
    parser.add_argument("--log", type=Path, help="log file (default: in the cache)")
    parser.add_argument("--verbose", action="store_true", help="show all output of the guest")


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(words)
    try:
        _enter_build_root(words, options)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        if options.command == "run":
            return _run(options)
        if options.command == "shell":
            return _shell(options)
        print(accel.choose(paths.kernel(options.kernel), qemu.program()))
        return 0
    except RunnerError as error:
        print(f"vm.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("vm.py: interrupted", file=sys.stderr)
        return 130


def _enter_build_root(words: list[str], options: argparse.Namespace) -> None:
    """Start again inside the build root, whose QEMU and tools are pinned."""
    if os.environ.get("HOMA_BUILD_ROOT"):
        return
    enter = paths.PROJECT / "scripts" / "enter"
    netns = ["--netns"] if getattr(options, "vms", 1) > 1 else []
    command = [str(enter), *netns, "python3", str(paths.PROJECT / "scripts" / "vm.py"), *words]
    os.execv(command[0], command)


def _contents(options: argparse.Namespace, kernel: paths.Kernel) -> initramfs.Contents:
    files: dict[str, Path] = {}
    for pair in options.file:
        source, _, target = pair.partition(":")
        if not target:
            raise RunnerError(f"--file {pair}: write SOURCE:PATH, with the path in the guest.")
        files[target] = _existing(Path(source))
    variables: dict[str, str] = {}
    for pair in options.env:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise RunnerError(f"--env {pair}: write NAME=VALUE.")
        variables[name] = value
    return initramfs.Contents(
        module=_module(options, kernel),
        programs=[_existing(path) for path in options.program],
        files=files,
        environment=variables,
    )


def _module(options: argparse.Namespace, kernel: paths.Kernel) -> Path | None:
    if options.no_module:
        return None
    if options.module:
        return _existing(options.module)
    module = kernel.default_module(genuine=options.genuine)
    if not module.is_file():
        raise RunnerError(
            f"{module} is not built; run scripts/build-module {kernel.series}, "
            f"or name a module with --module."
        )
    return module


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise RunnerError(f"{path} is not there.")
    return path


def _items(options: argparse.Namespace) -> list[initramfs.Item]:
    items: list[initramfs.Item] = []
    for script in options.script:
        try:
            inside = _existing(script).resolve().relative_to(paths.GUEST_TESTS)
        except ValueError:
            raise RunnerError(f"{script} is not below {paths.GUEST_TESTS}.") from None
        items.append(initramfs.Item(inside.stem, f"sh /homa/guest/{inside}"))
    for command in options.exec:
        if "\n" in command or "\t" in command:
            raise RunnerError("--exec takes a single line without tabs.")
        items.append(initramfs.Item(re.sub(r"\s+", " ", command)[:60], command))
    if not items:
        raise RunnerError("Nothing to run: name at least one --script or --exec.")
    return items


def _hardware(options: argparse.Namespace, kernel: paths.Kernel) -> qemu.Hardware:
    if options.icount:
        return qemu.Hardware(accel.TCG, 1, options.mem, icount=True)
    chosen = options.accel
    if chosen == "auto":
        chosen = accel.choose(kernel, qemu.program())
    return qemu.Hardware(chosen, options.smp, options.mem)


def _run(options: argparse.Namespace) -> int:
    kernel = paths.kernel(options.kernel)
    contents = _contents(options, kernel)
    contents.items = _items(options)
    hardware = _hardware(options, kernel)
    log = Log(options.log or paths.cache() / "logs" / f"vm-{kernel.series}.log")
    printer = Printer(log, options.verbose)
    ports = network.join(options.vms) if options.vms > 1 else []
    try:
        with tempfile.TemporaryDirectory(prefix="homa-vm-") as scratch:
            log.open()
            machines = [
                _machine(options, kernel, contents, hardware, Path(scratch), number, ports)
                for number in range(1, options.vms + 1)
            ]
            limits = Limits(options.timeout, options.test_timeout)
            verdict = Session(machines, limits, log, printer).run()
            if options.out:
                for machine in machines:
                    _unpack_out(Path(scratch) / f"{machine.name}.out", options.out, machine.name)
    finally:
        network.leave(ports)
        log.close()
    how = "virtual time" if hardware.icount else hardware.accelerator
    printer.summary(f"{kernel.release} ({how})", verdict)
    return 0 if verdict.good() else 1


def _machine(
    options: argparse.Namespace,
    kernel: paths.Kernel,
    contents: initramfs.Contents,
    hardware: qemu.Hardware,
    scratch: Path,
    number: int,
    ports: list[network.Port],
) -> Machine:
    name = f"vm{number}"
    contents.environment |= {"VM_INDEX": str(number), "VM_COUNT": str(options.vms)}
    out = None
    if options.out:
        out = scratch / f"{name}.out"
        qemu.sparse_file(out)
        contents.environment["VM_OUT"] = "1"
    image = scratch / f"{name}.cpio"
    initramfs.build(kernel, contents, image)
    channel = scratch / f"{name}.channel"
    server = qemu.listen(channel)
    boot = qemu.Boot(vmlinux.bootable(kernel), image, options.append)
    port = ports[number - 1] if ports else None
    command = qemu.command(hardware, boot, channel=channel, out=out, port=port)
    allow = [re.compile(expression) for expression in options.allow]
    return Machine(name, command, server, kernlog.Checker(allow))


def _unpack_out(disk: Path, folder: Path, name: str) -> None:
    """Take the tar that the guest wrote on its disk."""
    target = folder / name
    if target.exists():
        shutil.rmtree(target)
    target.mkdir(parents=True)
    with disk.open("rb") as raw:
        if not any(raw.read(512)):
            return
        raw.seek(0)
        with tarfile.open(fileobj=raw, mode="r:") as archive:
            archive.extractall(target, filter="data")


def _shell(options: argparse.Namespace) -> int:
    kernel = paths.kernel(options.kernel)
    contents = _contents(options, kernel)
    contents.environment |= {"VM_INDEX": "1", "VM_COUNT": "1", "VM_SHELL": "1"}
    hardware = _hardware(options, kernel)
    with tempfile.TemporaryDirectory(prefix="homa-vm-") as scratch:
        image = Path(scratch) / "shell.cpio"
        initramfs.build(kernel, contents, image)
        # A person is not to be disturbed by warnings of the boot.
        append = f"loglevel=4 {options.append}"
        boot = qemu.Boot(vmlinux.bootable(kernel), image, append)
        return subprocess.run(qemu.command(hardware, boot, channel=None), check=False).returncode
