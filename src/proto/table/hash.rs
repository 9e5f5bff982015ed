// SPDX-License-Identifier: GPL-2.0

//! SipHash-1-3 of an RPC key.
//!
//! Ids and addresses come from the network. Without the hash's key nobody can
//! choose them so that they collide. (J.-P. Aumasson, D. J. Bernstein: SipHash:
//! a fast short-input PRF, 2012.)

use crate::key::RpcKey;

/// Bytes that are hashed: an address and an id.
const INPUT_LEN: u64 = 24;

/// The secret.
pub(super) struct HashKey(pub(super) [u64; 2]);

impl HashKey {
    /// The hash of a key.
    pub(super) fn hash(&self, key: &RpcKey) -> u64 {
        let peer = u128::from_le_bytes(key.peer.0);
        let [k0, k1] = self.0;
        let mut state = State {
            v0: k0 ^ 0x736f_6d65_7073_6575,
            v1: k1 ^ 0x646f_7261_6e64_6f6d,
            v2: k0 ^ 0x6c79_6765_6e65_7261,
            v3: k1 ^ 0x7465_6462_7974_6573,
        };
        state.absorb(low_half(peer));
        state.absorb(low_half(peer >> 64));
        state.absorb(key.id);
        state.absorb(INPUT_LEN << 56);
        state.finish()
    }
}

/// The lower 64 bits.
const fn low_half(value: u128) -> u64 {
    (value & 0xffff_ffff_ffff_ffff) as u64
}

struct State {
    v0: u64,
    v1: u64,
    v2: u64,
    v3: u64,
}

impl State {
    fn round(&mut self) {
        self.v0 = self.v0.wrapping_add(self.v1);
        self.v1 = self.v1.rotate_left(13) ^ self.v0;
        self.v0 = self.v0.rotate_left(32);
        self.v2 = self.v2.wrapping_add(self.v3);
        self.v3 = self.v3.rotate_left(16) ^ self.v2;
        self.v0 = self.v0.wrapping_add(self.v3);
        self.v3 = self.v3.rotate_left(21) ^ self.v0;
        self.v2 = self.v2.wrapping_add(self.v1);
        self.v1 = self.v1.rotate_left(17) ^ self.v2;
        self.v2 = self.v2.rotate_left(32);
    }

    fn absorb(&mut self, word: u64) {
        self.v3 ^= word;
        self.round();
        self.v0 ^= word;
    }

    fn finish(mut self) -> u64 {
        self.v2 ^= 0xff;
        self.round();
        self.round();
        self.round();
        self.v0 ^ self.v1 ^ self.v2 ^ self.v3
    }
}
