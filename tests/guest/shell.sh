# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The interactive machine: homa.ko loaded, hosts a and b set up.

. /homa/guest/lib/net.sh
. /homa/guest/lib/module.sh

hosts_create
if modprobe -n -q "$MODULE"; then
    module_load
fi
cat <<'TEXT'

Hosts a (10.0.0.1, fd00::1) and b (10.0.0.2, fd00::2) are network namespaces:
    on a ping -c 1 10.0.0.2         run a command on a host
    hosts_mtu 9000; netem a loss 5%; hosts_offload gro on
    dmesg, ip, tc, ethtool, tcpdump; the programs are in /homa
Leave with "exit" or Ctrl-D.

TEXT
bash --rcfile /homa/guest/shellrc.sh -i
poweroff -f
