#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Boot Debian kernels in QEMU and run tests of homa.ko in them. See --help."""

import sys

from vm.cli import main

if __name__ == "__main__":
    sys.exit(main())
