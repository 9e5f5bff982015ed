// SPDX-License-Identifier: GPL-2.0

//! What a run did, in numbers.

use std::collections::BTreeMap;
use std::fmt;

use homa_proto::wire::Packet;

use crate::clock::Millis;
use crate::clock::Time;
use crate::ledger::Ledger;
use crate::ledger::Outcome;
use crate::trace::Fate;

/// Numbers of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// When the last thing happened.
    pub ended: Time,
    /// Calls whose client has the response.
    pub done: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Calls whose client's host went down.
    pub abandoned: u64,
    /// Requests that a server's application got more than once.
    pub repeated: u64,
    /// Packets that hosts sent, by type.
    pub packets: BTreeMap<String, u64>,
    /// Packets lost, dropped by a full queue, or sent to a host that was down.
    pub dropped: u64,
    /// Copies beyond the first.
    pub duplicates: u64,
    /// Payload bytes sent.
    pub payload_bytes: u64,
    /// Payload bytes sent again.
    pub resent_bytes: u64,
    /// Packets that had no effect, by reason.
    pub discarded: BTreeMap<String, u64>,
    /// Server RPCs that were forgotten, by reason.
    pub forgotten: BTreeMap<String, u64>,
    /// The most RPCs that a host had at once.
    pub most_rpcs: usize,
    /// Things that happened.
    pub events: u64,
    /// [`crate::trace::Trace::digest`].
    pub digest: u64,
}

impl Report {
    /// Counts a packet that a host sent.
    pub fn count_packet(&mut self, packet: &Packet, fate: Fate) {
        let name = format!("{:?}", packet.packet_type());
        *self.packets.entry(name).or_default() += 1;
        if let Packet::Data(data) = packet {
            self.payload_bytes += u64::from(data.payload_len);
            if data.retransmit {
                self.resent_bytes += u64::from(data.payload_len);
            }
        }
        match fate {
            Fate::Sent(copies) => {
                self.duplicates += u64::try_from(copies.saturating_sub(1)).unwrap_or(0);
            }
            Fate::Lost | Fate::QueueFull | Fate::HostDown => self.dropped += 1,
        }
    }

    /// Counts the calls in the book.
    pub fn count_calls(&mut self, ledger: &Ledger) {
        for record in ledger.records() {
            match record.outcome {
                Outcome::Done(_) => self.done += 1,
                Outcome::Failed(..) => self.failed += 1,
                Outcome::Abandoned(_) => self.abandoned += 1,
                Outcome::Pending => {}
            }
            self.repeated += u64::from(record.executions.saturating_sub(1));
        }
    }

    /// All packets that hosts sent.
    pub fn sent(&self) -> u64 {
        self.packets.values().sum()
    }
}

/// The numbers in one line.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ms, {} done, {} failed, {} abandoned, {} repeated; {} packets, \
             {} dropped, {} duplicated; {} bytes, {} again; at most {} RPCs; digest {:016x}",
            Millis(self.ended),
            self.done,
            self.failed,
            self.abandoned,
            self.repeated,
            self.sent(),
            self.dropped,
            self.duplicates,
            self.payload_bytes,
            self.resent_bytes,
            self.most_rpcs,
            self.digest,
        )
    }
}

/// The numbers of many runs, and what they are about.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Number of runs.
    pub runs: u64,
    total: Report,
}

impl Summary {
    /// The sums over all runs; of the most RPCs at once, the largest.
    pub fn total(&self) -> &Report {
        &self.total
    }

    /// Adds a run.
    pub fn add(&mut self, report: &Report) {
        self.runs += 1;
        let total = &mut self.total;
        total.ended += report.ended;
        total.done += report.done;
        total.failed += report.failed;
        total.abandoned += report.abandoned;
        total.repeated += report.repeated;
        total.dropped += report.dropped;
        total.duplicates += report.duplicates;
        total.payload_bytes += report.payload_bytes;
        total.resent_bytes += report.resent_bytes;
        total.most_rpcs = total.most_rpcs.max(report.most_rpcs);
        total.events += report.events;
        for (sums, numbers) in [
            (&mut total.packets, &report.packets),
            (&mut total.discarded, &report.discarded),
            (&mut total.forgotten, &report.forgotten),
        ] {
            for (name, number) in numbers {
                *sums.entry(name.clone()).or_default() += number;
            }
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = &self.total;
        writeln!(
            f,
            "{} runs: {} calls done, {} failed, {} abandoned, {} executed again",
            self.runs, total.done, total.failed, total.abandoned, total.repeated
        )?;
        writeln!(
            f,
            "{} packets, {} dropped, {} duplicated, {} bytes, {} of them again; \
             at most {} RPCs at a host; {} events in {} virtual ms",
            total.sent(),
            total.dropped,
            total.duplicates,
            total.payload_bytes,
            total.resent_bytes,
            total.most_rpcs,
            total.events,
            Millis(total.ended),
        )?;
        for (title, numbers) in [
            ("packets", &total.packets),
            ("without effect", &total.discarded),
            ("forgotten by servers", &total.forgotten),
        ] {
            let list: Vec<String> = numbers
                .iter()
                .map(|(name, number)| format!("{name} {number}"))
                .collect();
            writeln!(f, "{title}: {}", list.join(", "))?;
        }
        Ok(())
    }
}
