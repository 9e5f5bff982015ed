// SPDX-License-Identifier: GPL-2.0

//! Regression: one damaged packet, which made the two ends of an RPC believe in
//! different lengths of a message, let them ask each other for ever.

use homa_proto::config::Config;
use homa_proto::rpc::Discard;
use homa_proto::rpc::EndReason;
use homa_proto::rpc::Event;
use homa_proto::rpc::Rpc;
use homa_proto::rpc::RpcError;
use homa_proto::rpc::Transmit;
use homa_proto::tx::Tx;
use homa_proto::wire::Data;
use homa_proto::wire::Packet;
use homa_proto::wire::Resend;

const CONFIG: Config = Config::DEFAULT;

/// The only packet of a request of 100 bytes, with a bit of its length changed.
const DAMAGED: Data = Data {
    message_length: 100 + 4096,
    incoming: 100,
    ack: None,
    cutoff_version: 0,
    retransmit: false,
    offset: 0,
    payload_len: 100,
};

fn drain(rpc: &mut Rpc, now: u64) -> Vec<Transmit> {
    std::iter::from_fn(|| rpc.poll_transmit(now, &CONFIG, 1_424)).collect()
}

#[test]
fn a_request_beyond_the_message_is_no_sign_of_understanding() {
    let mut client = Rpc::client(2, Tx::new(100, 40_000, 1_424), 0, &CONFIG);
    assert_eq!(drain(&mut client, 0).len(), 1);
    let deadline = client.deadline();
    for (offset, length) in [(100, 4_096), (0, 4_196), (50, 51), (5_000, 1)] {
        let resend = Resend {
            offset,
            length,
            priority: 7,
        };
        let reaction = client.on_packet(1, &CONFIG, &Packet::Resend(resend));
        assert_eq!(reaction.discard, Some(Discard::Mismatch));
        assert_eq!(drain(&mut client, 1), []);
    }
    assert_eq!(client.deadline(), deadline);
}

#[test]
fn a_server_that_waits_for_bytes_that_do_not_exist_gives_up() {
    let mut server = Rpc::server(3, &DAMAGED, 0, &CONFIG);
    server.buffers_granted(0, &CONFIG);
    let reaction = server.on_packet(0, &CONFIG, &Packet::Data(DAMAGED));
    assert!(reaction.keep_payload);
    drain(&mut server, 0);
    // The client asks for the response all the time.
    let ask = Packet::Resend(Resend::all(7));
    let (now, ended) = loop {
        let now = server.deadline().unwrap();
        if let Some(event) = server.on_timer(now, &CONFIG) {
            break (now, event);
        }
        assert!(now < 2 * CONFIG.timeout_ns);
        let _ = server.on_packet(now, &CONFIG, &ask);
        assert!(drain(&mut server, now).contains(&Transmit::Busy));
    };
    let timed_out = EndReason::Failed(RpcError::TimedOut);
    assert_eq!(ended, Event::Ended(timed_out));
    assert_eq!(now, CONFIG.timeout_ns);
}
