# SPDX-License-Identifier: GPL-2.0
# A repeated action leaves kernel objects behind; the leak check must see it.
. /homa/guest/lib/tap.sh
. /homa/guest/lib/leak.sh
# A network namespace for each repetition.
leak() { ip netns add "left$(cat /proc/uptime)"; }
repeat 2 leak
leak_snapshot before
repeat 10 leak
leak_snapshot after
check "no leak" leak_report before after 10
finish
