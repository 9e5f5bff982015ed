// SPDX-License-Identifier: GPL-2.0

//! RPCs in every state, and what packets, time and applications do to them.

mod reactions;
mod scripts;
mod timers;

use std::vec::Vec;

use super::*;
use crate::wire::Packet;

const PAYLOAD: u32 = 1424;
const CONFIG: Config = Config::DEFAULT;
const MS: u64 = 1_000_000;

/// An RPC's id at its client and at its server.
const CLIENT: u64 = 2;
const SERVER: u64 = 3;

fn tx(length: u32) -> Tx {
    Tx::new(length, CONFIG.unsched_bytes, PAYLOAD)
}

/// The DATA packet that carries a part of a message.
fn part(message_length: u32, offset: u32, payload_len: u32) -> Data {
    Data {
        message_length,
        incoming: message_length.min(CONFIG.unsched_bytes),
        ack: None,
        cutoff_version: 0,
        retransmit: false,
        offset,
        payload_len,
    }
}

/// The DATA packet that carries a whole message.
fn whole(message_length: u32) -> Data {
    part(message_length, 0, message_length)
}

fn packet(rpc: &mut Rpc, now: u64, packet: Packet) -> Reaction {
    rpc.on_packet(now, &CONFIG, &packet)
}

/// Gives DATA to an RPC as the module does, with memory for whatever needs it.
fn data(rpc: &mut Rpc, now: u64, data: Data) -> Reaction {
    let reaction = packet(rpc, now, Packet::Data(data));
    if reaction.event != Some(Event::NeedBuffers(data.message_length)) {
        return reaction;
    }
    assert!(!reaction.keep_payload);
    rpc.buffers_granted(now, &CONFIG);
    packet(rpc, now, Packet::Data(data))
}

fn transmits(rpc: &mut Rpc, now: u64) -> Vec<Transmit> {
    core::iter::from_fn(|| rpc.poll_transmit(now, &CONFIG, PAYLOAD)).collect()
}

/// The offsets of the DATA packets that come now; nothing else may come.
fn sent_offsets(rpc: &mut Rpc, now: u64) -> Vec<u32> {
    let offset = |transmit| match transmit {
        Transmit::Data { segment, .. } => segment.offset,
        other => panic!("{other:?}"),
    };
    transmits(rpc, now).into_iter().map(offset).collect()
}

/// A client that has sent a request of `length` bytes, as far as it may.
fn outgoing_client(length: u32) -> Rpc {
    let mut rpc = Rpc::client(CLIENT, tx(length), 0, &CONFIG);
    transmits(&mut rpc, 0);
    rpc
}

/// A client that has the first 1,000 of 3,000 bytes of its response.
fn incoming_client() -> Rpc {
    let mut rpc = outgoing_client(100);
    assert!(data(&mut rpc, 0, part(3000, 0, 1000)).keep_payload);
    assert_eq!(transmits(&mut rpc, 0), []);
    rpc
}

/// A server that has the first 1,000 of 3,000 bytes of a request.
fn incoming_server() -> Rpc {
    let first = part(3000, 0, 1000);
    let mut rpc = Rpc::server(SERVER, &first, 0, &CONFIG);
    assert!(data(&mut rpc, 0, first).keep_payload);
    assert_eq!(transmits(&mut rpc, 0), []);
    rpc
}

/// A server whose application works on a request.
fn in_service() -> Rpc {
    let mut rpc = Rpc::server(SERVER, &whole(100), 0, &CONFIG);
    assert_eq!(data(&mut rpc, 0, whole(100)).event, Some(Event::Received));
    assert!(rpc.delivered());
    rpc
}

/// A server that has sent a response of `length` bytes, as far as it may.
fn outgoing_server(length: u32) -> Rpc {
    let mut rpc = in_service();
    assert_eq!(rpc.reply(tx(length), 0, &CONFIG), Ok(()));
    transmits(&mut rpc, 0);
    rpc
}

