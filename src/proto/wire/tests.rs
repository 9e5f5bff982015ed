// SPDX-License-Identifier: GPL-2.0

//! Known bytes, and every reason to refuse a packet.

use std::vec;
use std::vec::Vec;

use super::*;

/// Ports and id of the packets below.
const CLIENT_PORT: u16 = 32768;
const SERVER_PORT: u16 = 4000;

fn to_server(id: u64) -> Common {
    Common {
        sport: CLIENT_PORT,
        dport: SERVER_PORT,
        sender_id: id,
    }
}

fn to_client(id: u64) -> Common {
    Common {
        sport: SERVER_PORT,
        dport: CLIENT_PORT,
        sender_id: id,
    }
}

/// Reads "0a ff" and the like; white space is free.
fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace()
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect()
}

fn emitted(common: Common, packet: Packet) -> Vec<u8> {
    let mut out = [0xaa; MAX_HEADER];
    let len = emit(&common, &packet, &mut out);
    assert!(out[len..].iter().all(|&byte| byte == 0));
    out[..len].to_vec()
}

/// Checks both directions for a packet without payload.
#[track_caller]
fn check(bytes: &str, common: Common, packet: Packet) {
    let bytes = hex(bytes);
    assert_eq!(emitted(common, packet), bytes);
    assert_eq!(parse(&bytes, bytes.len()), Ok(Parsed { common, packet }));
}

/// The request of 100 bytes of the tests below.
fn small_request() -> Data {
    Data {
        message_length: 100,
        incoming: 100,
        ack: None,
        cutoff_version: 0,
        retransmit: false,
        offset: 0,
        payload_len: 100,
    }
}

