# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# The test program homa-ktest as part of a guest script.

# ktest NAME ARGUMENT...: runs homa-ktest, whose TAP becomes subtests of one test
# for each of its own, named "NAME: ...".
ktest() {
    ktest_name=$1
    shift
    ktest_status=/tmp/ktest.status
    : >"$ktest_status"
    { homa-ktest "$@" 2>&1 || echo $? >"$ktest_status"; } | {
        # The loop is a subshell: what it counts comes back through a file.
        while IFS= read -r ktest_line; do
            ktest_take "$ktest_line"
        done
        echo "$tap_count $tap_failed ${ktest_plan:-none}" >/tmp/ktest.counts
    }
    read -r ktest_now ktest_bad ktest_plan </tmp/ktest.counts
    ktest_ran=$((ktest_now - tap_count))
    tap_count=$ktest_now
    if [ "$ktest_plan" != "$ktest_ran" ]; then
        fail "$ktest_name: all its tests ran" "plan $ktest_plan, ran $ktest_ran"
    elif [ -s "$ktest_status" ] && [ "$ktest_bad" -eq "$tap_failed" ]; then
        fail "$ktest_name: status" "homa-ktest ended with $(cat "$ktest_status")"
    fi
    tap_failed=$((tap_failed + ktest_bad - tap_failed))
    ktest_plan=
}

# ktest_take LINE: one line of the program's TAP.
ktest_take() {
    case $1 in
        "ok "*) ktest_renumber ok "${1#ok }" ;;
        "not ok "*)
            tap_failed=$((tap_failed + 1))
            ktest_renumber "not ok" "${1#not ok }"
            ;;
        1..*) ktest_plan=${1#1..} ;;
        "TAP version "*) ;;
        *) echo "$1" ;;
    esac
}

# ktest_renumber VERDICT "NUMBER - TEXT"
ktest_renumber() {
    tap_count=$((tap_count + 1))
    echo "$1 $tap_count - $ktest_name: ${2#* - }"
}

# ktest_server [NAMESPACE]: starts a server there; ktest_stop ends it.
ktest_server() {
    homa-ktest ${1:+--netns "$1"} server >/tmp/ktest.server 2>&1 &
    ktest_server_pid=$!
    for _ in $(seq 100); do
        ! grep -q '^serving' /tmp/ktest.server || return 0
        kill -0 "$ktest_server_pid" 2>/dev/null || break
        sleep 0.1
    done
    diag "the server did not start: $(cat /tmp/ktest.server)"
    return 1
}

# ktest_stop: ends the server; fails if it had ended by itself.
ktest_stop() {
    kill "$ktest_server_pid" || return 1
    wait "$ktest_server_pid" 2>/dev/null
    return 0
}
