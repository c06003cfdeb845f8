//! Writing a key trace while it happens.

use super::meta::{Mark, Note, TtyState};
use super::record::{Event, Record, Size};
use std::io::{self, Write};
use std::time::Duration;

/// Writes a key trace and its sidecar, each event at once, so that whatever ends the recording leaves
/// what was recorded.
///
/// Times may be given on any clock; they are written as they are, or from [`FIRST`] on.
#[derive(Debug)]
pub struct Recorder<T, M> {
    trace: T,
    meta: M,
    clock: Clock,
    began: Duration,
    tty: Option<TtyState>,
}

/// The times that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Those from the beginning of the recording, so that a file says nothing of the machine's.
    Own,
    /// The machine's, so that two recordings of one run can be compared.
    Machine,
}

/// The time of the first record on a recording's own clock.
pub const FIRST: Duration = Duration::from_secs(1);

impl<T: Write, M: Write> Recorder<T, M> {
    /// Begins a recording at `now`.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn new(trace: T, meta: M, clock: Clock, now: Duration, size: Size) -> io::Result<Self> {
        let mut recorder = Self {
            trace,
            meta,
            clock,
            began: now,
            tty: None,
        };
        recorder.note(now, Event::Size(size))?;
        Ok(recorder)
    }

    /// Adds what happened at `now`. What has no bytes did not happen.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn note(&mut self, now: Duration, event: Event) -> io::Result<()> {
        if matches!(&event, Event::User(bytes) | Event::Host(bytes) if bytes.is_empty()) {
            return Ok(());
        }
        let at = self.time(now);
        Record { at, event }.write_to(&mut self.trace)
    }

    /// Adds what the terminal is like at `now`, if that has changed.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn see(&mut self, now: Duration, tty: TtyState) -> io::Result<()> {
        if self.tty.as_ref() == Some(&tty) {
            return Ok(());
        }
        self.tty = Some(tty.clone());
        let at = self.time(now);
        Note::Tty(tty).write_to(at, &mut self.meta)
    }

    /// Adds a mark at `now`.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn mark(&mut self, now: Duration, mark: Mark) -> io::Result<()> {
        let at = self.time(now);
        Note::Mark(mark).write_to(at, &mut self.meta)
    }

    fn time(&self, now: Duration) -> Duration {
        match self.clock {
            Clock::Own => FIRST + now.saturating_sub(self.began),
            Clock::Machine => now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Meta, Trace};

    const SIZE: Size = Size {
        columns: 80,
        rows: 24,
    };

    fn tty(has_echo: bool) -> TtyState {
        TtyState {
            is_canonical: true,
            has_echo,
            foreground: "cat".to_owned(),
        }
    }

    #[test]
    fn what_is_written_is_a_trace_that_says_nothing_of_the_clock() {
        let (mut trace, mut meta) = (Vec::new(), Vec::new());
        let ms = |millis| Duration::from_secs(77) + Duration::from_millis(millis);
        let mut recorder = Recorder::new(&mut trace, &mut meta, Clock::Own, ms(0), SIZE).unwrap();
        recorder.note(ms(5), Event::User(b"a".to_vec())).unwrap();
        recorder.note(ms(6), Event::Host(vec![])).unwrap();
        recorder.note(ms(7), Event::Host(b"a".to_vec())).unwrap();
        for (at, has_echo) in [(1, true), (2, true), (8, false)] {
            recorder.see(ms(at), tty(has_echo)).unwrap();
        }
        recorder.mark(ms(9), Mark::SecretOn).unwrap();
        assert_eq!(
            trace,
            b"1000000 SIZE 80 24\n1005000 USER 1\na\n1007000 HOST 1\na\n"
        );
        assert_eq!(
            meta,
            b"1001000 TTY 1 1 cat\n1008000 TTY 1 0 cat\n1009000 MARK secret-on\n"
        );
        assert!(Trace::parse(&trace).is_ok());
        let mut trace = Vec::new();
        Recorder::new(&mut trace, &mut meta, Clock::Machine, ms(0), SIZE).unwrap();
        assert_eq!(trace, b"77000000 SIZE 80 24\n");
        assert!(Meta::parse(std::str::from_utf8(&meta).unwrap()).is_ok());
    }
}
