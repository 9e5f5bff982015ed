# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The life of the module: information, load, use count, autoload, unload, and
# that nothing is left of many lives. CYCLES says how many (default 20).

. /homa/guest/lib/tap.sh
. /homa/guest/lib/net.sh
. /homa/guest/lib/module.sh
. /homa/guest/lib/leak.sh
. /homa/guest/lib/ktest.sh
. /homa/guest/lib/vm.sh

CYCLES=${CYCLES:-20}

module_quiet

# --- information ---

info() { modinfo -F "$1" "$MODULE"; }
is "licence" "$(info license)" GPL
contains "description names the protocol" "$(info description)" Homa
contains "has a version" ".$(info version)" .0.
contains "built for this kernel" "$(info vermagic)" "$(uname -r) "
for family in 2 10; do
    check "alias of family $family" modprobe -n -q "net-pf-$family-proto-146-type-2"
done

# --- load and unload ---

check "loads" module_load
check "is listed" module_loaded
is "nobody uses it" "$(module_users)" 0
contains "registers its protocol" "$(cat /proc/net/protocols)" HOMA
check_fails "a second insmod is refused" insmod /homa/homa.ko
check "unloads" module_unload
check_fails "is gone" module_loaded
check_fails "its protocol is gone" grep -q HOMA /proc/net/protocols

# --- autoload, and use by a socket ---

if check "a server starts without the module being loaded" ktest_server && module_loaded; then
    pass "opening a socket loaded it"
    users=$(module_users)
    check "the server uses it ($users)" test "$users" -gt 0
    contains "rmmod says that it is in use" "$(rmmod "$MODULE" 2>&1)" "in use"
    check "is still there" module_loaded
    check "the server was well" ktest_stop
    check "nobody uses it any more" module_unused
    check "unloads when the socket is closed" module_unload
else
    bail "no server"
fi

# --- namespaces ---

namespace_life() {
    ip netns add short && ip netns exec short ip link set lo up && ip netns del short
}

used_namespaces() {
    hosts_create && ktest_server b && on a homa-ktest client 10.0.0.2 -n 20 &&
        on a homa-ktest client fd00::2 -n 20 && ktest_stop && hosts_delete
}

check "loads again" module_load
check "a namespace comes and goes" namespace_life
check "hosts that have talked go" used_namespaces
namespaces=$(ip netns list | wc -l)
is "no namespace is left" "$namespaces" 0
leak_check "namespaces come and go 20 times without a leak" 20 namespace_life
check "hosts exist while it is unloaded" hosts_create
check "unloads from under namespaces" module_unload
check "loads into existing namespaces" module_load
check "namespaces go with it loaded" hosts_delete
check "unloads at the end" module_unload

# --- many lives ---

cycle() { module_load && module_unload; }

vm_timeout $((120 + 2 * CYCLES))
# Caches and per-CPU lists fill up in the first lives.
check "warm-up" repeat 5 cycle
leak_check "loads and unloads $CYCLES times without a leak" "$CYCLES" cycle

finish
