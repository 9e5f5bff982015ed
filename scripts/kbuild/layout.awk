# SPDX-License-Identifier: GPL-2.0
#
# awk -f layout.awk PREPROCESSED BINDINGS: turns what bindgen asserts on the Rust
# side, by the layout that clang gives to types, into assertions in C, for the
# compiler that builds the kernel. PREPROCESSED is bindings.h after the
# preprocessor; it tells which names are tags and which are typedefs.
#
# What has no name in C is left out: anonymous members and their fields, bit
# fields, padding. They lie between fields that are checked.

BEGIN {
    # Where a C name is a word of Rust, bindgen adds an underscore.
    words = "abstract as async await become box break const continue crate do dyn else enum extern " \
        "false final fn for gen if impl in let loop macro match mod move mut override priv pub ref " \
        "return self static struct super trait true try type typeof unsafe unsized use virtual where " \
        "while yield"
    count = split(words, list, " ")
    for (i = 1; i <= count; i++) keyword[list[i] "_"] = list[i]
}

FILENAME == ARGV[1] {
    if (match($0, /(struct|union) [A-Za-z_0-9]+ *($|\{)/)) {
        split(substr($0, RSTART, RLENGTH), part, " ")
        spelling[part[2]] = part[1] " " part[2]
    } else if (match($0, /^ *\} *[A-Za-z_0-9]+;/)) {
        name = substr($0, RSTART, RLENGTH)
        gsub(/[^A-Za-z_0-9]/, "", name)
        typedef[name] = 1
    }
    next
}

match($0, /\["(Size of|Alignment of|Offset of field:) [A-Za-z_0-9:]+"\]/) {
    what = substr($0, RSTART + 2, RLENGTH - 4)
}

what != "" && match($0, /- [0-9]+usize\]/) {
    value = substr($0, RSTART + 2, RLENGTH - 8)
    count = split(what, part, " ")
    split(part[count], place, "::")
    what = ""
    name = place[1]
    if (name in spelling) type = spelling[name]
    else if (name in typedef) type = name
    else next
    if (part[1] == "Size") expression = "sizeof(" type ")"
    else if (part[1] == "Alignment") expression = "_Alignof(" type ")"
    else {
        member = place[2]
        if (member ~ /^(__bindgen_|_bindgen_|_bitfield_)/) next
        if (member in keyword) member = keyword[member]
        expression = "offsetof(" type ", " member ")"
    }
    printf "_Static_assert(%s == %s, \"C and Rust differ\");\n", expression, value
    asserted++
}

END { if (!asserted) print "#error no layout was found in the bindings" }
