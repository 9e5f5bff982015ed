// SPDX-License-Identifier: GPL-2.0

//! Any packets, times and calls for an RPC: no panic, no endless output, and
//! silence ends it or leaves it waiting for its own host.

#![no_main]

use arbitrary::Arbitrary;
use homa_proto::config::Config;
use homa_proto::rpc::Event;
use homa_proto::rpc::Rpc;
use homa_proto::rpc::RpcError;
use homa_proto::rpc::State;
use homa_proto::tx::Tx;
use homa_proto::wire::emit;
use homa_proto::wire::parse;
use homa_proto::wire::Acks;
use homa_proto::wire::Common;
use homa_proto::wire::Data;
use homa_proto::wire::Grant;
use homa_proto::wire::Packet;
use homa_proto::wire::Resend;
use homa_proto::wire::MAX_HEADER;
use libfuzzer_sys::fuzz_target;

/// A packet before it goes through the parser, which lets only some through.
#[derive(Arbitrary, Debug)]
enum Raw {
    Data {
        message_length: u16,
        incoming: u32,
        offset: u16,
        payload_len: u16,
    },
    Grant(u32, u8),
    Resend(u32, u32),
    ResendAll,
    Unknown,
    Busy,
    NeedAck,
    Ack,
}

impl Raw {
    fn parse(&self) -> Option<Packet> {
        let mut payload = 0;
        let packet = match *self {
            Self::Data {
                message_length,
                incoming,
                offset,
                payload_len,
            } => {
                payload = usize::from(payload_len);
                Packet::Data(Data {
                    message_length: u32::from(message_length),
                    incoming,
                    ack: None,
                    cutoff_version: 0,
                    retransmit: false,
                    offset: u32::from(offset),
                    payload_len: u32::from(payload_len),
                })
            }
            Self::Grant(offset, priority) => Packet::Grant(Grant { offset, priority }),
            Self::Resend(offset, length) => Packet::Resend(Resend {
                offset,
                length,
                priority: 0,
            }),
            Self::ResendAll => Packet::Resend(Resend::all(0)),
            Self::Unknown => Packet::Unknown,
            Self::Busy => Packet::Busy,
            Self::NeedAck => Packet::NeedAck,
            Self::Ack => Packet::Ack(Acks::new()),
        };
        let common = Common {
            sport: 1,
            dport: 2,
            sender_id: 3,
        };
        let mut header = [0; MAX_HEADER];
        let header_len = emit(&common, &packet, &mut header);
        Some(parse(&header, header_len + payload).ok()?.packet)
    }
}

#[derive(Arbitrary, Debug)]
enum Step {
    Packet(Raw),
    Timer(u32),
    Granted,
    Pending,
    Delivered,
    Reply(u16),
    Fail,
}

#[derive(Arbitrary, Debug)]
struct Input {
    client: bool,
    length: u16,
    steps: Vec<Step>,
}

const CONFIG: Config = Config::DEFAULT;
const SEGMENT: u32 = 1424;

fn tx(length: u16) -> Tx {
    Tx::new(u32::from(length) + 1, CONFIG.unsched_bytes, SEGMENT)
}

/// All packets that the RPC has to send now: bounded by its message's segments
/// and a few control packets.
fn drain(rpc: &mut Rpc, now: u64) {
    let mut budget = 70_000;
    while rpc.poll_transmit(now, &CONFIG, SEGMENT).is_some() {
        budget -= 1;
        assert_ne!(budget, 0);
    }
}

/// The packet that creates a server's RPC.
fn first_data(steps: &[Step]) -> Option<Data> {
    steps.iter().find_map(|step| match step {
        Step::Packet(raw) => match raw.parse() {
            Some(Packet::Data(data)) => Some(data),
            _ => None,
        },
        _ => None,
    })
}

fuzz_target!(|input: Input| {
    let mut now = 0u64;
    let mut rpc = if input.client {
        Rpc::client(2, tx(input.length), now, &CONFIG)
    } else {
        match first_data(&input.steps) {
            Some(data) => Rpc::server(3, &data, now, &CONFIG),
            None => return,
        }
    };
    drain(&mut rpc, now);
    for step in input.steps {
        match step {
            Step::Packet(raw) => {
                if let Some(packet) = raw.parse() {
                    let reaction = rpc.on_packet(now, &CONFIG, &packet);
                    assert!(!reaction.keep_payload || reaction.discard.is_none());
                    let received = reaction.event == Some(Event::Received);
                    assert!(!received || rpc.received());
                }
            }
            Step::Timer(later) => {
                now += u64::from(later);
                rpc.on_timer(now, &CONFIG);
            }
            Step::Granted => rpc.buffers_granted(now, &CONFIG),
            Step::Pending => rpc.buffers_pending(),
            Step::Delivered => {
                rpc.delivered();
            }
            Step::Reply(length) => {
                let _ = rpc.reply(tx(length), now, &CONFIG);
            }
            Step::Fail => {
                rpc.fail(RpcError::Fault);
            }
        }
        drain(&mut rpc, now);
        assert!(rpc.tx().is_some() == (rpc.state() == State::Outgoing));
        assert!(rpc.rx().is_some() == (rpc.state() == State::Incoming));
    }
    // Alone, it ends or waits for nobody.
    for _ in 0..100 {
        match rpc.deadline() {
            Some(deadline) => {
                now = now.max(deadline);
                rpc.on_timer(now, &CONFIG);
                drain(&mut rpc, now);
            }
            None => return,
        }
    }
    panic!("never gives up: {rpc:?}");
});
