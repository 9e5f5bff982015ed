// SPDX-License-Identifier: GPL-2.0

//! Whole exchanges: the reference's canonical sequences, with losses at chosen
//! places.

use super::*;
use crate::tx::Priority;

/// The packet that the other end gets.
fn on_wire(transmit: Transmit) -> Packet {
    match transmit {
        Transmit::Data {
            segment,
            message_length,
        } => Packet::Data(Data {
            message_length,
            incoming: segment.incoming,
            ack: None,
            cutoff_version: 0,
            retransmit: segment.retransmit,
            offset: segment.offset,
            payload_len: segment.len,
        }),
        Transmit::Grant(grant) => Packet::Grant(grant),
        Transmit::Resend(resend) => Packet::Resend(resend),
        Transmit::Busy => Packet::Busy,
        Transmit::NeedAck => Packet::NeedAck,
        Transmit::Ack => Packet::Ack(crate::wire::Acks::new()),
    }
}

/// Both ends of an RPC and nothing between them.
struct Pair {
    now: u64,
    client: Rpc,
    server: Option<Rpc>,
    /// Length of the response.
    response: u32,
    /// Packets sent in both directions.
    packets: usize,
    /// Grants that the server sent.
    grants: Vec<u32>,
}

impl Pair {
    fn new(request: u32, response: u32) -> Self {
        Self {
            now: 0,
            client: Rpc::client(CLIENT, tx(request), 0, &CONFIG),
            server: None,
            response,
            packets: 0,
            grants: Vec::new(),
        }
    }

    /// Carries packets from end to end until there are none; those for which
    /// `lost` returns true do not arrive.
    fn run(&mut self, mut lost: impl FnMut(&Packet) -> bool) {
        loop {
            let mut idle = true;
            while let Some(transmit) = self.client.poll_transmit(self.now, &CONFIG, PAYLOAD) {
                idle = false;
                self.packets += 1;
                let packet = on_wire(transmit);
                if !lost(&packet) {
                    self.arrive_at_server(packet);
                }
            }
            while let Some(transmit) = self
                .server
                .as_mut()
                .and_then(|server| server.poll_transmit(self.now, &CONFIG, PAYLOAD))
            {
                idle = false;
                self.packets += 1;
                let packet = on_wire(transmit);
                if let Packet::Grant(grant) = packet {
                    self.grants.push(grant.offset);
                }
                if !lost(&packet) {
                    self.arrive_at_client(packet);
                }
            }
            if idle {
                return;
            }
        }
    }

    fn run_without_loss(&mut self) {
        self.run(|_| false);
    }

    fn arrive_at_server(&mut self, it: Packet) {
        if self.server.is_none() {
            match (on_stray(&it, SERVER), &it) {
                (Stray::CreateServer, Packet::Data(data)) => {
                    self.server = Some(Rpc::server(SERVER, data, self.now, &CONFIG));
                }
                (Stray::ReplyUnknown, _) => {
                    let _ = packet(&mut self.client, self.now, Packet::Unknown);
                    return;
                }
                _ => return,
            }
        }
        let server = self.server.as_mut().unwrap();
        let reaction = match it {
            Packet::Data(it) => data(server, self.now, it),
            it => packet(server, self.now, it),
        };
        match reaction.event {
            Some(Event::Received) => {
                assert!(server.delivered());
                server.reply(tx(self.response), self.now, &CONFIG).unwrap();
            }
            Some(Event::Ended(_)) => self.server = None,
            _ => {}
        }
    }

    fn arrive_at_client(&mut self, it: Packet) {
        let reaction = match it {
            Packet::Data(it) => data(&mut self.client, self.now, it),
            it => packet(&mut self.client, self.now, it),
        };
        assert!(!matches!(reaction.event, Some(Event::Failed(_))));
    }

    /// Lets time pass until the next deadline of either end.
    fn wait(&mut self) -> u64 {
        let server = self.server.as_ref().and_then(Rpc::deadline);
        let deadline = [self.client.deadline(), server].into_iter().flatten().min();
        self.now = deadline.expect("nobody waits");
        assert_eq!(self.client.on_timer(self.now, &CONFIG), None);
        if let Some(server) = &mut self.server {
            assert_eq!(server.on_timer(self.now, &CONFIG), None);
        }
        self.now
    }

