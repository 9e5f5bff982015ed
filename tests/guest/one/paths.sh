# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Messages of all sizes over each kind of path inside one machine: loopback, veth
# at two MTUs with GRO on and off, and veth that loses packets.

. /homa/guest/lib/tap.sh
. /homa/guest/lib/net.sh
. /homa/guest/lib/module.sh
. /homa/guest/lib/ktest.sh

# between NAME GROUP OPTION...: a group of the test program between hosts a and b.
between() {
    between_name=$1
    between_group=$2
    shift 2
    ktest "$between_name" tap "$between_group" --client-netns a --server-netns b \
        --server-addr 10.0.0.2 --server-addr fd00::2 "$@"
}

module_quiet
check "homa.ko loads" module_load

ktest "lo" tap sizes --brief --mtu 65536 --local-server \
    --server-addr 127.0.0.1 --server-addr ::1

check "hosts a and b" hosts_create 1500
between "veth, MTU 1500" sizes --mtu 1500
if hosts_gro on 2>/dev/null; then
    between "veth, MTU 1500, GRO" sizes --brief --mtu 1500
    hosts_gro off
else
    skip "veth, MTU 1500, GRO" "veth of this kernel has no GRO"
fi
check "no segmentation offload" hosts_offload tso off gso off
between "veth, MTU 1500, no GSO" sizes --brief --mtu 1500 --small 20
check "segmentation offload again" hosts_offload tso on gso on

check "MTU 9000" hosts_mtu 9000
between "veth, MTU 9000" sizes --brief --mtu 9000
if hosts_gro on 2>/dev/null; then
    between "veth, MTU 9000, GRO" sizes --brief --mtu 9000 --small 20
    hosts_gro off
else
    skip "veth, MTU 9000, GRO" "veth of this kernel has no GRO"
fi

check "MTU 1500 again" hosts_mtu 1500
check "5 % loss both ways" netem a loss 5%
check "5 % loss the other way" netem b loss 5%
between "veth, 5 % loss" loss --mtu 1500

check "the hosts go" hosts_delete
check "homa.ko unloads" module_unload
finish
