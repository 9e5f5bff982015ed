// SPDX-License-Identifier: GPL-2.0

//! What a transport protocol implements, and its registration with the kernel.

use core::marker::PhantomData;

use bindings as c;
use kernel::error::to_result;
use kernel::prelude::*;

use crate::addr::Address;
use crate::addr::Endpoint;
use crate::msg::Msg;
use crate::msg::OptionValue;
use crate::rcu::RcuGuard;
use crate::skb::Skb;
use crate::sock::Sock;
use crate::user::UserPtr;

/// How much of a socket `shutdown(2)` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Receiving.
    Read,
    /// Sending.
    Write,
    /// Both.
    Both,
}

/// What an ICMP error says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpKind {
    /// Nobody listens on the port.
    PortUnreachable,
    /// The host does not speak the protocol.
    ProtocolUnreachable,
    /// The host can't be reached.
    HostUnreachable,
}

/// An ICMP error. Anybody may have sent it: whether it is about one of our packets can only be told
/// from what it quotes.
pub struct IcmpError<'a> {
    /// What it says.
    pub kind: IcmpKind,
    /// Where the packet that it quotes was sent to.
    pub remote: Address,
    /// What it quotes of that packet, from the transport header on.
    pub quoted: &'a [u8],
}

/// A transport protocol.
///
/// Contexts: everything is called in process context and may sleep, except [`Protocol::receive`],
/// [`Protocol::icmp_error`] and [`Protocol::timer`] (softirq), and dropping a [`Protocol::Socket`] (either).
pub trait Protocol: Sized + Send + Sync + 'static {
    /// State of a network namespace.
    type Namespace: Send + Sync + 'static;

    /// State of a socket.
    type Socket: Send + Sync + 'static;

    /// Makes the state of a new namespace.
    fn namespace() -> Result<KBox<Self::Namespace>>;

    /// Is told that the namespace goes: it has no sockets any more. Lets go of every route, since
    /// devices wait for them, and keeps none from here on.
    fn release_routes(namespace: &Self::Namespace);

    /// Makes the state of a new socket in `namespace`.
    fn socket(namespace: &Self::Namespace) -> Result<KBox<Self::Socket>>;

    /// Is told that the socket exists; the last step of opening it. After an error
    /// [`Protocol::close`] is not called.
    fn open(sock: &Sock<Self>) -> Result;

    /// Ends everything the socket does. Called once, when its last descriptor is closed.
    fn close(sock: &Sock<Self>);

    /// `bind(2)`. Calls for one socket come one after the other.
    fn bind(sock: &Sock<Self>, local: &Endpoint) -> Result;

    /// `shutdown(2)`.
    fn shutdown(sock: &Sock<Self>, how: Shutdown) -> Result;

    /// `setsockopt(2)`, for every level but `SOL_SOCKET`.
    fn set_option(sock: &Sock<Self>, level: i32, name: u32, value: &OptionValue) -> Result;

    /// `getsockopt(2)`, for every level but `SOL_SOCKET`.
    fn get_option(
        sock: &Sock<Self>,
        level: i32,
        name: u32,
        value: *mut core::ffi::c_void,
        len: &UserPtr<i32>,
    ) -> Result;

    /// `sendmsg(2)`. Returns what the system call returns.
    fn send(sock: &Sock<Self>, msg: &mut Msg) -> Result<usize>;

    /// `recvmsg(2)`. Returns what the system call returns.
    fn receive_message(sock: &Sock<Self>, msg: &mut Msg, nonblocking: bool) -> Result<usize>;

    /// `poll(2)`: returns what is ready now, as bits of [`crate::uapi::poll`].
    fn poll(sock: &Sock<Self>) -> u32;

    /// Takes a packet that came in for this protocol.
    fn receive(namespace: &Self::Namespace, rcu: &RcuGuard, skb: Skb);

    /// Takes an ICMP error about a packet that this host has sent.
    fn icmp_error(namespace: &Self::Namespace, rcu: &RcuGuard, error: &IcmpError<'_>);

    /// Is called when the time given to [`Sock::start_timer`] has come.
    fn timer(sock: &Sock<Self>);
}

