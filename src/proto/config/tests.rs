// SPDX-License-Identifier: GPL-2.0

use super::*;

#[test]
fn every_tunable_is_consistent() {
    for tunable in TUNABLES {
        let name = tunable.name;
        assert!(tunable.min <= tunable.default, "{name}");
        assert!(tunable.default <= tunable.max, "{name}");
        assert!(!tunable.doc.is_empty(), "{name}");
        assert_eq!(tunable.get(&Config::default()), tunable.default, "{name}");
        let same_name = TUNABLES.iter().filter(|other| other.name == name);
        assert_eq!(same_name.count(), 1, "{name}");
    }
}

#[test]
fn every_tunable_sets_its_own_field() {
    for tunable in TUNABLES {
        for value in [tunable.min, tunable.default, tunable.max] {
            let mut config = Config::default();
            assert_eq!(tunable.set(&mut config, value), Ok(()));
            assert_eq!(tunable.get(&config), value, "{}", tunable.name);
            tunable.set(&mut config, tunable.default).unwrap();
            assert_eq!(config, Config::default(), "{}", tunable.name);
        }
    }
}

#[test]
fn out_of_range_changes_nothing() {
    for tunable in TUNABLES {
        let mut config = Config::default();
        for value in [tunable.min - 1, tunable.max + 1, u64::MAX] {
            assert_eq!(tunable.set(&mut config, value), Err(OutOfRange));
        }
        assert_eq!(config, Config::default());
    }
}
