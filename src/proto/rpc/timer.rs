// SPDX-License-Identifier: GPL-2.0

//! Silence: when to ask, and when to give up.

use super::Buffers;
use super::Event;
use super::Rpc;
use super::RpcError;
use super::State;
use crate::config::Config;
use crate::rx::Rx;
use crate::tx::Tx;

/// What the other end owes us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    /// Bytes of its message, or, if we are the client, a grant for ours.
    Data,
    /// The acknowledgment of our response, all of which was sent.
    Ack,
    /// A grant for our response.
    Grant,
}

impl Awaited {
    /// How long to wait before the first question.
    fn first_interval(self, config: &Config) -> u64 {
        match self {
            Self::Data => config.resend_ns,
            Self::Ack => config.need_ack_ns,
            Self::Grant => config.need_ack_max_ns,
        }
    }

    /// How long to wait at most between questions.
    fn max_interval(self, config: &Config) -> u64 {
        match self {
            Self::Data => config.resend_max_ns.max(config.resend_ns),
            Self::Ack | Self::Grant => config.need_ack_max_ns.max(config.need_ack_ns),
        }
    }
}

/// What speaks against it that the other end means the same RPC as we do. The
/// greater one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Doubt {
    None,
    /// It said that it does not know the RPC, all of which was then sent again.
    NotYet,
    /// It said that it does not know the RPC, of whose response it sent a part.
    Unknown,
    /// It takes a message for longer or shorter than it is, or asks for a
    /// request that it seemed to have answered.
    Mismatch,
}

/// The state of an RPC's clock. It counts only while something is awaited.
#[derive(Debug)]
pub(super) struct Timer {
    /// When silence began.
    silent_since: u64,
    /// When to ask.
    alarm: u64,
    /// How long to wait after having asked.
    interval: u64,
    /// How often we have asked since silence began.
    asked: u32,
    doubt: Doubt,
}

/// We give up only after so many questions, however much time seems to have
/// passed: when this host was stopped for a while, the answers may be waiting.
const MIN_ASKED: u32 = 5;

/// A server that answers, but never with having our request, gets this many times
/// the usual: where thousands of requests meet, one may be lost again and again.
const NOT_YET_PATIENCE: u64 = 8;

impl Timer {
    pub(super) fn new(now: u64, interval: u64) -> Self {
        Self {
            silent_since: now,
            alarm: now.saturating_add(interval),
            interval,
            asked: 0,
            doubt: Doubt::None,
        }
    }

    /// When to give up.
    fn give_up(&self, config: &Config) -> u64 {
        let patience = match self.doubt {
            Doubt::NotYet => config.timeout_ns.saturating_mul(NOT_YET_PATIENCE),
            Doubt::None | Doubt::Unknown | Doubt::Mismatch => config.timeout_ns,
        };
        self.silent_since.saturating_add(patience)
    }

    /// Postpones the alarm by the interval, but not beyond the end.
    fn postpone(&mut self, now: u64, config: &Config) {
        let alarm = now.saturating_add(self.interval);
        let end = self.give_up(config);
        self.alarm = if end > now { alarm.min(end) } else { alarm };
    }
}

impl Rpc {
    /// When [`Rpc::on_timer`] is to be called.
    pub fn deadline(&self) -> Option<u64> {
        self.awaited().map(|_| self.timer.alarm)
    }

    /// Takes note of the time; without effect before the deadline.
    pub fn on_timer(&mut self, now: u64, config: &Config) -> Option<Event> {
        let awaited = self.awaited()?;
        if now < self.timer.alarm {
            return None;
        }
        if now >= self.timer.give_up(config) && self.timer.asked >= MIN_ASKED {
            return self.fail(RpcError::TimedOut);
        }
        match awaited {
            Awaited::Data => self.pending.resend_from = Some(0),
            Awaited::Ack | Awaited::Grant => self.pending.need_ack = true,
        }
        self.timer.asked = self.timer.asked.saturating_add(1);
        let doubled = self.timer.interval.saturating_mul(2);
        self.timer.interval = doubled.min(awaited.max_interval(config));
        self.timer.postpone(now, config);
        None
    }

    /// Another of the other host's packets came at the time `at`. A host that
    /// is alive is not given up, however long it takes for one RPC among many,
    /// unless it seems to know another RPC than we do.
    pub fn host_heard(&mut self, at: u64) {
        if self.timer.doubt == Doubt::None {
            self.timer.silent_since = self.timer.silent_since.max(at);
        }
    }

    /// The other end is alive and knows the RPC.
    pub(super) fn heard(&mut self, now: u64, config: &Config) {
        if self.timer.doubt != Doubt::Mismatch {
            self.timer.doubt = Doubt::None;
            self.timer.silent_since = now;
            self.timer.asked = 0;
        }
        self.timer.postpone(now, config);
    }

    /// The other end seems to know another RPC than we do: that it is alive
    /// does not end silence, until something does that dispels the doubt.
    pub(super) fn doubt(&mut self, doubt: Doubt) {
        self.timer.doubt = self.timer.doubt.max(doubt);
    }

    /// The other end is alive and does its part, or we begin with ours: wait
    /// for it as if for the first time.
    pub(super) fn progress(&mut self, now: u64, config: &Config) {
        self.timer.doubt = Doubt::None;
        self.timer.interval = self.next_awaited().first_interval(config);
        self.heard(now, config);
    }

    /// Bytes were sent again: give them time to have an effect.
    pub(super) fn sent_again(&mut self, now: u64, config: &Config) {
        self.timer.postpone(now, config);
    }

    /// What is awaited, if it is the other end's turn.
    fn awaited(&self) -> Option<Awaited> {
        let awaited = match self.state {
            State::Ended | State::InService => false,
            State::Outgoing => !self.tx.as_ref().is_some_and(Tx::has_segment),
            State::Incoming => match (self.buffers, &self.rx) {
                (Buffers::Needed, _) => true,
                (Buffers::Have, Some(rx)) => !rx.complete() && !rx.caught_up(),
                (Buffers::Pending | Buffers::Unneeded | Buffers::Have, _) => false,
            },
        };
        awaited.then(|| self.next_awaited())
    }

    /// What is awaited when it is the other end's turn next.
    fn next_awaited(&self) -> Awaited {
        if self.is_client() || self.state == State::Incoming {
            Awaited::Data
        } else if self.tx.as_ref().is_some_and(all_sent) {
            Awaited::Ack
        } else {
            Awaited::Grant
        }
    }

    /// The incoming message, if it has received anything.
    pub(super) fn begun_rx(&self) -> Option<&Rx> {
        self.rx.as_ref().filter(|rx| rx.received_bytes() != 0)
    }
}

/// True if all bytes of a message were sent, be it that some are to be sent
/// again.
fn all_sent(tx: &Tx) -> bool {
    tx.sent() == tx.length()
}
