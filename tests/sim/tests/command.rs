// SPDX-License-Identifier: GPL-2.0

//! The program: its help, its answers, its exit status.

use std::process::Command;
use std::process::Output;

use homa_sim::runner;
use homa_sim::scenario::Overrides;

fn homa_sim(arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_homa-sim"))
        .args(arguments.split_whitespace())
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn help_names_every_option() {
    let output = homa_sim("--help");
    assert!(output.status.success());
    let help = stdout(&output);
    for option in [
        "seed",
        "runs",
        "trace",
        "verbose",
        "keep-going",
        "hosts",
        "calls",
        "concurrency",
        "min-size",
        "max-size",
        "service-us",
        "idle-us",
        "loss",
        "duplicate",
        "corrupt",
        "delay-us",
        "jitter-us",
        "rate-mbps",
        "queue-kib",
        "mtu",
        "mtu-changes",
        "bpages",
        "no-memory",
        "partitions",
        "reboots",
    ] {
        assert!(help.contains(&format!("--{option} ")) || help.contains(&format!("--{option}\n")));
    }
}

#[test]
fn a_trace_repeats() {
    let arguments = "--seed 5 --hosts 3 --calls 2 --max-size 5000 --loss 0.2 --trace";
    let output = homa_sim(arguments);
    assert!(output.status.success());
    let trace = stdout(&output);
    assert!(trace.contains(" DATA 0.."), "{trace}");
    assert_eq!(trace, stdout(&homa_sim(arguments)));
}

#[test]
fn a_replay_command_is_one_that_the_program_takes() {
    let given = Overrides {
        hosts: Some(2),
        calls: Some(1),
        loss: Some("0.01".parse().unwrap()),
        ..Overrides::default()
    };
    let command = runner::replay_command(7, &given);
    let (_, arguments) = command.split_once(" -- ").unwrap();
    assert_eq!(
        arguments,
        "--seed 7 --hosts 2 --calls 1 --loss 0.01 --trace"
    );
    assert!(homa_sim(arguments).status.success());
}

#[test]
fn what_makes_no_sense_is_refused() {
    for arguments in [
        "--hosts 1",
        "--loss 1.5",
        "--mtu 50",
        "--bpages 1",
        "--what",
    ] {
        let output = homa_sim(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert!(!output.stderr.is_empty());
    }
}
