# SPDX-License-Identifier: GPL-2.0
# Dies before its end, though with status 0.
. /homa/guest/lib/tap.sh
pass "good"
exit 0
