# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Finds what a repeated action leaves behind.
#
# Kernel memory is never quite still: an allocator counts a processor's current
# slab as full, and other parts of the kernel allocate as well. But a leak grows
# by at least one object with each repetition, again and again. So the action is
# repeated in rounds, and whatever grew in every one of them is a leak; most
# often the first round clears all suspicion. The machine boots with slab_nomerge,
# so that each cache counts only its own.

leak_folder=/tmp/leak
leak_rounds=5
# Repetitions of the rounds after the first.
leak_again=10

# leak_check NAME N COMMAND...: one test: repeats the command N times or some more,
# and passes if all went well and nothing leaked.
leak_check() {
    leak_name=$1
    leak_count=$2
    shift 2
    mkdir -p "$leak_folder"
    : >"$leak_folder/suspects"
    leak_snapshot before
    for leak_round in $(seq "$leak_rounds"); do
        diag "$leak_name: round $leak_round"
        if ! repeat "$leak_count" "$@" >"$leak_folder/output" 2>&1; then
            fail "$leak_name" "'$*' failed in round $leak_round
$(cat "$leak_folder/output")"
            return 1
        fi
        leak_snapshot after
        leak_compare "$leak_count" "$leak_round" >"$leak_folder/grown"
        mv "$leak_folder/grown" "$leak_folder/suspects"
        if [ ! -s "$leak_folder/suspects" ]; then
            pass "$leak_name"
            return 0
        fi
        mv "$leak_folder/after" "$leak_folder/before"
        leak_count=$leak_again
    done
    fail "$leak_name" "grew in each of $leak_rounds rounds; in the last, by $leak_again repetitions:
$(cat "$leak_folder/suspects")"
}

# leak_settle: lets deferred frees happen, and per-CPU slabs go back.
leak_settle() {
    sleep 1
    # 4: don't log it.
    echo 4 >/proc/sys/vm/drop_caches
    echo 3 >/proc/sys/vm/drop_caches
    for leak_cache in /sys/kernel/slab/*/shrink; do
        echo 1 >"$leak_cache"
    done 2>/dev/null
}

# leak_snapshot FILE: stores what there is now, as lines "KIND:NAME COUNT WEIGHT":
# the count is suspect if it grows by WEIGHT or more with each repetition.
leak_snapshot() {
    leak_settle
    {
        # Areas of vmalloc are unmapped late; below they are told apart.
        awk 'NR > 2 && $1 != "vmap_area" { print "objects:" $1, $2, 0.9 }' /proc/slabinfo
        echo "areas:vmalloc $(grep -vc unpurged /proc/vmallocinfo) 0.9"
        # Memory by kB: a page for each repetition. What a processor holds back
        # for its next allocations counts as used in meminfo.
        awk '/^(Percpu|VmallocUsed|KernelStack):/ { print "kB:" $1, $2, 4 }
            /^MemAvailable:/ { available = $2 }
            $1 == "count:" { available += $2 * 4 }
            END { print "kB:not-available", -available, 4 }' /proc/meminfo /proc/zoneinfo
        awk '{ print "use-count:" $1, $3, 0.9 }' /proc/modules
        awk 'NR > 1 { print "sockets:" $1, $3, 0.9 }' /proc/net/protocols
    } >"$leak_folder/$1"
}

# leak_compare N ROUND: prints what grew as an N-fold leak would, and, after the
# first round, was a suspect already.
leak_compare() {
    awk -v n="$1" -v round="$2" '
        FILENAME ~ /suspects$/ { suspect[$1] = 1; next }
        FILENAME ~ /before$/ { before[$1] = $2; next }
        $2 - before[$1] >= n * $3 && (round == 1 || $1 in suspect) {
            print $1, "from", before[$1] + 0, "to", $2
        }
    ' "$leak_folder/suspects" "$leak_folder/before" "$leak_folder/after"
}

# repeat N COMMAND...: runs a command N times; stops at the first failure.
repeat() {
    leak_left=$1
    shift
    while [ "$leak_left" -gt 0 ]; do
        "$@" || return 1
        leak_left=$((leak_left - 1))
    done
}
