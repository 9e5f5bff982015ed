// SPDX-License-Identifier: GPL-2.0
//! What the test client and the test server say to each other.
//!
//! A request of at least [`HEADER_LEN`] bytes begins with a header, little
//! endian: a magic number (4 bytes), the length that the response shall have (4
//! bytes), and the seed of both messages (8 bytes). The pattern of the seed
//! follows. A shorter request is all pattern, of a seed that follows from its
//! length, and its response is as long as itself. A response is all pattern.
//!
//! A server that receives something else answers with a complaint: text that
//! begins with [`COMPLAINT`].

use crate::pattern;
use homa::Message;

/// Length of a request's header in bytes.
pub(crate) const HEADER_LEN: usize = 16;

/// How a complaint begins.
const COMPLAINT: &[u8] = b"homa-ktest: ";

const MAGIC: [u8; 4] = *b"HoKt";

/// Added to the seed for the response, so that a request that comes back as it
/// was is not mistaken for one.
const RESPONSE: u64 = 0x5245_5350_4f4e_5345;

/// A request and its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exchange {
    request_len: usize,
    response_len: usize,
    seed: u64,
}

impl Exchange {
    /// A request of `request_len` bytes that asks for `response_len`. A request
    /// too short to ask for anything gets as many bytes as it has.
    pub(crate) fn new(request_len: usize, response_len: usize, seed: u64) -> Self {
        if request_len < HEADER_LEN {
            return Self::short(request_len);
        }
        Self {
            request_len,
            response_len,
            seed,
        }
    }

    fn short(len: usize) -> Self {
        Self {
            request_len: len,
            response_len: len,
            seed: len as u64,
        }
    }

    pub(crate) fn request_len(&self) -> usize {
        self.request_len
    }

    pub(crate) fn response_len(&self) -> usize {
        self.response_len
    }

    /// The request, in `bytes`.
    pub(crate) fn write_request(&self, bytes: &mut Vec<u8>) {
        bytes.clear();
        if self.request_len >= HEADER_LEN {
            bytes.extend_from_slice(&MAGIC);
            let wanted = u32::try_from(self.response_len).unwrap_or(u32::MAX);
            bytes.extend_from_slice(&wanted.to_le_bytes());
            bytes.extend_from_slice(&self.seed.to_le_bytes());
        }
        pattern::append(bytes, self.seed, bytes.len(), self.request_len);
    }

    /// The response, in `bytes`.
    pub(crate) fn write_response(&self, bytes: &mut Vec<u8>) {
        bytes.clear();
        pattern::append(
            bytes,
            self.seed.wrapping_add(RESPONSE),
            0,
            self.response_len,
        );
    }

    /// What the client asks for, unless a byte of the request is wrong.
    pub(crate) fn of_request(request: &Message) -> Result<Self, String> {
        Self::parse(request.len(), request.chunks())
    }

    fn parse<'a>(len: usize, chunks: impl Iterator<Item = &'a [u8]>) -> Result<Self, String> {
        if len < HEADER_LEN {
            let exchange = Self::short(len);
            check_pattern(chunks, exchange.seed, 0)?;
            return Ok(exchange);
        }
        let mut chunks = chunks.peekable();
        let header = chunks.peek().and_then(|chunk| header(chunk));
        let Some((response_len, seed)) = header else {
            return Err(format!("a request of {len} bytes has no header"));
        };
        check_pattern(chunks, seed, HEADER_LEN)?;
        Ok(Self {
            request_len: len,
            response_len,
            seed,
        })
    }

    /// Compares a response with what was asked for.
    pub(crate) fn check_response(&self, response: &Message) -> Result<(), String> {
        self.check(response.len(), response.chunks())
    }

    fn check<'a>(
        &self,
        len: usize,
        chunks: impl Iterator<Item = &'a [u8]> + Clone,
    ) -> Result<(), String> {
        let checked = if len == self.response_len {
            check_pattern(chunks.clone(), self.seed.wrapping_add(RESPONSE), 0)
        } else {
            Err(format!(
                "the response has {len} bytes instead of {}",
                self.response_len
            ))
        };
        checked.map_err(|reason| match complaint_in(chunks) {
            Some(complaint) => format!("the server says: {complaint}"),
            None => reason,
        })
    }
}

