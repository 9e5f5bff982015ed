// SPDX-License-Identifier: GPL-2.0

use super::*;

#[test]
fn v4_addresses_are_mapped() {
    let key = PeerKey::from_v4([192, 0, 2, 1]);
    assert_eq!(key.0[..12], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);
    assert_eq!(key.to_v4(), Some([192, 0, 2, 1]));
    assert_eq!(PeerKey::ANY.to_v4(), None);
}

#[test]
fn only_server_keys_hold_the_address() {
    let peer = PeerKey::from_v4([192, 0, 2, 1]);
    assert_eq!(RpcKey::new(peer, 3), RpcKey { peer, id: 3 });
    assert_eq!(RpcKey::new(peer, 2), RpcKey::client(2));
    assert_eq!(RpcKey::client(2).peer, PeerKey::ANY);
}

#[test]
fn ids_alternate() {
    for id in [2, 3, u64::MAX] {
        assert_ne!(is_client(id), is_client(other_end(id)));
        assert_eq!(other_end(other_end(id)), id);
    }
}
