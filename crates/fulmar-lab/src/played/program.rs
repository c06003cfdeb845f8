//! The played host on its terminal.

use super::player::{Output, Player};
use super::signals::{CLEAR, EndReader, READY, START};
use crate::trace::{Event, Record, Size, Trace};
use fulmar_platform::signals::ignore;
use fulmar_platform::{Interest, RawMode, Signal, Transfer, Tty, boot_time, wait_for};
use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The terminal's size is looked at this often until it is right. Chosen by eye.
const SIZE_PAUSE: Duration = Duration::from_millis(20);

/// After this time without the right size the host gives up: some peers tell it only after the
/// first packets have crossed the network.
const SIZE_PATIENCE: Duration = Duration::from_secs(120);

/// The reason why a recording is not played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// Standard input is something else.
    #[error("standard input is no terminal to play on: {0}")]
    NoTerminal(io::Error),
    /// It has another size than the recording.
    #[error(
        "the terminal has {} columns and {} rows, and the recording needs {} and {}",
        found.columns, found.rows, wanted.columns, wanted.rows
    )]
    OtherSize {
        /// The terminal's size.
        found: Size,
        /// The recording's.
        wanted: Size,
    },
    /// The log cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        error: io::Error,
    },
    /// The terminal cannot be read or written.
    #[error("the terminal fails: {0}")]
    Terminal(io::Error),
}

/// A recording that is played on the terminal of this process.
pub struct Program {
    trace: Trace,
    tty: Tty,
    log: File,
    log_path: PathBuf,
    is_stamped: bool,
    ending: EndReader,
    is_over: bool,
    _raw: RawMode,
}

/// The event that ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Woken {
    /// Something was received.
    Input,
    /// The time is over.
    Timeout,
}

/// The reason for which playing stops.
enum Stop {
    /// The terminal is gone, or the end was asked for.
    Over,
    Failed(PlayError),
}

impl From<PlayError> for Stop {
    fn from(error: PlayError) -> Self {
        Self::Failed(error)
    }
}

impl Program {
    /// Takes the terminal behind descriptor 0 for a recording, and makes the log.
    ///
    /// # Errors
    ///
    /// When that is no terminal, or the log cannot be made.
    pub fn new(trace: Trace, log_path: &Path, is_stamped: bool) -> Result<Self, PlayError> {
        // A terminal that goes away is noticed by reading, when everything has been noted.
        ignore(Signal::HangUp).map_err(PlayError::Terminal)?;
        let tty = Tty::open(io::stdin()).map_err(PlayError::NoTerminal)?;
        let raw = tty.raw_mode().map_err(PlayError::NoTerminal)?;
        let log = File::create(log_path).map_err(|error| PlayError::Log {
            path: log_path.to_owned(),
            error,
        })?;
        Ok(Self {
            trace,
            tty,
            log,
            log_path: log_path.to_owned(),
            is_stamped,
            ending: EndReader::default(),
            is_over: false,
            _raw: raw,
        })
    }

    /// Plays until the end is asked for or the terminal is gone.
    ///
    /// # Errors
    ///
    /// When the terminal never has the size of the recording, or terminal or log fail.
    pub fn run(mut self) -> Result<(), PlayError> {
        match self.play() {
            Stop::Over => Ok(()),
            Stop::Failed(error) => Err(error),
        }
    }

    fn play(&mut self) -> Stop {
        let Err(stop) = self.begin().and_then(|player| self.go_on(player));
        stop
    }

    /// Waits for the start, and begins.
    fn begin(&mut self) -> Result<Player, Stop> {
        self.await_size()?;
        self.write(format!("{CLEAR}{READY}").as_bytes())?;
        let received = self.await_start()?;
        // Taken before the screen is cleared: whoever sees that may type at once.
        let now = boot_time();
        self.write(CLEAR.as_bytes())?;
        self.note(now, Event::Size(self.trace.size()))?;
        let mut player = Player::new(&self.trace, now, self.is_stamped);
        self.take(&mut player, now, received)?;
        Ok(player)
    }