/// The bytes with which a server answers what it can't accept.
pub(crate) fn complaint(reason: &str) -> Vec<u8> {
    [COMPLAINT, reason.as_bytes()].concat()
}

fn complaint_in<'a>(mut chunks: impl Iterator<Item = &'a [u8]>) -> Option<String> {
    let text = chunks.next()?.strip_prefix(COMPLAINT)?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Response length and seed, from the beginning of a request.
fn header(bytes: &[u8]) -> Option<(usize, u64)> {
    let bytes = bytes.strip_prefix(&MAGIC)?;
    let (wanted, bytes) = bytes.split_first_chunk()?;
    let (seed, _) = bytes.split_first_chunk()?;
    Some((
        usize::try_from(u32::from_le_bytes(*wanted)).ok()?,
        u64::from_le_bytes(*seed),
    ))
}

/// Compares all bytes from `skip` on.
fn check_pattern<'a>(
    chunks: impl Iterator<Item = &'a [u8]>,
    seed: u64,
    skip: usize,
) -> Result<(), String> {
    let mut start = 0;
    for chunk in chunks {
        let skipped = skip.saturating_sub(start).min(chunk.len());
        if let Some(at) = pattern::mismatch(&chunk[skipped..], seed, start + skipped) {
            return Err(format!("byte {} is wrong", start + skipped + at));
        }
        start += chunk.len();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(exchange: &Exchange) -> Vec<u8> {
        let mut bytes = Vec::new();
        exchange.write_request(&mut bytes);
        bytes
    }

    fn response(exchange: &Exchange) -> Vec<u8> {
        let mut bytes = Vec::new();
        exchange.write_response(&mut bytes);
        bytes
    }

    #[test]
    fn the_server_understands_every_request() {
        for len in (1..70).chain([65_535, 65_536, 65_537, 200_000]) {
            let exchange = Exchange::new(len, 33, 0xfeed);
            let bytes = request(&exchange);
            assert_eq!(bytes.len(), len);
            assert_eq!(
                Exchange::parse(len, bytes.chunks(65_536)),
                Ok(exchange),
                "{len}"
            );
            assert_eq!(
                exchange.response_len(),
                if len < HEADER_LEN { len } else { 33 }
            );
        }
    }

    #[test]
    fn a_wrong_request_is_refused() {
        for len in [1, 15, 16, 17, 65_537] {
            let bytes = request(&Exchange::new(len, 1, 5));
            for at in [0, len / 2, len - 1] {
                let mut wrong = bytes.clone();
                wrong[at] ^= 0x80;
                let exchange = Exchange::parse(len, wrong.chunks(65_536));
                assert_ne!(exchange, Ok(Exchange::new(len, 1, 5)), "{len} at {at}");
            }
        }
    }

    #[test]
    fn responses_are_compared_byte_by_byte() {
        let exchange = Exchange::new(100, 70_000, 3);
        let bytes = response(&exchange);
        let check = |bytes: &[u8]| exchange.check(bytes.len(), bytes.chunks(65_536));
        assert_eq!(check(&bytes), Ok(()));
        assert!(check(&bytes[1..]).unwrap_err().contains("69999 bytes"));
        let mut wrong = bytes.clone();
        wrong[66_000] ^= 1;
        assert_eq!(check(&wrong).unwrap_err(), "byte 66000 is wrong");
        assert!(check(&request(&Exchange::new(70_000, 1, 3))).is_err());
    }

    #[test]
    fn complaints_are_shown() {
        let exchange = Exchange::new(100, 10, 3);
        let bytes = complaint("byte 7 is wrong");
        let found = exchange.check(bytes.len(), bytes.chunks(65_536));
        assert_eq!(found.unwrap_err(), "the server says: byte 7 is wrong");
    }
}
