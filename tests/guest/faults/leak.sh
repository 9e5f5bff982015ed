# SPDX-License-Identifier: GPL-2.0
# A repeated action leaves kernel objects behind; the leak check must see it, and
# must not see one where there is none.
. /homa/guest/lib/tap.sh
. /homa/guest/lib/leak.sh
. /homa/guest/lib/vm.sh
vm_timeout 120
# A network namespace for each repetition.
number=0
leak() {
    number=$((number + 1))
    ip netns add "left$number"
}
no_leak() { ip netns add short && ip netns del short; }
# A small kernel object for each: an address of lo.
small_leak() {
    number=$((number + 1))
    ip addr add "127.1.0.$number/32" dev lo
}
leak_check "without a leak" 10 no_leak
leak_check "with a leak" 10 leak
leak_check "with a small leak" 10 small_leak
finish
