// SPDX-License-Identifier: MIT OR GPL-2.0
//! Compares `homa::abi` with what `tests/abi/abi.c` pins for C programs, so that
//! the two sides cannot drift apart.

use homa::abi;
use homa::abi::RcvbufArgs;
use homa::abi::RecvmsgArgs;
use homa::abi::SendmsgArgs;
use std::collections::HashMap;
use std::mem::offset_of;
use std::mem::size_of;

/// The C side's claims: `FIELD(struct, field, offset, size)` lines, and
/// `CHECK(name == value)` lines.
struct CSide {
    fields: HashMap<String, Vec<(String, usize, usize)>>,
    values: HashMap<String, u64>,
}

fn c_side() -> CSide {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/abi/abi.c");
    let text = std::fs::read_to_string(path).expect("tests/abi/abi.c is readable");
    let mut side = CSide {
        fields: HashMap::new(),
        values: HashMap::new(),
    };
    for line in text.lines() {
        if let Some(args) = inner(line, "FIELD(") {
            let parts: Vec<&str> = args.split(',').map(str::trim).collect();
            if let [owner, field, offset, size] = parts[..] {
                side.fields.entry(owner.into()).or_default().push((
                    field.into(),
                    offset.parse().expect("offset is a number"),
                    size.parse().expect("size is a number"),
                ));
            }
        } else if let Some((name, value)) =
            inner(line, "CHECK(").and_then(|check| check.split_once(" == "))
        {
            side.values.insert(name.into(), number(value));
        }
    }
    side
}

fn inner<'a>(line: &'a str, start: &str) -> Option<&'a str> {
    line.strip_prefix(start)?.strip_suffix(");")
}

fn number(text: &str) -> u64 {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    }
    .expect("constant is a number")
}

/// Offset and size of the field that a raw pointer to it stands for.
fn field<T>(name: &str, offset: usize, _: *const T) -> (String, usize, usize) {
    (name.into(), offset, size_of::<T>())
}

macro_rules! fields {
    ($type:ty, $($field:ident),+) => {{
        let value = <$type>::default();
        vec![$(field(stringify!($field), offset_of!($type, $field), &raw const value.$field)),+]
    }};
}

#[test]
fn structs_agree_with_c() {
    let c = c_side();
    let rust = [
        (
            "homa_sendmsg_args",
            size_of::<SendmsgArgs>(),
            fields!(SendmsgArgs, id, completion_cookie, flags, reserved),
        ),
        (
            "homa_recvmsg_args",
            size_of::<RecvmsgArgs>(),
            fields!(
                RecvmsgArgs,
                id,
                completion_cookie,
                num_bpages,
                reserved,
                bpage_offsets
            ),
        ),
        (
            "homa_rcvbuf_args",
            size_of::<RcvbufArgs>(),
            fields!(RcvbufArgs, start, length),
        ),
    ];
    for (name, size, fields) in rust {
        assert_eq!(
            c.values.get(&format!("sizeof(struct {name})")),
            Some(&(size as u64)),
            "size of {name}"
        );
        assert_eq!(c.fields.get(name), Some(&fields), "fields of {name}");
    }
}

#[test]
fn constants_agree_with_c() {
    let c = c_side();
    let rust: [(&str, u64); 10] = [
        ("IPPROTO_HOMA", abi::IPPROTO_HOMA as u64),
        (
            "HOMA_MAX_MESSAGE_LENGTH",
            abi::HOMA_MAX_MESSAGE_LENGTH as u64,
        ),
        ("HOMA_BPAGE_SHIFT", abi::HOMA_BPAGE_SHIFT.into()),
        ("HOMA_BPAGE_SIZE", abi::HOMA_BPAGE_SIZE as u64),
        ("HOMA_MAX_BPAGES", abi::HOMA_MAX_BPAGES as u64),
        ("HOMA_MIN_DEFAULT_PORT", abi::HOMA_MIN_DEFAULT_PORT.into()),
        ("SO_HOMA_RCVBUF", abi::SO_HOMA_RCVBUF as u64),
        ("SO_HOMA_SERVER", abi::SO_HOMA_SERVER as u64),
        ("HOMA_SENDMSG_PRIVATE", abi::HOMA_SENDMSG_PRIVATE.into()),
        (
            "HOMA_SENDMSG_VALID_FLAGS",
            abi::HOMA_SENDMSG_VALID_FLAGS.into(),
        ),
    ];
    for (name, value) in rust {
        assert_eq!(c.values.get(name), Some(&value), "{name}");
    }
}
