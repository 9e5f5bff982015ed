// SPDX-License-Identifier: GPL-2.0
//! The command line.

use crate::check::pass;
use crate::check::Failure;
use crate::client;
use crate::client::Load;
use crate::demo;
use crate::exchange::Exchange;
use crate::groups;
use crate::groups::Group;
use crate::groups::Setup;
use crate::netns;
use crate::server;
use crate::server::Config;
use crate::server::Server;
use crate::server::Totals;
use crate::stats::Summary;
use crate::tap;
use crate::tap::Test;
use clap::Args;
use clap::Parser;
use clap::Subcommand;
use clap::ValueEnum;
use homa::Family;
use std::io;
use std::io::Write;
use std::net::IpAddr;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;
use std::time::SystemTime;

/// Tests of the Homa kernel module from user space.
#[derive(Debug, Parser)]
#[command(name = "homa-ktest", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Work in the network namespace that `ip netns` knows by this name.
    #[arg(long, global = true, value_name = "NAME")]
    netns: Option<String>,

    /// List the groups of tests.
    #[arg(long)]
    list: bool,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Answer requests of the client until killed.
    Server(ServerArgs),
    /// Send requests to a server, and check every byte of the responses.
    Client(ClientArgs),
    /// Show requests of several sizes being answered.
    Demo(DemoArgs),
    /// Run groups of tests, and print TAP.
    Tap(TapArgs),
}

#[derive(Debug, Args)]
struct Ports {
    /// Port of the server's IPv4 socket.
    #[arg(long, default_value_t = server::PORT_V4)]
    port: u16,

    /// Port of the server's IPv6 socket.
    #[arg(long, default_value_t = server::PORT_V6)]
    port6: u16,
}

impl Ports {
    fn of(&self, ip: IpAddr) -> u16 {
        match ip {
            IpAddr::V4(_) => self.port,
            IpAddr::V6(_) => self.port6,
        }
    }

    fn config(&self, threads: usize) -> Config {
        Config {
            sockets: vec![(Family::V4, self.port), (Family::V6, self.port6)],
            threads,
            ..Config::default()
        }
    }
}

#[derive(Debug, Args)]
struct ServerArgs {
    #[command(flatten)]
    ports: Ports,

    /// Threads for each socket.
    #[arg(long, default_value_t = 2)]
    threads: usize,
}

#[derive(Debug, Args)]
struct ClientArgs {
    /// Address of the server.
    server: IpAddr,

    #[command(flatten)]
    ports: Ports,

    /// How many requests to send.
    #[arg(long, short = 'n', default_value_t = 1000)]
    requests: usize,

    /// Length of the requests in bytes: a number, a range such as 1-500 that is
    /// gone through in turn, or several of either with commas between.
    #[arg(long, default_value = "100", value_parser = Sizes::parse)]
    request_size: Sizes,

    /// Length of the responses, likewise. Requests under 16 bytes get as many as
    /// they have.
    #[arg(long, default_value = "100", value_parser = Sizes::parse)]
    response_size: Sizes,

    /// How many RPCs to have under way at once.
    #[arg(long, default_value_t = 1)]
    outstanding: usize,

    /// Threads that share the socket.
    #[arg(long, default_value_t = 1)]
    threads: usize,

    /// Time for all of it, in seconds.
    #[arg(long, default_value_t = 60)]
    deadline: u64,

    /// Print round-trip times.
    #[arg(long)]
    rtt: bool,

    /// Seed of the messages.
    #[arg(long)]
    seed: Option<u64>,
}

#[derive(Debug, Args)]
struct DemoArgs {
    /// Address of the server.
    server: IpAddr,

    #[command(flatten)]
    ports: Ports,

    /// Time for each row of the table, in seconds.
    #[arg(long, default_value_t = 60)]
    deadline: u64,
}

#[derive(Debug, Args)]
struct TapArgs {
    /// The groups to run.
    #[arg(required = true)]
    groups: Vec<Group>,

    /// Address of a server to test against; can be repeated.
    #[arg(long = "server-addr", value_name = "ADDR")]
    servers: Vec<IpAddr>,

    #[command(flatten)]
    ports: Ports,

    /// Run the server in this process, too.
    #[arg(long)]
    local_server: bool,

    /// Run the server in this process, with its sockets in this namespace.
    #[arg(long, value_name = "NAME")]
    server_netns: Option<String>,

