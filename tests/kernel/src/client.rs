// SPDX-License-Identifier: GPL-2.0
//! The client: sends requests, checks every byte of the responses, takes times.

use crate::exchange::Exchange;
use homa::Error;
use homa::Message;
use homa::RpcError;
use homa::RpcId;
use homa::Socket;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::thread;
use std::time::Duration;
use std::time::Instant;

/// Longest time without any response before a client gives up.
const PATIENCE: Duration = Duration::from_secs(20);

/// Longest sleep of a thread before it looks whether others have finished.
const GLANCE: Duration = Duration::from_millis(200);

/// What a client is to do.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    /// The server.
    pub(crate) dest: SocketAddr,
    /// The RPCs, in the order in which they are begun.
    pub(crate) exchanges: Vec<Exchange>,
    /// How many RPCs may be under way at once.
    pub(crate) outstanding: usize,
    /// Threads that share the socket.
    pub(crate) threads: usize,
    /// Time for all of it.
    pub(crate) deadline: Duration,
}

/// What a client did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    /// Round-trip time of each RPC, in the order of [`Load::exchanges`].
    pub(crate) times: Vec<Duration>,
    pub(crate) request_bytes: u64,
    pub(crate) response_bytes: u64,
    /// Time for all of it.
    pub(crate) elapsed: Duration,
}

/// Runs `load` on `socket`, which becomes non-blocking. Fails at the first RPC
/// that fails, gets a wrong response, or gets none in time.
pub(crate) fn run(socket: &Socket, load: &Load) -> Result<Report, String> {
    socket
        .set_nonblocking(true)
        .map_err(|error| error.to_string())?;
    let start = Instant::now();
    let client = Client {
        socket,
        load,
        start,
        state: Mutex::new(State::new(load.exchanges.len(), start)),
    };
    thread::scope(|scope| {
        for _ in 1..load.threads.max(1) {
            scope.spawn(|| client.work());
        }
        client.work();
    });
    let state = client
        .state
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    match state.failure {
        Some(failure) => Err(failure),
        None => Ok(state.report(load, start.elapsed())),
    }
}

/// How far an RPC is.
#[derive(Debug, Clone, Copy)]
enum Progress {
    Waiting,
    /// Being sent or sent; the id is known afterwards.
    Sent {
        at: Instant,
        id: Option<RpcId>,
    },
    Done {
        time: Duration,
    },
}

#[derive(Debug)]
struct State {
    rpcs: Vec<Progress>,
    /// RPCs that were begun.
    begun: usize,
    /// RPCs that were completed.
    done: usize,
    /// When an RPC was last completed.
    last: Instant,
    /// Why everything ends.
    failure: Option<String>,
}

impl State {
    fn new(count: usize, start: Instant) -> Self {
        Self {
            rpcs: vec![Progress::Waiting; count],
            begun: 0,
            done: 0,
            last: start,
            failure: None,
        }
    }

    /// Takes the next RPC to be sent, if the client may send one.
    fn begin(&mut self, outstanding: usize) -> Option<usize> {
        let index = self.begun;
        if self.begun - self.done >= outstanding.max(1) {
            return None;
        }
        *self.rpcs.get_mut(index)? = Progress::Sent {
            at: Instant::now(),
            id: None,
        };
        self.begun += 1;
        Some(index)
    }

    /// Notes what `send_request` returned. Its response may be there already.
    fn sent(&mut self, index: usize, sent_id: RpcId) {
        if let Some(Progress::Sent { id, .. }) = self.rpcs.get_mut(index) {
            *id = Some(sent_id);
        }
    }

    /// Notes that RPC `cookie` was answered.
    fn complete(&mut self, cookie: u64, id: RpcId) -> Result<usize, String> {
        let index = usize::try_from(cookie).unwrap_or(usize::MAX);
        let now = Instant::now();
        match self.rpcs.get_mut(index) {
            Some(rpc @ &mut Progress::Sent { at, id: sent }) => {
                if sent.is_some_and(|sent| sent != id) {
                    return Err(format!("RPC {index} was answered under id {id}"));
                }
                *rpc = Progress::Done { time: now - at };
                self.done += 1;
                self.last = now;
                Ok(index)
            }
            Some(Progress::Done { .. }) => Err(format!("RPC {index} was answered twice")),
            _ => Err(format!("a response came with the unknown cookie {cookie}")),
        }
    }

    fn fail(&mut self, failure: String) {
        self.failure.get_or_insert(failure);
    }

    fn finished(&self) -> bool {
        self.done == self.rpcs.len() || self.failure.is_some()
    }

    fn report(&self, load: &Load, elapsed: Duration) -> Report {
        let times = self.rpcs.iter().map(|rpc| match rpc {
            Progress::Done { time } => *time,
            _ => Duration::ZERO,
        });
        let sum = |len: fn(&Exchange) -> usize| -> u64 {
            load.exchanges.iter().map(|one| len(one) as u64).sum()
        };
        Report {
            times: times.collect(),
            request_bytes: sum(Exchange::request_len),
            response_bytes: sum(Exchange::response_len),
            elapsed,
        }
    }

    /// The first few RPCs that are under way.
    fn under_way(&self, load: &Load) -> String {
        let open = self.rpcs.iter().zip(&load.exchanges).enumerate();
        let open = open.filter_map(|(index, (rpc, exchange))| match rpc {
            Progress::Sent { id, .. } => {
                let id = id.map_or_else(|| "?".into(), |id| id.to_string());
                let (out, back) = (exchange.request_len(), exchange.response_len());
                Some(format!("number {index}, id {id}, {out} bytes for {back}"))
            }
            _ => None,
        });
        open.take(5).collect::<Vec<_>>().join("; ")
    }
}

