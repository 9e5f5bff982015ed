// SPDX-License-Identifier: GPL-2.0

//! Properties of the wire format.

use homa_proto::wire::emit;
use homa_proto::wire::parse;
use homa_proto::wire::AckEntry;
use homa_proto::wire::Acks;
use homa_proto::wire::Common;
use homa_proto::wire::Cutoffs;
use homa_proto::wire::Data;
use homa_proto::wire::Grant;
use homa_proto::wire::Packet;
use homa_proto::wire::Parsed;
use homa_proto::wire::Resend;
use homa_proto::wire::MAX_ACKS;
use homa_proto::wire::MAX_HEADER;
use homa_proto::wire::MAX_MESSAGE_LENGTH;
use homa_proto::wire::NUM_PRIORITIES;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn common() -> impl Strategy<Value = Common> {
    (any::<u16>(), any::<u16>(), 2..=u64::MAX).prop_map(|(sport, dport, sender_id)| Common {
        sport,
        dport,
        sender_id,
    })
}

fn ack_entry() -> impl Strategy<Value = AckEntry> {
    (1..=u64::MAX / 2, any::<u16>()).prop_map(|(half_id, server_port)| AckEntry {
        client_id: half_id * 2,
        server_port,
    })
}

fn data() -> impl Strategy<Value = Packet> {
    (1..=MAX_MESSAGE_LENGTH)
        .prop_flat_map(|length| (Just(length), 0..length))
        .prop_flat_map(|(length, offset)| {
            (
                Just(length),
                Just(offset),
                1..=length - offset,
                0..=length,
                option::of(ack_entry()),
                any::<u16>(),
                any::<bool>(),
            )
        })
        .prop_map(
            |(message_length, offset, payload_len, incoming, ack, cutoff_version, retransmit)| {
                Packet::Data(Data {
                    message_length,
                    incoming,
                    ack,
                    cutoff_version,
                    retransmit,
                    offset,
                    payload_len,
                })
            },
        )
}

fn resend() -> impl Strategy<Value = Resend> {
    let range = (0..MAX_MESSAGE_LENGTH)
        .prop_flat_map(|offset| (Just(offset), 1..=MAX_MESSAGE_LENGTH - offset));
    (range, 0..NUM_PRIORITIES, any::<bool>()).prop_map(|((offset, length), priority, all)| {
        if all {
            return Resend::all(priority);
        }
        Resend {
            offset,
            length,
            priority,
        }
    })
}

fn acks() -> impl Strategy<Value = Packet> {
    vec(ack_entry(), 0..=MAX_ACKS).prop_map(|entries| {
        let mut acks = Acks::new();
        for entry in entries {
            assert!(acks.push(entry));
        }
        Packet::Ack(acks)
    })
}

fn packet() -> impl Strategy<Value = Packet> {
    prop_oneof![
        data(),
        (any::<u32>(), 0..NUM_PRIORITIES)
            .prop_map(|(offset, priority)| Packet::Grant(Grant { offset, priority })),
        resend().prop_map(Packet::Resend),
        Just(Packet::Unknown),
        Just(Packet::Busy),
        (any::<[u32; 8]>(), any::<u16>()).prop_map(|(unsched_cutoffs, version)| {
            Packet::Cutoffs(Cutoffs {
                unsched_cutoffs,
                version,
            })
        }),
        Just(Packet::Freeze),
        Just(Packet::NeedAck),
        acks(),
    ]
}

/// Bytes that follow the header.
fn payload_len(packet: &Packet) -> usize {
    match packet {
        Packet::Data(data) => usize::try_from(data.payload_len).unwrap(),
        _ => 0,
    }
}

/// What the documentation of `wire` promises of whatever is parsed.
fn check_ranges(parsed: &Parsed) {
    let known = |entry: &AckEntry| entry.client_id != 0 && entry.client_id % 2 == 0;
    match &parsed.packet {
        Packet::Data(data) => {
            assert!(parsed.common.sender_id >= 2);
            assert!((1..=MAX_MESSAGE_LENGTH).contains(&data.message_length));
            assert!(data.payload_len >= 1);
            let end = u64::from(data.offset) + u64::from(data.payload_len);
            assert!(end <= u64::from(data.message_length));
            assert!(data.incoming <= data.message_length);
            assert!(data.ack.iter().all(known));
        }
        Packet::Grant(grant) => assert!(grant.priority < NUM_PRIORITIES),
        Packet::Resend(resend) => {
            assert!(resend.priority < NUM_PRIORITIES);
            if resend.length == Resend::ALL {
                assert_eq!(resend.offset, 0);
            } else {
                assert_ne!(resend.length, 0);
                let end = u64::from(resend.offset) + u64::from(resend.length);
                assert!(end <= u64::from(MAX_MESSAGE_LENGTH));
            }
        }
        Packet::Ack(acks) => assert!(acks.as_slice().iter().all(known)),
        _ => {}
    }
}

/// A failure is printed with its smallest input, which makes a better test than a
/// file with seeds.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 1000,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_was_emitted_is_parsed(common in common(), packet in packet()) {
        let mut header = [0xaa; MAX_HEADER];
        let len = emit(&common, &packet, &mut header);
        prop_assert_eq!(len, packet.packet_type().header_len());
        let packet_len = len + payload_len(&packet);
        let parsed = parse(&header[..len], packet_len);
        prop_assert_eq!(parsed, Ok(Parsed { common, packet }));
        // Whatever follows the header does not matter.
        header[len..].fill(0x55);
        let parsed = parse(&header, packet_len);
        prop_assert_eq!(parsed, Ok(Parsed { common, packet }));
        prop_assert!(parse(&header, len - 1).is_err());
    }

    #[test]
    fn any_bytes_are_parsed_or_refused(
        mut bytes in vec(any::<u8>(), 0..200),
        packet_type in 0x0fu8..=0x19,
        packet_len in 0usize..100_000,
    ) {
        if let Some(byte) = bytes.get_mut(11) {
            *byte = packet_type;
        }
        for packet_len in [bytes.len(), packet_len] {
            if let Ok(parsed) = parse(&bytes, packet_len) {
                check_ranges(&parsed);
            }
        }
    }

    #[test]
    fn a_flipped_bit_is_parsed_or_refused(
        common in common(),
        packet in packet(),
        bit in 0..MAX_HEADER * 8,
    ) {
        let mut header = [0; MAX_HEADER];
        let len = emit(&common, &packet, &mut header);
        header[bit / 8] ^= 1 << (bit % 8);
        if let Ok(parsed) = parse(&header[..len], len + payload_len(&packet)) {
            check_ranges(&parsed);
        }
    }
}
