// SPDX-License-Identifier: GPL-2.0

use kernel::alloc::flags::GFP_KERNEL;

use super::*;

fn grow<T>(queue: &mut Queue<T>) {
    let reservation = Reservation::new(queue.grown_capacity(), GFP_KERNEL).unwrap();
    drop(queue.adopt(reservation));
}

#[test]
fn no_memory_no_room() {
    let mut queue = Queue::default();
    assert!(queue.is_empty() && !queue.room());
    assert_eq!(queue.push(1), Err(1));
    assert_eq!(queue.pop(), None);
    grow(&mut queue);
    assert!(queue.room());
    assert_eq!(queue.push(1), Ok(()));
    assert_eq!((queue.len(), queue.front()), (1, Some(&1)));
}

#[test]
fn order_is_kept_around_the_end_and_through_growth() {
    let mut queue = Queue::new();
    let mut pushed = 0;
    let mut popped = 0;
    for round in 0..200 {
        for _ in 0..=round % 7 {
            if !queue.room() {
                grow(&mut queue);
            }
            queue.push(pushed).unwrap();
            pushed += 1;
        }
        for _ in 0..round % 6 {
            if let Some(item) = queue.pop() {
                assert_eq!(item, popped);
                popped += 1;
            }
        }
        assert_eq!(queue.len(), pushed - popped);
    }
    assert!(queue.capacity() > MIN_CAPACITY);
    while let Some(item) = queue.pop() {
        assert_eq!(item, popped);
        popped += 1;
    }
    assert_eq!(popped, pushed);
}

#[test]
fn smaller_memory_is_not_taken() {
    let mut queue: Queue<u8> = Queue::new();
    grow(&mut queue);
    queue.push(1).unwrap();
    let small = Reservation::new(4, GFP_KERNEL).unwrap();
    assert_eq!(queue.adopt(small).capacity(), 4);
    assert_eq!(queue.pop(), Some(1));
}
