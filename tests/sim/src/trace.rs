// SPDX-License-Identifier: GPL-2.0

//! What happened, in order: as text for people, as a digest to compare runs.

use std::fmt;
use std::io::Write;

use homa_proto::wire::Packet;
use homa_proto::wire::Resend;

use crate::clock::Millis;
use crate::clock::Time;
use crate::ledger::Number;
use crate::rng::mix;

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// So many copies are under way.
    Sent(usize),
    /// It is lost.
    Lost,
    /// The switch's queue is full.
    QueueFull,
    /// The host is down.
    HostDown,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sent(1) => Ok(()),
            Self::Sent(copies) => write!(f, " x{copies}"),
            Self::Lost => f.write_str(" lost"),
            Self::QueueFull => f.write_str(" dropped: queue full"),
            Self::HostDown => f.write_str(" dropped: host down"),
        }
    }
}

/// A packet in few words: its type and what it is about.
#[derive(Clone, Copy, Debug)]
pub struct Brief<'a>(pub &'a Packet);

impl fmt::Display for Brief<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Packet::Data(data) => {
                let end = u64::from(data.offset) + u64::from(data.payload_len);
                let again = if data.retransmit { " again" } else { "" };
                let ack = if data.ack.is_some() { " +ack" } else { "" };
                let (start, length) = (data.offset, data.message_length);
                write!(f, "DATA {start}..{end}/{length}{again}{ack}")
            }
            Packet::Grant(grant) => write!(f, "GRANT {}", grant.offset),
            Packet::Resend(resend) if resend.length == Resend::ALL => f.write_str("RESEND all"),
            Packet::Resend(resend) => {
                let end = u64::from(resend.offset) + u64::from(resend.length);
                write!(f, "RESEND {}..{end}", resend.offset)
            }
            Packet::Unknown => f.write_str("UNKNOWN"),
            Packet::Busy => f.write_str("BUSY"),
            Packet::Cutoffs(_) => f.write_str("CUTOFFS"),
            Packet::Freeze => f.write_str("FREEZE"),
            Packet::NeedAck => f.write_str("NEED_ACK"),
            Packet::Ack(acks) => write!(f, "ACK +{}", acks.as_slice().len()),
        }
    }
}

/// Where text goes.
#[derive(Default)]
pub enum Sink {
    /// Nowhere.
    #[default]
    Nowhere,
    /// To a file or the like; that it cannot be written does not matter.
    Write(Box<dyn Write>),
    /// Here.
    Keep(Vec<String>),
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nowhere => "Nowhere",
            Self::Write(_) => "Write",
            Self::Keep(_) => "Keep",
        })
    }
}

/// The record of a run.
#[derive(Debug, Default)]
pub struct Trace {
    sink: Sink,
    digest: u64,
}

impl Trace {
    /// An empty record.
    pub fn new(sink: Sink) -> Self {
        Self { sink, digest: 0 }
    }

    /// A number that depends on all that happened and on its order. Two runs
    /// that have the same did the same.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Notes what became of a packet; `header` is its beginning.
    pub fn packet(
        &mut self,
        at: Time,
        way: [usize; 2],
        call: Option<Number>,
        packet: &Packet,
        header: &[u8],
        fate: Fate,
    ) {
        self.mix_bytes(&at.to_le_bytes());
        self.mix_bytes(header);
        self.mix_bytes(fate.to_string().as_bytes());
        let [from, to] = way;
        self.write(|| {
            let call = call.map_or("#?".to_owned(), |number| format!("#{number}"));
            let at = Millis(at);
            format!("{at} h{from}>h{to} {call} {}{fate}", Brief(packet))
        });
    }

    /// Notes something that happened at a host.
    pub fn note(&mut self, at: Time, host: usize, what: fmt::Arguments<'_>) {
        let what = what.to_string();
        self.mix_bytes(&at.to_le_bytes());
        self.mix_bytes(what.as_bytes());
        self.write(|| format!("{} h{host} {what}", Millis(at)));
    }

    /// Takes the lines out that were kept.
    pub fn take_lines(&mut self) -> Vec<String> {
        match &mut self.sink {
            Sink::Keep(lines) => std::mem::take(lines),
            Sink::Nowhere | Sink::Write(_) => Vec::new(),
        }
    }

    fn mix_bytes(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.digest = mix(self.digest ^ u64::from_le_bytes(word));
        }
    }

    fn write(&mut self, line: impl FnOnce() -> String) {
        match &mut self.sink {
            Sink::Nowhere => {}
            Sink::Write(file) => {
                let _ = writeln!(file, "{}", line());
            }
            Sink::Keep(lines) => lines.push(line()),
        }
    }
}
