# SPDX-License-Identifier: GPL-2.0
"""A session: machines running their items, watched until the verdict.

The guest speaks TAP on its channel, and between the lines of TAP to the
runner:

    # vm: begin NAME           an item starts; its TAP document follows
    # vm: end NAME STATUS      it is over
    # vm: timeout SECONDS      each further line of this item may take that long
    # vm: signal NAME          a thing has happened; holds for the whole session
    # vm: wait NAME            answer "go NAME" once it has
    # vm: done                 all items are over, the machine powers itself off
"""

import re
import selectors
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from . import kernlog, qemu, tap
from .report import Log, Printer, Verdict

_DIRECTIVE = re.compile(r"^# vm: (\w+)(?: (.*))?$")
_ESCAPES = re.compile(r"\x1b[\[\]()][0-9;?]*[A-Za-z]?|\x1b.|[\x00-\x08\x0b-\x1f\x7f]")

# From the start of a machine to its first item.
_BOOT_SECONDS = 120.0
# From the end of its last item to its end.
_OFF_SECONDS = 60.0
# A hung kernel gets this long to say where its tasks are.
_POST_MORTEM_SECONDS = 3.0
_STROKE_SECONDS = 0.5
# QEMU's console multiplexer: a break, which makes the next key a SysRq.
_BREAK = b"\x01b"
# Backtraces of all processors, then of all blocked tasks.
_POST_MORTEM_KEYS = b"lw"


@dataclass(frozen=True)
class Limits:
    """Patience, in seconds."""

    total: float
    test: float


class Lines:
    """Cuts a stream of bytes into lines."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[str]:
        """The lines that are complete now."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            yield _ESCAPES.sub("", line.decode(errors="replace").rstrip("\r"))

    def finish(self) -> Iterator[str]:
        """What came after the last end of line."""
        if self._rest:
            yield from self.feed(b"\n")


@dataclass
class Machine:
    """One machine of a session and what is known of it."""

    name: str
    command: list[str]
    server: socket.socket
    checker: kernlog.Checker
    process: subprocess.Popen[bytes] | None = None
    channel: socket.socket | None = None
    document: tap.Document | None = None
    done: bool = False
    ended: bool = False
    # Ended without the runner's doing.
    ended_alone: bool = False
    deadline: float = 0.0
    patience: float = 0.0
    waits: str | None = None
    console_lines: Lines = field(default_factory=Lines)
    channel_lines: Lines = field(default_factory=Lines)


