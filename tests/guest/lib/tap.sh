# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# TAP for guest scripts. A script sources this, calls ok, is, check, skip, ... for
# each test, and ends with finish:
#
#     . /homa/guest/lib/tap.sh
#     check "module loads" modprobe homa
#     finish
#
# Each of them succeeds or fails as the test did. A script that stops before `finish` prints no plan, which counts as a failure.

tap_count=0
tap_failed=0
tap_output=/tmp/tap.$$

echo "TAP version 14"

# diag TEXT...: a remark for the log. Several lines stay remarks.
diag() {
    printf '%s\n' "$*" | sed 's/^/# /'
}

# pass NAME: a test that passed.
pass() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1"
}

# fail NAME [REMARK]: a test that failed.
fail() {
    tap_count=$((tap_count + 1))
    tap_failed=$((tap_failed + 1))
    echo "not ok $tap_count - $1"
    [ $# -lt 2 ] || diag "$2"
    return 1
}

# skip NAME REASON: a test that cannot run here.
skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# check NAME COMMAND...: passes if the command succeeds; shows its output if not.
# The command runs in this shell, so that it may set variables.
check() {
    tap_name=$1
    shift
    if "$@" >"$tap_output" 2>&1; then
        pass "$tap_name"
    else
        fail "$tap_name" "'$*' failed with status $?
$(cat "$tap_output")"
    fi
}

# check_fails NAME COMMAND...: passes if the command fails.
check_fails() {
    tap_name=$1
    shift
    if "$@" >"$tap_output" 2>&1; then
        fail "$tap_name" "'$*' succeeded
$(cat "$tap_output")"
    else
        pass "$tap_name"
    fi
}

# is NAME GOT WANTED: passes if both are equal.
is() {
    if [ "$2" = "$3" ]; then
        pass "$1"
    else
        fail "$1" "got '$2', wanted '$3'"
    fi
}

# contains NAME TEXT PART: passes if PART occurs in TEXT.
contains() {
    case $2 in
        *"$3"*) pass "$1" ;;
        *) fail "$1" "no '$3' in '$2'" ;;
    esac
}

# skip_all REASON: ends the script; nothing in it can run here.
skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}

# bail REASON: ends the script as failed; nothing after this makes sense.
bail() {
    echo "Bail out! $1"
    exit 1
}

# finish: prints the plan and ends the script.
finish() {
    echo "1..$tap_count"
    [ "$tap_failed" -eq 0 ]
    exit
}
