# SPDX-License-Identifier: GPL-2.0
# A network device is never released, while all tests pass.
. /homa/guest/lib/tap.sh
echo "unregister_netdevice: waiting for eth0 to become free. Usage count = 2" >/dev/kmsg
pass "good"
finish