class Session:
    """Runs machines to their end and collects the verdict."""

    def __init__(self, machines: list[Machine], limits: Limits, log: Log, printer: Printer) -> None:
        self._machines = machines
        self._limits = limits
        self._log = log
        self._printer = printer
        self._signals: set[str] = set()
        self._verdict = Verdict()
        self._selector = selectors.DefaultSelector()
        self._end = 0.0
        self._stopping = False

    def run(self) -> Verdict:
        """Boot all machines, watch them, and judge."""
        try:
            self._end = time.monotonic() + self._limits.total
            for machine in self._machines:
                self._boot(machine)
            while not self._over():
                self._turn()
                late = self._late()
                if late:
                    self._give_up(late)
                    break
        finally:
            self._stop()
        for machine in self._machines:
            self._judge(machine)
        return self._verdict

    def _boot(self, machine: Machine) -> None:
        machine.process = process = qemu.start(machine.command)
        machine.deadline = time.monotonic() + _BOOT_SECONDS
        assert process.stdout is not None
        self._selector.register(process.stdout, selectors.EVENT_READ, (self._console, machine))
        self._selector.register(machine.server, selectors.EVENT_READ, (self._accept, machine))

    def _over(self) -> bool:
        """All machines have ended, or one too early, for which no other waits."""
        return all(machine.ended for machine in self._machines) or any(
            machine.ended and not machine.done for machine in self._machines
        )

    def _turn(self, seconds: float = 1.0) -> None:
        """Handle what has arrived, or arrives in this time."""
        for key, _ in self._selector.select(timeout=max(0.0, seconds)):
            handle, machine = key.data
            handle(machine)
        for machine in self._machines:
            process = machine.process
            if process and not machine.ended and process.poll() is not None:
                self._drain(machine)

    def _accept(self, machine: Machine) -> None:
        machine.channel, _ = machine.server.accept()
        machine.channel.setblocking(False)
        self._selector.unregister(machine.server)
        machine.server.close()
        self._selector.register(machine.channel, selectors.EVENT_READ, (self._talk, machine))

    def _console(self, machine: Machine) -> None:
        assert machine.process and machine.process.stdout
        data = machine.process.stdout.read(65536)
        if data == b"":
            self._selector.unregister(machine.process.stdout)
        for line in machine.console_lines.feed(data or b""):
            self._console_line(machine, line)

    def _console_line(self, machine: Machine, line: str) -> None:
        if not line.strip():
            return
        self._log.write(f"{machine.name}.k", line)
        reason = machine.checker.feed(line)
        if reason:
            self._printer.finding(machine.name, reason, line)

    def _talk(self, machine: Machine) -> None:
        assert machine.channel
        try:
            data = machine.channel.recv(65536)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if data == b"":
            self._selector.unregister(machine.channel)
        for line in machine.channel_lines.feed(data):
            self._channel_line(machine, line)

    def _channel_line(self, machine: Machine, line: str) -> None:
        self._log.write(machine.name, line)
        machine.deadline = time.monotonic() + machine.patience
        directive = _DIRECTIVE.match(line)
        if directive:
            self._obey(machine, directive[1], directive[2] or "")
            return
        test = machine.document.feed(line) if machine.document else None
        if test:
            self._printer.test(test)
        else:
            self._printer.other(line)

    def _obey(self, machine: Machine, verb: str, rest: str) -> None:
        match verb:
            case "begin":
                self._close_document(machine)
                machine.document = tap.Document(self._where(machine, rest))
                machine.patience = self._limits.test
                machine.deadline = time.monotonic() + machine.patience
                self._printer.item(machine.document.name)
            case "end":
                self._end_item(machine, rest)
            case "timeout":
                machine.patience = float(rest)
                machine.deadline = time.monotonic() + machine.patience
            case "signal":
                self._signals.add(rest)
                for other in self._machines:
                    self._answer(other)
            case "wait":
                machine.waits = rest
                self._answer(machine)
            case "done":
                self._close_document(machine)
                machine.done = True
                machine.patience = _OFF_SECONDS
                machine.deadline = time.monotonic() + _OFF_SECONDS
            case _:
                self._problem(machine, f"does not make sense to the runner: # vm: {verb} {rest}")

    def _where(self, machine: Machine, item: str) -> str:
        return item if len(self._machines) == 1 else f"{machine.name} {item}"

    def _end_item(self, machine: Machine, rest: str) -> None:
        _, _, status = rest.rpartition(" ")
        document = machine.document
        # A script whose tests failed says so by its status as well.
        if document and status != "0" and not document.count(tap.Outcome.FAILED):
            document.errors.append(f"exit status {status}")
        self._close_document(machine)

    def _close_document(self, machine: Machine) -> None:
        if machine.document:
            self._verdict.add_document(machine.document.name, machine.document)
            machine.document = None

    def _answer(self, machine: Machine) -> None:
        if machine.waits in self._signals and machine.channel:
            machine.channel.send(f"go {machine.waits}\n".encode())
            machine.waits = None
            machine.deadline = time.monotonic() + machine.patience

    def _late(self) -> list[Machine]:
        """Machines whose time is over; all of them when the session's is."""
        now = time.monotonic()
        running = [machine for machine in self._machines if not machine.ended]
        if now > self._end:
            return running
        return [machine for machine in running if now > machine.deadline]

    def _give_up(self, late: list[Machine]) -> None:
        for machine in late:
            if time.monotonic() > self._end:
                what = f"the whole run took more than {self._limits.total:g} s"
            elif machine.done:
                what = f"did not power off within {_OFF_SECONDS:g} s"
            elif machine.document is None:
                what = "hung between two items or in the boot"
            else:
                what = f"hung: no output for {machine.patience:g} s in {machine.document.name}"
                if machine.waits:
                    what += f", waiting for '{machine.waits}'"
            self._problem(machine, what)
        self._post_mortem(late)

    def _post_mortem(self, late: list[Machine]) -> None:
        """Ask hung kernels where they are; the answer goes to the log only."""
        for machine in late:
            self._log.write(machine.name, "--- hung; asking the kernel for backtraces ---")
            machine.checker.active = False
        for key in _POST_MORTEM_KEYS:
            for stroke in (_BREAK, bytes([key])):
                for machine in late:
                    self._press(machine, stroke)
                # A key that follows too fast overtakes the break.
                self._watch(_STROKE_SECONDS)
        self._watch(_POST_MORTEM_SECONDS)

    def _press(self, machine: Machine, stroke: bytes) -> None:
        assert machine.process and machine.process.stdin
        try:
            machine.process.stdin.write(stroke)
            machine.process.stdin.flush()
        except OSError:
            self._log.write(machine.name, "--- takes no keys any more ---")

    def _watch(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not all(machine.ended for machine in self._machines):
            self._turn(end - time.monotonic())

    def _drain(self, machine: Machine) -> None:
        """QEMU has ended: take what is still in its pipes."""
        machine.ended = True
        machine.ended_alone = not self._stopping
        assert machine.process and machine.process.stdout
        rest = machine.process.stdout.read() or b""
        for lines in (machine.console_lines.feed(rest), machine.console_lines.finish()):
            for line in lines:
                self._console_line(machine, line)
        if machine.channel:
            self._drain_channel(machine, machine.channel)

    def _drain_channel(self, machine: Machine, channel: socket.socket) -> None:
        data = b""
        try:
            while more := channel.recv(65536):
                data += more
        except OSError:
            # Nothing more is there, or the other side is gone.
            pass
        for lines in (machine.channel_lines.feed(data), machine.channel_lines.finish()):
            for line in lines:
                self._channel_line(machine, line)

    def _stop(self) -> None:
        self._stopping = True
        for machine in self._machines:
            process = machine.process
            if process and process.poll() is None:
                process.kill()
            if process:
                process.wait()
                if not machine.ended:
                    self._drain(machine)
                qemu.close(process)
            machine.server.close()
            if machine.channel:
                machine.channel.close()
        self._selector.close()

    def _judge(self, machine: Machine) -> None:
        unfinished = machine.document
        self._close_document(machine)
        self._verdict.findings += [(machine.name, f) for f in machine.checker.findings]
        if machine.done or not machine.ended_alone:
            return
        where = f" in {unfinished.name}" if unfinished else ""
        self._problem(machine, f"ended{where} before all its items were done")

    def _problem(self, machine: Machine, what: str) -> None:
        self._verdict.problems.append(f"{machine.name}: {what}")
