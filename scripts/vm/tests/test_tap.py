# SPDX-License-Identifier: GPL-2.0
"""TAP documents, good and bad."""

import unittest

from vm.tap import Document, Outcome


def parse(text: str) -> Document:
    """A document made of the lines of `text`."""
    document = Document("test")
    for line in text.strip("\n").splitlines():
        document.feed(line)
    return document


class Good(unittest.TestCase):
    """Documents without a problem."""

    def test_plan_first_or_last(self) -> None:
        for text in ("TAP version 13\n1..2\nok 1 - a\nok 2 - b", "ok 1 - a\nok 2 - b\n1..2"):
            document = parse(text)
            self.assertEqual(document.problems(), [])
            self.assertEqual([test.name for test in document.tests], ["a", "b"])

    def test_outcomes(self) -> None:
        document = parse("1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP no device")
        outcomes = [test.outcome for test in document.tests]
        self.assertEqual(outcomes, [Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED])
        self.assertEqual(document.tests[2].remark, "no device")
        self.assertEqual(document.problems(), [])

    def test_skipped_failure_still_fails(self) -> None:
        self.assertEqual(parse("1..1\nnot ok 1 - a # SKIP b").count(Outcome.FAILED), 1)

    def test_number_and_dash_are_optional(self) -> None:
        document = parse("ok\nok second\nok 3 third\n1..3")
        self.assertEqual([t.name for t in document.tests], ["test 1", "second", "third"])
        self.assertEqual(document.problems(), [])

    def test_subtests_do_not_count(self) -> None:
        document = parse(
            "1..1\n# Subtest: a\n    1..2\n    ok 1 - x\n    not ok 2 - y\nok 1 - a"
        )
        self.assertEqual(len(document.tests), 1)
        self.assertEqual(document.problems(), [])

    def test_yaml_is_not_read(self) -> None:
        document = parse("1..2\nok 1 - a\n  ---\nnot ok 7\n1..9\n  ...\nok 2 - b")
        self.assertEqual(document.problems(), [])
        self.assertEqual(len(document.tests), 2)

    def test_escaped_hash(self) -> None:
        self.assertEqual(parse("1..1\nok 1 - a \\# b").tests[0].name, "a # b")

    def test_skip_all(self) -> None:
        document = parse("1..0 # SKIP no veth")
        self.assertEqual(document.skipped_all, "no veth")
        self.assertEqual(document.problems(), [])

    def test_words_that_only_begin_like_tests(self) -> None:
        self.assertEqual(parse("okay 1\nnot okay\n1..0 # SKIP none").tests, [])


class Bad(unittest.TestCase):
    """Documents whose form alone fails a run."""

    def problem(self, text: str, part: str) -> None:
        """The document has one problem, which says `part`."""
        problems = parse(text).problems()
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(part, problems[0])

    def test_no_plan(self) -> None:
        self.problem("ok 1 - a", "without a plan")

    def test_nothing(self) -> None:
        self.problem("", "without a plan")

    def test_too_few(self) -> None:
        self.problem("1..3\nok 1\nok 2", "planned 3 tests, ran 2")

    def test_too_many(self) -> None:
        self.problem("1..1\nok 1\nok 2", "planned 1 tests, ran 2")

    def test_wrong_number(self) -> None:
        self.problem("1..2\nok 1\nok 3", "test number 3 where 2 was due")

    def test_two_plans(self) -> None:
        self.problem("1..1\nok 1\n1..1", "second plan")

    def test_bail_out(self) -> None:
        self.problem("1..5\nok 1\nBail out! no module", "bailed out: no module")


if __name__ == "__main__":
    unittest.main()
