// SPDX-License-Identifier: GPL-2.0

//! Packets.

use core::ptr::NonNull;

use bindings as c;
use kernel::prelude::*;

use crate::addr::Address;
use crate::pages::Pages;
use crate::route::Route;
use crate::sock::Sock;
use crate::Protocol;

/// Most page fragments that one packet holds on every kernel.
pub(crate) const MAX_FRAGS: u32 = 17;

/// A packet.
///
/// # Invariants
///
/// `ptr` is a valid `sk_buff` of which this value holds the only reference that uses it, and which
/// is in no list.
pub struct Skb(NonNull<c::sk_buff>);

// SAFETY: A packet may be used and freed on any CPU.
unsafe impl Send for Skb {}

/// What a received packet carries of a message; kept in the packet's control block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Payload {
    /// Where the payload begins in the packet, in bytes after the IP header.
    pub at: u32,
    /// Length of the payload in bytes.
    pub len: u32,
    /// Offset of the payload in the message.
    pub offset: u32,
}

impl Skb {
    /// # Safety
    ///
    /// `skb` is valid and the caller gives up its reference, which is the only one.
    pub(crate) unsafe fn from_raw(skb: NonNull<c::sk_buff>) -> Self {
        // INVARIANT: As the caller says.
        Self(skb)
    }

    pub(crate) fn as_ptr(&self) -> *mut c::sk_buff {
        self.0.as_ptr()
    }

    /// Returns a new packet that begins with `header` (the transport header), `ENOMEM` if there is
    /// no memory. There is room for the headers of IP and link before it.
    pub fn with_header(header: &[u8]) -> Result<Self> {
        let len = u32::try_from(header.len()).map_err(|_| EMSGSIZE)?;
        // SAFETY: May be called in any context.
        let skb = NonNull::new(unsafe { c::homa_skb_alloc(len) }).ok_or(ENOMEM)?;
        // SAFETY: The packet is new and has room for `len` bytes, which are then written.
        unsafe {
            let data = c::homa_skb_put(skb.as_ptr(), len);
            core::ptr::copy_nonoverlapping(header.as_ptr(), data.cast::<u8>(), header.len());
            c::homa_skb_reset_transport_header(skb.as_ptr());
        }
        // INVARIANT: The packet is new.
        Ok(Self(skb))
    }

    /// Returns the length in bytes, from the transport header on.
    pub fn len(&self) -> usize {
        // SAFETY: The packet is valid by the type's invariant.
        unsafe { (*self.as_ptr()).len as usize }
    }

    /// Returns whether the packet has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the first `len` bytes (all bytes if the packet is shorter), or `None` if memory for
    /// making them contiguous is lacking.
    pub fn header(&mut self, len: usize) -> Option<&[u8]> {
        let len = len.min(self.len());
        let wanted = u32::try_from(len).ok()?;
        // SAFETY: The packet is valid and ours alone by the type's invariant.
        if !unsafe { c::homa_skb_may_pull(self.as_ptr(), wanted) } {
            return None;
        }
        // SAFETY: The first `len` bytes are contiguous at `data` now, and stay so while `self` is
        // borrowed.
        Some(unsafe { core::slice::from_raw_parts((*self.as_ptr()).data.cast::<u8>(), len) })
    }

    /// Returns the addresses of sender and receiver of a received packet.
    pub fn addresses(&self) -> (Address, Address) {
        let mut source = c::in6_addr::default();
        let mut destination = c::in6_addr::default();
        // SAFETY: The packet is valid; received packets have their IP header.
        unsafe { c::homa_skb_addresses(self.as_ptr(), &mut source, &mut destination) };
        // SAFETY: All bytes of the unions are initialised, and any bytes are valid.
        unsafe {
            (
                Address::from_bytes(source.in6_u.u6_addr8),
                Address::from_bytes(destination.in6_u.u6_addr8),
            )
        }
    }

    /// Returns the index of the interface on which a received packet came in.
    pub fn interface(&self) -> i32 {
        // SAFETY: The packet is valid; received packets have their device.
        unsafe { c::homa_skb_interface(self.as_ptr()) }
    }

    /// Returns the place of the packet's control block, which is aligned to 8 (see skb.c).
    fn control_block(&self) -> *mut Payload {
        // SAFETY: The packet is valid by the type's invariant; no reference is made.
        unsafe { (&raw mut (*self.as_ptr()).cb).cast() }
    }

    /// Cuts a received packet off from its route and device, so that it may be kept, and notes what
    /// it carries.
    pub fn detach(&mut self, payload: Payload) {
        // SAFETY: The packet is valid and ours alone. Its control block is 48 bytes, aligned to 8,
        // and belongs to whoever owns the packet.
        unsafe {
            c::homa_skb_detach(self.as_ptr());
            self.control_block().write(payload);
        }
    }

