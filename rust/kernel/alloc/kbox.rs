// SPDX-License-Identifier: GPL-2.0

//! [`Box`]: one value on the heap.

use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::mem::MaybeUninit;
use core::ops::Deref;
use core::ops::DerefMut;
use core::pin::Pin;
use core::ptr;
use core::ptr::NonNull;

use super::allocator::KVmalloc;
use super::allocator::Kmalloc;
use super::AllocError;
use super::Allocator;
use super::Flags;

/// Owns one value of type `T` in memory of the allocator `A`. Freed when dropped.
///
/// # Invariants
///
/// The pointer is aligned for `T` and points to a valid `T` that this box alone owns. If the size
/// of that value is not 0, it lies in memory that `A` allocated with the layout of the value;
/// otherwise nothing is allocated.
#[repr(transparent)]
pub struct Box<T: ?Sized, A: Allocator>(NonNull<T>, PhantomData<A>);

/// A [`Box`] in memory of `kmalloc`.
///
/// # Examples
///
/// ```
/// use kernel::prelude::*;
///
/// let answer = KBox::new(42, GFP_KERNEL)?;
/// assert_eq!(*answer, 42);
/// # Ok::<(), Error>(())
/// ```
pub type KBox<T> = Box<T, Kmalloc>;

/// A [`Box`] in memory of `kvmalloc`.
pub type KVBox<T> = Box<T, KVmalloc>;

// SAFETY: A box owns its value and nothing else, so that sending the box sends a `T`.
unsafe impl<T: Send + ?Sized, A: Allocator> Send for Box<T, A> {}

// SAFETY: A shared box gives shared access to its value and nothing else.
unsafe impl<T: Sync + ?Sized, A: Allocator> Sync for Box<T, A> {}

impl<T: ?Sized, A: Allocator> Box<T, A> {
    /// Takes ownership of a value by its pointer.
    ///
    /// # Safety
    ///
    /// `raw` came from [`Box::into_raw`] of a box with the same allocator and is passed to this
    /// function once; or the type's invariants hold for it in another way.
    pub const unsafe fn from_raw(raw: *mut T) -> Self {
        // INVARIANT: The caller guarantees all of it.
        // SAFETY: A pointer to a valid value is never null.
        Self(unsafe { NonNull::new_unchecked(raw) }, PhantomData)
    }

    /// Gives up ownership of the value, which is neither dropped nor freed.
    pub fn into_raw(b: Self) -> *mut T {
        ManuallyDrop::new(b).0.as_ptr()
    }

    /// Gives up ownership of the value for ever.
    pub fn leak<'a>(b: Self) -> &'a mut T {
        // SAFETY: By the type's invariants the pointer leads to a valid value that nobody else
        // uses; as the box is gone, the value stays there.
        unsafe { &mut *Self::into_raw(b) }
    }
}

impl<T, A: Allocator> Box<MaybeUninit<T>, A> {
    /// Asserts that the value is initialized.
    ///
    /// # Safety
    ///
    /// The value is a valid `T`.
    pub unsafe fn assume_init(self) -> Box<T, A> {
        let raw = Self::into_raw(self);
        // SAFETY: `raw` comes from a box of the same allocator, a `MaybeUninit<T>` has the layout
        // of a `T`, and the caller guarantees a valid value.
        unsafe { Box::from_raw(raw.cast()) }
    }

    /// Initializes the value.
    pub fn write(mut self, value: T) -> Box<T, A> {
        (*self).write(value);
        // SAFETY: The value has just been written.
        unsafe { self.assume_init() }
    }
}

impl<T, A: Allocator> Box<T, A> {
    /// Moves `x` into new memory.
    ///
    /// # Errors
    ///
    /// [`AllocError`] when there is no memory; `x` is dropped.
    pub fn new(x: T, flags: Flags) -> Result<Self, AllocError> {
        Ok(Self::new_uninit(flags)?.write(x))
    }

