# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# How scripts talk to people: one line per step on stderr, long output in a log
# file of which only the end is shown, and only when the step failed.

program=${0##*/}

# Prints one line of progress.
say() {
    printf '%s: %s\n' "$program" "$*" >&2
}

# Ends the script with one line that says what is wrong and what to do.
die() {
    say "$@"
    exit 1
}

# quietly LOG COMMAND...: runs COMMAND with its output in LOG; shows the end of
# it when COMMAND fails. The status is that of COMMAND.
quietly() {
    local log=$1 status=0
    shift
    "$@" >"$log" 2>&1 </dev/null || status=$?
    if [[ $status -ne 0 ]]; then
        say "failed with status $status: $*; the end of $log:"
        tail -n 25 -- "$log" | sed 's/^/    /' >&2
    fi
    return "$status"
}
