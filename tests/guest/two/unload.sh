# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The module comes and goes on the first machine while the second one sends
# requests to it all the time. CYCLES says how often (default 20).

. /homa/guest/lib/tap.sh
. /homa/guest/lib/module.sh
. /homa/guest/lib/leak.sh
. /homa/guest/lib/ktest.sh
. /homa/guest/lib/vm.sh

CYCLES=${CYCLES:-20}

module_quiet
check "homa.ko loads" module_load

# received: how many packets have come in.
received() { cat /sys/class/net/eth0/statistics/rx_packets; }

# What arrives meets the module when it is there, when it is going, and when not.
cycle() { module_unload && sleep 0.05 && module_load && sleep 0.05; }

# ask: requests for as long as the first machine wants them; most fail.
ask() {
    while [ ! -e /tmp/enough ]; do
        homa-ktest client 10.0.0.1 -n 100 --outstanding 20 --request-size 1-20000 --deadline 1
        homa-ktest client fd00::1 -n 100 --outstanding 20 --request-size 1-20000 --deadline 1
    done >/dev/null 2>&1
}

if [ "$VM_INDEX" = 1 ]; then
    vm_wait asking
    vm_timeout $((180 + 2 * CYCLES))
    check "warm-up" repeat 3 cycle
    before=$(received)
    leak_check "loads and unloads $CYCLES times under fire without a leak" "$CYCLES" cycle
    after=$(received)
    check "packets arrived all the time ($((after - before)))" test $((after - before)) -gt "$CYCLES"
    vm_signal enough
else
    ask &
    vm_signal asking
    vm_timeout $((900 + 10 * CYCLES))
    vm_wait enough
    touch /tmp/enough
    wait
    pass "asked until the end"
fi
check "homa.ko unloads" module_unload
finish
