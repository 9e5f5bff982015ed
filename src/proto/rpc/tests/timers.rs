// SPDX-License-Identifier: GPL-2.0

//! Who asks when, and who gives up when.

use super::*;

/// Runs an RPC on its own from time 0 until it ends. Returns the times at which
/// it sent `question`, in ms, and the end with its time.
fn alone(rpc: &mut Rpc, question: Transmit) -> (Vec<u64>, u64, Event) {
    let mut asked = Vec::new();
    loop {
        let now = rpc.deadline().expect("waits for nothing");
        assert_eq!(rpc.on_timer(now - 1, &CONFIG), None);
        assert_eq!(transmits(rpc, now - 1), []);
        if let Some(event) = rpc.on_timer(now, &CONFIG) {
            assert_eq!(rpc.deadline(), None);
            assert_eq!(transmits(rpc, now), []);
            return (asked, now / MS, event);
        }
        assert_eq!(transmits(rpc, now), [question]);
        asked.push(now / MS);
    }
}

/// 5, then doubling to 100 ms.
const RESENDS: [u64; 14] = [
    5, 15, 35, 75, 155, 255, 355, 455, 555, 655, 755, 855, 955, 1000,
];

#[test]
fn a_dead_server() {
    let mut rpc = outgoing_client(100);
    let (asked, end, event) = alone(&mut rpc, Transmit::Resend(Resend::all(7)));
    assert_eq!(asked, RESENDS[..13]);
    assert_eq!(end, 1000);
    assert_eq!(event, Event::Failed(RpcError::TimedOut));
    assert_eq!(rpc.state(), State::Ended);
}

#[test]
fn a_dead_server_in_the_middle_of_its_response() {
    let tail = Resend {
        offset: 1000,
        length: 2000,
        priority: 7,
    };
    let (asked, end, event) = alone(&mut incoming_client(), Transmit::Resend(tail));
    assert_eq!((asked.len(), end), (13, 1000));
    assert_eq!(event, Event::Failed(RpcError::TimedOut));
}

#[test]
fn a_dead_client_in_the_middle_of_its_request() {
    let tail = Resend {
        offset: 1000,
        length: 2000,
        priority: 7,
    };
    let (asked, end, event) = alone(&mut incoming_server(), Transmit::Resend(tail));
    assert_eq!((asked.len(), end), (13, 1000));
    let ended = EndReason::Failed(RpcError::TimedOut);
    assert_eq!(event, Event::Ended(ended));
}

#[test]
fn a_dead_client_after_the_response() {
    let (asked, end, event) = alone(&mut outgoing_server(100), Transmit::NeedAck);
    assert_eq!(asked[..7], [2, 6, 14, 30, 62, 126, 226]);
    assert_eq!(end, 1000);
    let ended = EndReason::Failed(RpcError::TimedOut);
    assert_eq!(event, Event::Ended(ended));
}

#[test]
fn a_dead_client_that_grants_nothing() {
    let (asked, end, event) = alone(&mut outgoing_server(100_000), Transmit::NeedAck);
    assert_eq!(asked, [100, 200, 300, 400, 500, 600, 700, 800, 900]);
    assert_eq!(end, 1000);
    let ended = EndReason::Failed(RpcError::TimedOut);
    assert_eq!(event, Event::Ended(ended));
}

#[test]
fn a_slow_application_never_times_out() {
    let mut rpc = outgoing_client(100);
    let mut intervals = Vec::new();
    let mut last = 0;
    for _ in 0..100 {
        let now = rpc.deadline().unwrap();
        intervals.push((now - last) / MS);
        last = now;
        assert_eq!(rpc.on_timer(now, &CONFIG), None);
        assert_eq!(transmits(&mut rpc, now).len(), 1);
        let _ = packet(&mut rpc, now, Packet::Busy);
    }
    assert_eq!(intervals[..6], [5, 10, 20, 40, 80, 100]);
    assert!(intervals[5..].iter().all(|&interval| interval == 100));
}

#[test]
fn progress_makes_the_interval_short_again() {
    let mut rpc = incoming_server();
    for _ in 0..4 {
        let now = rpc.deadline().unwrap();
        assert_eq!(rpc.on_timer(now, &CONFIG), None);
    }
    let now = 500 * MS;
    assert!(data(&mut rpc, now, part(3000, 1000, 1000)).keep_payload);
    assert_eq!(rpc.deadline(), Some(now + 5 * MS));
    assert_eq!(rpc.on_timer(now + 5 * MS, &CONFIG), None);
    assert_eq!(rpc.deadline(), Some(now + 15 * MS));
}

