// SPDX-License-Identifier: GPL-2.0

//! Any bytes as a packet: no panic, and what is parsed survives being emitted.

#![no_main]

use homa_proto::wire::emit;
use homa_proto::wire::parse;
use homa_proto::wire::MAX_HEADER;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (usize, &[u8])| {
    let (packet_len, bytes) = input;
    for packet_len in [bytes.len(), packet_len] {
        let Ok(parsed) = parse(bytes, packet_len) else {
            continue;
        };
        let mut header = [0; MAX_HEADER];
        emit(&parsed.common, &parsed.packet, &mut header);
        assert_eq!(parse(&header, packet_len), Ok(parsed));
    }
});
