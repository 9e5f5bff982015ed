# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The system calls, as applications see them, over loopback.

. /homa/guest/lib/tap.sh
. /homa/guest/lib/module.sh
. /homa/guest/lib/ktest.sh

module_quiet
check "homa.ko loads" module_load
# A dummy device takes packets and never answers.
modprobe -q dummy
check "a silent network" ip link add silent type dummy
check "an address of it" ip addr add 10.9.0.1/24 dev silent
check "it is up" ip link set silent up
ktest abi tap abi --dead-addr 10.9.0.2
check "the silent network goes" ip link del silent
check "homa.ko unloads" module_unload
finish
