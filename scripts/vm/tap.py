# SPDX-License-Identifier: GPL-2.0
"""Parser of TAP documents (versions 13 and 14, and the kernel's KTAP).

Fed line by line, so that progress can be shown while a test still runs.
Subtests (indented lines) are kept in the log; their parent's line counts.
"""

import re
from dataclasses import dataclass, field
from enum import Enum

_PLAN = re.compile(r"^1\.\.(\d+)(?:\s*#\s*(.*))?$")
_TEST = re.compile(
    r"^(?P<verdict>not ok|ok)\b"
    r"(?:\s+(?P<number>\d+))?"
    r"(?:\s+-)?\s*"
    r"(?P<name>(?:[^#\\]|\\.)*?)\s*"
    r"(?:#\s*(?P<directive>.*))?$"
)
_SKIP = re.compile(r"^skip\S*\s*(.*)$", re.IGNORECASE)
_BAIL = re.compile(r"^bail out!\s*(.*)$", re.IGNORECASE)
_VERSION = re.compile(r"^K?TAP version \d+$")


class Outcome(Enum):
    """What became of a test."""

    PASSED = "ok"
    FAILED = "not ok"
    SKIPPED = "skip"


@dataclass(frozen=True)
class Test:
    """One test line."""

    number: int
    name: str
    outcome: Outcome
    remark: str = ""


@dataclass
class Document:
    """One TAP document: the output of one item."""

    name: str
    tests: list[Test] = field(default_factory=list)
    planned: int | None = None
    bailed: str | None = None
    skipped_all: str | None = None
    errors: list[str] = field(default_factory=list)
    _in_yaml: bool = False

    def feed(self, line: str) -> Test | None:
        """Take one line; return the test that it completes."""
        line = line.rstrip()
        if self._skip_yaml(line) or line.startswith((" ", "\t")):
            return None
        plan = _PLAN.match(line)
        if plan:
            self._take_plan(int(plan[1]), plan[2])
            return None
        bail = _BAIL.match(line)
        if bail:
            self.bailed = bail[1] or "without a reason"
            return None
        test = _TEST.match(line)
        return self._take_test(test) if test else None

    def _skip_yaml(self, line: str) -> bool:
        """Diagnostics between `  ---` and `  ...` may hold anything."""
        stripped = line.strip()
        if self._in_yaml:
            self._in_yaml = stripped != "..."
            return True
        self._in_yaml = stripped == "---" and line.startswith(" ")
        return self._in_yaml

    def _take_plan(self, count: int, remark: str | None) -> None:
        if self.planned is not None:
            self.errors.append("a second plan line")
            return
        self.planned = count
        if count == 0:
            self.skipped_all = _skip_reason(remark or "") or remark or "no reason given"

    def _take_test(self, match: re.Match[str]) -> Test:
        expected = len(self.tests) + 1
        number = int(match["number"]) if match["number"] else expected
        if number != expected:
            self.errors.append(f"test number {number} where {expected} was due")
        directive = match["directive"] or ""
        reason = _skip_reason(directive)
        if match["verdict"] == "not ok":
            outcome = Outcome.FAILED
        else:
            outcome = Outcome.PASSED if reason is None else Outcome.SKIPPED
        name = match["name"].replace("\\#", "#") or f"test {number}"
        test = Test(number, name, outcome, directive if reason is None else reason)
        self.tests.append(test)
        return test

    def count(self, outcome: Outcome) -> int:
        """How many tests ended so."""
        return sum(test.outcome is outcome for test in self.tests)

    def problems(self) -> list[str]:
        """What is wrong with the document itself, beyond failed tests."""
        found = list(self.errors)
        if self.bailed is not None:
            found.append(f"bailed out: {self.bailed}")
        elif self.planned is None:
            found.append("ended without a plan: the test died before its end")
        elif self.planned != len(self.tests):
            found.append(f"planned {self.planned} tests, ran {len(self.tests)}")
        return found


def is_noise(line: str) -> bool:
    """Lines that carry nothing for a reader."""
    return bool(_VERSION.match(line)) or not line.strip()


def _skip_reason(directive: str) -> str | None:
    match = _SKIP.match(directive.strip())
    return match[1].lstrip("- ") if match else None
