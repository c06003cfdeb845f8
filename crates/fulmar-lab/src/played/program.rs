//! The played host on its terminal.

use super::player::{Output, Player};
use super::raw_terminal::RawTerminal;
use super::signals::{CLEAR, EndReader, READY, START};
use crate::trace::{Event, Record, Size, Trace};
use anyhow::{Context as _, Result, ensure};
use fulmar_platform::signals::ignore;
use fulmar_platform::{Interest, Signal, boot_time, wait_for};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The terminal's size is looked at this often until it is right. Chosen by eye.
const SIZE_PAUSE: Duration = Duration::from_millis(20);

/// After this time without the right size the host gives up: some peers tell it only after the
/// first packets have crossed the network.
const SIZE_PATIENCE: Duration = Duration::from_secs(120);

/// The error of a terminal that cannot be read or written.
const TERMINAL_FAILS: &str = "the terminal fails";

/// A recording that is played on the terminal of this process.
pub struct Program {
    trace: Trace,
    terminal: RawTerminal,
    log: File,
    log_path: PathBuf,
    is_stamped: bool,
    ending: EndReader,
    is_over: bool,
}

impl Program {
    /// Takes the terminal behind descriptor 0 for a recording, and makes the log.
    ///
    /// # Errors
    ///
    /// When that is no terminal, or the log cannot be made.
    pub fn new(trace: Trace, log_path: &Path, is_stamped: bool) -> Result<Self> {
        // A terminal that goes away is noticed by reading, when everything has been noted.
        ignore(Signal::HangUp).context(TERMINAL_FAILS)?;
        let terminal = RawTerminal::take()?;
        let log = File::create(log_path).with_context(|| cannot_write(log_path))?;
        Ok(Self {
            trace,
            terminal,
            log,
            log_path: log_path.to_owned(),
            is_stamped,
            ending: EndReader::default(),
            is_over: false,
        })
    }

    /// Plays until the end is asked for or the terminal is gone.
    ///
    /// # Errors
    ///
    /// When the terminal never has the size of the recording, or terminal or log fail.
    pub fn run(mut self) -> Result<()> {
        self.await_size()?;
        self.write(format!("{CLEAR}{READY}").as_bytes())?;
        let received = self.await_start()?;
        if self.is_over {
            return Ok(());
        }
        // Taken before the screen is cleared: whoever sees that may type at once.
        let now = boot_time();
        if !self.write(CLEAR.as_bytes())? {
            return Ok(());
        }
        self.note(now, Event::Size(self.trace.size()))?;
        let mut player = Player::new(&self.trace, now, self.is_stamped);
        self.take(&mut player, now, received)?;
        self.go_on(player)
    }

    fn go_on(&mut self, mut player: Player) -> Result<()> {
        loop {
            while let Some(output) = player.poll_output(boot_time()) {
                self.put(output)?;
            }
            if self.is_over {
                return Ok(());
            }
            if self.can_read(player.poll_timeout())? {
                let now = boot_time();
                let received = self.read()?;
                self.take(&mut player, now, received)?;
            }
        }
    }

    fn take(&mut self, player: &mut Player, now: Duration, received: Vec<u8>) -> Result<()> {
        if received.is_empty() {
            return Ok(());
        }
        player.receive(now, &received);
        self.note(now, Event::User(received))
    }

    /// Writes a piece. It counts as written when the terminal has taken it, however slow that is.
    fn put(&mut self, output: Output) -> Result<()> {
        let stamp = output.stamp.map(|stamp| stamp.sequence());
        let mut bytes = output.bytes.clone();
        bytes.extend(stamp.unwrap_or_default().into_bytes());
        if self.write(&bytes)? {
            self.note(boot_time(), Event::Host(output.bytes))?;
        }
        Ok(())
    }

    /// Waits until the terminal has the size of the recording, or is gone.
    fn await_size(&mut self) -> Result<()> {
        let wanted = self.trace.size();
        let limit = boot_time() + SIZE_PATIENCE;
        while !self.is_over {
            let found = self.terminal.tty.size();
            if found.map(Size::from) == Some(wanted) {
                return Ok(());
            }
            ensure!(
                boot_time() <= limit,
                "the terminal has {} columns and {} rows, and the recording needs {} and {}",
                found.map_or(0, |size| size.columns),
                found.map_or(0, |size| size.rows),
                wanted.columns,
                wanted.rows
            );
            let waited = wait_for(&self.terminal.tty, Interest::Nothing, Some(SIZE_PAUSE));
            self.is_over = waited.context(TERMINAL_FAILS)?.is_hung_up();
        }
        Ok(())
    }

    /// Waits for the start, and returns what came behind it; nothing where the end comes before.
    fn await_start(&mut self) -> Result<Vec<u8>> {
        while !self.is_over {
            self.can_read(None)?;
            let bytes = self.read()?;
            if let Some(start) = bytes.iter().position(|byte| *byte == START) {
                return Ok(bytes[start + 1..].to_vec());
            }
        }
        Ok(Vec::new())
    }

    /// Waits for something to read, until a time, and returns whether there is.
    fn can_read(&self, until: Option<Duration>) -> Result<bool> {
        let limit = until.map(|until| until.saturating_sub(boot_time()));
        self.terminal.can_read(limit).context(TERMINAL_FAILS)
    }

    /// Reads what is there. It is over if the end is among it, or the terminal is gone.
    fn read(&mut self) -> Result<Vec<u8>> {
        let bytes = self.terminal.read().context(TERMINAL_FAILS)?;
        let (others, is_end) = self.ending.read(bytes.as_deref().unwrap_or_default());
        self.is_over |= is_end || bytes.is_none();
        Ok(others)
    }

    /// Writes all of it, however long that takes. Returns false where the terminal is gone, and it is over.
    fn write(&mut self, bytes: &[u8]) -> Result<bool> {
        let is_written = self.terminal.write(bytes).context(TERMINAL_FAILS)?;
        self.is_over |= !is_written;
        Ok(is_written)
    }

    /// Notes an event at once: whoever ends the session may not leave time for it later.
    fn note(&mut self, at: Duration, event: Event) -> Result<()> {
        let written = Record { at, event }.write_to(&mut self.log);
        written.with_context(|| cannot_write(&self.log_path))
    }
}

fn cannot_write(log: &Path) -> String {
    format!("cannot write {}", log.display())
}
