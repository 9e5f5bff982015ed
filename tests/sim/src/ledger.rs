// SPDX-License-Identifier: GPL-2.0

//! The book of all calls: who called whom, and what became of it.
//!
//! It is kept from outside: no host reads it to do its work. Applications look
//! up only what a real request would tell them in its content, which here is
//! nothing but check bytes: how long the response is to be and how long the
//! work takes.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use homa_proto::rpc::RpcError;

use crate::clock::Millis;
use crate::clock::Time;
use crate::violation::ensure;
use crate::violation::Violation;

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The client's host.
    pub client: usize,
    /// The server's host.
    pub server: usize,
    /// Length of the request in bytes.
    pub request: u32,
    /// Length of the response in bytes.
    pub response: u32,
    /// How long the server's application works on it.
    pub service: Time,
    /// How long the client's application lets the response lie before it takes
    /// it.
    pub reading: Time,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing yet.
    Pending,
    /// The client's application has the response.
    Done(Time),
    /// It failed.
    Failed(Time, RpcError),
    /// The client's host, or its application, gave it up.
    Abandoned(Time),
}

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// What was asked for.
    pub order: Order,
    /// The RPC's id at the client.
    pub id: u64,
    /// When the client called.
    pub started: Time,
    /// How often a server's application took the request.
    pub executions: u32,
    /// What became of it.
    pub outcome: Outcome,
}

/// The number of a call, counted from 0.
pub type Number = usize;

/// The book.
#[derive(Debug, Default)]
pub struct Ledger {
    records: Vec<Record>,
    numbers: BTreeMap<(usize, u64), Number>,
    pending: BTreeSet<(Time, Number)>,
}

impl Ledger {
    /// Notes a new call.
    pub fn begin(&mut self, now: Time, id: u64, order: Order) -> Number {
        let number = self.records.len();
        self.records.push(Record {
            order,
            id,
            started: now,
            executions: 0,
            outcome: Outcome::Pending,
        });
        self.numbers.insert((order.client, id), number);
        self.pending.insert((now, number));
        number
    }

    /// The number of the call with this id at this client.
    pub fn number(&self, client: usize, id: u64) -> Option<Number> {
        self.numbers.get(&(client, id)).copied()
    }

    /// The call with this number.
    pub fn record(&self, number: Number) -> &Record {
        &self.records[number]
    }

    /// All calls.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Notes that the application of host `server` took a request.
    pub fn executed(&mut self, number: Number, server: usize) -> Result<(), Violation> {
        let record = &mut self.records[number];
        ensure!(
            record.order.server == server,
            "the request #{number} was delivered at the wrong host, h{server}"
        );
        record.executions += 1;
        Ok(())
    }

    /// Checks that a server got the request of a call to which there is a
    /// response.
    pub fn check_executed(&self, number: Number) -> Result<(), Violation> {
        ensure!(
            self.records[number].executions > 0,
            "there is a response to the call #{number}, which no server got"
        );
        Ok(())
    }

    /// Notes how a call ended.
    pub fn end(&mut self, number: Number, outcome: Outcome) -> Result<(), Violation> {
        let record = &mut self.records[number];
        ensure!(
            record.outcome == Outcome::Pending,
            "the call #{number} ended twice: {:?}, then {outcome:?}",
            record.outcome
        );
        record.outcome = outcome;
        self.pending.remove(&(record.started, number));
        Ok(())
    }

    /// Notes that all calls of a client's host are given up.
    pub fn abandon_all(&mut self, now: Time, client: usize) -> Result<(), Violation> {
        let ended: Vec<Number> = self
            .pending
            .iter()
            .map(|&(_, number)| number)
            .filter(|&number| self.records[number].order.client == client)
            .collect();
        ended
            .into_iter()
            .try_for_each(|number| self.end(number, Outcome::Abandoned(now)))
    }

    /// Checks that no call takes longer than `limit`.
    pub fn check_progress(&self, now: Time, limit: Time) -> Result<(), Violation> {
        if let Some(&(started, number)) = self.pending.first() {
            ensure!(
                now - started <= limit,
                "the call #{number} has been going on since {} ms: {:?}",
                Millis(started),
                self.records[number].order
            );
        }
        Ok(())
    }

    /// Checks that all calls have ended.
    pub fn check_all_ended(&self) -> Result<(), Violation> {
        match self.pending.first() {
            None => Ok(()),
            Some((_, number)) => Err(Violation::new(format!(
                "nothing happens any more, and the call #{number} has not ended"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: Order = Order {
        client: 0,
        server: 1,
        request: 100,
        response: 200,
        service: 0,
        reading: 0,
    };

    #[test]
    fn a_call_ends_once() {
        let mut ledger = Ledger::default();
        let number = ledger.begin(5, 2, ORDER);
        assert_eq!(ledger.number(0, 2), Some(number));
        assert_eq!(ledger.number(1, 2), None);
        ledger.check_all_ended().unwrap_err();
        ledger.check_executed(number).unwrap_err();
        ledger.executed(number, 0).unwrap_err();
        ledger.executed(number, 1).unwrap();
        ledger.check_executed(number).unwrap();
        ledger.end(number, Outcome::Done(7)).unwrap();
        ledger.end(number, Outcome::Done(8)).unwrap_err();
        ledger.check_all_ended().unwrap();
    }

    #[test]
    fn the_oldest_call_is_watched() {
        let mut ledger = Ledger::default();
        ledger.begin(5, 2, ORDER);
        ledger.begin(90, 4, ORDER);
        ledger.check_progress(105, 100).unwrap();
        ledger.check_progress(106, 100).unwrap_err();
        ledger.abandon_all(106, 0).unwrap();
        ledger.check_progress(1_000, 100).unwrap();
    }
}
