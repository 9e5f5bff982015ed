// SPDX-License-Identifier: GPL-2.0

//! Each packet in each state: the table of the module's documentation, and that
//! of packets whose RPC is not known.

use super::*;
use crate::tx::Priority;
use crate::wire::AckEntry;
use crate::wire::Acks;
use crate::wire::Cutoffs;

/// What is expected of a packet.
#[derive(Debug, PartialEq)]
enum Expected {
    /// It has no effect, or none but to end silence.
    Discard(Discard),
    /// This is the state then, and this packet is sent, if any.
    Then(State, Option<Transmit>),
    /// The payload is kept.
    Kept,
    /// It asks for memory.
    NeedBuffers,
    /// The server's RPC is over.
    Ends(EndReason),
}

use Expected::Discard as Discarded;
use Expected::Ends;
use Expected::Kept;
use Expected::NeedBuffers;
use Expected::Then;

const UNEXPECTED: Expected = Discarded(Discard::Unexpected);

const fn resend(offset: u32, length: u32) -> Resend {
    Resend {
        offset,
        length,
        priority: 7,
    }
}

/// The 100 bytes of the request or response, sent again.
const fn again(priority: Priority) -> Transmit {
    Transmit::Data {
        segment: Segment {
            offset: 0,
            len: 100,
            retransmit: true,
            priority,
            incoming: 100,
        },
        message_length: 100,
    }
}

/// One state of an RPC and what each packet does in it.
struct Row {
    name: &'static str,
    rpc: fn() -> Rpc,
    data: Expected,
    grant: Expected,
    resend: Expected,
    unknown: Expected,
    busy: Expected,
    need_ack: Expected,
    ack: Expected,
}

const BUSY: Option<Transmit> = Some(Transmit::Busy);
const AGAIN: Option<Transmit> = Some(again(Priority::Level(7)));

fn client_rows() -> [Row; 4] {
    use State::Incoming;
    use State::Outgoing;
    [
        Row {
            name: "client, Outgoing",
            rpc: || outgoing_client(100),
            data: NeedBuffers,
            grant: Then(Outgoing, None),
            resend: Then(Outgoing, AGAIN),
            unknown: Then(Outgoing, Some(again(Priority::Unscheduled))),
            busy: Then(Outgoing, None),
            need_ack: Then(Outgoing, Some(Transmit::Resend(Resend::all(7)))),
            ack: UNEXPECTED,
        },
        Row {
            name: "client, Incoming",
            rpc: incoming_client,
            data: Kept,
            grant: UNEXPECTED,
            resend: UNEXPECTED,
            unknown: UNEXPECTED,
            busy: Then(Incoming, None),
            need_ack: Then(Incoming, Some(Transmit::Resend(resend(1000, 2000)))),
            ack: UNEXPECTED,
        },
        Row {
            name: "client, Incoming, no memory",
            rpc: || {
                let mut rpc = outgoing_client(100);
                let _ = packet(&mut rpc, 0, Packet::Data(part(3000, 0, 1000)));
                rpc.buffers_pending();
                rpc
            },
            data: Discarded(Discard::NoBuffers),
            grant: UNEXPECTED,
            resend: UNEXPECTED,
            unknown: UNEXPECTED,
            busy: Then(Incoming, None),
            need_ack: Then(Incoming, BUSY),
            ack: UNEXPECTED,
        },
        Row {
            name: "client, Incoming, complete",
            rpc: || {
                let mut rpc = outgoing_client(100);
                let _ = data(&mut rpc, 0, whole(3000));
                rpc
            },
            data: Discarded(Discard::Duplicate),
            grant: UNEXPECTED,
            resend: UNEXPECTED,
            unknown: UNEXPECTED,
            busy: Then(Incoming, None),
            need_ack: Then(Incoming, Some(Transmit::Ack)),
            ack: UNEXPECTED,
        },
    ]
}

