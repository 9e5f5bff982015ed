// SPDX-License-Identifier: GPL-2.0

use super::*;

fn entry(client_id: u64) -> AckEntry {
    AckEntry {
        client_id,
        server_port: 4000,
    }
}

#[test]
fn the_newest_acknowledgment_travels_first() {
    let mut peer = Peer::new();
    assert_eq!(peer.take_ack(), None);
    assert_eq!(peer.queue_ack(entry(2)), None);
    assert_eq!(peer.queue_ack(entry(4)), None);
    assert_eq!(peer.take_ack(), Some(entry(4)));
    assert_eq!(peer.take_ack(), Some(entry(2)));
    assert_eq!(peer.take_ack(), None);
}

#[test]
fn the_sixth_acknowledgment_takes_the_others_along() {
    let mut peer = Peer::default();
    for number in 1..=5 {
        assert_eq!(peer.queue_ack(entry(number * 2)), None);
    }
    let acks = peer.queue_ack(entry(12)).unwrap();
    assert_eq!(acks.as_slice(), [2, 4, 6, 8, 10].map(entry));
    assert_eq!(peer.take_ack(), None);
}

#[test]
fn all_acknowledgments_at_once() {
    let mut peer = Peer::new();
    assert_eq!(peer.drain_acks(), Acks::new());
    assert_eq!(peer.queue_ack(entry(2)), None);
    assert_eq!(peer.drain_acks().as_slice(), [entry(2)]);
    assert_eq!(peer.take_ack(), None);
}

#[test]
fn priorities_of_a_host_that_told_none() {
    let peer = Peer::new();
    assert_eq!(peer.cutoff_version(), 0);
    for length in [1, 200, 1_000_000] {
        assert_eq!(peer.unscheduled_priority(length), 6);
    }
}

#[test]
fn priorities_by_message_length() {
    let mut peer = Peer::new();
    peer.on_cutoffs(&Cutoffs {
        unsched_cutoffs: [0, 0, 0, 0, 100_000, 15_000, 2_800, 200],
        version: 3,
    });
    assert_eq!(peer.cutoff_version(), 3);
    let expected = [
        (1, 7),
        (200, 7),
        (201, 6),
        (2_800, 6),
        (2_801, 5),
        (15_000, 5),
        (15_001, 4),
        (100_000, 4),
        (100_001, 0),
        (1_000_000, 0),
    ];
    for (length, priority) in expected {
        assert_eq!(peer.unscheduled_priority(length), priority, "{length}");
    }
}