/// Returns the protocol's state of a namespace.
///
/// # Safety
///
/// `net` is valid for `'a`, and [`Protocol::namespace`] was called for it, with success.
pub(crate) unsafe fn namespace_of<'a, P: Protocol>(net: *const c::net) -> &'a P::Namespace {
    // SAFETY: The slot was filled with such a pointer when the namespace was set up, and is emptied
    // only when nothing can reach the namespace any more.
    unsafe { &*(*c::homa_net_slot(net)).cast::<P::Namespace>() }
}

/// One thing that was registered with the kernel; dropping it takes it back.
struct Step(unsafe extern "C" fn());

impl Step {
    /// # Safety
    ///
    /// `undo` takes back exactly what `register` does, and may be called at any later time in
    /// process context.
    unsafe fn new(
        register: unsafe extern "C" fn() -> core::ffi::c_int,
        undo: unsafe extern "C" fn(),
    ) -> Result<Self> {
        // SAFETY: Process context; registered things are static tables of the C side.
        to_result(unsafe { register() })?;
        Ok(Self(undo))
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        // SAFETY: As the caller of `new` promised.
        unsafe { (self.0)() };
    }
}

unsafe extern "C" fn register_protosw() -> core::ffi::c_int {
    // SAFETY: Process context; called once.
    unsafe { c::homa_register_protosw() };
    0
}

unsafe extern "C" fn barrier() {
    // SAFETY: Process context.
    unsafe { c::homa_rcu_barrier() };
}

unsafe extern "C" fn no_step() -> core::ffi::c_int {
    0
}

/// The registration of `P` as protocol 146 of IPv4 and IPv6, from construction until drop.
///
/// Fields are dropped in order: first no sockets can be opened, then no packets come in, then the
/// namespaces let go of their state, and last everything that RCU was asked to do later is done, so
/// that the module's text may go.
pub struct Registration<P: Protocol> {
    _sockets6: Option<Step>,
    _sockets: Step,
    _packets6: Option<Step>,
    _packets: Step,
    _proto6: Option<Step>,
    _proto: Step,
    _routes: Step,
    _namespaces: Step,
    _barrier: Step,
    _protocol: PhantomData<P>,
}

impl<P: Protocol> Registration<P> {
    /// Registers the protocol. The crate that calls this expands [`crate::protocol_callbacks!`] for
    /// `P`, once. May sleep.
    pub fn new() -> Result<Self> {
        // SAFETY: Each pair belongs together. Undone in the reverse order, each step has what it
        // needs: see the type.
        unsafe {
            let ipv6 = c::homa_ipv6_enabled();
            let only6 = |register, undo| -> Result<Option<Step>> {
                if ipv6 {
                    Step::new(register, undo).map(Some)
                } else {
                    Ok(None)
                }
            };
            let barrier = Step::new(no_step, barrier)?;
            let namespaces = Step::new(c::homa_register_net, c::homa_unregister_net)?;
            let routes = Step::new(c::homa_register_net_device, c::homa_unregister_net_device)?;
            let proto = Step::new(c::homa_register_proto, c::homa_unregister_proto)?;
            let proto6 = only6(c::homa_register_proto6, c::homa_unregister_proto6)?;
            let packets = Step::new(c::homa_add_protocol, c::homa_del_protocol)?;
            let packets6 = only6(c::homa_add_protocol6, c::homa_del_protocol6)?;
            let sockets = Step::new(register_protosw, c::homa_unregister_protosw)?;
            let sockets6 = only6(c::homa_register_protosw6, c::homa_unregister_protosw6)?;
            Ok(Self {
                _sockets6: sockets6,
                _sockets: sockets,
                _packets6: packets6,
                _packets: packets,
                _proto6: proto6,
                _proto: proto,
                _routes: routes,
                _namespaces: namespaces,
                _barrier: barrier,
                _protocol: PhantomData,
            })
        }
    }
}