    /// Returns what [`Skb::detach`] noted (without it: any bytes).
    pub fn payload(&self) -> Payload {
        // SAFETY: As in `detach`; any bytes are a valid `Payload`.
        unsafe { self.control_block().read() }
    }

    /// Appends bytes `[offset, offset + len)` of `pages`, without copying them. `EMSGSIZE` if they
    /// lie in more pages than a packet can refer to, or `pages` is shorter.
    pub fn append(&mut self, pages: &Pages, offset: usize, len: usize) -> Result {
        pages.for_each(offset, len, |page, at, len| {
            // SAFETY: The packet is valid and ours alone.
            if unsafe { c::homa_skb_nr_frags(self.as_ptr()) } >= MAX_FRAGS {
                return Err(EMSGSIZE);
            }
            // SAFETY: As above, and there is room for one more fragment. The page is valid and has
            // the bytes; the packet takes a reference to it.
            unsafe { c::homa_skb_add_frag(self.as_ptr(), page, at, len, len) };
            Ok(())
        })
    }

    /// Sends the packet from `sock` along `route`, with the top three bits of the DSCP set to
    /// `priority`. An error says that the packet was dropped on this host.
    pub fn send<P: Protocol>(self, sock: &Sock<P>, route: &Route, priority: u8) -> Result {
        // SAFETY: The packet is valid and ours alone; the socket outlives it because the packet
        // takes a reference.
        unsafe { c::homa_skb_set_owner(self.as_ptr(), sock.as_ptr()) };
        let skb = self.0;
        core::mem::forget(self);
        // SAFETY: The reference that `self` had is given to the function.
        unsafe { route.transmit(sock, skb, priority << 5) }
    }

    /// Frees a packet that was received and used, as opposed to dropped.
    pub fn consume(self) {
        let skb = self.0;
        core::mem::forget(self);
        // SAFETY: The reference that `self` had is given up.
        unsafe { c::homa_skb_consume(skb.as_ptr()) };
    }

    /// Tells the sender of a received packet by ICMP that its port is closed, and drops the packet.
    pub fn reject_port_unreachable(self) {
        // SAFETY: The packet is valid and has what was received: IP header, route and device.
        unsafe { c::homa_port_unreachable(self.as_ptr()) };
    }
}

impl Drop for Skb {
    fn drop(&mut self) {
        // SAFETY: The reference is given up, and `self` is not used again.
        unsafe { c::homa_skb_free(self.as_ptr()) };
    }
}

/// A first-in, first-out list of packets, linked through the packets: entering one needs no memory.
///
/// # Invariants
///
/// From `head` on, each packet's `next` is the following one, null in the last, which is `tail`.
/// The list owns all of them. Both are `None` when it is empty.
#[derive(Default)]
pub struct SkbQueue {
    head: Option<NonNull<c::sk_buff>>,
    tail: Option<NonNull<c::sk_buff>>,
}

// SAFETY: The list owns its packets, which may be used on any CPU.
unsafe impl Send for SkbQueue {}

/// Returns the place of `skb->next`: the packet's first field (checked on the C side).
fn next_of(skb: NonNull<c::sk_buff>) -> *mut Option<NonNull<c::sk_buff>> {
    skb.as_ptr().cast()
}

impl SkbQueue {
    /// Returns an empty list.
    pub const fn new() -> Self {
        // INVARIANT: The list is empty.
        Self {
            head: None,
            tail: None,
        }
    }

    /// Returns whether the list has no packets.
    pub fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// Appends `skb`.
    pub fn push(&mut self, skb: Skb) {
        let new = skb.0;
        core::mem::forget(skb);
        // SAFETY: The packet is in no list, so `next` is ours to write.
        unsafe { next_of(new).write(None) };
        match self.tail {
            // SAFETY: `tail` is a valid packet of ours.
            Some(tail) => unsafe { next_of(tail).write(Some(new)) },
            None => self.head = Some(new),
        }
        // INVARIANT: `new` is the last, and its `next` is null.
        self.tail = Some(new);
    }

    /// Takes the first packet out.
    pub fn pop(&mut self) -> Option<Skb> {
        let first = self.head?;
        // SAFETY: `first` is a valid packet of ours.
        self.head = unsafe { next_of(first).read() };
        if self.head.is_none() {
            self.tail = None;
        }
        // SAFETY: As above. The kernel expects `next` to be null outside lists.
        unsafe { next_of(first).write(None) };
        // INVARIANT: The packet is in no list any more, and was ours alone.
        Some(Skb(first))
    }
}

impl Drop for SkbQueue {
    fn drop(&mut self) {
        while let Some(skb) = self.pop() {
            drop(skb);
        }
    }
}
