# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # scripts, cache and refresh are set by scripts/provision
#
# Stock Debian kernels. kernels/RELEASE holds one, kernels/SERIES points to it:
#   release    the kernel release, as `uname -r` prints it
#   packages   the packages it was made from, NAME=VERSION, written last
#   vmlinuz    the kernel image
#   modules/   what is /lib/modules/RELEASE when the package is installed
#   build      KDIR: the headers, a link into tree/
#   tree/      the packages as unpacked

# kernel_is_ready SERIES
kernel_is_ready() {
    [[ -s $cache/kernels/$1/packages ]]
}

# newest_kernel SERIES: prints the packages, NAME=VERSION, of the newest kernel of
# the series that Debian offers complete; image and headers are built apart, so
# one of them may be missing for some hours.
newest_kernel() {
    local series=$1 release headers flavour names packages versions
    release=$(release_of "$series")
    headers=$(private_apt "$release" apt-cache search --names-only \
        "^linux-headers-${series//./[.]}[.][0-9].*-cloud-amd64\$" | cut -d ' ' -f 1)
    [[ -n $headers ]] || return 0
    # shellcheck disable=SC2086 # a list of names
    for flavour in $(private_apt "$release" apt-cache show --no-all-versions $headers |
        awk '/^Package: /{ p = $2 } /^Version: /{ print $2, p }' | sort -rV |
        sed 's/.* linux-headers-//'); do
        # The image package of newer kernels is an empty one that depends on those
        # with the content; kbuild and the common headers are dependencies as well.
        names=$(private_apt "$release" apt-cache depends --recurse --no-recommends --no-suggests \
            --no-conflicts --no-breaks --no-replaces --no-enhances \
            "linux-headers-$flavour" "linux-image-$flavour" 2>/dev/null |
            grep -E '^linux-(headers|kbuild|image|base|binary|modules)-[0-9]' |
            grep -v unsigned | sort -u)
        grep -q "^linux-image-$flavour\$" <<<"$names" || continue
        packages=$(private_apt "$release" apt-cache show --no-all-versions $names |
            awk '/^Package: /{ p = $2 } /^Version: /{ print p "=" $2 }' | sort)
        versions=$(cut -d = -f 2 <<<"$packages" | sort -u | wc -l)
        [[ $versions -eq 1 && $(wc -l <<<"$packages") -eq $(wc -l <<<"$names") ]] || continue
        printf '%s\n' "$packages"
        return
    done
}

# unpack_kernel FOLDER RELEASE PACKAGE...: makes the layout above in FOLDER.
unpack_kernel() {
    local folder=$1 release=$2 package modules image
    shift 2
    mkdir -p -- "$folder/tree" "$folder/lib/modules"
    for package in "$@"; do
        "$scripts/enter" dpkg-deb --extract "$(deb_of "$package")" "$folder/tree"
    done
    for modules in "$folder"/tree/{usr/,}lib/modules/"$release"; do
        [[ ! -d $modules ]] || break
    done
    for image in "$modules/vmlinuz" "$folder/tree/boot/vmlinuz-$release"; do
        [[ ! -f $image ]] || mv -- "$image" "$folder/vmlinuz"
    done
    rm -rf -- "$modules/build" "$modules/source" "$folder/tree/usr/share"
    mv -T -- "$modules" "$folder/modules"
    ln -s ../../modules "$folder/lib/modules/$release"
    ln -s "tree/usr/src/linux-headers-$release" "$folder/build"
    # The headers expect to be in /usr/src.
    # shellcheck disable=SC2016 # variables of make
    sed -i -e 's|^KBUILD_OUTPUT=.*|KBUILD_OUTPUT := $(realpath $(dir $(lastword $(MAKEFILE_LIST))))|' \
        -e 's|^include /usr/src/|include $(dir $(lastword $(MAKEFILE_LIST)))../|' \
        "$folder/build/Makefile"
    "$scripts/enter" depmod --basedir "$folder" "$release"
    printf '%s\n' "$release" >"$folder/release"
    printf '%s\n' "$@" >"$folder/packages"
}

# provision_kernel SERIES: gets the newest kernel of the series, unless there is
# one already.
provision_kernel() (
    series=$1
    if kernel_is_ready "$series" && ! $refresh; then
        say "kernel $series: $(readlink -- "$cache/kernels/$series")"
        return
    fi
    lock "kernel-$series"
    if kernel_is_ready "$series" && ! $refresh; then
        return
    fi
    release=$(release_of "$series")
    update_lists "$release"
    mapfile -t packages < <(newest_kernel "$series")
    if [[ ${#packages[@]} -eq 0 ]]; then
        die "the mirror $(mirror main) has no complete kernel $series in Debian $release;" \
            "set HOMA_DEBIAN_MIRROR (and HOMA_DEBIAN_SECURITY_MIRROR) to one that has"
    fi
    name=$(printf '%s\n' "${packages[@]}" | sed -n 's/^linux-image-\(.*\)=.*/\1/p')
    folder=$cache/kernels/$name
    if ! cmp -s -- "$folder/packages" <(printf '%s\n' "${packages[@]}"); then
        need_space 500 "$cache" "kernel $series"
        fetch_packages "$release" "${packages[@]}" ||
            die "the packages of kernel $series could not be fetched; see the lines above"
        rm -rf -- "$folder.new" "$folder.old"
        unpack_kernel "$folder.new" "$name" "${packages[@]}"
        [[ ! -e $folder ]] || mv -T -- "$folder" "$folder.old"
        mv -T -- "$folder.new" "$folder"
        rm -rf -- "$folder.old"
    fi
    link "$name" "$cache/kernels/$series"
    say "kernel $series: $name"
)
