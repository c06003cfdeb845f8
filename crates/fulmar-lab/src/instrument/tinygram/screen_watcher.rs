//! A screen that is watched: the near end of a connection or of a session.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use fulmar_platform::{Interest, boot_time, wait_for};
use fulmar_testbed::PtyProgram;

use super::burst::Burst;
use crate::judge::ScreenObserver;

/// The near end.
pub(super) trait ByteStream {
    /// Gets ready for a burst.
    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }

    /// Returns what comes until then, with its first byte; `None` where nothing does.
    fn read(&mut self, until: Duration) -> Result<Option<Vec<u8>>>;

    /// Types.
    fn write(&mut self, keys: &[u8]) -> Result<()>;
}

/// The longest read.
const READ_MAX: usize = 16_384;

impl ByteStream for TcpStream {
    fn read(&mut self, until: Duration) -> Result<Option<Vec<u8>>> {
        let left = until.saturating_sub(boot_time());
        if !wait_for(self, Interest::Read, Some(left))?.is_ready() {
            return Ok(None);
        }
        let mut buffer = vec![0; READ_MAX];
        match (&*self).read(&mut buffer) {
            Ok(0) => bail!("the far end has closed the connection"),
            Ok(count) => {
                buffer.truncate(count);
                Ok(Some(buffer))
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error).context("reading the connection"),
        }
    }

    fn write(&mut self, keys: &[u8]) -> Result<()> {
        (&*self).write_all(keys).context("writing the connection")
    }
}

impl ByteStream for &mut PtyProgram {
    fn read(&mut self, until: Duration) -> Result<Option<Vec<u8>>> {
        let left = until.saturating_sub(boot_time());
        let bytes = self.turn(Some(left))?.to_vec();
        ensure!(!self.is_closed(), "the peer has left");
        Ok(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }

    fn write(&mut self, keys: &[u8]) -> Result<()> {
        self.type_keys(keys);
        self.type_now()?;
        ensure!(!self.has_keys(), "the peer's terminal takes no keys");
        Ok(())
    }
}

/// The times at which a burst was seen, in boot time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BurstSeen {
    /// The time at which the first of its lines was there.
    pub(super) first: Duration,
    /// The time at which all of them were right.
    pub(super) all: Duration,
    /// The longest time, between the two, in which no line came.
    pub(super) pause: Duration,
}

/// Somebody who looks.
pub(super) struct ScreenWatcher<S> {
    pub(super) stream: S,
    pub(super) observer: ScreenObserver,
}

impl<S: ByteStream> ScreenWatcher<S> {
    /// Looks at what comes until all lines of a burst are right; `None` where the time is over before.
    pub(super) fn await_burst(
        &mut self,
        burst: &Burst,
        patience: Duration,
    ) -> Result<Option<BurstSeen>> {
        let limit = boot_time() + patience;
        let mut lines = LineTimes::default();
        loop {
            lines.note(boot_time(), burst.count_on(&self.observer));
            if burst.is_on(&self.observer) {
                return Ok(Some(lines.seen_at(boot_time())));
            }
            if boot_time() >= limit {
                return Ok(None);
            }
            self.look(limit)?;
        }
    }

    /// Looks until nothing has come for so long.
    pub(super) fn await_quiet(&mut self, quiet: Duration) -> Result<()> {
        while self.look(boot_time() + quiet)? {}
        Ok(())
    }

    /// Looks until the screen shows a text; false where the time is over before.
    pub(super) fn await_text(&mut self, text: &str, patience: Duration) -> Result<bool> {
        let limit = boot_time() + patience;
        while !self.rows().any(|row| row.contains(text)) {
            if boot_time() >= limit {
                return Ok(false);
            }
            self.look(limit)?;
        }
        Ok(true)
    }

    /// Returns what the screen shows, without blank rows.
    pub(super) fn screen(&self) -> String {
        let rows: Vec<String> = self.rows().filter(|row| !row.is_empty()).collect();
        rows.join("\n")
    }

    fn rows(&self) -> impl Iterator<Item = String> {
        (0..self.observer.size().rows).map(|row| self.observer.row_text(row))
    }

    /// Shows what comes until then, and returns whether something came.
    fn look(&mut self, until: Duration) -> Result<bool> {
        let bytes = self.stream.read(until)?;
        if let Some(bytes) = &bytes {
            self.observer.show(bytes, &mut Vec::new());
        }
        Ok(bytes.is_some())
    }
}

/// The part of a burst that has come.
#[derive(Clone, Copy, Debug, Default)]
struct LineTimes {
    seen: usize,
    first: Duration,
    last: Duration,
    pause: Duration,
}

impl LineTimes {
    /// Notes how many lines are on the screen now.
    fn note(&mut self, now: Duration, count: usize) {
        if count > self.seen {
            match self.seen {
                0 => self.first = now,
                _ => self.pause = self.pause.max(now - self.last),
            }
            (self.seen, self.last) = (count, now);
        }
    }

    /// Returns the times of a burst that is whole now.
    fn seen_at(self, now: Duration) -> BurstSeen {
        BurstSeen {
            first: self.first,
            all: now,
            pause: self.pause,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_time_without_a_new_line_is_between_the_first_and_the_last() {
        let ms = Duration::from_millis;
        let mut lines = LineTimes::default();
        // Nothing for a second, then lines, with looks in between at which there is no new one.
        for (at, count) in [
            (0, 0),
            (1000, 1),
            (1010, 3),
            (1100, 3),
            (1140, 4),
            (1150, 4),
            (1160, 34),
        ] {
            lines.note(ms(at), count);
        }
        let seen = lines.seen_at(ms(1400));
        assert_eq!((seen.first, seen.all), (ms(1000), ms(1400)));
        assert_eq!(seen.pause, ms(130));
    }
}
