# SPDX-License-Identifier: GPL-2.0
"""What the judge of kernel logs finds, and what it leaves alone."""

import re
import unittest

from vm.kernlog import Checker, message

# As kernels print them, one for each kind.
BAD = (
    "Kernel panic - not syncing: sysrq triggered crash",
    "WARNING: CPU: 1 PID: 77 at net/core/dev.c:5 foo+0x1/0x2",
    "WARNING: net/core/dev.c:5 at foo+0x1/0x2, CPU#1: sh/77",
    "------------[ cut here ]------------",
    "BUG: kernel NULL pointer dereference, address: 0000000000000008",
    "BUG: unable to handle page fault for address: ffffc90000",
    "kernel BUG at mm/slub.c:305!",
    "Oops: 0000 [#1] PREEMPT SMP NOPTI",
    "Oops: general protection fault, probably for non-canonical address",
    "BUG: KASAN: slab-use-after-free in homa_recv+0x1/0x2 [homa]",
    "BUG: KFENCE: out-of-bounds read in homa_recv+0x1/0x2 [homa]",
    "BUG: sleeping function called from invalid context at mm/page_alloc.c:1",
    "BUG: scheduling while atomic: sh/77/0x00000100",
    "BUG: soft lockup - CPU#0 stuck for 22s! [sh:77]",
    "watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [sh:77]",
    "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
    "rcu: INFO: rcu_sched self-detected stall on CPU",
    "rcu: rcu_preempt kthread starved for 5250 jiffies!",
    "INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 1-... }",
    "INFO: task sh:77 blocked for more than 120 seconds.",
    "unregister_netdevice: waiting for lo to become free. Usage count = 2",
    "refcount_t: underflow; use-after-free.",
    "ref_tracker: netns@ffff has 1/1 users at",
    "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
    "unreferenced object 0xffff888100 (size 64):",
    "BUG homa_rpc (Tainted: G           O): Objects remaining in homa_rpc on __kmem_cache_shutdown()",
    "kmem_cache_destroy homa_rpc: Slab cache still has objects when called from x",
    "BUG kmalloc-64 (Not tainted): Poison overwritten",
    "WARNING: possible circular locking dependency detected",
    "WARNING: inconsistent lock state",
    "WARNING: suspicious RCU usage",
    "INFO: trying to register non-static key.",
    "list_add corruption. prev->next should be next",
    "UBSAN: array-index-out-of-bounds in net/x.c:1",
    "sh: page allocation failure: order:3, mode:0xcc0",
    "Out of memory: Killed process 77 (sh)",
    "homa: Unknown symbol foo (err -2)",
    "homa: disagrees about version of symbol module_layout",
    "module: x86/modules: Skipping invalid relocation target, existing value",
    "homa: panicked at src/main.rs:10:5: index out of bounds",
    "sysctl table check failed: net/homa/x No proc_handler",
    "homa-ktest[77]: segfault at 0 ip 0000 sp 0000 error 4",
    "Attempt to release alive inet socket 00000000",
)

GOOD = (
    "Linux version 7.3.4 (debian-kernel@lists.debian.org)",
    "homa: loading out-of-tree module taints kernel.",
    "homa: module verification failed: signature and/or required key missing - tainting kernel",
    "reboot: Power down",
    "mtrr: your CPUs had inconsistent fixed MTRR settings",
    "rcu: Hierarchical RCU implementation.",
    "rcu: \tRCU restricting CPUs from NR_CPUS=512 to nr_cpu_ids=2.",
    "init: begin debug",
    "Spectre V2 : WARN_NOTHING",
    "tsc: Unable to calibrate against PIT",
)


class Judge(unittest.TestCase):
    """Single lines."""

    def test_bad_lines(self) -> None:
        for line in BAD:
            with self.subTest(line):
                self.assertIsNotNone(Checker().feed(f"[   12.345678] {line}"))

    def test_good_lines(self) -> None:
        for line in GOOD:
            with self.subTest(line):
                self.assertIsNone(Checker().feed(f"[   12.345678] {line}"))

    def test_timestamps(self) -> None:
        for stamp in ("[    1.0] ", "<4>[ 1.0] ", "[    1.0][   T77] ", "[  1.0][ C1] ", ""):
            self.assertEqual(message(stamp + "text"), "text")

    def test_forgiven(self) -> None:
        self.assertIsNone(Checker([re.compile("at net/x.c")]).feed("WARNING: CPU: 0 at net/x.c:1"))


class Context(unittest.TestCase):
    """The lines shown around a finding."""

    def test_before_and_after(self) -> None:
        checker = Checker()
        for number in range(100):
            checker.feed(f"before {number}")
        checker.feed("BUG: here")
        for number in range(100):
            checker.feed(f"after {number}")
        (finding,) = checker.findings
        self.assertIn("before 99", finding.lines)
        self.assertNotIn("before 50", finding.lines)
        self.assertIn("after 20", finding.lines)
        self.assertNotIn("after 50", finding.lines)

    def test_report_ends_at_its_end_mark(self) -> None:
        checker = Checker()
        lines = ["[ cut here ]", "WARNING: CPU: 0", *"abcdefgh", "---[ end trace 0 ]---", "later"]
        for line in lines:
            checker.feed(line)
        (finding,) = checker.findings
        self.assertEqual(finding.lines, lines[:-1])

    def test_two_reports(self) -> None:
        checker = Checker()
        for line in ("BUG: a", *"abcdefgh", "---[ end trace 0 ]---", "BUG: b"):
            checker.feed(line)
        self.assertEqual(len(checker.findings), 2)

    def test_off_while_the_runner_asks_for_backtraces(self) -> None:
        checker = Checker()
        checker.active = False
        self.assertIsNone(checker.feed("BUG: a"))


if __name__ == "__main__":
    unittest.main()
