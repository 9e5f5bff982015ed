// SPDX-License-Identifier: GPL-2.0

//! Regression: a server that had sent its whole response again waited for the
//! acknowledgment as long as for a grant, 100 ms instead of 2 ms.

use homa_proto::config::Config;
use homa_proto::rpc::Rpc;
use homa_proto::rpc::Transmit;
use homa_proto::tx::Tx;
use homa_proto::wire::Data;
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

fn drain(rpc: &mut Rpc, now: u64) -> Vec<Transmit> {
    std::iter::from_fn(|| rpc.poll_transmit(now, &CONFIG, 1_424)).collect()
}

#[test]
fn the_ack_of_a_response_sent_again_is_asked_for_soon() {
    let mut rpc = Rpc::server(3, &REQUEST, 0, &CONFIG);
    rpc.buffers_granted(0, &CONFIG);
    let reaction = rpc.on_packet(0, &CONFIG, &Packet::Data(REQUEST));
    assert!(reaction.keep_payload && rpc.delivered());
    let response = Tx::new(3_000, CONFIG.unsched_bytes, 1_424);
    rpc.reply(response, 0, &CONFIG).unwrap();
    assert_eq!(drain(&mut rpc, 0).len(), 3);
    assert_eq!(rpc.deadline(), Some(CONFIG.need_ack_ns));

    let now = CONFIG.need_ack_ns;
    assert_eq!(rpc.on_timer(now, &CONFIG), None);
    assert_eq!(drain(&mut rpc, now), [Transmit::NeedAck]);
    let _ = rpc.on_packet(now, &CONFIG, &Packet::Resend(Resend::all(7)));
    assert_eq!(drain(&mut rpc, now).len(), 3);
    assert_eq!(rpc.deadline(), Some(now + CONFIG.need_ack_ns));
}