struct Client<'a> {
    socket: &'a Socket,
    load: &'a Load,
    start: Instant,
    state: Mutex<State>,
}

impl Client<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One thread's work, until everything is done or something failed.
    fn work(&self) {
        let mut bytes = Vec::new();
        while !self.state().finished() {
            if let Err(failure) = self.send_some(&mut bytes).and_then(|()| self.receive()) {
                self.state().fail(failure);
            }
        }
    }

    /// Sends until enough RPCs are under way, or there is no memory for more.
    fn send_some(&self, bytes: &mut Vec<u8>) -> Result<(), String> {
        loop {
            let Some(index) = self.state().begin(self.load.outstanding) else {
                return Ok(());
            };
            let Some(exchange) = self.load.exchanges.get(index) else {
                return Ok(());
            };
            exchange.write_request(bytes);
            loop {
                match self
                    .socket
                    .send_request(self.load.dest, bytes, index as u64)
                {
                    Ok(id) => break self.state().sent(index, id),
                    Err(Error::Interrupted) => {}
                    // Memory is free again when responses have been received.
                    Err(Error::WouldBlock) => self.receive()?,
                    Err(error) => return Err(format!("RPC {index}: {error}")),
                }
            }
        }
    }

    /// Receives and checks a message, or finds out that it is too late.
    fn receive(&self) -> Result<(), String> {
        match self.socket.recv_timeout(GLANCE) {
            Ok(message) => self.check(&message)?,
            Err(Error::TimedOut | Error::Interrupted) => {}
            Err(Error::Rpc(error)) => return Err(self.describe_failed(&error)),
            Err(error) => return Err(error.to_string()),
        }
        self.check_time()
    }

    /// What failed, and how far the others were.
    fn describe_failed(&self, error: &RpcError) -> String {
        let index = usize::try_from(error.cookie).unwrap_or(usize::MAX);
        let state = self.state();
        let after = match state.rpcs.get(index) {
            Some(Progress::Sent { at, .. }) => at.elapsed().as_millis(),
            _ => 0,
        };
        let (out, back) = self
            .load
            .exchanges
            .get(index)
            .map_or((0, 0), |one| (one.request_len(), one.response_len()));
        format!(
            "{error}, {after} ms after it was sent; it is number {index}, {out} bytes for {back}; \
             {} of {} RPCs begun, {} complete",
            state.begun,
            self.load.exchanges.len(),
            state.done
        )
    }

    fn check(&self, response: &Message) -> Result<(), String> {
        let (id, peer) = (response.id(), response.peer());
        if response.is_request() {
            return Err(format!("{peer} sent a request, with id {id}"));
        }
        if canonical(peer) != canonical(self.load.dest) {
            return Err(format!("{peer} sent a response, with id {id}"));
        }
        let index = self.state().complete(response.cookie(), id)?;
        let Some(exchange) = self.load.exchanges.get(index) else {
            return Ok(());
        };
        exchange.check_response(response).map_err(|reason| {
            let (out, back) = (exchange.request_len(), exchange.response_len());
            format!("RPC {index}, id {id}, {out} bytes for {back}: {reason}")
        })
    }

    fn check_time(&self) -> Result<(), String> {
        let state = self.state();
        let problem = if state.last.elapsed() > PATIENCE {
            format!("no response for {} s", PATIENCE.as_secs())
        } else if self.start.elapsed() > self.load.deadline {
            format!("not done after {} s", self.load.deadline.as_secs())
        } else {
            return Ok(());
        };
        let (done, count) = (state.done, self.load.exchanges.len());
        let under_way = state.under_way(self.load);
        Err(format!(
            "{problem}: {done} of {count} RPCs complete; under way: {under_way}"
        ))
    }
}

/// An address without what may differ between two forms of it.
fn canonical(addr: SocketAddr) -> SocketAddr {
    SocketAddr::new(addr.ip().to_canonical(), addr.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(count: usize) -> State {
        State::new(count, Instant::now())
    }

    #[test]
    fn no_more_than_allowed_are_under_way() {
        let mut state = state(3);
        assert_eq!(state.begin(2), Some(0));
        assert_eq!(state.begin(2), Some(1));
        assert_eq!(state.begin(2), None);
        state.sent(0, RpcId::from_raw(2));
        assert_eq!(state.complete(0, RpcId::from_raw(2)), Ok(0));
        assert_eq!(state.begin(2), Some(2));
        assert_eq!(state.begin(9), None);
    }

    #[test]
    fn a_response_may_overtake_the_return_of_send() {
        let mut state = state(1);
        state.begin(1);
        assert_eq!(state.complete(0, RpcId::from_raw(8)), Ok(0));
        state.sent(0, RpcId::from_raw(8));
        assert!(state.finished());
    }

    #[test]
    fn wrong_responses_are_noticed() {
        let mut state = state(2);
        state.begin(2);
        state.sent(0, RpcId::from_raw(2));
        let id = RpcId::from_raw(4);
        assert!(state.complete(0, id).unwrap_err().contains("under id 4"));
        assert!(state.complete(1, id).unwrap_err().contains("unknown"));
        assert!(state.complete(u64::MAX, id).is_err());
        let id = RpcId::from_raw(2);
        assert_eq!(state.complete(0, id), Ok(0));
        assert!(state.complete(0, id).unwrap_err().contains("twice"));
    }

    #[test]
    fn both_forms_of_an_address_are_the_same() {
        let mapped = canonical("[::ffff:10.0.0.2]:7".parse().unwrap());
        assert_eq!(mapped, canonical("10.0.0.2:7".parse().unwrap()));
    }
}
