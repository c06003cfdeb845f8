//! A turn of a loop allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Duration;

use fulmar_platform::{Interest, Poller};

/// The system's memory, with a count of what each thread asks for.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all is left to the system's allocator; the count touches no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps what this function asks for, which is what the system's does.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static MEMORY: Counting = Counting;

#[test]
fn a_wait_allocates_nothing_once_it_has_room() {
    let (reader, writer) = std::io::pipe().expect("there are descriptors");
    let mut poller = Poller::new();
    let mut wait = |count: usize| {
        let waited = poller.wait(Some(Duration::ZERO), |registry| {
            for token in 0..count {
                registry.add(token, &reader, Interest::Read);
            }
            registry.add(count, &writer, Interest::Write);
            registry.add_ready(count + 1);
        });
        waited.expect("it can wait");
        assert_eq!(poller.ready().count(), 2);
    };
    wait(8);
    let before = ALLOCATIONS.get();
    assert!(before > 0, "it is counted");
    for _ in 0..100 {
        wait(8);
    }
    assert_eq!(ALLOCATIONS.get(), before);
}
