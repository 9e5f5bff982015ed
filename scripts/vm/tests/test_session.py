# SPDX-License-Identifier: GPL-2.0
"""Sessions of machines played by a small program: each way to pass and to fail."""

import io
import sys
import tempfile
import time
import unittest
from contextlib import redirect_stdout
from pathlib import Path

from vm import kernlog, qemu
from vm.report import Log, Printer, Verdict
from vm.session import Limits, Machine, Session

# Plays a machine: argument 1 is its channel, the others what to do.
PLAYER = """
import socket, sys, time
channel = socket.socket(socket.AF_UNIX)
channel.connect(sys.argv[1])
answers = channel.makefile()
for step in sys.argv[2:]:
    verb, _, rest = step.partition(" ")
    if verb == "say": channel.sendall(rest.encode() + b"\\n")
    elif verb == "log": print("[    1.000000]", rest, flush=True)
    elif verb == "sleep": time.sleep(float(rest))
    elif verb == "hear": assert answers.readline() == rest + "\\n"
"""

BEGIN = "say # vm: begin item"
END = "say # vm: end item 0"
DONE = "say # vm: done"
FINE = (BEGIN, "say ok 1 - a", "say 1..1", END)


def play(*scripts: tuple[str, ...], test: float = 5, total: float = 20) -> Verdict:
    """Run a session of one machine for each script."""
    with tempfile.TemporaryDirectory() as scratch:
        machines = []
        for number, steps in enumerate(scripts, 1):
            path = Path(scratch) / f"channel{number}"
            command = [sys.executable, "-c", PLAYER, str(path), *steps]
            machine = Machine(f"vm{number}", command, qemu.listen(path), kernlog.Checker())
            machines.append(machine)
        log = Log(Path(scratch) / "log")
        log.open()
        try:
            with redirect_stdout(io.StringIO()):
                return Session(machines, Limits(total, test), log, Printer(log)).run()
        finally:
            log.close()


class OneMachine(unittest.TestCase):
    """Verdicts over one machine."""

    def bad(self, verdict: Verdict, part: str) -> None:
        """The verdict is bad because of one problem, which says `part`."""
        self.assertFalse(verdict.good())
        self.assertEqual(len(verdict.problems), 1, verdict.problems)
        self.assertIn(part, verdict.problems[0])

    def test_good(self) -> None:
        verdict = play((*FINE, DONE))
        self.assertEqual(verdict.problems, [])
        self.assertTrue(verdict.good())
        self.assertEqual((verdict.passed, verdict.failed), (1, 0))

    def test_items_are_documents_of_their_own(self) -> None:
        verdict = play((*FINE, *FINE, DONE))
        self.assertTrue(verdict.good())
        self.assertEqual(verdict.passed, 2)

    def test_failed_test(self) -> None:
        verdict = play((BEGIN, "say not ok 1 - a", "say 1..1", "say # vm: end item 1", DONE))
        self.assertEqual((verdict.failed, verdict.problems), (1, []))
        self.assertFalse(verdict.good())

    def test_nothing_tested(self) -> None:
        self.assertFalse(play((DONE,)).good())

    def test_no_plan(self) -> None:
        self.bad(play((BEGIN, "say ok 1", END, DONE)), "without a plan")

    def test_status(self) -> None:
        steps = (BEGIN, "say ok 1", "say 1..1", "say # vm: end item 3", DONE)
        self.bad(play(steps), "exit status 3")

    def test_ends_too_early(self) -> None:
        self.bad(play((*FINE,)), "before all its items were done")

    def test_does_not_power_off_after_an_item_began(self) -> None:
        verdict = play((BEGIN, "say ok 1"))
        self.assertEqual(len(verdict.problems), 2)

    def test_hang(self) -> None:
        before = time.monotonic()
        verdict = play((BEGIN, "say ok 1", "sleep 60"), test=1)
        self.assertIn("vm1: hung: no output for 1 s in item", verdict.problems)
        self.assertLess(time.monotonic() - before, 20)

    def test_more_patience_on_request(self) -> None:
        verdict = play(
            (BEGIN, "say # vm: timeout 10", "sleep 2.5", "say ok 1", "say 1..1", END, DONE), test=1
        )
        self.assertEqual(verdict.problems, [])

    def test_total_time(self) -> None:
        verdict = play((BEGIN, *(["say ok", "sleep 0.2"] * 100)), total=2)
        self.assertIn("vm1: the whole run took more than 2 s", verdict.problems)

    def test_kernel_log(self) -> None:
        verdict = play((BEGIN, "log BUG: x", "say ok 1", "say 1..1", END, DONE))
        self.assertFalse(verdict.good())
        self.assertEqual([f.reason for _, f in verdict.findings], ["BUG"])

    def test_kernel_log_of_the_last_moment(self) -> None:
        verdict = play((*FINE, DONE, "log WARNING: CPU: 0"))
        self.assertEqual(len(verdict.findings), 1)

    def test_unknown_directive(self) -> None:
        self.bad(play((*FINE, "say # vm: frobnicate x", DONE)), "does not make sense")


class TwoMachines(unittest.TestCase):
    """What machines do together."""

    def test_signal_before_and_after_wait(self) -> None:
        one = (BEGIN, "sleep 0.5", "say # vm: signal up", "say ok 1", "say 1..1", END, DONE)
        two = (BEGIN, "say # vm: wait up", "hear go up", "say # vm: wait up", "hear go up",
               "say ok 1", "say 1..1", END, DONE)  # fmt: skip
        verdict = play(one, two)
        self.assertEqual(verdict.problems, [])
        self.assertEqual(verdict.passed, 2)

    def test_one_dies(self) -> None:
        before = time.monotonic()
        verdict = play((*FINE,), (BEGIN, "say # vm: wait never", "sleep 60"), test=30, total=50)
        self.assertLess(time.monotonic() - before, 10)
        self.assertTrue(any("vm1: ended before" in p for p in verdict.problems), verdict.problems)

    def test_waits_in_vain(self) -> None:
        verdict = play((*FINE, DONE), (BEGIN, "say # vm: wait up", "sleep 60"), test=1)
        self.assertTrue(any("waiting for 'up'" in p for p in verdict.problems), verdict.problems)


if __name__ == "__main__":
    unittest.main()
