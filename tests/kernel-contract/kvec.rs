// SPDX-License-Identifier: GPL-2.0

//! Arrays on the heap.

use super::tracked::Drops;
use super::tracked::Tracked;
use kernel::alloc::kvec::InsertError;
use kernel::alloc::AllocError;
use kernel::kvec;
use kernel::prelude::*;

#[repr(align(64))]
#[derive(Clone)]
struct Aligned(u8);

/// Makes a vector of values that count their drops.
fn tracked(drops: &Drops, values: core::ops::Range<u32>) -> Result<KVec<Tracked<'_>>> {
    let mut vec = KVec::new();
    for value in values {
        vec.push(drops.track(value), GFP_KERNEL)?;
    }
    Ok(vec)
}

pub(super) fn empty() -> Result {
    let mut vec: KVec<u32> = KVec::new();
    check!(vec.is_empty());
    check!(vec.iter().next().is_none());
    check!(vec.capacity() == 0);
    check!(vec.as_slice().is_empty());
    check!(vec.pop().is_none());
    check!(vec.remove(0).is_err());
    vec.truncate(0);
    vec.clear();
    check!(KVec::<u32>::default() == vec);
    check!(KVVec::<u32>::with_capacity(0, GFP_KERNEL)?.is_empty());
    Ok(())
}

pub(super) fn push_pop() -> Result {
    let mut vec = KVec::new();
    vec.push(1, GFP_KERNEL)?;
    vec.push(2, GFP_ATOMIC)?;
    check!(vec == [1, 2]);
    check!(vec.pop() == Some(2));
    check!(vec.pop() == Some(1));
    check!(vec.pop().is_none());
    Ok(())
}

pub(super) fn grows() -> Result {
    let mut vec = KVec::new();
    let mut regrown = 0;
    for i in 0..10_000_u32 {
        let before = vec.capacity();
        vec.push(i, GFP_KERNEL)?;
        if vec.capacity() != before {
            regrown += 1;
        }
    }
    check!(vec.len() == 10_000);
    check!(vec.iter().copied().eq(0..10_000));
    // The cost of pushing is constant on average.
    check!(regrown < 20);
    Ok(())
}

pub(super) fn within_capacity() -> Result {
    let mut vec = KVec::with_capacity(3, GFP_KERNEL)?;
    let capacity = vec.capacity();
    check!(capacity >= 3);
    for i in 0..capacity {
        check!(vec.push_within_capacity(i).is_ok());
    }
    let Err(error) = vec.push_within_capacity(77) else {
        return Err(EINVAL);
    };
    check!(error.0 == 77);
    check!(Error::from(error) == EINVAL);
    check!(vec.len() == capacity);
    check!(vec.capacity() == capacity);
    Ok(())
}

pub(super) fn insert() -> Result {
    let mut vec = KVec::with_capacity(4, GFP_KERNEL)?;
    let capacity = vec.capacity();
    vec.insert_within_capacity(0, 3)?;
    vec.insert_within_capacity(0, 1)?;
    vec.insert_within_capacity(1, 2)?;
    vec.insert_within_capacity(3, 4)?;
    check!(vec == [1, 2, 3, 4]);
    check!(matches!(
        vec.insert_within_capacity(5, 9),
        Err(InsertError::IndexOutOfBounds(9))
    ));
    while vec.len() < capacity {
        vec.push_within_capacity(0)?;
    }
    check!(matches!(
        vec.insert_within_capacity(0, 9),
        Err(InsertError::OutOfCapacity(9))
    ));
    check!(vec.capacity() == capacity);
    Ok(())
}

pub(super) fn remove() -> Result {
    let drops = Drops::none();
    let mut vec = tracked(&drops, 0..4)?;
    let removed = vec.remove(1)?;
    check!(removed.value == 1);
    check!(drops.count() == 0);
    check!(vec.iter().map(|element| element.value).eq([0, 2, 3]));
    check!(vec.remove(3).is_err());
    check!(vec.remove(2)?.value == 3);
    check!(drops.count() == 1);
    drop(vec);
    check!(drops.count() == 3);
    Ok(())
}

pub(super) fn truncate() -> Result {
    let drops = Drops::none();
    let mut vec = tracked(&drops, 0..5)?;
    let capacity = vec.capacity();
    vec.truncate(9);
    check!(drops.count() == 0);
    vec.truncate(2);
    check!(drops.count() == 3);
    check!(vec.iter().map(|element| element.value).eq([0, 1]));
    vec.clear();
    check!(drops.count() == 5);
    check!(vec.is_empty());
    check!(vec.capacity() == capacity);
    Ok(())
}

