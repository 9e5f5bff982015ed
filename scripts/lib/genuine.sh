# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154 # scripts, cache and refresh are set by scripts/provision
#
# Kernel sources prepared so that modules can use the genuine `kernel` crate, whose
# compiled form Debian's headers do not ship. genuine/RELEASE holds one for the very
# packages in kernels/RELEASE, genuine/SERIES points to it.

# genuine_stamp SERIES: what the prepared tree depends on: the version of the
# kernel packages and those of the compilers.
genuine_stamp() {
    sed -n 's/^linux-headers-.*-cloud-amd64=/linux=/p' "$cache/kernels/$1/packages"
    grep -E '^(rustc|rust-src|bindgen|gcc-14|clang-19)=' "$cache/root/etc/homa/packages"
}

# genuine_is_ready SERIES
genuine_is_ready() {
    [[ -s $cache/genuine/$1/homa-stamp && -e $cache/kernels/$1/packages ]] &&
        [[ $(readlink -- "$cache/genuine/$1") == "$(readlink -- "$cache/kernels/$1")" ]] &&
        [[ $(<"$cache/genuine/$1/homa-stamp") == "$(genuine_stamp "$1")" ]]
}

# kconfig_value FILE NAME: the value of a string option in a .config file.
kconfig_value() {
    sed -n "s/^CONFIG_$2=\"\\(.*\\)\"\$/\\1/p" "$1"
}

# unpack_source DEB SERIES FOLDER: unpacks the parts of the kernel's source that
# preparing needs, a third of it: no drivers but their headers and Kconfig files.
unpack_source() {
    local deb=$1 series=$2 folder=$3
    local part=linux-source-$series
    mkdir -p -- "$folder"
    # shellcheck disable=SC2016 # expanded by the inner shell
    "$scripts/enter" bash -o pipefail -c '
        dpkg-deb --fsys-tarfile "$1" | tar -x --to-stdout "./usr/src/$2.tar.xz" |
            xz --decompress --threads=0 | tar -C "$3" -x --strip-components=1 \
            --wildcards --wildcards-match-slash \
            --exclude="$2/drivers/*.[cS]" --exclude="$2/sound/*.[cS]" --exclude="$2/fs/*.c" \
            --exclude="$2/net/*.c" --exclude="$2/Documentation/*.rst" \
            --exclude="$2/Documentation/*.yaml" --exclude="$2/Documentation/*.txt" \
            --exclude="$2/tools/testing/*" --exclude="$2/arch/*.dts*" \
            --exclude="$2/drivers/gpu/*/asic_reg/*"
        ' unpack "$deb" "$part" "$folder"
}

# prepare_source FOLDER RELEASE HEADERS: makes in FOLDER what modules are built with.
prepare_source() {
    local folder=$1 release=$2 headers=$3 version
    cp -- "$headers/.config" "$headers/Module.symvers" "$folder/" || return
    version=$("$scripts/enter" make -s -C "$folder" kernelversion) || return
    # With the compiler named as Debian names it, .config stays as it is.
    "$scripts/enter" make -C "$folder" -j"$(nproc)" ARCH=x86 \
        CROSS_COMPILE=x86_64-linux-gnu- CC=x86_64-linux-gnu-gcc-14 \
        LOCALVERSION="${release#"$version"}" olddefconfig prepare modules_prepare
}

# check_prepared FOLDER RELEASE HEADERS: fails unless modules built in FOLDER load
# on the stock kernel: the same release, the same configuration, the same rustc.
check_prepared() {
    local folder=$1 release=$2 headers=$3 built changed
    built=$(<"$folder/include/config/kernel.release")
    [[ $built == "$release" ]] ||
        die "the prepared source says it is $built, and the kernel is $release"
    grep -qxF "#define UTS_RELEASE \"$release\"" "$folder/include/generated/utsrelease.h" ||
        die "the vermagic of modules built in $folder would not be that of $release"
    changed=$(diff -- "$headers/.config" "$folder/.config" | grep -c '^[<>]' || true)
    [[ $changed -eq 0 ]] ||
        die "the configuration of the prepared source differs from that of $release in" \
            "$changed lines; compare $headers/.config and $folder/.config"
    [[ -s $folder/rust/libkernel.rmeta && -s $folder/scripts/target.json ]] ||
        die "the preparation of $release made no Rust metadata"
}

# provision_genuine SERIES: prepares the source of the kernel in kernels/SERIES.
provision_genuine() (
    series=$1
    kernel_is_ready "$series" || provision_kernel "$series"
    if genuine_is_ready "$series"; then
        say "genuine $series: $(readlink -- "$cache/genuine/$series")"
        return
    fi
    lock "genuine-$series"
    ! genuine_is_ready "$series" || return 0

    start=$SECONDS
    headers=$cache/kernels/$series/build
    name=$(<"$cache/kernels/$series/release")
    wanted=$(kconfig_value "$headers/.config" RUSTC_VERSION_TEXT)
    [[ -n $wanted ]] || die "kernel $series is built without Rust; it has no genuine kernel crate"
    found=$("$scripts/enter" rustc --version)
    [[ $found == "$wanted" ]] ||
        die "kernel $name was built with '$wanted' and the build root has '$found';" \
            "run 'scripts/provision --refresh root kernel $series genuine $series'"

    package=linux-source-$series=$(genuine_stamp "$series" | sed -n 's/^linux=//p')
    if [[ -z $(deb_of "$package") ]]; then
        release=$(release_of "$series")
        update_lists "$release"
        fetch_packages "$release" "$package" ||
            die "the mirror does not have $package; a newer kernel may be out:" \
                "run 'scripts/provision --refresh kernel $series genuine $series'"
    fi

    # Paths of this folder get into the prepared files: it is made where it stays,
    # and the stamp, written last, says that it is complete.
    folder=$cache/genuine/$name
    need_space 2500 "$cache" "the source of kernel $series"
    say "genuine $series: unpacking the source"
    rm -rf -- "$folder" "$folder.new"
    unpack_source "$(deb_of "$package")" "$series" "$folder.new"
    mv -T -- "$folder.new" "$folder"
    say "genuine $series: preparing it (about a minute)"
    quietly "$cache/logs/genuine-$series" prepare_source "$folder" "$name" "$headers" ||
        die "the source of kernel $series could not be prepared; see the lines above"
    check_prepared "$folder" "$name" "$headers"
    genuine_stamp "$series" >"$folder/homa-stamp"
    link "$name" "$cache/genuine/$series"
    say "genuine $series: $name, made in $((SECONDS - start)) s"
)
