// SPDX-License-Identifier: GPL-2.0

//! What is in the messages: bytes that follow from the RPC and their place.
//!
//! So a receiver can check each byte without having been told anything, and a
//! byte that comes from another place, another message or another RPC is seen.

use homa_proto::key::PeerKey;

use crate::rng::mix;

/// Which of an RPC's two messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// From the client.
    Request,
    /// From the server.
    Response,
}

/// The bytes of one message, as many as one likes.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    key: u64,
}

impl Content {
    /// The content of one of the messages of the RPC that has this client and
    /// this id there.
    pub fn new(client: PeerKey, client_id: u64, direction: Direction) -> Self {
        let (low, high) = client.0.split_at(8);
        let word = |bytes: &[u8]| bytes.iter().fold(0, |w, &b| (w << 8) | u64::from(b));
        let direction = match direction {
            Direction::Request => 0,
            Direction::Response => 1,
        };
        let key = [word(low), word(high), client_id, direction]
            .into_iter()
            .fold(0, |key, word| mix(key ^ word));
        Self { key }
    }

    /// The first `length` bytes.
    pub fn bytes(&self, length: u32) -> Vec<u8> {
        let length = usize::try_from(length).expect("a message fits into memory");
        let mut bytes = Vec::with_capacity(length + 8);
        let mut place = self.key;
        while bytes.len() < length {
            bytes.extend_from_slice(&mix(place).to_le_bytes());
            place = place.wrapping_add(1);
        }
        bytes.truncate(length);
        bytes
    }

    /// Where `message` first differs from what it should be.
    pub fn first_difference(&self, message: &[u8]) -> Option<usize> {
        let length = u32::try_from(message.len()).expect("no message is that long");
        let expected = self.bytes(length);
        if expected == message {
            return None;
        }
        expected.iter().zip(message).position(|(a, b)| a != b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: PeerKey = PeerKey::from_v4([10, 0, 0, 1]);

    #[test]
    fn a_shorter_message_is_the_beginning_of_a_longer_one() {
        let content = Content::new(CLIENT, 2, Direction::Request);
        assert_eq!(content.bytes(13), content.bytes(1_000)[..13]);
        assert_eq!(content.bytes(0), []);
    }

    #[test]
    fn messages_differ() {
        let bytes = |client, id, direction| Content::new(client, id, direction).bytes(16);
        let other = PeerKey::from_v4([10, 0, 0, 2]);
        let one = bytes(CLIENT, 2, Direction::Request);
        assert_ne!(one, bytes(CLIENT, 4, Direction::Request));
        assert_ne!(one, bytes(other, 2, Direction::Request));
        assert_ne!(one, bytes(CLIENT, 2, Direction::Response));
    }

    #[test]
    fn a_wrong_byte_is_found() {
        let content = Content::new(CLIENT, 2, Direction::Request);
        let mut bytes = content.bytes(100);
        assert_eq!(content.first_difference(&bytes), None);
        bytes[70] ^= 1;
        assert_eq!(content.first_difference(&bytes), Some(70));
    }
}