#[test]
fn data_bytes() {
    let bytes = hex("80 00 0f a0 00 00 00 00 00 00 00 10 e0 06 00 00
         00 00 b9 7d 00 00 00 00 00 00 00 02
         00 00 00 64 00 00 00 64
         00 00 00 00 00 00 00 00 00 00
         00 00 00 00 00 00
         00 00 00 00");
    let packet = Packet::Data(small_request());
    assert_eq!(emitted(to_server(2), packet), bytes);
    let parsed = parse(&bytes, bytes.len() + 100);
    assert_eq!(
        parsed,
        Ok(Parsed {
            common: to_server(2),
            packet
        })
    );
}

#[test]
fn data_of_the_reference_has_its_offset_in_the_sequence() {
    let mut bytes = emitted(to_server(2), Packet::Data(small_request()));
    bytes[52..56].fill(0xff);
    bytes[4..8].copy_from_slice(&[0, 0, 0, 30]);
    let parsed = parse(&bytes, DATA_LEN + 70).unwrap();
    let expected = Data {
        offset: 30,
        payload_len: 70,
        ..small_request()
    };
    assert_eq!(parsed.packet, Packet::Data(expected));
}

#[test]
fn data_of_a_segmented_packet_has_its_offset_in_the_segment_header() {
    let mut bytes = emitted(to_server(2), Packet::Data(small_request()));
    bytes[52..56].copy_from_slice(&[0, 0, 0, 40]);
    bytes[4..8].copy_from_slice(&[0x12, 0x34, 0x56, 0x78]);
    let parsed = parse(&bytes, DATA_LEN + 60).unwrap();
    let expected = Data {
        offset: 40,
        payload_len: 60,
        ..small_request()
    };
    assert_eq!(parsed.packet, Packet::Data(expected));
}

#[test]
fn data_has_its_offset_in_both_fields() {
    let data = Data {
        message_length: 500_000,
        incoming: 40_000,
        ack: Some(AckEntry {
            client_id: 0x1122_3344_5566_7788,
            server_port: 0x9abc,
        }),
        cutoff_version: 0xdef0,
        retransmit: true,
        offset: 0x0001_e240,
        payload_len: 1424,
    };
    let bytes = emitted(to_client(3), Packet::Data(data));
    assert_eq!(bytes[4..8], [0x00, 0x01, 0xe2, 0x40]);
    assert_eq!(bytes[52..56], [0x00, 0x01, 0xe2, 0x40]);
    assert_eq!(
        bytes[36..49],
        *hex("11 22 33 44 55 66 77 88 9a bc de f0 01")
    );
    let parsed = parse(&bytes, DATA_LEN + 1424).unwrap();
    assert_eq!(parsed.packet, Packet::Data(data));
}

#[test]
fn grant_bytes() {
    check(
        "0f a0 80 00 00 00 00 00 00 00 00 11 50 06 00 00
         00 00 b9 7d 00 00 00 00 00 00 00 03
         00 02 08 d5 01",
        to_client(3),
        Packet::Grant(Grant {
            offset: 133_333,
            priority: 1,
        }),
    );
}

#[test]
fn resend_all_bytes() {
    check(
        "80 00 0f a0 00 00 00 00 00 00 00 12 50 06 00 00
         00 00 b9 7d 00 00 00 00 00 00 00 02
         00 00 00 00 ff ff ff ff 07",
        to_server(2),
        Packet::Resend(Resend::all(7)),
    );
}

#[test]
fn ack_bytes() {
    let mut acks = Acks::new();
    for client_id in [2, 4] {
        assert!(acks.push(AckEntry {
            client_id,
            server_port: SERVER_PORT,
        }));
    }
    check(
        "80 00 0f a0 00 00 00 00 00 00 00 18 50 06 00 00
         00 00 b9 7d 00 00 00 00 00 00 00 0c
         00 02
         00 00 00 00 00 00 00 02 0f a0
         00 00 00 00 00 00 00 04 0f a0
         00 00 00 00 00 00 00 00 00 00
         00 00 00 00 00 00 00 00 00 00
         00 00 00 00 00 00 00 00 00 00",
        to_server(12),
        Packet::Ack(acks),
    );
}

#[test]
fn cutoffs_bytes() {
    check(
        "0f a0 80 00 00 00 00 00 00 00 00 15 50 06 00 00
         00 00 b9 7d 00 00 00 00 00 00 00 03
         00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
         00 0f 42 40 00 00 3a 98 00 00 0a f0 00 00 00 c8
         00 01",
        to_client(3),
        Packet::Cutoffs(Cutoffs {
            unsched_cutoffs: [0, 0, 0, 0, 1_000_000, 15_000, 2_800, 200],
            version: 1,
        }),
    );
}

#[test]
fn packets_that_are_but_a_type() {
    let types = [
        (Packet::Unknown, 0x13),
        (Packet::Busy, 0x14),
        (Packet::Freeze, 0x16),
        (Packet::NeedAck, 0x17),
    ];
    for (packet, number) in types {
        let bytes = emitted(to_server(6), packet);
        assert_eq!(bytes.len(), COMMON_LEN);
        assert_eq!(bytes[11..14], [number, 0x50, 0x06]);
        let common = to_server(6);
        assert_eq!(parse(&bytes, COMMON_LEN), Ok(Parsed { common, packet }));
    }
}

#[test]
fn types_and_numbers() {
    for number in 0..=u8::MAX {
        let packet_type = PacketType::from_wire(number);
        assert_eq!(packet_type.is_some(), (0x10..=0x18).contains(&number));
        assert!(packet_type.is_none_or(|it| it.to_wire() == number));
        assert!(packet_type.is_none_or(|it| it.header_len() <= MAX_HEADER));
    }
}

#[test]
fn ids_of_both_ends() {
    assert_eq!(to_server(2).local_id(), 3);
    assert!(to_server(2).is_to_server());
    assert_eq!(to_client(3).local_id(), 2);
    assert!(!to_client(3).is_to_server());
    let ack = AckEntry {
        client_id: 2,
        server_port: 1,
    };
    assert_eq!(ack.server_id(), 3);
}

#[test]
fn too_short_for_its_type() {
    for number in 0x10..=0x18 {
        let header_len = PacketType::from_wire(number).unwrap().header_len();
        let mut bytes = vec![0; MAX_HEADER];
        bytes[11] = number;
        for len in 0..header_len {
            assert_eq!(parse(&bytes[..len], len), Err(ParseError::TooShort));
            // The buffer may be longer than the packet.
            assert_eq!(parse(&bytes, len), Err(ParseError::TooShort));
        }
        assert_ne!(
            parse(&bytes[..header_len], header_len),
            Err(ParseError::TooShort)
        );
        // The caller has less than it says.
        assert_eq!(
            parse(&bytes[..COMMON_LEN - 1], MAX_HEADER),
            Err(ParseError::TooShort)
        );
    }
}

#[test]
fn unknown_types() {
    for number in (0..0x10).chain(0x19..=0xff) {
        let mut bytes = vec![0; MAX_HEADER];
        bytes[11] = number;
        assert_eq!(
            parse(&bytes, MAX_HEADER),
            Err(ParseError::UnknownType),
            "{number:#x}"
        );
    }
}

/// Parses DATA with these fields.
fn parse_data(common: Common, data: Data) -> Result<Data, ParseError> {
    let bytes = emitted(common, Packet::Data(data));
    let payload_len = usize::try_from(data.payload_len).unwrap();
    match parse(&bytes, bytes.len() + payload_len)?.packet {
        Packet::Data(data) => Ok(data),
        other => panic!("{other:?}"),
    }
}

#[test]
fn data_out_of_range() {
    let good = small_request();
    let length = |message_length| Data {
        message_length,
        ..good
    };
    let placed = |offset, payload_len| Data {
        offset,
        payload_len,
        ..good
    };
    let cases = [
        (length(0), ParseError::BadMessageLength),
        (length(MAX_MESSAGE_LENGTH + 1), ParseError::BadMessageLength),
        (length(u32::MAX), ParseError::BadMessageLength),
        (placed(0, 0), ParseError::NoPayload),
        (placed(0, 101), ParseError::BeyondMessage),
        (placed(1, 100), ParseError::BeyondMessage),
        (placed(100, 1), ParseError::BeyondMessage),
        (placed(u32::MAX - 1, 1), ParseError::BeyondMessage),
        (placed(u32::MAX - 1, 100), ParseError::BeyondMessage),
    ];
    for (data, error) in cases {
        assert_eq!(parse_data(to_server(2), data), Err(error), "{data:?}");
    }
    for id in [0, 1] {
        assert_eq!(parse_data(to_server(id), good), Err(ParseError::BadId));
    }
    assert_eq!(parse_data(to_server(2), good), Ok(good));
    let longest = Data {
        message_length: MAX_MESSAGE_LENGTH,
        offset: MAX_MESSAGE_LENGTH - 1,
        payload_len: 1,
        ..good
    };
    assert_eq!(parse_data(to_server(2), longest), Ok(longest));
}

#[test]
fn data_fields_that_are_corrected() {
    let data = Data {
        incoming: 40_000,
        ack: Some(AckEntry {
            client_id: 7,
            server_port: 1,
        }),
        ..small_request()
    };
    assert_eq!(parse_data(to_server(2), data), Ok(small_request()));
}

#[test]
fn resend_ranges() {
    let cases = [
        (0, 1, true),
        (0, MAX_MESSAGE_LENGTH, true),
        (MAX_MESSAGE_LENGTH - 1, 1, true),
        (0, 0, false),
        (0, MAX_MESSAGE_LENGTH + 1, false),
        (MAX_MESSAGE_LENGTH, 1, false),
        (u32::MAX, 1, false),
        (2, u32::MAX - 1, false),
    ];
    for (offset, length, good) in cases {
        let resend = Resend {
            offset,
            length,
            priority: 0,
        };
        let bytes = emitted(to_client(3), Packet::Resend(resend));
        let parsed = parse(&bytes, bytes.len()).map(|parsed| parsed.packet);
        let expected = if good {
            Ok(Packet::Resend(resend))
        } else {
            Err(ParseError::BadRange)
        };
        assert_eq!(parsed, expected, "{resend:?}");
    }
}

#[test]
fn resend_of_all_has_no_offset() {
    let resend = Resend {
        offset: 77,
        ..Resend::all(3)
    };
    let bytes = emitted(to_client(3), Packet::Resend(resend));
    let parsed = parse(&bytes, bytes.len()).unwrap();
    assert_eq!(parsed.packet, Packet::Resend(Resend::all(3)));
}

#[test]
fn priorities_are_clamped() {
    let grant = Packet::Grant(Grant {
        offset: 1,
        priority: 255,
    });
    let bytes = emitted(to_client(3), grant);
    let expected = Packet::Grant(Grant {
        offset: 1,
        priority: 7,
    });
    assert_eq!(parse(&bytes, bytes.len()).unwrap().packet, expected);
    let bytes = emitted(to_client(3), Packet::Resend(Resend::all(8)));
    let expected = Packet::Resend(Resend::all(7));
    assert_eq!(parse(&bytes, bytes.len()).unwrap().packet, expected);
}

#[test]
fn acks_that_name_nothing_are_left_out() {
    let mut bytes = emitted(to_server(12), Packet::Ack(Acks::new()));
    bytes[28..30].copy_from_slice(&[0xff, 0xff]);
    for (number, client_id) in [2, 0, 7, 8, 10].into_iter().enumerate() {
        bytes[30 + 10 * number + 7] = client_id;
    }
    let Packet::Ack(acks) = parse(&bytes, bytes.len()).unwrap().packet else {
        panic!("not an ACK");
    };
    let ids: Vec<u64> = acks.as_slice().iter().map(|ack| ack.client_id).collect();
    assert_eq!(ids, [2, 8, 10]);
}

#[test]
fn acks_are_a_stack_of_five() {
    let entry = |client_id| AckEntry {
        client_id,
        server_port: 1,
    };
    let mut acks = Acks::new();
    assert_eq!(acks.pop(), None);
    for number in 1..=5 {
        assert!(acks.push(entry(number * 2)));
    }
    assert!(!acks.push(entry(12)));
    assert_eq!(acks.as_slice().len(), MAX_ACKS);
    assert_eq!(acks.pop(), Some(entry(10)));
    assert_eq!(acks.pop(), Some(entry(8)));
    assert_eq!(acks.as_slice(), [entry(2), entry(4), entry(6)]);
}
