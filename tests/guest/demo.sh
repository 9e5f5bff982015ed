# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The demonstration: the first machine serves, the second asks.

. /homa/guest/lib/tap.sh
. /homa/guest/lib/net.sh
. /homa/guest/lib/module.sh
. /homa/guest/lib/ktest.sh
. /homa/guest/lib/vm.sh

check "homa.ko is loaded on host $VM_INDEX, Linux $(uname -r)" module_load
if [ "$VM_INDEX" = 1 ]; then
    check "the server answers at 10.0.0.1 and fd00::1" ktest_server
    vm_signal server
    vm_timeout 300
    vm_wait asked
    check "the server was well" ktest_stop
else
    vm_wait server
    for address in 10.0.0.1 fd00::1; do
        echo
        if homa-ktest demo "$address"; then
            pass "all requests to $address were answered, every byte as it should be"
        else
            fail "all requests to $address were answered, every byte as it should be"
        fi
    done
    vm_signal asked
fi
check "homa.ko is unloaded on host $VM_INDEX" module_unload
finish
