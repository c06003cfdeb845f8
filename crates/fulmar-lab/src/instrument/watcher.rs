//! A screen that is watched: the local end of a connection or of a session.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use fulmar_platform::boot_time;
use fulmar_testbed::PtyProgram;

use crate::judge::ScreenObserver;
use crate::trace::Size;

/// The local end.
pub(super) trait ByteStream {
    /// Returns what comes until then, as soon as something does; nothing otherwise.
    fn read(&mut self, until: Duration) -> Result<&[u8]>;

    /// Types.
    fn write(&mut self, keys: &[u8]) -> Result<()>;

    /// Returns true once nothing more will come.
    fn is_over(&self) -> bool;
}

impl ByteStream for PtyProgram {
    fn read(&mut self, until: Duration) -> Result<&[u8]> {
        let left = until.saturating_sub(boot_time());
        Ok(self.turn(Some(left))?)
    }

    fn write(&mut self, keys: &[u8]) -> Result<()> {
        self.type_keys(keys);
        self.type_now()?;
        ensure!(!self.has_keys(), "the peer's terminal takes no keys");
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_closed()
    }
}

/// Somebody who looks at a screen.
pub(super) struct ScreenWatcher<S> {
    pub(super) stream: S,
    pub(super) observer: ScreenObserver,
    /// The number of bytes that were shown.
    pub(super) shown: u64,
}

impl<S: ByteStream> ScreenWatcher<S> {
    /// Watches a blank screen of this size.
    pub(super) fn new(stream: S, size: Size) -> Self {
        Self {
            stream,
            observer: ScreenObserver::new(size),
            shown: 0,
        }
    }

    /// Looks at what comes until `find` finds what it looks for; `None` where the time is over before.
    pub(super) fn look_for<T>(
        &mut self,
        patience: Duration,
        mut find: impl FnMut(&ScreenObserver) -> Option<T>,
    ) -> Result<Option<T>> {
        let limit = boot_time() + patience;
        loop {
            let found = find(&self.observer);
            if found.is_some() || boot_time() >= limit {
                return Ok(found);
            }
            self.look(limit)?;
        }
    }

    /// Looks at what comes until `find` finds what it looks for.
    ///
    /// # Errors
    ///
    /// Where the time is over before; `what` was looked for.
    pub(super) fn await_sight<T>(
        &mut self,
        what: &str,
        patience: Duration,
        find: impl FnMut(&ScreenObserver) -> Option<T>,
    ) -> Result<T> {
        let found = self.look_for(patience, find);
        let found = found.and_then(|found| found.with_context(|| format!("{what} has not come")));
        found.with_context(|| format!("the screen shows “{}”", self.screen()))
    }

    /// Looks until nothing has come for so long.
    pub(super) fn await_quiet(&mut self, quiet: Duration) -> Result<()> {
        while self.look(boot_time() + quiet)? {}
        Ok(())
    }

    /// Looks on for so long.
    pub(super) fn watch(&mut self, time: Duration) -> Result<()> {
        self.look_for(time, |_| None::<()>).map(drop)
    }

    /// Returns what the screen shows, without blank rows.
    pub(super) fn screen(&self) -> String {
        let rows = (0..self.observer.size().rows).map(|row| self.observer.row_text(row));
        let rows: Vec<String> = rows.filter(|row| !row.is_empty()).collect();
        rows.join("\n")
    }

    /// Shows what comes until then, and returns whether something came.
    fn look(&mut self, until: Duration) -> Result<bool> {
        let bytes = self.stream.read(until)?;
        self.shown += bytes.len() as u64;
        self.observer.show(bytes, &mut Vec::new());
        let has_come = !bytes.is_empty();
        ensure!(!self.stream.is_over(), "the far end has left");
        Ok(has_come)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    const SIZE: Size = Size {
        columns: 10,
        rows: 3,
    };

    /// Each piece comes at once, and the remote end is gone where there is none.
    struct Pieces(VecDeque<&'static [u8]>);

    impl ByteStream for Pieces {
        fn read(&mut self, _until: Duration) -> Result<&[u8]> {
            Ok(self.0.pop_front().unwrap_or_default())
        }

        fn write(&mut self, _keys: &[u8]) -> Result<()> {
            Ok(())
        }

        fn is_over(&self) -> bool {
            self.0.is_empty()
        }
    }

    fn watcher(pieces: &[&'static [u8]]) -> ScreenWatcher<Pieces> {
        ScreenWatcher::new(Pieces(pieces.to_vec().into()), SIZE)
    }

    fn shows(text: &str) -> impl Fn(&ScreenObserver) -> Option<String> {
        move |observer| Some(observer.row_text(0)).filter(|row| row.contains(text))
    }

    #[test]
    fn what_is_there_is_found_before_anything_is_read_and_no_later_than_it_comes() {
        let mut watcher = watcher(&[b"a", b"b", b"c", b""]);
        let minute = Duration::from_secs(60);
        assert_eq!(watcher.look_for(minute, shows("")).unwrap().unwrap(), "");
        assert_eq!(watcher.look_for(minute, shows("b")).unwrap().unwrap(), "ab");
        assert_eq!((watcher.stream.0.len(), watcher.shown), (2, 2));
        assert_eq!(watcher.look_for(Duration::ZERO, shows("c")).unwrap(), None);
        assert_eq!(watcher.stream.0.len(), 2, "the time was over");
    }

    #[test]
    fn an_error_says_what_was_looked_for_and_what_is_shown_instead() {
        let mut watcher = watcher(&[b"one\r\n\r\n", b"two"]);
        let error = watcher.await_sight("a prompt", Duration::from_secs(60), shows("$"));
        assert_eq!(
            format!("{:#}", error.unwrap_err()),
            "the screen shows “one\ntwo”: the far end has left"
        );
        let error = watcher.await_sight("a prompt", Duration::ZERO, shows("$"));
        let error = format!("{:#}", error.unwrap_err());
        assert_eq!(error, "the screen shows “one\ntwo”: a prompt has not come");
    }

    #[test]
    fn it_is_quiet_when_nothing_comes_any_more() {
        let mut watcher = watcher(&[b"a", b"b", b"", b"c"]);
        watcher.await_quiet(Duration::ZERO).unwrap();
        assert_eq!((watcher.screen(), watcher.shown), ("ab".to_owned(), 2));
    }
}
