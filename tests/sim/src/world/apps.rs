// SPDX-License-Identifier: GPL-2.0

//! The applications: clients that call and check what they get, servers that
//! check what they get and answer.

use homa_proto::key::PeerKey;
use homa_proto::key::RpcKey;
use homa_proto::rpc::RpcError;

use super::Event;
use super::World;
use crate::clock::Time;
use crate::content::Content;
use crate::content::Direction;
use crate::host::Delivered;
use crate::host::Handle;
use crate::ledger::Number;
use crate::ledger::Order;
use crate::ledger::Outcome;
use crate::violation::ensure;
use crate::violation::Violation;

/// Something that an application does.
#[derive(Clone, Debug)]
pub(super) enum AppEvent {
    /// The client makes a call, if it has one to make.
    Call,
    /// The server takes a request.
    TakeRequest(Handle),
    /// The server answers with so many bytes.
    Reply(Handle, u32),
    /// The client takes a response.
    TakeResponse(Handle),
    /// The client takes note of a failure.
    TakeFailure(Handle, RpcError),
    /// The memory of a message is given back.
    GiveBack(Vec<u32>),
}

impl World {
    /// Makes a call now. Returns its number.
    pub fn call(&mut self, order: Order) -> Result<Number, Violation> {
        let now = self.now();
        let client = order.client;
        let server = self.machines[order.server].setup.address;
        let Some(host) = &self.machines[client].host else {
            return Err(Violation::new(format!("h{client} is down and calls")));
        };
        let (address, id) = (host.address(), host.next_id());
        let number = self.ledger.begin(now, id, order);
        self.note(
            client,
            format_args!(
                "#{number} calls h{}, {} bytes for {}",
                order.server, order.request, order.response
            ),
        );
        let request = Content::new(address, id, Direction::Request).bytes(order.request);
        self.with_host(client, |host, now, out| {
            host.call(now, server, request, out)
        })?;
        Ok(number)
    }

    /// Lets the client of a call give it up now.
    pub fn abandon(&mut self, number: Number) -> Result<(), Violation> {
        let now = self.now();
        let record = *self.ledger.record(number);
        let client = record.order.client;
        self.note(client, format_args!("#{number} given up"));
        self.ledger.end(number, Outcome::Abandoned(now))?;
        let key = RpcKey::client(record.id);
        self.with_host(client, |host, now, out| host.abandon(now, key, out))?;
        Ok(())
    }

    /// Lets the client application of a host begin its next calls.
    pub(super) fn wake_client(&mut self, host: usize) {
        while self.machines[host].client.begin() {
            self.app_later(host, AppEvent::Call);
        }
    }

    /// Lets an application do something when it gets to it.
    pub(super) fn app_later(&mut self, host: usize, event: AppEvent) {
        let delay = self.habits.idle();
        self.app_after(delay, host, event);
    }

    /// Lets an application do something after a time.
    pub(super) fn app_after(&mut self, delay: Time, host: usize, event: AppEvent) {
        let boot = self.machines[host].boot;
        self.clock.after(delay, Event::App { host, boot, event });
    }

    pub(super) fn app_event(
        &mut self,
        host: usize,
        boot: u32,
        event: AppEvent,
    ) -> Result<(), Violation> {
        if self.machines[host].boot != boot {
            return Ok(());
        }
        match event {
            AppEvent::Call => {
                let order = self.habits.order(host);
                self.call(order)?;
                Ok(())
            }
            AppEvent::TakeRequest(handle) => self.take_request(host, handle),
            AppEvent::Reply(handle, length) => self.reply(host, handle, length),
            AppEvent::TakeResponse(handle) => self.take_response(host, handle),
            AppEvent::TakeFailure(handle, error) => self.take_failure(host, handle, error),
            AppEvent::GiveBack(offsets) => {
                self.with_host(host, |host, now, out| host.give_back(now, &offsets, out))?;
                Ok(())
            }
        }
    }

