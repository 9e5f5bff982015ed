# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Messages of all sizes between two machines, whose network devices offload
# segmentation and checksums: first that they do, then that Homa is right on them.

. /homa/guest/lib/tap.sh
. /homa/guest/lib/net.sh
. /homa/guest/lib/module.sh
. /homa/guest/lib/ktest.sh
. /homa/guest/lib/vm.sh

if [ "$VM_INDEX" = 1 ]; then
    other=10.0.0.2 other6=fd00::2
else
    other=10.0.0.1 other6=fd00::1
fi

# the_wire MTU GRO: the same settings on both machines.
the_wire() {
    check "MTU $1" ip link set eth0 mtu "$1"
    check "GRO $2" ethtool -K eth0 gro "$2"
    vm_barrier "wire $1 $2"
}

# exchange NAME OPTION...: the second machine asks, the first serves.
exchange() {
    exchange_name=$1
    shift
    if [ "$VM_INDEX" = 2 ]; then
        ktest "$exchange_name" tap sizes --server-addr "$other" --server-addr "$other6" "$@"
        vm_signal "$exchange_name"
    else
        vm_timeout 900
        vm_wait "$exchange_name"
        vm_timeout 120
    fi
}

for offload in tcp-segmentation-offload tx-checksumming scatter-gather \
    generic-segmentation-offload generic-receive-offload; do
    is "eth0 does $offload" "$(feature - "$offload")" on
done
vm_barrier up
check "the other machine answers over IPv4" ping -c 1 -W 10 "$other"
check "the other machine answers over IPv6" ping -c 1 -W 10 "$other6"

module_quiet
check "homa.ko loads" module_load
[ "$VM_INDEX" != 1 ] || check "the server starts" ktest_server
vm_barrier serving

exchange "wire" --brief --mtu 1500
the_wire 1500 off
exchange "wire, GRO off" --brief --mtu 1500 --small 20
the_wire 9000 on
exchange "wire, MTU 9000" --brief --mtu 9000 --small 20
the_wire 1500 on

[ "$VM_INDEX" != 1 ] || check "the server was well" ktest_stop
vm_barrier over
check "homa.ko unloads" module_unload
finish