    /// Allocates memory for a value that is written later.
    ///
    /// # Errors
    ///
    /// [`AllocError`] when there is no memory.
    pub fn new_uninit(flags: Flags) -> Result<Box<MaybeUninit<T>, A>, AllocError> {
        let ptr = A::alloc(Layout::new::<MaybeUninit<T>>(), flags)?;
        // INVARIANT: `ptr` is a new allocation for the layout of the value, or dangling and
        // aligned if its size is 0. Every content is valid as a `MaybeUninit`.
        Ok(Box(ptr.cast(), PhantomData))
    }

    /// Moves `x` into new memory, where it then stays.
    ///
    /// # Errors
    ///
    /// [`AllocError`] when there is no memory; `x` is dropped.
    pub fn pin(x: T, flags: Flags) -> Result<Pin<Box<T, A>>, AllocError>
    where
        A: 'static,
    {
        Ok(Self::new(x, flags)?.into())
    }

    /// Pins a box.
    pub fn into_pin(this: Self) -> Pin<Self> {
        this.into()
    }

    /// Drops the value and keeps the memory.
    pub fn drop_contents(this: Self) -> Box<MaybeUninit<T>, A> {
        let raw = Self::into_raw(this);
        // SAFETY: `raw` comes from a box, and a `MaybeUninit<T>` has the layout of a `T` and is
        // valid with any content. Made before the drop, so that a panic there frees the memory.
        let memory = unsafe { Box::<MaybeUninit<T>, A>::from_raw(raw.cast()) };
        // SAFETY: `raw` still points to a valid `T`, which nobody uses as such any more.
        unsafe { ptr::drop_in_place(raw) };
        memory
    }

    /// Moves the value out and frees the memory.
    pub fn into_inner(b: Self) -> T {
        let raw = Self::into_raw(b);
        // SAFETY: `raw` comes from a box, so that it points to a valid `T`, which is moved out;
        // below, the memory is no longer used as a `T`.
        let value = unsafe { ptr::read(raw) };
        // SAFETY: `raw` comes from a box, and a `MaybeUninit<T>` has the layout of a `T` and is
        // valid with any content.
        drop(unsafe { Box::<MaybeUninit<T>, A>::from_raw(raw.cast()) });
        value
    }
}

impl<T: ?Sized, A: Allocator> From<Box<T, A>> for Pin<Box<T, A>> {
    fn from(b: Box<T, A>) -> Self {
        // SAFETY: The box owns its value, which does not move when the box does, and a pinned box
        // gives no `&mut T` for a `T` that is not `Unpin`.
        unsafe { Pin::new_unchecked(b) }
    }
}

impl<T: ?Sized, A: Allocator> Deref for Box<T, A> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: By the type's invariants the pointer leads to a valid `T`, owned by this box,
        // which is borrowed for as long as the result.
        unsafe { self.0.as_ref() }
    }
}

impl<T: ?Sized, A: Allocator> DerefMut for Box<T, A> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: By the type's invariants the pointer leads to a valid `T`, owned by this box,
        // which is mutably borrowed for as long as the result.
        unsafe { self.0.as_mut() }
    }
}

impl<T: ?Sized + fmt::Display, A: Allocator> fmt::Display for Box<T, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug, A: Allocator> fmt::Debug for Box<T, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized, A: Allocator> Drop for Box<T, A> {
    fn drop(&mut self) {
        let layout = Layout::for_value::<T>(self);
        // SAFETY: By the type's invariants this is a valid `T` owned by the box, which is being
        // dropped, so that nobody uses the value afterwards.
        unsafe { ptr::drop_in_place(self.0.as_ptr()) };
        // SAFETY: By the type's invariants the memory, if the size is not 0, was allocated by `A`
        // with this layout, and nobody uses it any more.
        unsafe { A::free(self.0.cast(), layout) };
    }
}
