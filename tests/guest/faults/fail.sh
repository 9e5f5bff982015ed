# SPDX-License-Identifier: GPL-2.0
# One test of two fails.
. /homa/guest/lib/tap.sh
pass "good"
is "bad" 1 2
finish
