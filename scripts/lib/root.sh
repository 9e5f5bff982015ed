# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # scripts, cache and refresh are set by scripts/provision
#
# The build root: a Debian trixie tree with every tool of the project, made by
# mmdebstrap. roots/KEY holds it, root points to it. The key is the hash of the
# exact versions of all packages in it.

# root_recipe: what a root is made from, as one hash; a root whose recipe is
# another one is replaced.
root_recipe() {
    grep -v '^#' "$scripts/lib/root-packages" | sha256sum | cut -c 1-12
}

# root_is_ready: whether there is a root made by the present recipe.
root_is_ready() {
    local recipe
    read -r recipe 2>/dev/null <"$cache/root/etc/homa/recipe" && [[ $recipe == "$(root_recipe)" ]]
}

# root_is_newest: whether Debian has no newer version of any package in the root.
root_is_newest() {
    update_lists trixie
    private_apt trixie apt-get --simulate -o Dir::State::status="$cache/root/var/lib/dpkg/status" \
        dist-upgrade | grep -q '^0 upgraded, 0 newly installed'
}

# check_namespaces: fails in clear words where the machine lets nobody but root
# make the namespaces in which the build root runs.
check_namespaces() {
    bwrap --unshare-pid --ro-bind / / --proc /proc --dev /dev true 2>/dev/null && return
    die "bubblewrap cannot make namespaces here: run as root, or allow user namespaces" \
        "(sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces, and on Ubuntu" \
        "kernel.apparmor_restrict_unprivileged_userns=0)"
}

# build_root FOLDER: fills the empty FOLDER with a root.
build_root() {
    local folder=$1 main security settings packages sources=()
    packages=$(grep -v '^#' "$scripts/lib/root-packages" | xargs | tr ' ' ,)
    main=$(mirror main)
    security=$(mirror security)
    if [[ -n $main ]]; then
        sources+=("deb $main trixie main" "deb $main trixie-updates main")
        [[ -z $security ]] || sources+=("deb $security trixie-security main")
    fi
    settings=$folder.apt.conf
    host_apt_settings >"$settings"
    local options=(
        --variant=minbase --architectures=amd64 --include="$packages"
        --aptopt="$settings" --aptopt='APT::Install-Recommends "false"'
        --dpkgopt=force-unsafe-io
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*'
        --dpkgopt='path-exclude=/usr/share/doc/*'
        trixie
    )
    if [[ $EUID -eq 0 ]]; then
        mmdebstrap --mode=root --format=directory "${options[@]}" "$folder" "${sources[@]}" || return
    else
        # By way of a tar stream, all files come to belong to the user, who can
        # then delete them. /var/tmp, as /tmp may be a small one in memory.
        TMPDIR=${TMPDIR:-/var/tmp} mmdebstrap --mode=unshare --format=tar "${options[@]}" - "${sources[@]}" |
            tar -C "$folder" -x --no-same-owner --exclude='./dev/*' || return
    fi
    rm -rf -- "$settings" "${folder:?}"/dev/*
}

# provision_root: makes the build root unless it is there.
provision_root() (
    if root_is_ready && ! $refresh; then
        say "build root: $(readlink -- "$cache/root")"
        return
    fi
    lock root
    if root_is_ready; then
        $refresh || return 0
        if root_is_newest; then
            say "build root: $(readlink -- "$cache/root") is the newest"
            return
        fi
    fi
    check_namespaces
    need_space 4000 "$cache" "the build root"
    local folder=$cache/roots/.new key start=$SECONDS
    rm -rf --one-file-system -- "$folder"
    mkdir -p -- "$folder"
    say "build root: installing Debian trixie with compilers and QEMU (a few minutes)"
    quietly "$cache/logs/root" build_root "$folder" ||
        die "the build root could not be made; see the lines above"

    mkdir -p -- "$folder/etc/homa"
    root_recipe >"$folder/etc/homa/recipe"
    awk '/^Package: /{ p = $2 } /^Version: /{ print p "=" $2 }' \
        "$folder/var/lib/dpkg/status" | sort >"$folder/etc/homa/packages"
    touch "$folder/etc/resolv.conf" "$folder/etc/hosts"
    key=trixie-$(sha256sum "$folder/etc/homa/recipe" "$folder/etc/homa/packages" |
        cut -d ' ' -f 1 | sha256sum | cut -c 1-12)
    if [[ -d $cache/roots/$key ]]; then
        rm -rf --one-file-system -- "$folder"
    else
        mv -T -- "$folder" "$cache/roots/$key"
    fi
    link "roots/$key" "$cache/root"
    say "build root: roots/$key, made in $((SECONDS - start)) s"
)
