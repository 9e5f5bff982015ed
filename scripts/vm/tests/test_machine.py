# SPDX-License-Identifier: GPL-2.0
"""Real boots: each kind of failure in a guest fails the run.

Needs the build root and a kernel; HOMA_VM_KERNEL names its series. Without it
these tests are skipped.
"""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

from vm import paths

SERIES = os.environ.get("HOMA_VM_KERNEL", "")
FAULTS = paths.GUEST_TESTS / "faults"


class Run:
    """A finished run of vm.py."""

    def __init__(self, scripts: list[str], *options: str) -> None:
        command = [
            sys.executable, str(paths.PROJECT / "scripts" / "vm.py"), "run",
            "--kernel", SERIES, "--no-module",
        ]  # fmt: skip
        for script in scripts:
            command += ["--script", str(FAULTS / f"{script}.sh")]
        with TemporaryDirectory() as folder:
            log = Path(folder) / "log"
            command += ["--log", str(log), *options]
            done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
            self.log = log.read_text(encoding="utf-8")
        self.status = done.returncode
        self.output = done.stdout

    def problems(self) -> list[str]:
        """The sentences of the summary."""
        return re.findall(r"^problem: (.*)$", self.output, re.MULTILINE)

    def findings(self) -> list[str]:
        """The reasons found in kernel logs."""
        return re.findall(r"^kernel log of \S+: (.*)$", self.output, re.MULTILINE)


@unittest.skipUnless(SERIES, "HOMA_VM_KERNEL is not set")
class Boots(unittest.TestCase):
    """One boot or more each."""

    def test_good(self) -> None:
        with TemporaryDirectory() as folder:
            run = Run(["pass"], "--out", folder)
            note = Path(folder) / "vm1" / "note"
            self.assertEqual(run.status, 0, run.output)
            self.assertEqual(note.read_text(encoding="utf-8"), "a file of the guest\n")
        self.assertTrue(run.output.endswith("# passed 2 failed 0\n"), run.output)

    def test_bad_items_do_not_stop_the_others(self) -> None:
        run = Run(["fail", "noplan", "status", "warn", "pass"])
        self.assertEqual(run.status, 1)
        self.assertEqual(
            run.problems(),
            ["noplan: ended without a plan: the test died before its end",
             "status: exit status 3"],
        )  # fmt: skip
        self.assertEqual(run.findings(), ["WARNING"])
        self.assertTrue(run.output.endswith("# passed 6 failed 4\n"), run.output)

    def test_kernel_complaints(self) -> None:
        for script, reason in (
            ("lockdep", "lockdep report"),
            ("stall", "RCU stall"),
            ("netdev", "network device leak"),
        ):
            with self.subTest(script):
                run = Run([script])
                self.assertEqual(run.status, 1)
                self.assertEqual(run.findings(), [reason])

    def test_leak(self) -> None:
        run = Run(["leak"])
        self.assertEqual(run.status, 1)
        self.assertIn("    ok without a leak", run.output)
        self.assertIn("NOT OK with a leak", run.output)
        self.assertIn("NOT OK with a small leak", run.output)

    def test_panic(self) -> None:
        run = Run(["panic"])
        self.assertEqual(run.status, 1)
        self.assertTrue(run.findings(), run.output)
        self.assertIn("Kernel panic", run.output)

    def test_hang_shows_where(self) -> None:
        run = Run(["hang"], "--test-timeout", "5")
        self.assertEqual(run.status, 1)
        self.assertEqual(run.problems()[0], "vm1: hung: no output for 5 s in hang")
        self.assertIn("Show backtrace of all active CPUs", run.log)

    def test_early_end(self) -> None:
        run = Run(["reboot"])
        self.assertEqual(run.status, 1)
        self.assertIn("vm1: ended in reboot before all its items were done", run.problems())

    def test_two_machines(self) -> None:
        run = Run(["barrier"], "--vms", "2")
        self.assertEqual(run.status, 0, run.output)
        self.assertTrue(run.output.endswith("# passed 4 failed 0\n"), run.output)

    def test_virtual_time(self) -> None:
        run = Run(["pass"], "--icount")
        self.assertEqual(run.status, 0, run.output)


if __name__ == "__main__":
    unittest.main()
