// SPDX-License-Identifier: GPL-2.0

//! What an RPC has to send.

use super::Buffers;
use super::Rpc;
use super::Transmit;
use crate::config::Config;
use crate::wire::Grant;
use crate::wire::Resend;
use crate::wire::CONTROL_PRIORITY;

/// Priority of bytes that were dropped for lack of memory: high, since their
/// message was here first, but below that of control packets.
const DROPPED_PRIORITY: u8 = CONTROL_PRIORITY - 1;

/// Priority of scheduled bytes while all messages are granted alike.
const SCHEDULED_PRIORITY: u8 = 0;

/// Control packets to be sent. At most one of each kind, however many packets
/// ask for it.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent: a set, not a state"
)]
pub(super) struct Pending {
    pub(super) ack: bool,
    pub(super) busy: bool,
    pub(super) need_ack: bool,
    /// RESEND for all, after memory came for what was dropped.
    pub(super) resend_all: bool,
    /// RESENDs for what is missing from this offset on.
    pub(super) resend_from: Option<u32>,
}

impl Rpc {
    /// Takes the next packet to be sent, with at most `max_payload` bytes of
    /// message.
    ///
    /// `max_payload` may be smaller than at the last call, if the path's MTU
    /// shrank, or 0 to have control packets only.
    pub fn poll_transmit(
        &mut self,
        now: u64,
        config: &Config,
        max_payload: u32,
    ) -> Option<Transmit> {
        self.poll_control()
            .or_else(|| self.poll_grant(config))
            .or_else(|| self.poll_data(now, config, max_payload))
    }

    fn poll_control(&mut self) -> Option<Transmit> {
        if core::mem::take(&mut self.pending.ack) {
            return Some(Transmit::Ack);
        }
        if core::mem::take(&mut self.pending.busy) {
            return Some(Transmit::Busy);
        }
        if core::mem::take(&mut self.pending.resend_all) {
            // It includes whatever is missing.
            self.pending.resend_from = None;
            return Some(Transmit::Resend(Resend::all(DROPPED_PRIORITY)));
        }
        if let Some(from) = self.pending.resend_from.take() {
            if let Some(resend) = self.resend_of_missing(from) {
                return Some(Transmit::Resend(resend));
            }
        }
        if core::mem::take(&mut self.pending.need_ack) {
            return Some(Transmit::NeedAck);
        }
        None
    }

    /// The RESEND for the first missing range from `from` on; the ranges behind
    /// it stay pending.
    fn resend_of_missing(&mut self, from: u32) -> Option<Resend> {
        let Some(rx) = self.begun_rx() else {
            return Some(Resend::all(CONTROL_PRIORITY));
        };
        let range = rx.next_missing(from)?;
        self.pending.resend_from = Some(range.end);
        Some(Resend {
            offset: range.start,
            length: range.end.saturating_sub(range.start),
            priority: CONTROL_PRIORITY,
        })
    }

    fn poll_grant(&mut self, config: &Config) -> Option<Transmit> {
        if self.buffers != Buffers::Have {
            return None;
        }
        let offset = self
            .rx
            .as_mut()?
            .poll_grant(config.window, config.grant_quantum)?;
        Some(Transmit::Grant(Grant {
            offset,
            priority: SCHEDULED_PRIORITY,
        }))
    }

    fn poll_data(&mut self, now: u64, config: &Config, max_payload: u32) -> Option<Transmit> {
        let tx = self.tx.as_mut()?;
        let message_length = tx.length();
        let segment = tx.poll_segment(max_payload)?;
        if segment.retransmit {
            self.sent_again(now, config);
        } else {
            self.progress(now, config);
        }
        Some(Transmit::Data {
            segment,
            message_length,
        })
    }
}
