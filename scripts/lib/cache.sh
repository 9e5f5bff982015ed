# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The cache: the folder for everything that is fetched or built outside the tree.
# Sets `cache`; sourced by every script that uses it, so that there is one rule.

cache=${HOMA_CACHE:-${XDG_CACHE_HOME:-${HOME:?is not set, so set HOMA_CACHE}/.cache}/homa}
[[ -d $cache ]] || mkdir -p -- "$cache"
cache=$(cd -- "$cache" && pwd -P)

# lock NAME: waits until no other script holds that lock, and holds it until this
# shell ends. Call it in a subshell to hold it for a part of a script only.
lock() {
    local descriptor
    mkdir -p -- "$cache/locks"
    exec {descriptor}>"$cache/locks/$1"
    if ! flock --nonblock "$descriptor"; then
        say "waiting for another run that makes $1"
        flock "$descriptor"
    fi
}

# link TARGET NAME: makes the symlink NAME, replacing an older one in one step, so
# that whoever looks at it meanwhile finds the old or the new one.
link() {
    ln -sfn -- "$1" "$2.new"
    mv -T -- "$2.new" "$2"
}

# need_space MEBIBYTES FOLDER WHAT: fails with a clear message, rather than in the
# middle, when the disk is nearly full.
need_space() {
    local free
    free=$(df --output=avail --block-size=1M -- "$2" | tail -n 1)
    ((free >= $1)) || die "$3 needs $1 MiB of disk space in $2 and only ${free// /} MiB are free"
}
