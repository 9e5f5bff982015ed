// SPDX-License-Identifier: GPL-2.0

//! Regression: a client whose server had restarted waited for the rest of its
//! response as long as the server's host was alive, which is for ever.

use homa_proto::config::Config;
use homa_proto::rpc::Event;
use homa_proto::rpc::Rpc;
use homa_proto::rpc::RpcError;
use homa_proto::tx::Tx;
use homa_proto::wire::Data;
use homa_proto::wire::Packet;

const CONFIG: Config = Config::DEFAULT;

fn drain(rpc: &mut Rpc, now: u64) -> usize {
    std::iter::from_fn(|| rpc.poll_transmit(now, &CONFIG, 1_424)).count()
}

fn client() -> Rpc {
    let mut rpc = Rpc::client(2, Tx::new(100, 40_000, 1_424), 0, &CONFIG);
    assert_eq!(drain(&mut rpc, 0), 1);
    rpc
}

/// The host is heard all the time, and answers each question with `answer`.
/// Returns when the RPC fails, if it does within 10 s.
fn fails_at(rpc: &mut Rpc, answer: &Packet) -> Option<u64> {
    loop {
        let now = rpc.deadline().expect("waits for nothing");
        if now > 10 * CONFIG.timeout_ns {
            return None;
        }
        rpc.host_heard(now);
        if let Some(event) = rpc.on_timer(now, &CONFIG) {
            assert_eq!(event, Event::Failed(RpcError::TimedOut));
            return Some(now);
        }
        drain(rpc, now);
        let _ = rpc.on_packet(now, &CONFIG, answer);
        drain(rpc, now);
    }
}

#[test]
fn half_a_response_is_given_up() {
    let mut rpc = client();
    let half = Packet::Data(Data {
        message_length: 2_000,
        incoming: 2_000,
        ack: None,
        cutoff_version: 0,
        retransmit: false,
        offset: 0,
        payload_len: 1_424,
    });
    assert!(rpc.on_packet(0, &CONFIG, &half).event.is_some());
    rpc.buffers_granted(0, &CONFIG);
    assert!(rpc.on_packet(0, &CONFIG, &half).keep_payload);
    let end = fails_at(&mut rpc, &Packet::Unknown).expect("waits for ever");
    assert!(end <= CONFIG.timeout_ns + CONFIG.resend_max_ns);
}

#[test]
fn a_server_that_never_takes_the_request_is_given_up() {
    let end = fails_at(&mut client(), &Packet::Unknown).expect("waits for ever");
    assert!(end >= 5 * CONFIG.timeout_ns, "a crowded one needs patience");
    assert!(end <= 8 * CONFIG.timeout_ns + CONFIG.resend_max_ns);
}

#[test]
fn a_server_that_took_the_request_at_last_is_waited_for() {
    let mut rpc = client();
    let _ = rpc.on_packet(0, &CONFIG, &Packet::Unknown);
    drain(&mut rpc, 0);
    assert_eq!(fails_at(&mut rpc, &Packet::Busy), None);
}
