# SPDX-License-Identifier: GPL-2.0
# A sound script, to see that the runner passes what is good.
. /homa/guest/lib/tap.sh
pass "first"
skip "second" "not here"
echo "    ok 1 - a subtest"
echo "    1..1"
is "third" "$(uname -s)" Linux
echo "a file of the guest" >/out/note
finish
