// SPDX-License-Identifier: GPL-2.0

//! What makes a crate a kernel module: the trait [`Module`] and the macro `module!`.

use crate::error::Result;

/// A module: made when it is loaded, dropped when it is unloaded.
///
/// It is named to the kernel by `module!`.
pub trait Module: Sized + Sync + Send {
    /// Loads the module.
    ///
    /// # Errors
    ///
    /// Any error makes the loading fail with that error number.
    fn init(module: &'static ThisModule) -> Result<Self>;
}

/// The kernel's `struct module`, of which only the address is known here.
#[doc(hidden)]
#[repr(C)]
pub struct RawModule {
    _bytes: [u8; 0],
    // The kernel writes to it.
    _mutable: core::cell::UnsafeCell<[u8; 0]>,
}

// SAFETY: Nothing can be done with a shared reference to it.
unsafe impl Sync for RawModule {}

/// The module that the code belongs to: `THIS_MODULE` of C.
///
/// # Invariants
///
/// The pointer is that of the module's `struct module`, or null if there is none.
pub struct ThisModule(*mut RawModule);

// SAFETY: The pointer is only handed to the kernel, which allows that from everywhere.
unsafe impl Sync for ThisModule {}

impl ThisModule {
    /// Makes it of its pointer.
    ///
    /// # Safety
    ///
    /// `ptr` points to the `struct module` of this very module, or is null.
    pub const unsafe fn from_ptr(ptr: *mut RawModule) -> ThisModule {
        // INVARIANT: The caller guarantees it.
        ThisModule(ptr)
    }

    /// Returns the pointer.
    pub const fn as_ptr(&self) -> *mut RawModule {
        self.0
    }
}

#[cfg(not(hosted))]
#[doc(hidden)]
pub mod entry {
    //! What `module!` expands to calls this.

    use core::cell::UnsafeCell;
    use core::ffi::c_int;

    use super::Module;
    use super::ThisModule;

    /// Where the value of a module lies while it is loaded.
    pub struct Slot<T>(UnsafeCell<Option<T>>);

    // SAFETY: Only `load` and `unload` use the content, which their callers do not call at the
    // same time. The value may be used by all threads and moved between them, as `Module` demands.
    unsafe impl<T: Module> Sync for Slot<T> {}

    impl<T: Module> Slot<T> {
        /// Makes an empty slot.
        #[expect(
            clippy::new_without_default,
            reason = "it is made in a static, where no trait function can be called"
        )]
        pub const fn new() -> Self {
            Self(UnsafeCell::new(None))
        }

        /// Loads the module; returns 0 or a negative error number.
        ///
        /// # Safety
        ///
        /// No other call of this or of [`Slot::unload`] runs.
        pub unsafe fn load(&self, module: &'static ThisModule) -> c_int {
            match T::init(module) {
                Ok(value) => {
                    // SAFETY: The caller guarantees that nobody else uses the content.
                    unsafe { *self.0.get() = Some(value) };
                    0
                }
                Err(error) => error.to_errno(),
            }
        }

        /// Drops the module, if it is loaded.
        ///
        /// # Safety
        ///
        /// No other call of this or of [`Slot::load`] runs.
        pub unsafe fn unload(&self) {
            // SAFETY: The caller guarantees that nobody else uses the content.
            let value = unsafe { (*self.0.get()).take() };
            drop(value);
        }
    }

    /// Returns the bytes of `text`, of which there are `N`.
    pub const fn bytes<const N: usize>(text: &str) -> [u8; N] {
        match text.as_bytes().first_chunk() {
            Some(bytes) => *bytes,
            None => [0; N],
        }
    }
}

