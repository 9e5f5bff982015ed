// SPDX-License-Identifier: GPL-2.0

//! Regression: one damaged packet, which made the two ends of an RPC believe in
//! different lengths of a message or in different states, let them ask each other
//! for ever.

use homa_proto::config::Config;
use homa_proto::rpc::Discard;
use homa_proto::rpc::EndReason;
use homa_proto::rpc::Event;
use homa_proto::rpc::Rpc;
use homa_proto::rpc::RpcError;
use homa_proto::rpc::Transmit;
use homa_proto::tx::Tx;
use homa_proto::wire::Data;
use homa_proto::wire::Grant;
use homa_proto::wire::Packet;
use homa_proto::wire::Resend;

const CONFIG: Config = Config::DEFAULT;

const REQUEST: Data = Data {
    message_length: 100,
    incoming: 100,
    ack: None,
    cutoff_version: 0,
    retransmit: false,
    offset: 0,
    payload_len: 100,
};

/// The same, with a bit of its length changed on its way.
const DAMAGED: Data = Data {
    message_length: 100 + 4096,
    ..REQUEST
};

fn drain(rpc: &mut Rpc, now: u64) -> Vec<Transmit> {
    std::iter::from_fn(|| rpc.poll_transmit(now, &CONFIG, 1_424)).collect()
}

fn client() -> Rpc {
    let mut rpc = Rpc::client(2, Tx::new(100, 40_000, 1_424), 0, &CONFIG);
    assert_eq!(drain(&mut rpc, 0).len(), 1);
    rpc
}

/// A server that got the damaged packet.
fn server() -> Rpc {
    let mut rpc = Rpc::server(3, &DAMAGED, 0, &CONFIG);
    rpc.buffers_granted(0, &CONFIG);
    let reaction = rpc.on_packet(0, &CONFIG, &Packet::Data(DAMAGED));
    assert!(reaction.keep_payload);
    drain(&mut rpc, 0);
    rpc
}

fn resend(offset: u32, length: u32) -> Packet {
    Packet::Resend(Resend {
        offset,
        length,
        priority: 7,
    })
}

/// Gives these packets to an RPC whenever it is due, until it ends.
fn end_in_spite_of(rpc: &mut Rpc, packets: &[Packet]) -> (u64, Event) {
    loop {
        let now = rpc.deadline().expect("waits for nothing");
        assert!(now < 10 * CONFIG.timeout_ns, "goes on for ever");
        rpc.host_heard(now);
        if let Some(event) = rpc.on_timer(now, &CONFIG) {
            return (now, event);
        }
        drain(rpc, now);
        for packet in packets {
            let _ = rpc.on_packet(now, &CONFIG, packet);
            drain(rpc, now);
        }
    }
}

#[test]
fn what_is_beyond_the_message_has_no_effect() {
    let grant = Packet::Grant(Grant {
        offset: 101,
        priority: 0,
    });
    for packet in [resend(100, 4_096), resend(50, 51), resend(5_000, 1), grant] {
        let mut rpc = client();
        let deadline = rpc.deadline();
        let reaction = rpc.on_packet(1, &CONFIG, &packet);
        assert_eq!(reaction.discard, Some(Discard::Mismatch));
        assert_eq!(drain(&mut rpc, 1), []);
        assert_eq!(rpc.deadline(), deadline);
    }
}

#[test]
fn a_client_of_whom_too_much_is_asked_gives_up() {
    let (now, event) = end_in_spite_of(&mut client(), &[resend(100, 4_096), Packet::Busy]);
    assert_eq!(event, Event::Failed(RpcError::TimedOut));
    assert!(now <= CONFIG.timeout_ns + CONFIG.resend_max_ns);
}

#[test]
fn a_server_that_is_sent_another_message_gives_up() {
    let (now, event) = end_in_spite_of(&mut server(), &[Packet::Data(REQUEST), Packet::Busy]);
    let timed_out = EndReason::Failed(RpcError::TimedOut);
    assert_eq!(event, Event::Ended(timed_out));
    assert!(now <= CONFIG.timeout_ns + CONFIG.resend_max_ns);
}

#[test]
fn a_server_whose_client_wants_more_than_there_is_gives_up() {
    let mut rpc = Rpc::server(3, &REQUEST, 0, &CONFIG);
    rpc.buffers_granted(0, &CONFIG);
    let reaction = rpc.on_packet(0, &CONFIG, &Packet::Data(REQUEST));
    assert!(reaction.keep_payload && rpc.delivered());
    rpc.reply(Tx::new(200, 40_000, 1_424), 0, &CONFIG).unwrap();
    assert_eq!(drain(&mut rpc, 0).len(), 1);
    let (now, event) = end_in_spite_of(&mut rpc, &[resend(200, 4_096)]);
    let timed_out = EndReason::Failed(RpcError::TimedOut);
    assert_eq!(event, Event::Ended(timed_out));
    assert!(now <= CONFIG.timeout_ns + CONFIG.need_ack_max_ns);
}

/// The "response" was a packet of another RPC, its id damaged.
#[test]
fn a_client_of_whom_the_request_is_asked_after_the_response_began_gives_up() {
    let mut rpc = client();
    assert!(rpc
        .on_packet(0, &CONFIG, &Packet::Data(DAMAGED))
        .event
        .is_some());
    rpc.buffers_granted(0, &CONFIG);
    let reaction = rpc.on_packet(0, &CONFIG, &Packet::Data(DAMAGED));
    assert!(reaction.keep_payload);
    drain(&mut rpc, 0);
    let (now, event) = end_in_spite_of(&mut rpc, &[resend(0, 100), Packet::Busy]);
    assert_eq!(event, Event::Failed(RpcError::TimedOut));
    assert!(now <= CONFIG.timeout_ns + CONFIG.resend_max_ns);
}

#[test]
fn bytes_that_were_missing_dispel_the_doubt() {
    let mut rpc = server();
    let _ = rpc.on_packet(1, &CONFIG, &Packet::Data(REQUEST));
    let rest = Data {
        offset: 100,
        payload_len: 1_000,
        ..DAMAGED
    };
    let now = CONFIG.timeout_ns / 2;
    let reaction = rpc.on_packet(now, &CONFIG, &Packet::Data(rest));
    assert!(reaction.keep_payload);
    let (end, _) = end_in_spite_of(&mut rpc, &[Packet::Data(REQUEST)]);
    assert!(end >= now + CONFIG.timeout_ns);
}