pub(super) fn retain() -> Result {
    let drops = Drops::none();
    let mut vec = tracked(&drops, 0..10)?;
    vec.retain(|element| {
        element.value += 100;
        element.value % 3 == 0
    });
    check!(drops.count() == 7);
    check!(vec.iter().map(|element| element.value).eq([102, 105, 108]));
    vec.retain(|_| true);
    check!(vec.len() == 3);
    vec.retain(|_| false);
    check!(vec.is_empty());
    check!(drops.count() == 10);
    Ok(())
}

pub(super) fn drain_all() -> Result {
    let drops = Drops::none();
    let mut vec = tracked(&drops, 0..4)?;
    let capacity = vec.capacity();
    let mut drain = vec.drain_all();
    check!(drain.size_hint() == (4, Some(4)));
    check!(drain.next().is_some_and(|element| element.value == 0));
    check!(drops.count() == 1);
    drop(drain);
    check!(drops.count() == 4);
    check!(vec.is_empty());
    check!(vec.capacity() == capacity);
    vec.push_within_capacity(drops.track(9))?;
    check!(vec.drain_all().map(|element| element.value).eq([9]));
    Ok(())
}

pub(super) fn into_iter() -> Result {
    let drops = Drops::none();
    let mut iter = tracked(&drops, 0..4)?.into_iter();
    check!(iter.size_hint() == (4, Some(4)));
    check!(iter.next().is_some_and(|element| element.value == 0));
    check!(iter.size_hint() == (3, Some(3)));
    check!(drops.count() == 1);
    drop(iter);
    check!(drops.count() == 4);

    check!(KVec::<u32>::new().into_iter().next().is_none());
    let mut sum = 0;
    for element in tracked(&drops, 1..5)? {
        sum += element.value;
    }
    check!(sum == 10);
    check!(drops.count() == 8);
    Ok(())
}

pub(super) fn collect() -> Result {
    let drops = Drops::none();
    let whole = tracked(&drops, 0..3)?.into_iter().collect(GFP_KERNEL);
    check!(whole.len() == 3);
    let mut iter = whole.into_iter();
    drop(iter.next());
    let rest = iter.collect(GFP_KERNEL);
    check!(rest.iter().map(|element| element.value).eq([1, 2]));
    check!(drops.count() == 1);
    drop(rest);
    check!(drops.count() == 3);
    Ok(())
}

pub(super) fn clones() -> Result {
    let drops = Drops::none();
    let mut vec = KVec::from_elem(drops.track(1), 3, GFP_KERNEL)?;
    check!(vec.len() == 3);
    check!(drops.count() == 0);
    vec.extend_with(2, drops.track(2), GFP_KERNEL)?;
    check!(vec.len() == 5);
    check!(drops.count() == 0);
    vec.extend_with(0, drops.track(3), GFP_KERNEL)?;
    check!(drops.count() == 1);
    let mut other = KVec::new();
    other.extend_from_slice(&vec, GFP_KERNEL)?;
    check!(other
        .iter()
        .map(|element| element.value)
        .eq([1, 1, 1, 2, 2]));
    other.extend_from_slice(&[], GFP_KERNEL)?;
    check!(other.len() == 5);
    drop(vec);
    check!(drops.count() == 6);
    drop(other);
    check!(drops.count() == 11);
    Ok(())
}

pub(super) fn resize() -> Result {
    let mut vec = KVec::new();
    vec.resize(3, 7, GFP_KERNEL)?;
    check!(vec == [7, 7, 7]);
    vec.resize(3, 9, GFP_KERNEL)?;
    check!(vec == [7, 7, 7]);
    vec.resize(1, 9, GFP_KERNEL)?;
    check!(vec == [7]);
    vec.resize(2, 9, GFP_KERNEL)?;
    check!(vec == [7, 9]);
    Ok(())
}

pub(super) fn reserve() -> Result {
    let mut vec = kvec![1, 2, 3]?;
    vec.reserve(100, GFP_KERNEL)?;
    let capacity = vec.capacity();
    check!(capacity >= 103);
    check!(vec == [1, 2, 3]);
    vec.reserve(100, GFP_KERNEL)?;
    check!(vec.capacity() == capacity);
    vec.reserve(0, GFP_KERNEL)?;
    check!(vec.capacity() == capacity);
    check!(vec.spare_capacity_mut().len() == capacity - 3);
    Ok(())
}

