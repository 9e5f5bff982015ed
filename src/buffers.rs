// SPDX-License-Identifier: GPL-2.0

//! The region that an application lends for incoming messages.

use homa_proto::key::RpcKey;
use homa_proto::pool::Lease;
use homa_proto::pool::Pool;
use kernel::prelude::*;
use kernel::sync::Arc;
use net::BhSpinLock;
use net::LockClass;
use net::Skb;
use net::UserRegion;

/// The receive buffer region of a socket: which parts of it are in use, and by whom.
pub(crate) struct Buffers {
    inner: BhSpinLock<Option<Inner>>,
}

struct Inner {
    region: UserRegion,
    pool: Pool,
}

/// What [`Buffers::alloc`] says.
pub(crate) enum Allocated {
    /// Memory for the message.
    Lease(BufferLease),
    /// None is free; the RPC is told when there is.
    Waiting,
    /// None is free, and no more RPCs may wait for it; or there is no region.
    Refused,
}

impl Buffers {
    /// Makes a socket's buffers, without a region.
    pub(crate) fn new() -> Result<Arc<Self>> {
        Ok(Arc::new(
            Self {
                inner: BhSpinLock::new(None, LockClass::Leaf),
            },
            GFP_KERNEL,
        )?)
    }

    /// Takes `region` into use: `EINVAL` if there is one already.
    pub(crate) fn set_region(&self, region: UserRegion) -> Result {
        let pool = Pool::new(region.length(), GFP_KERNEL)?;
        let mut inner = self.inner.lock();
        if inner.is_some() {
            // Not under the lock: freeing may take long.
            drop(inner);
            drop(pool);
            return Err(EINVAL);
        }
        *inner = Some(Inner { region, pool });
        Ok(())
    }

    /// Returns the region.
    pub(crate) fn region(&self) -> Option<UserRegion> {
        self.inner.lock().as_ref().map(|inner| inner.region)
    }

    /// Allocates memory for a message of `length` bytes, for the RPC `key`.
    pub(crate) fn alloc(this: &Arc<Self>, key: &RpcKey, length: u32) -> Allocated {
        let mut inner = this.inner.lock();
        let Some(inner) = inner.as_mut() else {
            return Allocated::Refused;
        };
        match inner.pool.alloc(length) {
            Some(lease) => Allocated::Lease(BufferLease {
                lease: Some(lease),
                owner: this.clone(),
            }),
            None => match inner.pool.wait(*key, length) {
                Ok(()) => Allocated::Waiting,
                Err(_) => Allocated::Refused,
            },
        }
    }

    /// Forgets that the RPC `key` waits for memory.
    pub(crate) fn cancel_wait(&self, key: &RpcKey) {
        if let Some(inner) = self.inner.lock().as_mut() {
            inner.pool.cancel_wait(key);
        }
    }

    /// Returns the next RPC that waited and for which there is memory now.
    pub(crate) fn next_waiter(this: &Arc<Self>) -> Option<(RpcKey, BufferLease)> {
        let (key, lease) = this.inner.lock().as_mut()?.pool.next_waiter()?;
        Some((
            key,
            BufferLease {
                lease: Some(lease),
                owner: this.clone(),
            },
        ))
    }

    /// Takes back what the application had: `EINVAL`, and nothing is taken, if any of `offsets` is
    /// not something that it has.
    pub(crate) fn release(&self, offsets: &[u32]) -> Result {
        if offsets.is_empty() {
            return Ok(());
        }
        let mut inner = self.inner.lock();
        let inner = inner.as_mut().ok_or(EINVAL)?;
        inner.pool.release(offsets).map_err(|_| EINVAL)
    }
}

/// Memory for one message; free again when dropped, unless the application got it.
pub(crate) struct BufferLease {
    lease: Option<Lease>,
    owner: Arc<Buffers>,
}

impl BufferLease {
    /// Copies the `len` bytes of `skb` from byte `at` on to their place in the message, from
    /// `offset` on. May sleep. `EFAULT` if the region can't be written.
    pub(crate) fn copy_packet(&self, region: &UserRegion, skb: &Skb) -> Result {
        let payload = skb.payload();
        let mut done = 0u32;
        while done < payload.len {
            let offset = payload.offset.checked_add(done).ok_or(EFAULT)?;
            let (place, room) = self
                .lease
                .as_ref()
                .and_then(|lease| lease.locate(offset))
                .ok_or(EFAULT)?;
            let part = room.min(payload.len.saturating_sub(done));
            if part == 0 {
                return Err(EFAULT);
            }
            let from = payload.at.saturating_add(done);
            region.copy_packet(u64::from(place), skb, from as usize, part as usize)?;
            done = done.saturating_add(part);
        }
        Ok(())
    }

    /// Gives the memory to the application: returns the offsets that stand for it.
    pub(crate) fn hand_over<const N: usize>(mut self, offsets: &mut [u32; N]) -> u32 {
        let mut count = 0u32;
        if let Some(lease) = self.lease.take() {
            for (to, from) in offsets.iter_mut().zip(lease.offsets()) {
                *to = *from;
                count = count.saturating_add(1);
            }
        }
        count
    }
}

impl Drop for BufferLease {
    fn drop(&mut self) {
        if let Some(lease) = self.lease.take() {
            if let Some(inner) = self.owner.inner.lock().as_mut() {
                inner.pool.free_lease(lease);
            }
        }
    }
}