#[test]
fn an_rpc_is_small() {
    // It is built on the kernel's stack and lies behind a lock with others.
    assert!(size_of::<Rpc>() <= 384, "{}", size_of::<Rpc>());
}

#[test]
fn life_of_a_client() {
    let mut rpc = Rpc::client(CLIENT, tx(3000), 0, &CONFIG);
    assert!(rpc.is_client());
    assert_eq!((rpc.id(), rpc.state()), (CLIENT, State::Outgoing));
    assert_eq!(rpc.buffers(), Buffers::Unneeded);
    assert_eq!(sent_offsets(&mut rpc, 0), [0, 1424, 2848]);
    assert!(data(&mut rpc, 10, part(2000, 1424, 576)).keep_payload);
    assert_eq!(
        (rpc.state(), rpc.buffers()),
        (State::Incoming, Buffers::Have)
    );
    assert!(rpc.tx().is_none());
    assert!(!rpc.delivered());
    let reaction = data(&mut rpc, 10, part(2000, 0, 1424));
    assert_eq!(reaction.event, Some(Event::Received));
    assert!(reaction.keep_payload && rpc.received());
    assert_eq!(rpc.deadline(), None);
    assert!(rpc.delivered());
    assert_eq!(rpc.state(), State::Ended);
    assert!(!rpc.delivered());
    assert_eq!(rpc.deadline(), None);
}

#[test]
fn life_of_a_server() {
    let mut rpc = Rpc::server(SERVER, &part(2000, 0, 1424), 0, &CONFIG);
    assert!(!rpc.is_client());
    assert_eq!(
        (rpc.state(), rpc.buffers()),
        (State::Incoming, Buffers::Needed)
    );
    assert!(data(&mut rpc, 0, part(2000, 0, 1424)).keep_payload);
    assert_eq!(rpc.rx().unwrap().received_bytes(), 1424);
    let reaction = data(&mut rpc, 0, part(2000, 1424, 576));
    assert_eq!(reaction.event, Some(Event::Received));
    assert_eq!(rpc.reply(tx(1), 0, &CONFIG), Err(NotInService));
    assert!(rpc.delivered());
    assert!(rpc.rx().is_none());
    assert_eq!((rpc.state(), rpc.deadline()), (State::InService, None));
    assert_eq!(rpc.reply(tx(100), 0, &CONFIG), Ok(()));
    assert_eq!(rpc.reply(tx(100), 0, &CONFIG), Err(NotInService));
    assert_eq!(sent_offsets(&mut rpc, 0), [0]);
    assert_eq!(rpc.on_ack(), Some(Event::Ended(EndReason::Acked)));
    assert_eq!(rpc.on_ack(), None);
    assert_eq!((rpc.state(), rpc.deadline()), (State::Ended, None));
    assert_eq!(transmits(&mut rpc, 0), []);
}

#[test]
fn failing() {
    let error = RpcError::PortUnreachable;
    for mut rpc in [outgoing_client(100), incoming_client()] {
        assert_eq!(rpc.fail(error), Some(Event::Failed(error)));
        assert_eq!(rpc.state(), State::Ended);
        assert_eq!(rpc.fail(error), None);
    }
    for mut rpc in [incoming_server(), in_service(), outgoing_server(100)] {
        let ended = Event::Ended(EndReason::Failed(error));
        assert_eq!(rpc.fail(error), Some(ended));
        assert_eq!(rpc.fail(error), None);
        assert_eq!(rpc.reply(tx(1), 0, &CONFIG), Err(NotInService));
    }
}

#[test]
fn no_room_means_no_data() {
    let mut rpc = Rpc::client(CLIENT, tx(100), 0, &CONFIG);
    assert_eq!(rpc.poll_transmit(0, &CONFIG, 0), None);
    assert_eq!(rpc.deadline(), None);
    assert!(rpc.poll_transmit(0, &CONFIG, 10).is_some());
}
