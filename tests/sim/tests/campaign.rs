// SPDX-License-Identifier: GPL-2.0

//! Many seeds, each another world. A failed one says how to see what happened.

use homa_sim::report::Report;
use homa_sim::report::Summary;
use homa_sim::rng::Probability;
use homa_sim::runner;
use homa_sim::scenario::Overrides;
use homa_sim::scenario::Scenario;
use homa_sim::trace::Sink;

/// Runs some seeds and returns what they did.
fn campaign(seeds: std::ops::Range<u64>, given: &Overrides) -> Summary {
    let mut summary = Summary::default();
    let mut failures = Vec::new();
    for seed in seeds {
        match runner::run(&Scenario::draw(seed, given), Sink::Nowhere) {
            Ok(report) => summary.add(&report),
            Err(violation) => {
                let command = runner::replay_command(seed, given);
                failures.push(format!("{violation}\nto see it: {command}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    print!("{summary}");
    summary
}

#[test]
fn any_world() {
    let summary = campaign(0..250, &Overrides::default());
    let total = summary.total();
    // The campaign is worth nothing unless it meets what it is for.
    for name in [
        "Data", "Grant", "Resend", "Unknown", "Busy", "NeedAck", "Ack",
    ] {
        assert!(total.packets[name] > 100, "{name}: {:?}", total.packets);
    }
    for name in ["Rpc(Duplicate)", "Rpc(NoBuffers)", "NoMemory"] {
        assert!(total.discarded.contains_key(name), "no packet was {name}");
    }
    for name in ["Acked", "UnknownToClient", "Failed(TimedOut)"] {
        assert!(total.forgotten.contains_key(name), "none ended {name}");
    }
    assert!(total.done > 5_000);
    assert!(total.failed < total.done / 50);
}

#[test]
fn much_loss() {
    let given = Overrides {
        loss: Some(Probability::percent(30)),
        duplicate: Some(Probability::percent(10)),
        partitions: Some(0),
        reboots: Some(0),
        max_size: Some(100_000),
        ..Overrides::default()
    };
    campaign(1_000..1_040, &given);
}

#[test]
fn much_damage() {
    let given = Overrides {
        corrupt: Some(Probability::percent(20)),
        max_size: Some(50_000),
        ..Overrides::default()
    };
    let summary = campaign(2_000..2_040, &given);
    let invalid = |name: &String| name.starts_with("Invalid");
    assert!(summary.total().discarded.keys().any(invalid));
}

#[test]
fn many_restarts_and_partitions() {
    let given = Overrides {
        reboots: Some(20),
        partitions: Some(20),
        max_size: Some(200_000),
        ..Overrides::default()
    };
    campaign(3_000..3_030, &given);
}

#[test]
fn many_mtu_changes() {
    let given = Overrides {
        mtu_changes: Some(40),
        mtu: Some(9_000),
        ..Overrides::default()
    };
    campaign(4_000..4_020, &given);
}

#[test]
fn little_memory() {
    let given = Overrides {
        bpages: Some(16),
        concurrency: Some(30),
        no_memory: Some(Probability::percent(5)),
        max_size: Some(1_000_000),
        calls: Some(10),
        ..Overrides::default()
    };
    campaign(5_000..5_010, &given);
}

#[test]
fn clean_network() {
    let given = Overrides {
        loss: Some(Probability::NEVER),
        duplicate: Some(Probability::NEVER),
        corrupt: Some(Probability::NEVER),
        no_memory: Some(Probability::NEVER),
        jitter_us: Some(0),
        service_us: Some(0),
        idle_us: Some(0),
        rate_mbps: Some(0),
        bpages: Some(200),
        mtu_changes: Some(0),
        partitions: Some(0),
        reboots: Some(0),
        ..Overrides::default()
    };
    let summary = campaign(6_000..6_020, &given);
    let total = summary.total();
    assert_eq!(
        (total.resent_bytes, total.repeated, total.failed),
        (0, 0, 0)
    );
    assert!(!total.packets.contains_key("Resend"), "{:?}", total.packets);
}

#[test]
fn a_seed_is_one_run() {
    let run = |seed| -> Report {
        let scenario = Scenario::draw(seed, &Overrides::default());
        runner::run(&scenario, Sink::Nowhere).unwrap()
    };
    for seed in 0..20 {
        assert_eq!(run(seed), run(seed));
    }
    assert_ne!(run(1).digest, run(2).digest);
}