    fn finish(mut self) -> Vec<u32> {
        assert!(self.client.received());
        // The acknowledgment.
        assert_eq!(self.wait() % MS, 0);
        self.run_without_loss();
        assert!(self.server.is_none());
        assert!(self.client.delivered());
        self.grants
    }
}

/// A packet of message bytes.
fn is_data(packet: &Packet) -> bool {
    matches!(packet, Packet::Data(_))
}

#[test]
fn every_length_without_loss() {
    let lengths = [
        1, 1423, 1424, 1425, 39_999, 40_000, 40_001, 65_536, 1_000_000,
    ];
    for request in lengths {
        for response in lengths {
            let mut pair = Pair::new(request, response);
            pair.run_without_loss();
            pair.finish();
        }
    }
}

#[test]
fn a_short_rpc_takes_two_packets() {
    let mut pair = Pair::new(100, 100);
    pair.run_without_loss();
    assert_eq!(pair.packets, 2);
    // NEED_ACK after 2 ms, and ACK.
    assert_eq!(pair.wait(), 2 * MS);
    pair.run_without_loss();
    assert_eq!(pair.packets, 4);
    assert!(pair.server.is_none());
}

#[test]
fn a_long_request_is_granted() {
    let mut pair = Pair::new(300_000, 100);
    pair.run_without_loss();
    let grants = pair.finish();
    // All unscheduled bytes arrive before the server is asked.
    assert_eq!(grants[0], 40_000 + 200_000);
    assert_eq!(*grants.last().unwrap(), 300_000);
    // Each of them allows 40,000 bytes more at least, or the rest.
    assert!(grants
        .windows(2)
        .all(|it| it[1] >= it[0] + 40_000 || it[1] == 300_000));
}

#[test]
fn the_request_is_lost() {
    let mut pair = Pair::new(3000, 100);
    pair.run(is_data);
    assert!(pair.server.is_none());
    // RESEND, RPC_UNKNOWN, and all again.
    assert_eq!(pair.wait(), 5 * MS);
    let resend = transmits(&mut pair.client, pair.now);
    assert_eq!(resend, [Transmit::Resend(Resend::all(7))]);
    pair.arrive_at_server(Packet::Resend(Resend::all(7)));
    let again = transmits(&mut pair.client, pair.now);
    assert_eq!(again.len(), 3);
    for transmit in again {
        let Transmit::Data { segment, .. } = transmit else {
            panic!("{transmit:?}");
        };
        assert!(segment.retransmit);
        assert_eq!(segment.incoming, 3000);
        assert_eq!(segment.priority, Priority::Unscheduled);
        pair.arrive_at_server(on_wire(transmit));
    }
    pair.run_without_loss();
    pair.finish();
}

#[test]
fn parts_of_the_request_are_lost() {
    let mut pair = Pair::new(30_000, 100);
    pair.run(|it| matches!(it, Packet::Data(data) if [1424, 2848, 28_480, 29_904].contains(&data.offset)));
    assert_eq!(pair.wait(), 5 * MS);
    // The client asks for its response, the server for a gap and for the tail.
    let server = pair.server.as_mut().unwrap();
    let resends = transmits(server, pair.now);
    let expected = [(1424, 2848), (28_480, 1520)].map(|(offset, length)| {
        Transmit::Resend(Resend {
            offset,
            length,
            priority: 7,
        })
    });
    assert_eq!(resends, expected);
    for resend in resends {
        pair.arrive_at_client(on_wire(resend));
    }
    pair.run_without_loss();
    pair.finish();
}

#[test]
fn a_grant_is_lost() {
    let mut pair = Pair::new(100_000, 100);
    pair.run(|it| matches!(it, Packet::Grant(_)));
    assert_eq!(pair.wait(), 5 * MS);
    pair.run_without_loss();
    pair.finish();
}

