# SPDX-License-Identifier: GPL-2.0
"""The one exception that reaches the user as a plain sentence."""


class RunnerError(Exception):
    """Something the user can act on; its text says what is wrong and what to do."""