/// Names a type that implements [`Module`] to the kernel.
///
/// The keys, in this order, each followed by a comma: `type`, `name`, `authors` (optional, a list),
/// `description` (optional) and `license`. The genuine macro also knows `alias`, `firmware`,
/// `imports_ns` and `params`, which Homa does not use and this one refuses.
///
/// It defines `__LOG_PREFIX` in the calling crate, for the `pr_*!` macros, and so belongs into its
/// root. In the hosted face that is all it does.
///
/// # Examples
///
/// ```
/// use kernel::prelude::*;
///
/// struct Example;
///
/// impl kernel::Module for Example {
///     fn init(_module: &'static ThisModule) -> Result<Self> {
///         pr_info!("loaded\n");
///         Ok(Example)
///     }
/// }
///
/// module! {
///     type: Example,
///     name: "example",
///     authors: ["Somebody"],
///     description: "An example",
///     license: "GPL",
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! module {
    (
        type: $type:ty,
        name: $name:literal,
        $(authors: [$($author:literal),* $(,)?],)?
        $(description: $description:literal,)?
        license: $license:literal,
    ) => {
        /// The module's name, which begins its lines in the log.
        const __LOG_PREFIX: &[u8] = ::core::concat!($name, "\0").as_bytes();

        $crate::__module_entry!(
            $type,
            ::core::concat!(
                $($("author=", $author, "\0",)*)?
                $("description=", $description, "\0",)?
                "license=", $license, "\0",
            )
        );
    };
    ($($other:tt)*) => {
        ::core::compile_error!(
            "module! takes the keys type, name, authors, description and license, in this order, \
             each followed by a comma, their values literals; write what needs another key into a \
             C file of rust/helpers"
        );
    };
}

/// Defines the functions that the kernel calls to load and unload a module, and the strings that
/// `modinfo` shows.
///
/// The functions are named in data sections as C's `module_init` and `module_exit` do it, since
/// objtool takes functions whose address nobody uses for such as are never called indirectly.
///
/// The statics are kept by `no_mangle`, not by `used`: from rustc 1.89 on that sets a flag of the
/// section by which `ld -r` keeps it apart from the section of the same name that C fills, and the
/// kernel reads only one of them.
#[cfg(not(hosted))]
#[doc(hidden)]
#[macro_export]
macro_rules! __module_entry {
    ($type:ty, $info:expr) => {
        const _: () = {
            extern "C" {
                static __this_module: $crate::module::RawModule;
            }

            static THIS_MODULE: $crate::ThisModule =
                // SAFETY: The kernel makes `__this_module`, and it lives as long as the module.
                unsafe { $crate::ThisModule::from_ptr((&raw const __this_module).cast_mut()) };

            static SLOT: $crate::module::entry::Slot<$type> = $crate::module::entry::Slot::new();

            #[no_mangle]
            extern "C" fn init_module() -> ::core::ffi::c_int {
                // SAFETY: The kernel calls this once, and `cleanup_module` only afterwards.
                unsafe { SLOT.load(&THIS_MODULE) }
            }

            #[no_mangle]
            extern "C" fn cleanup_module() {
                // SAFETY: The kernel calls this once, after `init_module` returned 0.
                unsafe { SLOT.unload() }
            }

            #[no_mangle]
            #[link_section = ".init.data"]
            static __module_init: extern "C" fn() -> ::core::ffi::c_int = init_module;

            #[no_mangle]
            #[link_section = ".exit.data"]
            static __module_exit: extern "C" fn() = cleanup_module;

            const INFO: &str = $info;

            #[no_mangle]
            #[link_section = ".modinfo"]
            static __module_info: [u8; INFO.len()] = $crate::module::entry::bytes(INFO);
        };
    };
}

/// Defines nothing in the hosted face, but checks that the type is a module.
#[cfg(hosted)]
#[doc(hidden)]
#[macro_export]
macro_rules! __module_entry {
    ($type:ty, $info:expr) => {
        const _: fn(&'static $crate::ThisModule) -> $crate::error::Result<$type> =
            <$type as $crate::Module>::init;
        const _: &str = $info;
    };
}