#[test]
fn the_response_is_lost() {
    let mut pair = Pair::new(100, 3000);
    pair.run(|it| matches!(it, Packet::Data(data) if data.message_length == 3000));
    // NEED_ACK comes first, and is answered with a RESEND.
    assert_eq!(pair.wait(), 2 * MS);
    pair.run_without_loss();
    pair.finish();
}

#[test]
fn a_need_ack_is_lost() {
    let mut pair = Pair::new(100, 100);
    pair.run_without_loss();
    assert_eq!(pair.wait(), 2 * MS);
    pair.run(|_| true);
    assert_eq!(pair.wait(), 6 * MS);
    pair.run(|_| true);
    assert_eq!(pair.wait(), 14 * MS);
    pair.run_without_loss();
    assert!(pair.server.is_none());
}

#[test]
fn a_quarter_of_the_packets_is_lost() {
    let mut pair = Pair::new(500_000, 500_000);
    // Without a period, which an exchange of as many packets would fall into.
    let mut chance = 1u32;
    for _ in 0..1000 {
        pair.run(|_| {
            chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            chance >> 30 == 0
        });
        if pair.client.received() {
            break;
        }
        pair.wait();
    }
    assert!(pair.client.received());
}

#[test]
fn a_server_without_memory() {
    let first = part(3000, 0, 1424);
    let mut rpc = Rpc::server(SERVER, &first, 0, &CONFIG);
    let reaction = packet(&mut rpc, 0, Packet::Data(first));
    assert_eq!(reaction.event, Some(Event::NeedBuffers(3000)));
    rpc.buffers_pending();
    assert_eq!(rpc.buffers(), Buffers::Pending);
    // No RESEND, no GRANT, no end.
    assert_eq!(rpc.deadline(), None);
    assert_eq!(rpc.on_timer(3_600_000 * MS, &CONFIG), None);
    let reaction = packet(&mut rpc, MS, Packet::Data(part(3000, 1424, 1424)));
    assert_eq!(reaction.discard, Some(Discard::NoBuffers));
    assert_eq!(transmits(&mut rpc, MS), []);
    // Memory: all that was sent is asked for, just below control packets.
    rpc.buffers_granted(10 * MS, &CONFIG);
    let expected = [Transmit::Resend(Resend::all(6))];
    assert_eq!(transmits(&mut rpc, 10 * MS), expected);
    assert_eq!(rpc.deadline(), Some(15 * MS));
    let reaction = packet(&mut rpc, 11 * MS, Packet::Data(whole(3000)));
    assert_eq!(reaction.event, Some(Event::Received));
}

#[test]
fn a_server_that_cannot_even_wait_for_memory_asks_again() {
    let first = whole(100);
    let mut rpc = Rpc::server(SERVER, &first, 0, &CONFIG);
    for _ in 0..2 {
        let reaction = packet(&mut rpc, 0, Packet::Data(first));
        assert_eq!(reaction.event, Some(Event::NeedBuffers(100)));
    }
    assert_eq!(rpc.deadline(), Some(5 * MS));
    assert_eq!(rpc.on_timer(5 * MS, &CONFIG), None);
    let expected = [Transmit::Resend(Resend::all(7))];
    assert_eq!(transmits(&mut rpc, 5 * MS), expected);
    assert_eq!(data(&mut rpc, 6 * MS, first).event, Some(Event::Received));
}

#[test]
fn a_client_without_memory_answers_that_it_is_busy() {
    let mut rpc = outgoing_client(100);
    let _ = packet(&mut rpc, 0, Packet::Data(whole(1000)));
    rpc.buffers_pending();
    let _ = packet(&mut rpc, 2 * MS, Packet::NeedAck);
    assert_eq!(transmits(&mut rpc, 2 * MS), [Transmit::Busy]);
    // The server takes it for a sign of life.
    let mut server = outgoing_server(1000);
    for round in 1..100 {
        let now = round * 100 * MS;
        assert_eq!(server.on_timer(now, &CONFIG), None);
        assert_eq!(transmits(&mut server, now), [Transmit::NeedAck]);
        let _ = packet(&mut server, now, Packet::Busy);
    }
}