pub(super) fn overflow() -> Result {
    let mut vec = kvec![1_u64, 2]?;
    for too_many in [usize::MAX, usize::MAX - 2, usize::MAX / 8, usize::MAX / 16] {
        check!(vec.reserve(too_many, GFP_KERNEL | __GFP_NOWARN) == Err(AllocError));
        check!(vec == [1, 2]);
    }
    Ok(())
}

pub(super) fn too_large() -> Result {
    let quiet = GFP_KERNEL | __GFP_NOWARN;
    check!(KVec::<u8>::with_capacity(64 << 20, quiet).is_err());
    let mut vec = KVec::from_elem(1_u8, 100, GFP_KERNEL)?;
    check!(vec.reserve(64 << 20, quiet).is_err());
    check!(vec.extend_with(64 << 20, 2, quiet).is_err());
    check!(vec.resize(64 << 20, 2, quiet).is_err());
    check!(vec.iter().all(|&byte| byte == 1));
    check!(vec.len() == 100);
    Ok(())
}

pub(super) fn large() -> Result {
    let mut vec = KVVec::new();
    vec.resize(1 << 20, 0xa55a_a55a_u32, GFP_KERNEL)?;
    vec.resize(2 << 20, 0x5aa5_5aa5, GFP_KERNEL)?;
    check!(vec.len() == 2 << 20);
    let (first, second) = vec.split_at(1 << 20);
    check!(first.iter().all(|&word| word == 0xa55a_a55a));
    check!(second.iter().all(|&word| word == 0x5aa5_5aa5));
    Ok(())
}

pub(super) fn without_size() -> Result {
    let mut vec = KVec::new();
    check!(vec.capacity() == usize::MAX);
    for _ in 0..1000 {
        vec.push((), GFP_KERNEL)?;
    }
    check!(vec.len() == 1000);
    check!(vec.pop() == Some(()));
    check!(vec.remove(0).is_ok());
    vec.insert_within_capacity(5, ())?;
    check!(vec.into_iter().count() == 999);
    Ok(())
}

pub(super) fn aligned() -> Result {
    let mut vec = KVec::new();
    for i in 0..20_u8 {
        vec.push(Aligned(i), GFP_KERNEL)?;
        check!(vec.as_ptr().addr() % 64 == 0);
    }
    check!(vec.iter().map(|element| element.0).eq(0..20));
    Ok(())
}

pub(super) fn from_box() -> Result {
    let drops = Drops::none();
    let array = KBox::new([drops.track(1), drops.track(2)], GFP_KERNEL)?;
    let mut vec = KVec::from(array);
    check!(drops.count() == 0);
    vec.push(drops.track(3), GFP_KERNEL)?;
    check!(vec.iter().map(|element| element.value).eq([1, 2, 3]));
    drop(vec);
    check!(drops.count() == 3);
    Ok(())
}

pub(super) fn literals() -> Result {
    let none: KVec<u8> = kvec![];
    check!(none.is_empty());
    check!(kvec![7; 3]? == [7, 7, 7]);
    check!(kvec![1, 2, 3]? == [1, 2, 3]);
    Ok(())
}

pub(super) fn slices() -> Result {
    let mut vec = kvec![1, 2, 3]?;
    vec.swap(0, 2);
    check!(vec.first() == Some(&3));
    check!(vec.get(3).is_none());
    if let Some(last) = vec.last_mut() {
        *last = 9;
    }
    check!(vec.as_slice() == [3, 2, 9]);
    vec.as_mut_slice().reverse();
    check!(vec[0] == 9);
    vec[0] = 8;
    check!(vec[..2] == [8, 2]);
    for element in &mut vec {
        *element += 1;
    }
    let mut sum = 0;
    for element in &vec {
        sum += element;
    }
    check!(sum == 16);
    Ok(())
}

pub(super) fn comparisons() -> Result {
    let vec = kvec![1, 2]?;
    check!(vec == kvec![1, 2]?);
    check!(vec != kvec![1]?);
    check!(vec == [1, 2][..]);
    let array = [1, 2];
    let slice = &array[..];
    check!(vec == slice);
    check!(slice == vec);
    Ok(())
}
