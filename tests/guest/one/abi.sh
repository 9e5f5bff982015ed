# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The system calls, as applications see them, over loopback.

. /homa/guest/lib/tap.sh
. /homa/guest/lib/module.sh
. /homa/guest/lib/ktest.sh

module_quiet
check "homa.ko loads" module_load
ktest abi tap abi
check "homa.ko unloads" module_unload
finish