    fn go_on(&mut self, mut player: Player) -> Result<Infallible, Stop> {
        loop {
            while let Some(output) = player.poll_output(boot_time()) {
                self.put(output)?;
            }
            if self.is_over {
                return Err(Stop::Over);
            }
            if self.wait(player.poll_timeout())? == Woken::Input {
                let now = boot_time();
                let received = self.read()?;
                self.take(&mut player, now, received)?;
            }
        }
    }

    fn take(&mut self, player: &mut Player, now: Duration, received: Vec<u8>) -> Result<(), Stop> {
        if received.is_empty() {
            return Ok(());
        }
        player.receive(now, &received);
        self.note(now, Event::User(received))
    }

    /// Writes a piece. It counts as written when the terminal has taken it, however slow that is.
    fn put(&mut self, output: Output) -> Result<(), Stop> {
        let stamp = output.stamp.map(|stamp| stamp.sequence());
        let mut bytes = output.bytes.clone();
        bytes.extend(stamp.unwrap_or_default().into_bytes());
        self.write(&bytes)?;
        self.note(boot_time(), Event::Host(output.bytes))
    }

    fn await_size(&self) -> Result<(), Stop> {
        let wanted = self.trace.size();
        let limit = boot_time() + SIZE_PATIENCE;
        loop {
            let unknown = Size {
                columns: 0,
                rows: 0,
            };
            let found = self.tty.size().map_or(unknown, Size::from);
            if found == wanted {
                return Ok(());
            }
            if boot_time() > limit {
                return Err(PlayError::OtherSize { found, wanted }.into());
            }
            self.pause(SIZE_PAUSE)?;
        }
    }

    /// Waits, unless the terminal goes away.
    fn pause(&self, time: Duration) -> Result<(), Stop> {
        let waited = wait_for(&self.tty, Interest::Nothing, Some(time));
        if waited.map_err(PlayError::Terminal)?.is_hung_up() {
            Err(Stop::Over)
        } else {
            Ok(())
        }
    }

    /// Waits for the start, and returns what came behind it.
    fn await_start(&mut self) -> Result<Vec<u8>, Stop> {
        loop {
            self.wait(None)?;
            let bytes = self.read()?;
            if self.is_over {
                return Err(Stop::Over);
            }
            if let Some(start) = bytes.iter().position(|byte| *byte == START) {
                return Ok(bytes[start + 1..].to_vec());
            }
        }
    }

    fn wait(&self, until: Option<Duration>) -> Result<Woken, Stop> {
        let limit = until.map(|until| until.saturating_sub(boot_time()));
        let waited = wait_for(&self.tty, Interest::Read, limit);
        Ok(if waited.map_err(PlayError::Terminal)?.is_readable() {
            Woken::Input
        } else {
            Woken::Timeout
        })
    }

    fn read(&mut self) -> Result<Vec<u8>, Stop> {
        let mut buffer = [0; 4096];
        let bytes = match self.tty.read(&mut buffer).map_err(PlayError::Terminal)? {
            Transfer::Bytes(count) => &buffer[..count],
            Transfer::WouldBlock => &[],
            Transfer::Closed => return Err(Stop::Over),
        };
        let (others, is_over) = self.ending.read(bytes);
        self.is_over |= is_over;
        Ok(others)
    }

    fn write(&self, mut bytes: &[u8]) -> Result<(), Stop> {
        while !bytes.is_empty() {
            match self.tty.write(bytes).map_err(PlayError::Terminal)? {
                Transfer::Bytes(count) => bytes = &bytes[count..],
                Transfer::Closed => return Err(Stop::Over),
                Transfer::WouldBlock => {
                    wait_for(&self.tty, Interest::Write, None).map_err(PlayError::Terminal)?;
                }
            }
        }
        Ok(())
    }

    /// Notes an event at once: whoever ends the session may not leave time for it later.
    fn note(&mut self, at: Duration, event: Event) -> Result<(), Stop> {
        let written = Record { at, event }.write_to(&mut self.log);
        written.map_err(|error| {
            let path = self.log_path.clone();
            PlayError::Log { path, error }.into()
        })
    }
}
