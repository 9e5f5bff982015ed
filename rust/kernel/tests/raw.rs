// SPDX-License-Identifier: GPL-2.0

//! The unsafe part of the allocation types: giving values up as pointers and taking them back.

use kernel::hosted::LeakCheck;
use kernel::prelude::*;
use kernel::sync::Arc;
use kernel::sync::ArcBorrow;

type Text = std::string::String;

fn text(text: &str) -> Text {
    Text::from(text)
}

#[test]
fn boxes() -> Result {
    let leaks = LeakCheck::new();
    let raw = KBox::into_raw(KBox::new(text("a"), GFP_KERNEL)?);
    // SAFETY: `raw` comes from `into_raw` and is taken back once.
    let back = unsafe { KBox::from_raw(raw) };
    assert_eq!(*back, "a");

    let leaked: &'static mut Text = KBox::leak(back);
    leaked.push('b');
    // SAFETY: The leaked value is not used any more.
    drop(unsafe { KBox::from_raw(leaked) });

    let mut memory = KBox::<Text>::new_uninit(GFP_KERNEL)?;
    (*memory).write(text("c"));
    // SAFETY: The value has just been written.
    assert_eq!(*unsafe { memory.assume_init() }, "c");
    leaks.assert_none();
    Ok(())
}

#[test]
fn vectors() -> Result {
    let leaks = LeakCheck::new();
    let mut vec = KVec::with_capacity(3, GFP_KERNEL)?;
    vec.push(text("a"), GFP_KERNEL)?;
    vec.spare_capacity_mut()[0].write(text("b"));
    // SAFETY: One more element has just been written.
    unsafe { vec.inc_len(1) };
    let (ptr, len, capacity) = vec.into_raw_parts();
    assert_eq!((len, capacity), (2, 3));
    // SAFETY: The parts come from `into_raw_parts` and are taken back once.
    let vec = unsafe { KVec::from_raw_parts(ptr, len, capacity) };
    assert_eq!(vec, ["a", "b"]);
    drop(vec);

    let units = KVec::from_elem((), 5, GFP_KERNEL)?;
    let (ptr, len, capacity) = units.into_raw_parts();
    // SAFETY: The parts come from `into_raw_parts` and are taken back once.
    let units = unsafe { KVec::<()>::from_raw_parts(ptr, len, capacity) };
    assert_eq!(units.len(), 5);
    leaks.assert_none();
    Ok(())
}

#[repr(align(128))]
struct Aligned(u8);

#[test]
fn arcs() -> Result {
    let leaks = LeakCheck::new();
    let arc = Arc::new(text("a"), GFP_KERNEL)?;
    let raw = arc.clone().into_raw();
    assert_eq!(raw, Arc::as_ptr(&arc));
    {
        // SAFETY: `raw` comes from `into_raw`, and `arc` outlives the borrow.
        let borrow = unsafe { ArcBorrow::from_raw(raw) };
        assert_eq!(*borrow, "a");
    }
    drop(arc);
    // SAFETY: `raw` comes from `into_raw` and is taken back once.
    let arc = unsafe { Arc::from_raw(raw) };
    assert_eq!(*arc, "a");
    drop(arc);

    let raw = Arc::new(Aligned(3), GFP_KERNEL)?.into_raw();
    assert!(raw.is_aligned());
    // SAFETY: `raw` comes from `into_raw` and is taken back once.
    assert_eq!(unsafe { Arc::from_raw(raw) }.0, 3);
    leaks.assert_none();
    Ok(())
}

#[test]
fn arcs_between_threads() -> Result {
    let arc = Arc::new(std::sync::Mutex::new(0), GFP_KERNEL)?;
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let mine = arc.clone();
            scope.spawn(move || {
                for _ in 0..1000 {
                    *mine.clone().lock().expect("nobody panics with the lock") += 1;
                }
            });
        }
    });
    assert_eq!(*arc.lock().expect("nobody panics with the lock"), 8000);
    Ok(())
}
