# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # scripts, cache and run are set by scripts/provision
#
# Debian's archive, seen through a private apt: its configuration and state are in
# the cache, and it runs inside the build root, so that every host gets the same
# result and signatures are checked against the keys in the root.

# host_mirror main|security: the mirror that this machine's own apt uses, or
# nothing where the machine is not Debian.
host_mirror() {
    local codename suite
    codename=$(. /etc/os-release && [[ ${ID:-} == debian ]] && printf %s "${VERSION_CODENAME:-}") ||
        return 0
    suite=$codename
    [[ $1 == main ]] || suite=$codename-security
    # shellcheck disable=SC2016 # a format of apt
    apt-get indextargets --format '$(RELEASE) $(CODENAME) $(REPO_URI)' \
        'Created-By: Packages' 'Component: main' 2>/dev/null |
        awk -v suite="$suite" '($1 == suite || $2 == suite) && $3 ~ /^https?:/ { print $3; exit }'
}

# mirror main|security: where packages come from. An environment variable comes
# first, then the machine's own settings, then what mmdebstrap gave to the root.
mirror() {
    local variable=HOMA_DEBIAN_MIRROR suite=trixie found
    if [[ $1 == security ]]; then
        variable=HOMA_DEBIAN_SECURITY_MIRROR
        suite=trixie-security
    fi
    found=${!variable:-$(host_mirror "$1")}
    if [[ -z $found && -e $cache/root ]]; then
        # shellcheck disable=SC2016 # a format of apt
        found=$("$scripts/enter" apt-get indextargets --format '$(RELEASE) $(REPO_URI)' \
            'Created-By: Packages' | awk -v suite="$suite" '$1 == suite { print $2; exit }')
    fi
    printf '%s' "$found"
}

# host_apt_settings: how this machine reaches its mirrors (proxies, and whether
# it accepts old package lists), in the syntax of apt.conf.
host_apt_settings() {
    { apt-config dump 2>/dev/null || true; } |
        grep -E '^Acquire::(https?::|Check-(Valid-Until|Date) )' || true
}

# release_of SERIES: the Debian release, or part of one, that ships the kernel.
release_of() {
    case $1 in
        5.10) echo bullseye ;;
        6.1) echo bookworm ;;
        6.12) echo trixie ;;
        7.2 | 7.3) echo trixie-backports ;;
        *) return 1 ;;
    esac
}

# private_apt RELEASE COMMAND...: runs an apt command that sees that release only.
private_apt() {
    local release=$1
    shift
    APT_CONFIG=$cache/apt/$release.conf "$scripts/enter" "$@"
}

# configure_apt RELEASE: writes the private configuration for that release.
configure_apt() {
    local release=$1 suite uri main security state=$cache/apt
    mkdir -p -- "$state/$release.parts" "$state/lists/partial" "$state/$release.cache/archives/partial"
    : >"$state/status"
    main=$(mirror main)
    security=$(mirror security)
    for suite in "$release" "$release-security"; do
        uri=$main
        [[ $suite != *-security ]] || uri=$security
        [[ $suite != *-backports-security && -n $uri ]] || continue
        printf 'deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' \
            "$uri" "$suite"
    done >"$state/$release.list"
    [[ -s $state/$release.list ]] ||
        die "no Debian mirror is known; set HOMA_DEBIAN_MIRROR to the address of one"
    {
        host_apt_settings
        cat <<CONF
Dir::Etc::sourcelist "$state/$release.list";
Dir::Etc::sourceparts "$state/$release.parts";
Dir::Etc::parts "$state/$release.parts";
Dir::State "$state";
Dir::State::status "$state/status";
Dir::Cache "$state/$release.cache";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Get::List-Cleanup "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "3";
CONF
    } >"$state/$release.conf"
}

# update_lists RELEASE: fetches and verifies the package lists of that release, once
# in a run. A suite that the mirror does not carry is reported, and the rest is used.
update_lists() (
    release=$1
    lock "lists-$release"
    updated_by=
    read -r updated_by 2>/dev/null <"$cache/apt/$release.updated" || true
    [[ $updated_by != "$run" ]] || return 0
    configure_apt "$release"
    say "package lists of Debian $release"
    quietly "$cache/logs/lists-$release" private_apt "$release" \
        apt-get -o APT::Update::Error-Mode=any update ||
        say "not all package lists of $release could be fetched; going on with what there is"
    printf '%s\n' "$run" >"$cache/apt/$release.updated"
)

# fetch_packages RELEASE NAME=VERSION...: puts the packages into the cache, where
# apt checks their size and hash. Complete ones are not fetched again.
fetch_packages() {
    local release=$1 package missing=()
    shift
    mkdir -p -- "$cache/debs/partial"
    for package in "$@"; do
        [[ -n $(deb_of "$package") ]] || missing+=("$package")
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0
    say "fetching ${#missing[@]} packages of Debian $release"
    (cd -- "$cache/debs/partial" &&
        quietly "$cache/logs/fetch-$release" private_apt "$release" apt-get download "${missing[@]}") ||
        return 1
    mv -- "$cache"/debs/partial/*.deb "$cache/debs/"
}

# deb_of NAME=VERSION: the path of that package in the cache, if it is there.
deb_of() {
    local file
    for file in "$cache/debs/${1%%=*}_${1#*=}"_{amd64,all}.deb; do
        [[ ! -f $file ]] || printf '%s' "$file"
    done
}
