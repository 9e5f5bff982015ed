# SPDX-License-Identifier: GPL-2.0
"""Tests of the runner: run `python3 -m unittest discover -s scripts/vm -t scripts`."""