fn server_rows() -> [Row; 4] {
    use State::InService;
    use State::Incoming;
    use State::Outgoing;
    [
        Row {
            name: "server, Incoming",
            rpc: incoming_server,
            data: Kept,
            grant: UNEXPECTED,
            resend: Then(Incoming, BUSY),
            unknown: Ends(EndReason::UnknownToClient),
            busy: Then(Incoming, None),
            need_ack: UNEXPECTED,
            ack: Ends(EndReason::Acked),
        },
        Row {
            name: "server, Incoming, no memory",
            rpc: || {
                let first = part(3000, 0, 1000);
                let mut rpc = Rpc::server(SERVER, &first, 0, &CONFIG);
                let _ = packet(&mut rpc, 0, Packet::Data(first));
                rpc.buffers_pending();
                rpc
            },
            data: Discarded(Discard::NoBuffers),
            grant: UNEXPECTED,
            resend: Then(Incoming, BUSY),
            unknown: Ends(EndReason::UnknownToClient),
            busy: Then(Incoming, None),
            need_ack: UNEXPECTED,
            ack: Ends(EndReason::Acked),
        },
        Row {
            name: "server, InService",
            rpc: in_service,
            data: Discarded(Discard::Duplicate),
            grant: UNEXPECTED,
            resend: Then(InService, BUSY),
            unknown: Ends(EndReason::UnknownToClient),
            busy: Then(InService, None),
            need_ack: UNEXPECTED,
            ack: Ends(EndReason::Acked),
        },
        Row {
            name: "server, Outgoing",
            rpc: || outgoing_server(100),
            data: Discarded(Discard::Duplicate),
            grant: Then(Outgoing, None),
            resend: Then(Outgoing, AGAIN),
            unknown: Ends(EndReason::UnknownToClient),
            busy: Then(Outgoing, None),
            need_ack: UNEXPECTED,
            ack: Ends(EndReason::Acked),
        },
    ]
}

fn ended_row() -> Row {
    Row {
        name: "Ended",
        rpc: || {
            let mut rpc = outgoing_server(100);
            rpc.on_ack();
            rpc
        },
        data: UNEXPECTED,
        grant: UNEXPECTED,
        resend: UNEXPECTED,
        unknown: UNEXPECTED,
        busy: UNEXPECTED,
        need_ack: UNEXPECTED,
        ack: UNEXPECTED,
    }
}

fn check(row: &Row, packet_: Packet, expected: &Expected) {
    let mut rpc = (row.rpc)();
    let state = rpc.state();
    let reaction = packet(&mut rpc, 1, packet_);
    let context = std::format!("{}: {packet_:?}", row.name);
    let mut wanted = Reaction::default();
    match *expected {
        Discarded(why) => {
            wanted.discard = Some(why);
            assert_eq!(rpc.state(), state, "{context}");
            assert_eq!(transmits(&mut rpc, 1), [], "{context}");
        }
        Then(state, transmit) => {
            assert_eq!(rpc.state(), state, "{context}");
            assert_eq!(transmits(&mut rpc, 1), transmit.as_slice(), "{context}");
        }
        Kept => wanted.keep_payload = true,
        NeedBuffers => wanted.event = Some(Event::NeedBuffers(3000)),
        Ends(reason) => {
            wanted.event = Some(Event::Ended(reason));
            assert_eq!(rpc.state(), State::Ended, "{context}");
            assert_eq!(transmits(&mut rpc, 1), [], "{context}");
        }
    }
    assert_eq!(reaction, wanted, "{context}");
}

