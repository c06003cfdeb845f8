//! The user's terminal in our hands.

use std::fs::OpenOptions;
use std::io;
use std::time::Duration;

use fulmar_core::CompatMode;
use fulmar_platform::tty::is_terminal;
use fulmar_platform::{Interest, RawMode, Readiness, Transfer, Tty, boot_time, wait_for};
use fulmar_terminal::Size;

use super::error::ClientError;
use crate::reactor::{Registry, Token};

/// The most keys that are read in one turn; a terminal gives them in pieces of a few kilobytes.
///
/// Source: docs/threat-model.md §6.
const KEY_BYTES_PER_TURN: usize = 64 * 1024;

/// The time for which we wait for a terminal to take our last words before we leave without. Chosen by eye:
/// slow lines need less, and a terminal that was stopped with Ctrl-S needs for ever.
const LAST_WORDS_WITHIN: Duration = Duration::from_secs(2);

/// Finds the terminal: standard input, or under our own name that of the session.
///
/// # Errors
///
/// When there is none.
pub(crate) fn find(compat: CompatMode) -> Result<Tty, ClientError> {
    let stdin = io::stdin();
    if compat == CompatMode::Mosh || is_terminal(&stdin) {
        return Tty::open(&stdin).map_err(ClientError::NoTerminal);
    }
    let session = OpenOptions::new().read(true).write(true).open("/dev/tty");
    session.and_then(Tty::open).map_err(ClientError::NoTerminal)
}

/// Returns the size of a terminal's window, within what a screen can have; 80x24 if it is unknown or
/// has no rows or columns.
pub(crate) fn size(tty: &Tty) -> Size {
    let side = |side: u16| side.clamp(1, Size::SIDE_MAX);
    let window = tty.size();
    window
        .and_then(|window| Size::new(side(window.rows), side(window.columns)))
        .unwrap_or_default()
}

/// The holder of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    /// We: it is raw, and we draw on it.
    Us,
    /// Another job of the same shell. We keep away from it.
    Others,
    /// A program that we have started there, and whose end we wait for.
    Child,
    /// Nobody: it is closed.
    Nobody,
}

