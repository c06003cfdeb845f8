//! Overwriting what a computation with a key has left on the stack.

use std::hint::black_box;

/// Bytes of stack that are overwritten. A key schedule with its offsets has less than 1 KiB; without
/// optimisation it is moved through a handful of frames. Chosen by eye, and watched by the test that
/// searches the memory of running programs (docs/threat-model.md §12, T-L1).
const WIPED_BYTES: usize = 16 * 1024;

/// The distance between the frame that starts the work and the frames of the work: more than the saved
/// registers that may lie above the overwritten area in its own frame.
///
/// Chosen by eye, and watched by the same test.
const GAP_BYTES: usize = 256;

/// Does the work, and overwrites the stack that it has used. What it returns is not overwritten.
pub(crate) fn wiped<T>(work: impl FnOnce() -> T) -> T {
    let result = below_a_gap(work);
    overwrite();
    result
}

#[inline(never)]
fn below_a_gap<T>(work: impl FnOnce() -> T) -> T {
    let mut gap = [0_u8; GAP_BYTES];
    black_box(&mut gap);
    let result = in_a_frame_of_its_own(work);
    black_box(&mut gap);
    result
}

#[inline(never)]
fn in_a_frame_of_its_own<T>(work: impl FnOnce() -> T) -> T {
    work()
}

#[inline(never)]
fn overwrite() {
    let mut area = [0_u8; WIPED_BYTES];
    // Whoever sees the zeros through this makes the compiler write them.
    black_box(&mut area);
}