#[test]
fn every_packet_in_every_state() {
    let grant = Grant {
        offset: 100,
        priority: 0,
    };
    let cutoffs = Cutoffs {
        unsched_cutoffs: [0; 8],
        version: 1,
    };
    let rows = client_rows().into_iter().chain(server_rows());
    for row in rows.chain([ended_row()]) {
        check(&row, Packet::Data(part(3000, 1000, 1000)), &row.data);
        check(&row, Packet::Grant(grant), &row.grant);
        check(&row, Packet::Resend(Resend::all(7)), &row.resend);
        check(&row, Packet::Resend(resend(0, 100)), &row.resend);
        check(&row, Packet::Unknown, &row.unknown);
        check(&row, Packet::Busy, &row.busy);
        check(&row, Packet::NeedAck, &row.need_ack);
        check(&row, Packet::Ack(Acks::new()), &row.ack);
        check(&row, Packet::Cutoffs(cutoffs), &UNEXPECTED);
        check(&row, Packet::Freeze, &UNEXPECTED);
    }
}

#[test]
fn data_that_contradicts_its_message() {
    let mut rpc = incoming_server();
    let reaction = packet(&mut rpc, 1, Packet::Data(part(2999, 1000, 100)));
    assert_eq!(reaction.discard, Some(Discard::Mismatch));
    assert!(!reaction.keep_payload);
    // The parser lets no such thing through.
    let reaction = packet(&mut rpc, 1, Packet::Data(part(3000, 2000, 1001)));
    assert_eq!(reaction.discard, Some(Discard::Mismatch));
    assert_eq!(rpc.rx().unwrap().received_bytes(), 1000);
}

#[test]
fn data_that_makes_too_many_gaps() {
    let first = part(40_000, 0, 1);
    let mut rpc = Rpc::server(SERVER, &first, 0, &CONFIG);
    for number in 0..=16 {
        assert!(data(&mut rpc, 0, part(40_000, number * 2, 1)).keep_payload);
    }
    let reaction = packet(&mut rpc, 1, Packet::Data(part(40_000, 34, 1)));
    assert_eq!(reaction.discard, Some(Discard::TooFragmented));
}

#[test]
fn resend_of_what_was_not_sent_is_answered_busy() {
    let mut rpc = outgoing_client(100_000);
    assert_eq!(
        packet(&mut rpc, 1, Packet::Resend(resend(40_000, 1000))),
        Reaction::default()
    );
    let packets = transmits(&mut rpc, 1);
    assert_eq!(packets[0], Transmit::Busy);
    assert!(matches!(
        packets[1..],
        [Transmit::Data {
            segment: Segment {
                offset: 40_000,
                retransmit: false,
                ..
            },
            ..
        }]
    ));
}

#[test]
fn one_answer_to_many_questions() {
    let mut rpc = in_service();
    for _ in 0..10 {
        let _ = packet(&mut rpc, 1, Packet::Resend(Resend::all(7)));
    }
    assert_eq!(transmits(&mut rpc, 1), [Transmit::Busy]);
}

#[test]
fn packets_whose_rpc_is_not_known() {
    let no_such = Stray::Drop(StrayDrop::NoSuchRpc);
    let of_none = Stray::Drop(StrayDrop::NotOfAnRpc);
    let mut acks = Acks::new();
    acks.push(AckEntry {
        client_id: 2,
        server_port: 1,
    });
    let cutoffs = Cutoffs {
        unsched_cutoffs: [0; 8],
        version: 1,
    };
    let grant = Grant {
        offset: 1,
        priority: 0,
    };
    let cases = [
        (Packet::Data(whole(10)), no_such, Stray::CreateServer),
        (Packet::Grant(grant), no_such, no_such),
        (
            Packet::Resend(Resend::all(0)),
            Stray::ReplyUnknown,
            Stray::ReplyUnknown,
        ),
        (Packet::Unknown, no_such, no_such),
        (Packet::Busy, no_such, no_such),
        (Packet::Cutoffs(cutoffs), of_none, of_none),
        (Packet::Freeze, of_none, of_none),
        (Packet::NeedAck, Stray::ReplyAck, no_such),
        (Packet::Ack(acks), no_such, no_such),
    ];
    for (packet, client, server) in cases {
        assert_eq!(on_stray(&packet, CLIENT), client, "{packet:?}");
        assert_eq!(on_stray(&packet, SERVER), server, "{packet:?}");
    }
}
