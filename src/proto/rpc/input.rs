// SPDX-License-Identifier: GPL-2.0

//! What packets do to an RPC.

use super::timer::Doubt;
use super::Buffers;
use super::Discard;
use super::EndReason;
use super::Event;
use super::Reaction;
use super::Rpc;
use super::State;
use crate::config::Config;
use crate::rx::Rejected;
use crate::rx::Rx;
use crate::tx::ResendOutcome;
use crate::wire::Data;
use crate::wire::Grant;
use crate::wire::Packet;
use crate::wire::Resend;

impl Reaction {
    /// The packet did what it should, and the caller has nothing to do.
    const TAKEN: Self = Self {
        keep_payload: false,
        event: None,
        discard: None,
    };

    const fn event(event: Event) -> Self {
        Self {
            event: Some(event),
            ..Self::TAKEN
        }
    }

    const fn discard(why: Discard) -> Self {
        Self {
            discard: Some(why),
            ..Self::TAKEN
        }
    }
}

impl From<Rejected> for Discard {
    fn from(rejected: Rejected) -> Self {
        match rejected {
            Rejected::Duplicate => Self::Duplicate,
            Rejected::TooFragmented => Self::TooFragmented,
            Rejected::OutOfBounds => Self::Mismatch,
        }
    }
}

impl Rpc {
    /// Takes a packet that names this RPC in its header.
    ///
    /// CUTOFFS and acknowledgments of other RPCs in the packet are the caller's.
    pub fn on_packet(&mut self, now: u64, config: &Config, packet: &Packet) -> Reaction {
        if self.state == State::Ended {
            return Reaction::discard(Discard::Unexpected);
        }
        match packet {
            Packet::Data(data) => self.on_data(now, config, data),
            Packet::Grant(grant) => self.on_grant(now, config, *grant),
            Packet::Resend(resend) => self.on_resend(now, config, resend),
            Packet::Unknown => self.on_unknown(now, config),
            Packet::Busy => {
                self.heard(now, config);
                Reaction::TAKEN
            }
            Packet::NeedAck => self.on_need_ack(now, config),
            Packet::Ack(_) => match self.on_ack() {
                Some(event) => Reaction::event(event),
                None => Reaction::discard(Discard::Unexpected),
            },
            Packet::Cutoffs(_) | Packet::Freeze => Reaction::discard(Discard::Unexpected),
        }
    }

    /// Takes an acknowledgment of this RPC, which may have come in another
    /// RPC's packet.
    pub fn on_ack(&mut self) -> Option<Event> {
        if self.is_client() {
            return None;
        }
        self.end_server(EndReason::Acked)
    }

    fn on_data(&mut self, now: u64, config: &Config, data: &Data) -> Reaction {
        if self.is_client() && self.state == State::Outgoing {
            // The server has the whole request, or it could not answer.
            self.state = State::Incoming;
            self.tx = None;
            self.rx = Some(Rx::new(data.message_length, data.incoming));
            self.buffers = Buffers::Needed;
        }
        let Some(rx) = self.rx.as_mut() else {
            self.heard(now, config);
            return Reaction::discard(Discard::Duplicate);
        };
        if data.message_length != rx.length() {
            return self.mismatch();
        }
        match self.buffers {
            Buffers::Have => {}
            Buffers::Needed => {
                self.heard(now, config);
                return Reaction::event(Event::NeedBuffers(data.message_length));
            }
            Buffers::Unneeded | Buffers::Pending => {
                return Reaction::discard(Discard::NoBuffers);
            }
        }
        if let Err(rejected) = rx.on_data(data.offset, data.payload_len) {
            self.heard(now, config);
            return Reaction::discard(rejected.into());
        }
        let event = rx.complete().then_some(Event::Received);
        self.progress(now, config);
        Reaction {
            keep_payload: true,
            event,
            discard: None,
        }
    }

    fn on_grant(&mut self, now: u64, config: &Config, grant: Grant) -> Reaction {
        let Some(tx) = self.tx.as_mut() else {
            return Reaction::discard(Discard::Unexpected);
        };
        if grant.offset > tx.length() {
            return self.mismatch();
        }
        tx.on_grant(grant.offset, grant.priority);
        self.progress(now, config);
        Reaction::TAKEN
    }

    fn on_resend(&mut self, now: u64, config: &Config, resend: &Resend) -> Reaction {
        let Some(tx) = self.tx.as_mut() else {
            if self.is_client() {
                // An old one; or it was not the server who answered.
                self.doubt(Doubt::Mismatch);
                return Reaction::discard(Discard::Unexpected);
            }
            self.pending.busy = true;
            self.heard(now, config);
            return Reaction::TAKEN;
        };
        let is_range = resend.length != Resend::ALL;
        if is_range && resend.offset.saturating_add(resend.length) > tx.length() {
            return self.mismatch();
        }
        if tx.on_resend(resend) == ResendOutcome::NothingSentYet {
            self.pending.busy = true;
        }
        self.progress(now, config);
        Reaction::TAKEN
    }

    fn on_unknown(&mut self, now: u64, config: &Config) -> Reaction {
        if !self.is_client() {
            return match self.end_server(EndReason::UnknownToClient) {
                Some(event) => Reaction::event(event),
                None => Reaction::discard(Discard::Unexpected),
            };
        }
        match self.tx.as_mut() {
            Some(tx) => {
                tx.restart();
                self.doubt(Doubt::NotYet);
                self.sent_again(now, config);
                Reaction::TAKEN
            }
            None => {
                self.doubt(Doubt::Unknown);
                Reaction::discard(Discard::Unexpected)
            }
        }
    }

    fn on_need_ack(&mut self, now: u64, config: &Config) -> Reaction {
        if !self.is_client() {
            return Reaction::discard(Discard::Unexpected);
        }
        if self.received() {
            self.pending.ack = true;
        } else if self.buffers == Buffers::Pending {
            self.pending.busy = true;
        } else {
            self.pending.resend_from = Some(0);
        }
        self.heard(now, config);
        Reaction::TAKEN
    }

    /// The other end takes a message for longer or shorter than it is. Two that
    /// did so, after a packet was damaged, would keep each other waiting for
    /// ever if each ended the other's silence.
    fn mismatch(&mut self) -> Reaction {
        self.doubt(Doubt::Mismatch);
        Reaction::discard(Discard::Mismatch)
    }

    fn end_server(&mut self, reason: EndReason) -> Option<Event> {
        if self.state == State::Ended {
            return None;
        }
        self.end();
        Some(Event::Ended(reason))
    }
}