    /// Open the clients' sockets in this namespace.
    #[arg(long, value_name = "NAME")]
    client_netns: Option<String>,

    /// An address that nothing answers at, for the test of time-outs.
    #[arg(long, value_name = "ADDR")]
    dead_addr: Option<IpAddr>,

    /// Test packet boundaries of this MTU only: 1500, 9000 or 65536.
    #[arg(long, value_name = "BYTES")]
    mtu: Option<usize>,

    /// Leave out what a path that differs little from another needs not repeat.
    #[arg(long)]
    brief: bool,

    /// Test all sizes from 1 byte to this one.
    #[arg(long, default_value_t = 300, value_name = "BYTES")]
    small: usize,

    /// Time for each test that moves messages, in seconds.
    #[arg(long, default_value_t = 120)]
    deadline: u64,

    /// Seed of the messages.
    #[arg(long)]
    seed: Option<u64>,

    /// Run only tests whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
}

/// Lengths that messages take in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sizes(Vec<(usize, usize)>);

impl Sizes {
    fn parse(text: &str) -> Result<Self, String> {
        let part = |part: &str| {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            let number = |text: &str| text.trim().replace('_', "").parse::<usize>().ok();
            match (number(low), number(high)) {
                (Some(low), Some(high)) if 1 <= low && low <= high && high <= 1_000_000 => {
                    Ok((low, high))
                }
                _ => Err(format!(
                    "{part:?} is no length from 1 to 1000000, nor a range of such lengths"
                )),
            }
        };
        text.split(',')
            .map(part)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// The length of message `index`.
    fn get(&self, index: usize) -> usize {
        let count: usize = self.0.iter().map(|(low, high)| high - low + 1).sum();
        let mut left = index % count.max(1);
        for (low, high) in &self.0 {
            let here = high - low + 1;
            if left < here {
                return low + left;
            }
            left -= here;
        }
        1
    }
}

/// A seed that differs from run to run.
fn new_seed() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(1, |time| u64::from(time.subsec_nanos()) ^ time.as_secs())
}

impl Cli {
    /// Does what the command line says.
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        if self.list {
            return list();
        }
        if let Some(name) = &self.netns {
            netns::enter(name)?;
        }
        match self.command {
            Some(Command::Server(args)) => args.run(),
            Some(Command::Client(args)) => args.run(),
            Some(Command::Demo(args)) => args.run(),
            Some(Command::Tap(args)) => args.run(),
            None => list(),
        }
    }
}

