# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Read by the interactive shell.

. /homa/guest/lib/net.sh
. /homa/guest/lib/module.sh
PS1='homa# '
