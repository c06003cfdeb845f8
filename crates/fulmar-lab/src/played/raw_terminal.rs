//! The terminal of a program that plays: raw, read and written whole.

use std::io;
use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_platform::{Interest, RawMode, Transfer, Tty, wait_for};

/// The longest read.
const READ_MAX: usize = 4096;

/// The terminal behind descriptor 0, in raw mode as long as this value lives.
pub(crate) struct RawTerminal {
    pub(super) tty: Tty,
    _raw: RawMode,
}

impl RawTerminal {
    /// Takes the terminal.
    ///
    /// # Errors
    ///
    /// When standard input is none.
    pub(crate) fn take() -> Result<Self> {
        const NO_TERMINAL: &str = "standard input is no terminal to play on";
        let tty = Tty::open(io::stdin()).context(NO_TERMINAL)?;
        let raw = tty.raw_mode().context(NO_TERMINAL)?;
        Ok(Self { tty, _raw: raw })
    }

    /// Waits for something to read, for so long if there is a limit, and returns whether there is.
    pub(crate) fn can_read(&self, limit: Option<Duration>) -> io::Result<bool> {
        Ok(wait_for(&self.tty, Interest::Read, limit)?.is_readable())
    }

    /// Waits for keys and reads them; `None` where the terminal is gone.
    pub(crate) fn await_keys(&self) -> io::Result<Option<Vec<u8>>> {
        self.can_read(None)?;
        self.read()
    }

    /// Reads what is there, perhaps nothing; `None` where the terminal is gone.
    pub(crate) fn read(&self) -> io::Result<Option<Vec<u8>>> {
        let mut buffer = [0; READ_MAX];
        Ok(match self.tty.read(&mut buffer)? {
            Transfer::Bytes(count) => Some(buffer[..count].to_vec()),
            Transfer::WouldBlock => Some(Vec::new()),
            Transfer::Closed => None,
        })
    }

    /// Writes all of it, however long that takes. Returns false where the terminal is gone.
    pub(crate) fn write(&self, mut bytes: &[u8]) -> io::Result<bool> {
        while !bytes.is_empty() {
            match self.tty.write(bytes)? {
                Transfer::Bytes(count) => bytes = &bytes[count..],
                Transfer::Closed => return Ok(false),
                Transfer::WouldBlock => {
                    wait_for(&self.tty, Interest::Write, None)?;
                }
            }
        }
        Ok(true)
    }
}
