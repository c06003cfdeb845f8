//! Plays many sessions at once.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context as _, Result};

/// Does the same with each of many things, on all processors, and returns what comes of each, in their order.
///
/// # Errors
///
/// That of the first thing with which it fails; and where it panics.
pub(crate) fn for_all<T: Sync, R: Send>(
    things: &[T],
    one: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(thing) = things.get(number) else {
                return done;
            };
            done.push((number, one(thing)));
        }
    };
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let mut all = Vec::new();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..processors).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            all.extend(thread.join().ok().context("a session has panicked")?);
        }
        anyhow::Ok(())
    })?;
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, done)| done).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::bail;

    #[test]
    fn results_come_in_the_order_of_what_they_are_of() {
        let things: Vec<u64> = (0..1000).collect();
        let squares = for_all(&things, |thing| Ok(thing * thing)).unwrap();
        let expected: Vec<u64> = things.iter().map(|thing| thing * thing).collect();
        assert_eq!(squares, expected);
        assert_eq!(for_all(&[0; 0], |_| Ok(1)).unwrap(), [0; 0]);
    }

    #[test]
    fn the_first_that_fails_is_told() {
        let things: Vec<u64> = (0..1000).collect();
        let failed = for_all(&things, |thing| match thing {
            300 | 600 => bail!("{thing} fails"),
            _ => Ok(()),
        });
        assert_eq!(failed.unwrap_err().to_string(), "300 fails");
    }
}
