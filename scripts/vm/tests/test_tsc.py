# SPDX-License-Identifier: GPL-2.0
"""The rate of the time stamp counter."""

import unittest

from vm import tsc


class Rate(unittest.TestCase):
    """Measured twice, it is the same."""

    def test_two_measurements_agree(self) -> None:
        first = tsc.kilohertz.__wrapped__()
        second = tsc.kilohertz.__wrapped__()
        if first is None or second is None:
            self.skipTest("no code can be made here")
        self.assertAlmostEqual(first / second, 1.0, delta=0.001)


if __name__ == "__main__":
    unittest.main()
