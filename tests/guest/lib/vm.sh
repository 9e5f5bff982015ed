# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Talking to the runner. The environment has VM_INDEX (1, 2, ...) and VM_COUNT.

# vm_signal NAME: tells all machines that something has happened. It stays so.
vm_signal() {
    echo "# vm: signal $1"
}

# vm_wait NAME: waits until some machine has signalled NAME. One at a time.
vm_wait() {
    echo "# vm: wait $1"
    while read -r vm_answer <&9; do
        [ "$vm_answer" != "go $1" ] || return 0
    done
    return 1
}

# vm_barrier NAME: waits until all machines have come here.
vm_barrier() {
    vm_signal "$1.$VM_INDEX"
    for vm_number in $(seq "$VM_COUNT"); do
        vm_wait "$1.$vm_number"
    done
}

# vm_timeout SECONDS: the runner allows this long without output, to the end of
# this script.
vm_timeout() {
    echo "# vm: timeout $1"
}
