// SPDX-License-Identifier: GPL-2.0
//! The server that answers the test client.

use crate::check::Failure;
use crate::exchange;
use crate::exchange::Exchange;
use crate::netns;
use homa::Error;
use homa::Family;
use homa::Socket;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;
use std::thread::JoinHandle;

/// Port of the IPv4 socket, unless told otherwise.
pub(crate) const PORT_V4: u16 = 4000;

/// Port of the IPv6 socket, unless told otherwise. Ports are not per family.
pub(crate) const PORT_V6: u16 = 4001;

/// What a server is to be like.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    /// Sockets to open: family and port of each.
    pub(crate) sockets: Vec<(Family, u16)>,
    /// Threads that serve each socket.
    pub(crate) threads: usize,
    /// Length of each socket's receive region in bytes.
    pub(crate) region_len: usize,
    /// Network namespace in which the sockets are opened.
    pub(crate) netns: Option<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            sockets: vec![(Family::V4, PORT_V4), (Family::V6, PORT_V6)],
            threads: 2,
            region_len: homa::DEFAULT_REGION_LEN,
            netns: None,
        }
    }
}

/// What a server did.
#[derive(Debug, Default)]
struct Counts {
    requests: AtomicU64,
    request_bytes: AtomicU64,
    response_bytes: AtomicU64,
    problems: Mutex<Vec<String>>,
}

/// A copy of what a server did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) requests: u64,
    pub(crate) request_bytes: u64,
    pub(crate) response_bytes: u64,
    /// What went wrong, at most [`MAX_PROBLEMS`] of it.
    pub(crate) problems: Vec<String>,
}

/// Problems of which a server keeps the text.
const MAX_PROBLEMS: usize = 20;

impl Counts {
    fn problem(&self, text: String) {
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        if problems.len() < MAX_PROBLEMS {
            problems.push(text);
        }
    }

    fn totals(&self) -> Totals {
        let problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        Totals {
            requests: self.requests.load(Ordering::Relaxed),
            request_bytes: self.request_bytes.load(Ordering::Relaxed),
            response_bytes: self.response_bytes.load(Ordering::Relaxed),
            problems: problems.clone(),
        }
    }
}

/// A running server. It stops when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    sockets: Vec<Arc<Socket>>,
    threads: Vec<JoinHandle<()>>,
    counts: Arc<Counts>,
}

impl Server {
    /// Opens the sockets and starts the threads.
    pub(crate) fn start(config: &Config) -> Result<Self, Failure> {
        let mut server = Self {
            sockets: Vec::new(),
            threads: Vec::new(),
            counts: Arc::default(),
        };
        for &(family, port) in &config.sockets {
            let region_len = config.region_len;
            let socket = netns::inside(config.netns.as_deref(), move || {
                open(family, port, region_len)
            })?;
            let socket = Arc::new(socket);
            server.sockets.push(Arc::clone(&socket));
            for _ in 0..config.threads.max(1) {
                let socket = Arc::clone(&socket);
                let counts = Arc::clone(&server.counts);
                let thread = thread::Builder::new().name(format!("server {port}"));
                let thread = thread.spawn(move || serve(&socket, &counts))?;
                server.threads.push(thread);
            }
        }
        Ok(server)
    }

    /// What the server has done so far.
    pub(crate) fn totals(&self) -> Totals {
        self.counts.totals()
    }

    /// Stops the server; returns what it did.
    pub(crate) fn stop(mut self) -> Totals {
        self.end();
        self.totals()
    }

    /// Waits for ever, or until the threads end because of an error.
    pub(crate) fn join(mut self) -> Totals {
        for thread in self.threads.drain(..) {
            join(thread, &self.counts);
        }
        self.totals()
    }

    fn end(&mut self) {
        for socket in &self.sockets {
            if let Err(error) = socket.shutdown() {
                self.counts.problem(error.to_string());
            }
        }
        for thread in self.threads.drain(..) {
            join(thread, &self.counts);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

fn join(thread: JoinHandle<()>, counts: &Counts) {
    if thread.join().is_err() {
        counts.problem("a server thread panicked".into());
    }
}

/// Opens a server's socket.
pub(crate) fn open(family: Family, port: u16, region_len: usize) -> Result<Socket, Failure> {
    let socket = Socket::new(family)?;
    socket.set_recv_region(region_len.max(homa::min_region_len()))?;
    socket.bind(port)?;
    Ok(socket)
}

/// Answers requests until the socket is shut down.
fn serve(socket: &Socket, counts: &Counts) {
    let mut response = Vec::new();
    loop {
        let request = match socket.recv() {
            Ok(message) => message,
            Err(Error::Shutdown) => return,
            Err(Error::Interrupted) => continue,
            Err(error) => {
                counts.problem(format!("the server could not receive: {error}"));
                return;
            }
        };
        let from = request.reply_to();
        counts.requests.fetch_add(1, Ordering::Relaxed);
        let len = request.len();
        counts
            .request_bytes
            .fetch_add(len as u64, Ordering::Relaxed);
        match Exchange::of_request(&request) {
            Ok(exchange) => exchange.write_response(&mut response),
            Err(reason) => {
                response = exchange::complaint(&reason);
                counts.problem(format!("request {} of {}: {reason}", from.id, from.peer));
            }
        }
        // The memory is wanted for other requests while this one is answered.
        drop(request);
        let response_len = response.len() as u64;
        counts
            .response_bytes
            .fetch_add(response_len, Ordering::Relaxed);
        match socket.send_reply(from, &response) {
            Ok(()) => {}
            Err(Error::Shutdown) => return,
            Err(error) => counts.problem(format!("request {}: {error}", from.id)),
        }
    }
}
