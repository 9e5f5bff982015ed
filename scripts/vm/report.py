# SPDX-License-Identifier: GPL-2.0
"""What people see of a run: progress, the log file, the summary."""

import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from . import kernlog, tap


@dataclass
class Log:
    """The readable log of a run: all output of all machines, in order of time."""

    path: Path
    _out: TextIO | None = None
    _started: float = field(default_factory=time.monotonic)

    def open(self) -> None:
        """Create the file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Line-buffered, so that it can be followed while the run goes on.
        self._out = self.path.open("w", encoding="utf-8", buffering=1)

    def write(self, source: str, line: str) -> None:
        """Add a line; `source` is the machine, and k for its kernel's messages."""
        if self._out:
            self._out.write(f"{self.elapsed():8.3f} {source:6} {line}\n")

    def elapsed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._started

    def close(self) -> None:
        """Finish the file."""
        if self._out:
            self._out.close()
            self._out = None


@dataclass
class Verdict:
    """What came of a run."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    # Everything else that is wrong, one sentence each.
    problems: list[str] = field(default_factory=list)
    findings: list[tuple[str, kernlog.Finding]] = field(default_factory=list)

    def add_document(self, where: str, document: tap.Document) -> None:
        """Count the tests of a finished (or abandoned) item."""
        self.passed += document.count(tap.Outcome.PASSED)
        self.failed += document.count(tap.Outcome.FAILED)
        self.skipped += document.count(tap.Outcome.SKIPPED)
        self.problems += [f"{where}: {problem}" for problem in document.problems()]

    def failures(self) -> int:
        """Failed tests and everything that counts as one."""
        return self.failed + len(self.problems) + len(self.findings)

    def good(self) -> bool:
        """Whether the run passed; a run that tested nothing did not."""
        return self.failures() == 0 and self.passed > 0


@dataclass
class Printer:
    """Progress on the terminal."""

    log: Log
    verbose: bool = False
    _counts: dict[tap.Outcome, int] = field(default_factory=dict)

    def say(self, text: str) -> None:
        """A line for the user."""
        print(text, flush=True)

    def item(self, where: str) -> None:
        """An item begins."""
        self.say(f"[{self.log.elapsed():6.1f} s] {where}")

    def test(self, test: tap.Test) -> None:
        """A test is over."""
        remark = f"  # {test.remark}" if test.remark else ""
        mark = {
            tap.Outcome.PASSED: "    ok",
            tap.Outcome.FAILED: "NOT OK",
            tap.Outcome.SKIPPED: "  skip",
        }[test.outcome]
        self.say(f"  {mark} {test.name}{remark}")

    def other(self, line: str) -> None:
        """Any other output of a guest."""
        if self.verbose and not tap.is_noise(line):
            self.say(f"         {line}")

    def finding(self, machine: str, reason: str, line: str) -> None:
        """Something bad appeared in a kernel log."""
        self.say(f"  KERNEL {machine}: {reason}: {kernlog.message(line)}")

    def summary(self, title: str, verdict: Verdict) -> None:
        """The end of a run; its last line is for scripts to read."""
        for machine, finding in verdict.findings:
            self.say(f"\nkernel log of {machine}: {finding.reason}")
            for line in finding.lines:
                self.say(f"    {line}")
        if verdict.problems:
            self.say("")
        for problem in verdict.problems:
            self.say(f"problem: {problem}")
        if verdict.failures() == 0 and verdict.passed == 0:
            self.say("problem: no test ran")
        self.say(
            f"{title}: {'passed' if verdict.good() else 'FAILED'} in {self.log.elapsed():.1f} s, "
            f"{verdict.skipped} skipped; log: {self.log.path}"
        )
        failed = verdict.failures() if verdict.good() or verdict.failures() else 1
        self.say(f"# passed {verdict.passed} failed {failed}")
        sys.stdout.flush()
