# SPDX-License-Identifier: GPL-2.0
# Lockdep complains while all tests pass.
. /homa/guest/lib/tap.sh
echo "WARNING: possible circular locking dependency detected" >/dev/kmsg
pass "good"
finish
