# SPDX-License-Identifier: GPL-2.0
# Machines go through a barrier together, in order.
. /homa/guest/lib/tap.sh
. /homa/guest/lib/vm.sh
vm_barrier ready
pass "all are ready"
if [ "$VM_INDEX" = 1 ]; then
    vm_signal first
else
    vm_wait first
fi
pass "after the first"
finish
