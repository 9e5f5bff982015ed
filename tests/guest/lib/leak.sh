# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
#
# Finds what a repeated action leaves behind (design: the action is repeated N
# times, so a leak shows as N objects). The machine boots with slab_nomerge, so
# that each cache counts only its own.
#
#     leak_snapshot before
#     repeat 20 some_action
#     leak_snapshot after
#     leak_report before after 20 || fail "no leak"

leak_folder=/tmp/leak
# What a whole-page leak on each repetition would cost, in kB.
leak_page_kb=4
# Memory that one repetition is not to blame for: per-CPU caches and the like.
leak_slack_kb=${leak_slack_kb:-4096}

# leak_settle: lets deferred frees happen, and per-CPU slabs go back, so that
# counts are exact.
leak_settle() {
    sleep 1
    echo 3 >/proc/sys/vm/drop_caches
    for leak_cache in /sys/kernel/slab/*/shrink; do
        echo 1 >"$leak_cache"
    done 2>/dev/null
}

# leak_snapshot LABEL: stores what there is now.
leak_snapshot() {
    mkdir -p "$leak_folder"
    leak_settle
    awk 'NR > 2 { print $1, $2 }' /proc/slabinfo >"$leak_folder/$1.slab"
    awk '/^(MemAvailable|Percpu|VmallocUsed|Slab|KernelStack):/ { print $1, $2 }' \
        /proc/meminfo >"$leak_folder/$1.mem"
    awk '{ print $1, $3 }' /proc/modules | sort >"$leak_folder/$1.modules"
    awk '{ print $1, $3, $4 }' /proc/net/protocols >"$leak_folder/$1.protocols"
    wc -l </proc/vmallocinfo >"$leak_folder/$1.vmalloc"
}

# leak_report BEFORE AFTER N: prints what grew as an N-fold leak would; fails if
# anything did.
leak_report() {
    leak_found=0
    # A cache may grow by a slab or two for reasons of its own; a leak grows by
    # at least one object for each repetition.
    awk -v n="$3" '
        NR == FNR { before[$1] = $2; next }
        $2 - before[$1] >= n * 0.9 {
            printf "slab %s: %d objects before, %d after %d repetitions\n", \
                $1, before[$1], $2, n
            bad = 1
        }
        END { exit bad }
    ' "$leak_folder/$1.slab" "$leak_folder/$2.slab" || leak_found=1
    leak_compare_memory "$1" "$2" "$3" || leak_found=1
    for leak_table in modules protocols; do
        if ! cmp -s "$leak_folder/$1.$leak_table" "$leak_folder/$2.$leak_table"; then
            echo "$leak_table (use counts, sockets) differ:"
            diff -U 0 "$leak_folder/$1.$leak_table" "$leak_folder/$2.$leak_table" | sed 1,2d
            leak_found=1
        fi
    done
    leak_more=$(($(cat "$leak_folder/$2.vmalloc") - $(cat "$leak_folder/$1.vmalloc")))
    if [ "$leak_more" -ge "$3" ]; then
        echo "vmalloc: $leak_more more areas after $3 repetitions"
        leak_found=1
    fi
    return "$leak_found"
}

# MemAvailable must not fall by a page for each repetition, nor may per-CPU
# memory grow so; both beyond what the machine does by itself.
leak_compare_memory() {
    awk -v n="$3" -v page="$leak_page_kb" -v slack="$leak_slack_kb" '
        NR == FNR { before[$1] = $2; next }
        $1 == "MemAvailable:" { grown = before[$1] - $2; limit = slack + n * page }
        $1 != "MemAvailable:" { grown = $2 - before[$1]; limit = slack / 4 + n * page }
        grown > limit {
            printf "%s %d kB worse after %d repetitions (limit %d kB)\n", $1, grown, n, limit
            bad = 1
        }
        END { exit bad }
    ' "$leak_folder/$1.mem" "$leak_folder/$2.mem"
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
