# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The module under test. MODULE names it; anything but homa is for testing these
# scripts themselves.

MODULE=${MODULE:-homa}

# module_loaded: succeeds if it is loaded.
module_loaded() {
    [ -d "/sys/module/$MODULE/holders" ]
}

# module_load [PARAMETER=VALUE...]: loads it with what it depends on.
module_load() {
    modprobe "$MODULE" "$@"
}

# module_unload: removes it when nobody uses it; what it depends on stays.
module_unload() {
    module_unused && rmmod "$MODULE"
}

# module_users: prints its use count.
module_users() {
    cat "/sys/module/$MODULE/refcnt"
}

# module_unused: waits until its use count is 0: a socket is freed an RCU grace
# period after it was closed.
module_unused() {
    for _ in $(seq 50); do
        [ "$(module_users)" != 0 ] || return 0
        sleep 0.1
    done
    return 1
}

# module_quiet: brings the state that each script starts from.
module_quiet() {
    ! module_loaded || module_unload
}
