# SPDX-License-Identifier: GPL-2.0
"""Judge of kernel logs: finds what a healthy kernel never prints."""

import re
from dataclasses import dataclass, field

# A reason and the expression that shows it. Searched in the message, without
# its timestamp. The order decides which reason is named for a line.
SUSPECT: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (reason, re.compile(expression))
    for reason, expression in (
        ("panic", r"Kernel panic"),
        ("Rust panic", r"panicked at "),
        ("KASAN report", r"\bBUG: KASAN"),
        ("KFENCE report", r"\bBUG: KFENCE"),
        ("data race", r"\bBUG: KCSAN"),
        ("UBSAN report", r"\bUBSAN:"),
        ("lockdep report", r"possible circular locking|possible recursive locking"),
        ("lockdep report", r"inconsistent lock state|suspicious RCU usage|bad unlock balance"),
        ("lockdep report", r"possible irq lock inversion|lock held when returning"),
        ("lockdep report", r"trying to register non-static key|possible deadlock"),
        ("sleeping in atomic context", r"sleeping function called|scheduling while atomic"),
        ("slab corruption or leak", r"\bBUG \S+ ?(\(|:)|Objects remaining in|cache still has objects"),
        ("BUG", r"\bBUG:|kernel BUG at|\bBUG!"),
        ("RCU stall", r"rcu\S*( INFO)?: .*(stall|starved)|INFO: rcu_"),
        ("lockup", r"(soft|hard) lockup|\bLOCKUP\b"),
        ("blocked task", r"INFO: task .* blocked for more than"),
        ("network device leak", r"unregister_netdevice: waiting for|waiting for \S+ to become free"),
        ("reference count", r"refcount_t: |ref_tracker: |leaked reference|has \d+/\d+ users at"),
        ("kmemleak report", r"kmemleak: \d+ new suspected memory leaks|unreferenced object 0x"),
        ("Oops", r"\bOops\b|general protection fault|unable to handle|divide error|invalid opcode"),
        ("list corruption", r"list_(add|del)\S* corruption|corrupted list"),
        ("WARNING", r"\bWARNING: |WARN_ON|\[ cut here \]"),
        ("page state", r"Bad page (state|map)|rss-counter state|Bad rss-counter"),
        ("out of memory", r"page allocation failure|Out of memory|oom-kill|invoked oom-killer"),
        ("socket leak", r"Attempt to release|KERNEL: assertion|sk_(r|w)mem_alloc"),
        ("registered twice", r"cannot create duplicate|already registered|kobject_add_internal failed"),
        ("sysctl table", r"sysctl table check failed|sysctl: .*(failed|not registered)"),
        ("module refused", r"Unknown symbol|disagrees about version|[Uu]nknown rela relocation"),
        ("module refused", r"[Ii]nvalid relocation|Unpatched return thunk|exports duplicate symbol"),
        ("user program crashed", r"\bsegfault at |trap invalid opcode|traps: .* trap"),
        ("interrupt trouble", r"nobody cared|NOHZ tick-stop error"),
    )
)


@dataclass(frozen=True)
class Allowed:
    """A line that stock kernels print although nothing is wrong."""

    line: re.Pattern[str]
    why: str


# The only place where a suspect line is forgiven.
ALLOWED: tuple[Allowed, ...] = ()

_STAMP = re.compile(r"^(?:<\d+>)?\[\s*\d+\.\d+\](?:\[\s*[TC]\d+\])? ?")
_REPORT_END = re.compile(r"---\[ end |^=+$")
_BEFORE = 8
_AFTER = 30


@dataclass
class Finding:
    """A suspect line with the lines around it."""

    reason: str
    lines: list[str]


def message(line: str) -> str:
    """A log line without level and timestamp."""
    return _STAMP.sub("", line)


@dataclass
class Checker:
    """Collects one machine's kernel log and what is suspect in it."""

    allow: list[re.Pattern[str]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    # Off while the runner itself makes a hung kernel print backtraces.
    active: bool = True
    _recent: list[str] = field(default_factory=list)
    _open: int = 0

    def feed(self, line: str) -> str | None:
        """Take one line; return the reason if a new finding begins with it."""
        if not self.active:
            return None
        text = message(line)
        if self._open:
            self.findings[-1].lines.append(line)
            self._open = 0 if _REPORT_END.search(text) and self._inside() else self._open - 1
            return None
        reason = self._judge(text)
        if reason:
            self.findings.append(Finding(reason, [*self._recent, line]))
            self._recent = []
            self._open = _AFTER
            return reason
        self._recent = [*self._recent[1 - _BEFORE :], line]
        return None

    def _inside(self) -> bool:
        """A report's frame often opens with the same line that closes it."""
        return self._open < _AFTER - 2

    def _judge(self, text: str) -> str | None:
        for reason, expression in SUSPECT:
            if expression.search(text):
                if any(entry.line.search(text) for entry in ALLOWED):
                    return None
                if any(entry.search(text) for entry in self.allow):
                    return None
                return reason
        return None
