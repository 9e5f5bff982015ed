// SPDX-License-Identifier: GPL-2.0
//! The demonstration: requests of several sizes, answered and compared, in a
//! table that grows while it happens.

use crate::check::Failure;
use crate::client;
use crate::client::Load;
use crate::client::Report;
use crate::exchange::Exchange;
use crate::groups;
use crate::stats::Short;
use crate::stats::Summary;
use homa::Family;
use homa::Socket;
use std::fmt;
use std::io;
use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;

/// A row of the table: lengths of request and response, how many RPCs, and how
/// many of them at once.
struct Row(usize, usize, usize, usize);

const ROWS: [Row; 9] = [
    Row(1, 1, 50, 1),
    Row(100, 100, 50, 1),
    Row(1_400, 1_400, 50, 1),
    Row(10_000, 100, 50, 1),
    Row(100, 10_000, 50, 1),
    Row(100_000, 100_000, 20, 1),
    Row(1_000_000, 100, 10, 1),
    Row(100, 1_000_000, 10, 1),
    Row(1_000_000, 1_000_000, 10, 1),
];

/// RPCs of the last row, which are all under way at once.
const CROWD: usize = 100;

/// A number with commas between the thousands.
struct Commas(u64);

impl fmt::Display for Commas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut text = String::new();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index) % 3 == 0 {
                text.push(',');
            }
            text.push(digit);
        }
        f.pad(&text)
    }
}

/// Runs the demonstration against a server.
pub(crate) fn run(
    dest: SocketAddr,
    deadline: Duration,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let socket = groups::open_client(Family::of(dest.ip()))?;
    writeln!(
        out,
        "Requests over IPPROTO_HOMA to {dest}; every byte of every response is compared.\n\n\
         {:>11}  {:>11}  {:>6}  {:>9}  {:>9}  {:>9}",
        "request", "response", "RPCs", "minimum", "median", "99 %"
    )?;
    let mut totals = (0, 0);
    for Row(request, response, count, outstanding) in ROWS {
        let exchange = |index: usize| Exchange::new(request, response, index as u64);
        let report = row(
            &socket,
            dest,
            deadline,
            (0..count).map(exchange).collect(),
            outstanding,
        )?;
        let lens = (
            format!("{} B", Commas(request as u64)),
            format!("{} B", Commas(response as u64)),
        );
        print(out, &lens.0, &lens.1, &report, &mut totals)?;
    }
    let crowd = (0..CROWD).map(|index| Exchange::new(100, 100, index as u64));
    let report = row(&socket, dest, deadline, crowd.collect(), CROWD)?;
    print(out, "100 B", "all at once", &report, &mut totals)?;
    writeln!(
        out,
        "\n{} requests answered, {} bytes compared equal, none lost.",
        Commas(totals.0),
        Commas(totals.1)
    )?;
    Ok(())
}

fn row(
    socket: &Socket,
    dest: SocketAddr,
    deadline: Duration,
    exchanges: Vec<Exchange>,
    outstanding: usize,
) -> Result<Report, Failure> {
    let load = Load {
        dest,
        exchanges,
        outstanding,
        threads: 1,
        deadline,
    };
    client::run(socket, &load).map_err(|reason| Failure::new(reason))
}

fn print(
    out: &mut impl Write,
    request: &str,
    response: &str,
    report: &Report,
    totals: &mut (u64, u64),
) -> io::Result<()> {
    totals.0 += report.times.len() as u64;
    totals.1 += report.request_bytes + report.response_bytes;
    let Some(summary) = Summary::of(report.times.clone()) else {
        return Ok(());
    };
    writeln!(
        out,
        "{request:>11}  {response:>11}  {:>6}  {}  {}  {}",
        summary.count,
        Short(summary.min),
        Short(summary.median),
        Short(summary.p99)
    )?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas() {
        let shown = |number| Commas(number).to_string();
        assert_eq!(shown(0), "0");
        assert_eq!(shown(999), "999");
        assert_eq!(shown(1_000), "1,000");
        assert_eq!(shown(1_234_567), "1,234,567");
        assert_eq!(format!("{:>7}", Commas(1_000)), "  1,000");
    }

    #[test]
    fn rows_are_printed_and_counted() {
        let report = Report {
            times: vec![Duration::from_micros(40); 3],
            request_bytes: 10,
            response_bytes: 20,
            elapsed: Duration::from_secs(1),
        };
        let (mut out, mut totals) = (Vec::new(), (0, 0));
        print(&mut out, "1 B", "2 B", &report, &mut totals).unwrap();
        assert_eq!(totals, (3, 30));
        let line = String::from_utf8(out).unwrap();
        assert_eq!(
            line,
            "        1 B          2 B       3      40 us      40 us      40 us\n"
        );
    }
}
