// SPDX-License-Identifier: GPL-2.0

//! A table against a model made of std's maps.

use std::collections::BTreeMap;

use homa_proto::key::PeerKey;
use homa_proto::key::RpcKey;
use homa_proto::table::Reservation;
use homa_proto::table::Table;
use kernel::alloc::flags::GFP_KERNEL;
use kernel::alloc::KBox;
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Insert(RpcKey),
    Remove(RpcKey),
    SetDeadline(RpcKey, Option<u64>),
    PopDue(u64),
    Grow,
    Pop,
}

fn key() -> impl Strategy<Value = RpcKey> {
    (0u64..40, 0u8..3).prop_map(|(id, host)| RpcKey::new(PeerKey::from_v4([192, 0, 2, host]), id))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => key().prop_map(Step::Insert),
        3 => key().prop_map(Step::Remove),
        6 => (key(), proptest::option::of(0u64..1000))
            .prop_map(|(key, deadline)| Step::SetDeadline(key, deadline)),
        3 => (0u64..1000).prop_map(Step::PopDue),
        1 => Just(Step::Grow),
        1 => Just(Step::Pop),
    ]
}

/// A value and a deadline for each key.
type Model = BTreeMap<RpcKey, (usize, Option<u64>)>;

fn grow(table: &mut Table<usize>) {
    let reservation = Reservation::new(table.capacity() + 3, GFP_KERNEL).unwrap();
    drop(table.adopt(reservation));
}

fn insert(table: &mut Table<usize>, model: &mut Model, key: RpcKey, value: usize) {
    if !table.room() {
        let boxed = KBox::new(value, GFP_KERNEL).unwrap();
        assert!(table.insert(key, boxed).is_err());
        grow(table);
    }
    let boxed = KBox::new(value, GFP_KERNEL).unwrap();
    let inserted = table.insert(key, boxed).is_ok();
    assert_eq!(inserted, !model.contains_key(&key));
    if inserted {
        model.insert(key, (value, None));
    }
}

fn pop_due(table: &mut Table<usize>, model: &mut Model, now: u64) {
    let earliest = model.values().filter_map(|&(_, deadline)| deadline).min();
    assert_eq!(table.next_deadline(), earliest);
    match table.pop_due(now) {
        Some(key) => {
            let deadline = model.get_mut(&key).unwrap().1.take();
            assert_eq!(deadline, earliest);
            assert!(earliest.is_some_and(|it| it <= now));
        }
        None => assert!(earliest.is_none_or(|it| it > now)),
    }
}

fn check(table: &Table<usize>, model: &Model) {
    assert_eq!(table.len(), model.len());
    assert_eq!(table.is_empty(), model.is_empty());
    for (key, (value, _)) in model {
        assert_eq!(table.get(key), Some(value));
    }
    let mut found: Vec<(RpcKey, usize)> = table.iter().map(|(key, value)| (*key, *value)).collect();
    found.sort_unstable();
    let expected: Vec<(RpcKey, usize)> = model.iter().map(|(key, it)| (*key, it.0)).collect();
    assert_eq!(found, expected);
}

/// A failure is printed with its smallest input, which makes a better test than a
/// file with seeds.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_steps(hash_key in any::<[u64; 2]>(), steps in vec(step(), 1..150)) {
        let mut table = Table::new(hash_key);
        let mut model = Model::new();
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Insert(key) => insert(&mut table, &mut model, key, number),
                Step::Remove(key) => {
                    let removed = table.remove(&key).map(|value| *value);
                    prop_assert_eq!(removed, model.remove(&key).map(|it| it.0));
                }
                Step::SetDeadline(key, deadline) => {
                    let known = table.set_deadline(&key, deadline);
                    prop_assert_eq!(known, model.contains_key(&key));
                    if let Some(it) = model.get_mut(&key) {
                        it.1 = deadline;
                    }
                }
                Step::PopDue(now) => pop_due(&mut table, &mut model, now),
                Step::Grow => grow(&mut table),
                Step::Pop => match table.pop() {
                    Some((key, value)) => {
                        prop_assert_eq!(model.remove(&key).map(|it| it.0), Some(*value));
                    }
                    None => prop_assert!(model.is_empty()),
                },
            }
            check(&table, &model);
        }
        while table.next_deadline().is_some() {
            pop_due(&mut table, &mut model, u64::MAX);
        }
    }
}
