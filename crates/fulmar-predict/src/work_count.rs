//! Counts the work that is done, in a measure that is the same on every machine. In tests only.

/// The work that was done since it was last asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// Keys that were predicted or drawn.
    pub(crate) keys: u64,
    /// Cells that were drawn, or compared with others.
    pub(crate) cells: u64,
}

#[cfg(test)]
thread_local! {
    static DONE: std::cell::Cell<Work> = const { std::cell::Cell::new(Work { keys: 0, cells: 0 }) };
}

/// Takes note of keys.
pub(crate) fn note_keys(count: u64) {
    note(Work {
        keys: count,
        cells: 0,
    });
}

/// Takes note of cells.
pub(crate) fn note_cells(count: u64) {
    note(Work {
        keys: 0,
        cells: count,
    });
}

#[cfg(test)]
fn note(more: Work) {
    DONE.with(|done| {
        let Work { keys, cells } = done.get();
        done.set(Work {
            keys: keys + more.keys,
            cells: cells + more.cells,
        });
    });
}

#[cfg(not(test))]
fn note(_: Work) {}

/// Returns what this thread has done since the last time.
#[cfg(test)]
pub(crate) fn take() -> Work {
    DONE.with(std::cell::Cell::take)
}