fn list() -> Result<ExitCode, Failure> {
    let mut out = io::stdout().lock();
    for group in Group::value_variants() {
        if let Some(value) = group.to_possible_value() {
            writeln!(out, "{:8}{}", value.get_name(), group.describe())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl ServerArgs {
    fn run(self) -> Result<ExitCode, Failure> {
        let server = Server::start(&self.ports.config(self.threads))?;
        let (port, port6) = (self.ports.port, self.ports.port6);
        let mut out = io::stdout().lock();
        writeln!(
            out,
            "serving port {port} over IPv4 and port {port6} over IPv6"
        )?;
        out.flush()?;
        drop(out);
        let totals = server.join();
        for problem in &totals.problems {
            eprintln!("homa-ktest: {problem}");
        }
        Ok(ExitCode::FAILURE)
    }
}

impl ClientArgs {
    fn run(self) -> Result<ExitCode, Failure> {
        let seed = self.seed.unwrap_or_else(new_seed);
        let exchange = |index| {
            Exchange::new(
                self.request_size.get(index),
                self.response_size.get(index),
                seed.wrapping_add(index as u64),
            )
        };
        let load = Load {
            dest: SocketAddr::new(self.server, self.ports.of(self.server)),
            exchanges: (0..self.requests).map(exchange).collect(),
            outstanding: self.outstanding,
            threads: self.threads,
            deadline: Duration::from_secs(self.deadline),
        };
        let socket = groups::open_client(Family::of(self.server))?;
        let report = client::run(&socket, &load).map_err(|reason| Failure::new(reason))?;
        let mut out = io::stdout().lock();
        writeln!(
            out,
            "{} requests answered and compared: {} bytes out, {} back, in {:.3} s",
            report.times.len(),
            report.request_bytes,
            report.response_bytes,
            report.elapsed.as_secs_f64()
        )?;
        if let (true, Some(summary)) = (self.rtt, Summary::of(report.times)) {
            writeln!(out, "round trip {summary}")?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl DemoArgs {
    fn run(self) -> Result<ExitCode, Failure> {
        let dest = SocketAddr::new(self.server, self.ports.of(self.server));
        let deadline = Duration::from_secs(self.deadline);
        demo::run(dest, deadline, &mut io::stdout().lock())?;
        Ok(ExitCode::SUCCESS)
    }
}

impl TapArgs {
    fn run(self) -> Result<ExitCode, Failure> {
        let needs_server = |group: &Group| *group != Group::Abi;
        if self.servers.is_empty() && self.groups.iter().any(needs_server) {
            return Err(Failure::new(
                "the groups sizes and loss need a server: name its address with --server-addr",
            ));
        }
        let mut out = io::stdout().lock();
        let seed = self.seed.unwrap_or_else(new_seed);
        let mut tests = self.tests(seed);
        if self.local_server || self.server_netns.is_some() {
            let config = Config {
                netns: self.server_netns.clone(),
                ..self.ports.config(4)
            };
            match Server::start(&config) {
                Ok(server) => tests.push(server_test(server)),
                Err(failure) => {
                    writeln!(out, "TAP version 14\nBail out! {}", failure.message)?;
                    return Ok(ExitCode::FAILURE);
                }
            }
        }
        let passed = tap::run(tests, &mut out)?;
        writeln!(out, "# repeat with --seed {seed}")?;
        Ok(if passed {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    fn tests(&self, seed: u64) -> Vec<Test> {
        let setup = Setup {
            servers: self.servers.clone(),
            port: self.ports.port,
            port6: self.ports.port6,
            client_netns: self.client_netns.clone(),
            dead: self.dead_addr,
            mtu: self.mtu,
            small: self.small,
            brief: self.brief,
            deadline: Duration::from_secs(self.deadline),
            seed,
        };
        let filter = self.filter.as_deref().unwrap_or_default();
        self.groups
            .iter()
            .flat_map(|group| group.tests(&setup))
            .filter(|test| test.name().contains(filter))
            .collect()
    }
}

/// The last test: what the server in this process has seen.
fn server_test(server: Server) -> Test {
    let name = "the server received every request intact, and stops";
    Test::new(name, Duration::from_secs(30), move || {
        let Totals {
            requests, problems, ..
        } = server.stop();
        if let Some(first) = problems.first() {
            return Err(Failure::new(format!(
                "{} problems in {requests} requests, the first: {first}",
                problems.len()
            )));
        }
        pass()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn sizes_are_parsed_and_gone_through() {
        let sizes = Sizes::parse("7,10-12,1_000").unwrap();
        let first: Vec<usize> = (0..6).map(|index| sizes.get(index)).collect();
        assert_eq!(first, [7, 10, 11, 12, 1000, 7]);
        for wrong in ["", "0", "1000001", "5-4", "x", "1,,2", "-3"] {
            assert!(Sizes::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_documented_command_is_understood() {
        let cli = Cli::try_parse_from([
            "homa-ktest",
            "tap",
            "sizes",
            "--server-netns",
            "b",
            "--client-netns",
            "a",
            "--server-addr",
            "10.0.0.2",
            "--server-addr",
            "fd00::2",
        ])
        .unwrap();
        let Some(Command::Tap(args)) = cli.command else {
            panic!("{cli:?}");
        };
        assert_eq!(args.groups, [Group::Sizes]);
        assert_eq!(args.servers.len(), 2);
        let tests = args.tests(1);
        assert!(tests.iter().any(|test| test.name().contains("fd00::2")));
        assert!(tests.iter().all(|test| test.name().starts_with("sizes ")));
    }

    #[test]
    fn a_filter_picks_tests() {
        let parse = |filter: &str| {
            let args = ["homa-ktest", "tap", "abi", "--filter", filter];
            match Cli::try_parse_from(args).unwrap().command {
                Some(Command::Tap(args)) => args.tests(1).len(),
                other => panic!("{other:?}"),
            }
        };
        assert!(parse("") > 150);
        assert!((1..30).contains(&parse("poll")));
        assert_eq!(parse("no such test"), 0);
    }
}