/// The keys that were read from a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys<'a> {
    /// These keys, perhaps none.
    Typed(&'a [u8]),
    /// These keys, and there will be no more.
    Last(&'a [u8]),
}

/// A terminal in raw mode, and what it has not taken yet of what we drew.
#[derive(Debug)]
pub(crate) struct Terminal {
    tty: Tty,
    raw: RawMode,
    holder: Holder,
    pending: Vec<u8>,
    taken: usize,
    keys: Vec<u8>,
}

impl Terminal {
    /// Switches to raw mode.
    ///
    /// # Errors
    ///
    /// When the terminal is gone.
    pub(crate) fn enter(tty: Tty) -> io::Result<Terminal> {
        let raw = tty.raw_mode()?;
        let holder = if raw.is_in_background() {
            Holder::Others
        } else {
            Holder::Us
        };
        Ok(Terminal {
            tty,
            raw,
            holder,
            pending: Vec::new(),
            taken: 0,
            keys: vec![0; KEY_BYTES_PER_TURN],
        })
    }

    /// Returns the window's size, within what a screen can have; 80x24 if it is unknown.
    pub(crate) fn size(&self) -> Size {
        size(&self.tty)
    }

    /// Registers the terminal, if there is anything to wait for.
    pub(crate) fn register<'fd>(&'fd self, registry: &mut Registry<'fd>, wants_keys: bool) {
        if self.holder != Holder::Us {
            return;
        }
        let has_output = !self.is_drained();
        let interest = if wants_keys && has_output {
            Interest::ReadWrite
        } else if wants_keys {
            Interest::Read
        } else if has_output {
            Interest::Write
        } else {
            Interest::Nothing
        };
        registry.add(Token::Terminal, &self.tty, interest);
    }

    /// Reads what was typed, within the budget of one turn. A terminal that is hung up is read to
    /// its end, wanted or not.
    pub(crate) fn read(&mut self, ready: Readiness, wants_keys: bool) -> Keys<'_> {
        let mut filled = 0;
        let mut has_ended = false;
        while ready.is_readable() && (wants_keys || ready.is_hung_up()) && !has_ended {
            let Some(room) = self.keys.get_mut(filled..).filter(|room| !room.is_empty()) else {
                break;
            };
            match self.tty.read(room) {
                Ok(Transfer::Bytes(count)) => filled += count,
                Ok(Transfer::WouldBlock) => break,
                Ok(Transfer::Closed) | Err(_) => has_ended = true,
            }
        }
        if has_ended {
            self.close();
        }
        let keys = self.keys.get(..filled).unwrap_or_default();
        if has_ended {
            Keys::Last(keys)
        } else {
            Keys::Typed(keys)
        }
    }

    /// Waits until something was typed, or for that time.
    ///
    /// # Errors
    ///
    /// When the terminal is not ours.
    pub(crate) fn wait_for_input(&self, limit: Duration) -> io::Result<Readiness> {
        match self.holder {
            Holder::Us => wait_for(&self.tty, Interest::Read, Some(limit)),
            Holder::Others | Holder::Child | Holder::Nobody => {
                Err(io::ErrorKind::NotConnected.into())
            }
        }
    }

    /// Tells if the terminal is ours and has taken all that we drew: only then is there a point in
    /// drawing more.
    pub(crate) fn wants_frame(&self) -> bool {
        self.holder == Holder::Us && self.is_drained()
    }

    /// Draws: `draw` appends to what the terminal has not taken yet.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Vec<u8>)) {
        draw(&mut self.pending);
        self.flush();
    }

    /// Writes as much as the terminal takes.
    pub(crate) fn flush(&mut self) {
        while let Some(rest) = self
            .pending
            .get(self.taken..)
            .filter(|rest| !rest.is_empty())
        {
            match self.tty.write(rest) {
                Ok(Transfer::Bytes(count)) if count > 0 => self.taken += count,
                Ok(Transfer::Bytes(_) | Transfer::WouldBlock) => return,
                Ok(Transfer::Closed) | Err(_) => return self.close(),
            }
        }
        self.pending.clear();
        self.taken = 0;
    }

    /// Lets the terminal go: writes the last words, for a while, and restores its modes.
    pub(crate) fn leave(&mut self) {
        let limit = boot_time() + LAST_WORDS_WITHIN;
        self.flush();
        while self.holder == Holder::Us && !self.is_drained() {
            let left = limit.saturating_sub(boot_time());
            if left.is_zero() || wait_for(&self.tty, Interest::Write, Some(left)).is_err() {
                break;
            }
            self.flush();
        }
        self.pending.clear();
        self.taken = 0;
        // A terminal that is gone has no modes.
        let _ = self.raw.restore();
    }

    /// Leaves the terminal, which was [let go](Terminal::leave), to a program that we start, until it is taken back.
    pub(crate) fn lend(&mut self) {
        if self.holder == Holder::Us {
            self.holder = Holder::Child;
        }
    }

    /// Takes the terminal back if it can be had, and tells if it was.
    pub(crate) fn take_back(&mut self) -> bool {
        if self.holder == Holder::Nobody {
            return false;
        }
        let is_ours = self.raw.reenter().is_ok() && !self.raw.is_in_background();
        self.holder = if is_ours { Holder::Us } else { Holder::Others };
        is_ours
    }

    /// Tells if another job has the terminal at present.
    pub(crate) fn is_lent(&self) -> bool {
        self.holder == Holder::Others
    }

    fn is_drained(&self) -> bool {
        self.pending.len() == self.taken
    }

    fn close(&mut self) {
        self.holder = Holder::Nobody;
        self.pending.clear();
        self.taken = 0;
    }
}
