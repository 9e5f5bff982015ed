// SPDX-License-Identifier: GPL-2.0

//! Runs simulations and reports what does not hold.

use std::fmt;
use std::io;
use std::io::BufWriter;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use homa_sim::report::Summary;
use homa_sim::runner;
use homa_sim::scenario::Overrides;
use homa_sim::scenario::Scenario;
use homa_sim::trace::Sink;

/// Simulates many hosts that run the Homa protocol engine, deterministically
///
/// A seed determines a whole run: the hosts, their calls, the network and its
/// faults. Each of these can be given instead; what is not given is drawn from
/// the seed. The exit status is 0 if every invariant held in every run, else 1;
/// a command is printed for each failed run that repeats it and shows every
/// packet.
#[derive(Debug, Parser)]
#[command(name = "homa-sim", version)]
struct Arguments {
    /// The seed, or with --runs the first one
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// How many seeds to run, one after the other
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    runs: u64,
    /// Print every packet and what applications do
    #[arg(long)]
    trace: bool,
    /// Print the parameters and the numbers of every run
    #[arg(long)]
    verbose: bool,
    /// Go on after a run that failed
    #[arg(long)]
    keep_going: bool,
    #[command(flatten, next_help_heading = "Parameters")]
    given: Overrides,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut summary = Summary::default();
    let mut failed = 0_u64;
    let seeds = (0..arguments.runs).map(|run| arguments.seed.wrapping_add(run));
    for seed in seeds {
        if !run(seed, &arguments, &mut summary) {
            failed += 1;
            if !arguments.keep_going {
                break;
            }
        }
    }
    say(format_args!("{summary}"));
    if failed == 0 {
        return ExitCode::SUCCESS;
    }
    say(format_args!("{failed} runs failed\n"));
    ExitCode::FAILURE
}

/// Runs one seed; false if it failed.
fn run(seed: u64, arguments: &Arguments, summary: &mut Summary) -> bool {
    let scenario = Scenario::draw(seed, &arguments.given);
    if arguments.verbose {
        say(format_args!("seed {seed}: {scenario:?}\n"));
    }
    let sink = if arguments.trace {
        Sink::Write(Box::new(BufWriter::new(io::stdout())))
    } else {
        Sink::Nowhere
    };
    match runner::run(&scenario, sink) {
        Ok(report) => {
            if arguments.verbose {
                say(format_args!("seed {seed}: {report}\n"));
            }
            summary.add(&report);
            true
        }
        Err(violation) => {
            let command = runner::replay_command(seed, &arguments.given);
            say(format_args!("seed {seed} failed: {violation}\n"));
            say(format_args!("to see it: {command}\n"));
            false
        }
    }
}

/// Writes to the standard output. That nobody reads it any more is no reason to
/// stop: the exit status counts too.
fn say(text: fmt::Arguments<'_>) {
    let _ = io::stdout().write_fmt(text);
}