#[test]
fn a_response_sent_again_is_soon_asked_for() {
    let mut rpc = outgoing_server(100);
    let _ = packet(&mut rpc, MS, Packet::Resend(Resend::all(7)));
    assert_eq!(sent_offsets(&mut rpc, MS), [0]);
    assert_eq!(rpc.deadline(), Some(3 * MS));
}

#[test]
fn unknown_does_not_end_silence() {
    // A server that always forgets: the client gives up all the same, if late.
    let mut rpc = outgoing_client(100);
    loop {
        let now = rpc.deadline().unwrap();
        if let Some(event) = rpc.on_timer(now, &CONFIG) {
            assert_eq!(event, Event::Failed(RpcError::TimedOut));
            assert_eq!(now, 8000 * MS);
            return;
        }
        transmits(&mut rpc, now);
        let _ = packet(&mut rpc, now, Packet::Unknown);
        assert_eq!(sent_offsets(&mut rpc, now), [0]);
    }
}

#[test]
fn grants_and_bytes_end_silence() {
    let mut rpc = outgoing_client(100_000);
    let now = 900 * MS;
    let grant = Grant {
        offset: 50_000,
        priority: 0,
    };
    let _ = packet(&mut rpc, now, Packet::Grant(grant));
    // Our turn.
    assert_eq!(rpc.deadline(), None);
    transmits(&mut rpc, now + MS);
    assert_eq!(rpc.deadline(), Some(now + 6 * MS));
    assert_eq!(rpc.on_timer(now + 500 * MS, &CONFIG), None);
}

#[test]
fn nobody_waits_for_a_message_that_is_complete() {
    let mut client = outgoing_client(100);
    let _ = data(&mut client, 0, whole(100));
    assert_eq!(client.deadline(), None);
    let mut server = Rpc::server(SERVER, &whole(100), 0, &CONFIG);
    let _ = data(&mut server, 0, whole(100));
    assert_eq!(server.deadline(), None);
    assert_eq!(in_service().deadline(), None);
}

#[test]
fn a_receiver_that_owes_a_grant_waits_for_nothing() {
    let first = part(100_000, 0, 40_000);
    let mut rpc = Rpc::server(SERVER, &first, 0, &CONFIG);
    let _ = data(&mut rpc, 0, first);
    assert_eq!(rpc.deadline(), None);
    let grant = Grant {
        offset: 100_000,
        priority: 0,
    };
    assert_eq!(transmits(&mut rpc, 0), [Transmit::Grant(grant)]);
    assert_eq!(rpc.deadline(), Some(5 * MS));
}

/// Stopping a virtual machine must not fail what its network has answered.
#[test]
fn a_host_that_was_stopped_asks_before_it_gives_up() {
    let mut rpc = outgoing_client(100);
    let mut now = 60_000 * MS;
    for _ in 0..5 {
        assert_eq!(rpc.on_timer(now, &CONFIG), None);
        let resend = Transmit::Resend(Resend::all(7));
        assert_eq!(transmits(&mut rpc, now), [resend]);
        let next = rpc.deadline().expect("waits for nothing");
        assert!(next > now, "asks in a loop");
        now = next;
    }
    let failed = Event::Failed(RpcError::TimedOut);
    assert_eq!(rpc.on_timer(now, &CONFIG), Some(failed));
}

/// One RPC of thousands may wait long for its turn.
#[test]
fn a_host_that_is_heard_is_not_given_up() {
    let mut rpc = outgoing_client(100);
    let mut heard = 0;
    while heard < 10_000 * MS {
        let now = rpc.deadline().expect("waits for nothing");
        heard = now - MS;
        rpc.host_heard(heard);
        assert_eq!(rpc.on_timer(now, &CONFIG), None);
        transmits(&mut rpc, now);
    }
    let (_, end, event) = alone(&mut rpc, Transmit::Resend(Resend::all(7)));
    assert_eq!(end * MS, heard + CONFIG.timeout_ns);
    assert_eq!(event, Event::Failed(RpcError::TimedOut));
}

#[test]
fn the_end_of_time() {
    let mut rpc = Rpc::client(CLIENT, tx(100), u64::MAX, &CONFIG);
    transmits(&mut rpc, u64::MAX);
    assert_eq!(rpc.deadline(), Some(u64::MAX));
    let failed = Event::Failed(RpcError::TimedOut);
    for _ in 0..5 {
        assert_eq!(rpc.on_timer(u64::MAX, &CONFIG), None);
    }
    assert_eq!(rpc.on_timer(u64::MAX, &CONFIG), Some(failed));
}
