# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Sets `cache`: the folder for everything that is fetched or built outside the
# tree. Sourced by every script that uses it, so that there is one rule only.

cache=${HOMA_CACHE:-${XDG_CACHE_HOME:-${HOME:?is not set, so set HOMA_CACHE}/.cache}/homa}
[[ -d $cache ]] || mkdir -p -- "$cache"
cache=$(cd -- "$cache" && pwd -P)