    fn take_request(&mut self, host: usize, handle: Handle) -> Result<(), Violation> {
        let taken = self.with_host(host, |host, now, out| host.take_request(now, handle, out))?;
        let Some(Some(delivered)) = taken else {
            return Ok(());
        };
        let Some(number) = self.call_number(host, handle.key) else {
            ensure!(
                self.scenario.is_corrupting(),
                "a request was delivered that nobody made: {handle:?}"
            );
            self.app_later(host, AppEvent::GiveBack(delivered.offsets));
            self.app_later(host, AppEvent::Reply(handle, 1));
            return Ok(());
        };
        self.note(host, format_args!("#{number} request taken"));
        let order = self.ledger.record(number).order;
        let (client, id) = client_of(handle.key);
        let content = Content::new(client, id, Direction::Request);
        self.check_content(number, content, order.request, &delivered)?;
        if order.server == host || !self.scenario.is_corrupting() {
            self.ledger.executed(number, host)?;
        }
        self.app_later(host, AppEvent::GiveBack(delivered.offsets));
        self.app_after(order.service, host, AppEvent::Reply(handle, order.response));
        Ok(())
    }

    fn reply(&mut self, host: usize, handle: Handle, length: u32) -> Result<(), Violation> {
        let number = self.number_of(host, handle.key);
        self.note(host, format_args!("#{number} replies, {length} bytes"));
        let (client, id) = client_of(handle.key);
        let response = Content::new(client, id, Direction::Response).bytes(length);
        self.with_host(host, |host, now, out| {
            host.reply(now, handle, response, out)
        })?;
        Ok(())
    }

    fn take_response(&mut self, host: usize, handle: Handle) -> Result<(), Violation> {
        let now = self.now();
        let taken = self.with_host(host, |host, now, out| host.take_response(now, handle, out))?;
        let Some(Some(delivered)) = taken else {
            return Ok(());
        };
        let number = self.number_of_call(host, handle.key)?;
        self.note(host, format_args!("#{number} response taken"));
        let order = self.ledger.record(number).order;
        let content = Content::new(
            self.machines[host].setup.address,
            handle.key.id,
            Direction::Response,
        );
        self.check_content(number, content, order.response, &delivered)?;
        if !self.scenario.is_corrupting() {
            self.ledger.check_executed(number)?;
        }
        self.ledger.end(number, Outcome::Done(now))?;
        self.app_later(host, AppEvent::GiveBack(delivered.offsets));
        self.call_ended(host);
        Ok(())
    }

    fn take_failure(
        &mut self,
        host: usize,
        handle: Handle,
        error: RpcError,
    ) -> Result<(), Violation> {
        let now = self.now();
        let number = self.number_of_call(host, handle.key)?;
        self.note(host, format_args!("#{number} failed: {error:?}"));
        ensure!(
            error == RpcError::TimedOut,
            "the call #{number} failed for no reason: {error:?}"
        );
        self.ledger.end(number, Outcome::Failed(now, error))?;
        self.with_host(host, |host, now, out| host.end_call(now, handle, out))?;
        self.call_ended(host);
        Ok(())
    }

    fn call_ended(&mut self, host: usize) {
        self.machines[host].client.ended();
        self.wake_client(host);
    }

    fn number_of_call(&self, host: usize, key: RpcKey) -> Result<Number, Violation> {
        self.call_number(host, key)
            .ok_or_else(|| Violation::new(format!("h{host} never made a call {key:?}")))
    }

    fn check_content(
        &self,
        number: Number,
        content: Content,
        length: u32,
        delivered: &Delivered,
    ) -> Result<(), Violation> {
        if self.scenario.is_corrupting() {
            return Ok(());
        }
        let got = delivered.bytes.len();
        ensure!(
            u32::try_from(got) == Ok(length),
            "a message of #{number} has {got} bytes instead of {length}"
        );
        match content.first_difference(&delivered.bytes) {
            None => Ok(()),
            Some(place) => Err(Violation::new(format!(
                "a message of #{number} is wrong at byte {place} of {length}"
            ))),
        }
    }
}

/// The client of a request and the RPC's id there.
fn client_of(key: RpcKey) -> (PeerKey, u64) {
    (key.peer, homa_proto::key::other_end(key.id))
}
