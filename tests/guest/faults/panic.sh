# SPDX-License-Identifier: GPL-2.0
# The kernel panics, for real.
. /homa/guest/lib/tap.sh
pass "good"
echo c >/proc/sysrq-trigger
finish
