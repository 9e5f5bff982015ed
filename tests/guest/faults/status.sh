# SPDX-License-Identifier: GPL-2.0
# All tests pass, then the script fails.
. /homa/guest/lib/tap.sh
pass "good"
echo "1..1"
exit 3
