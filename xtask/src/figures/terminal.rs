//! A user at a terminal: a program on a pty, what it shows, and what is typed.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use fulmar_platform::{Child, Interest, Master, Spawn, Transfer, WindowSize, pty, wait_for};

/// The size of every terminal in these measurements.
const SIZE: WindowSize = WindowSize {
    rows: 24,
    columns: 80,
};

/// The bytes of what was shown that are kept to look for a word in: more than any word.
const KEPT: usize = 256;

/// The most bytes that are read at once; a pty of Linux gives 4 KiB at most.
const BLOCK: usize = 65_536;

/// A program on a terminal. Dropping it ends the program.
pub(super) struct Terminal {
    master: Master,
    child: Child,
    /// The end of what was shown before, and all that the last turn has read.
    shown: Vec<u8>,
    to_type: VecDeque<u8>,
    /// The program has let go of the terminal.
    is_closed: bool,
    buffer: Vec<u8>,
}

impl Terminal {
    /// Starts a program on a terminal of its own.
    pub(super) fn start(command: &Spawn) -> Result<Self> {
        let (master, slave) = pty::open(SIZE)?;
        let child = slave.spawn(command)?;
        Ok(Self {
            master,
            child,
            shown: Vec::new(),
            to_type: VecDeque::new(),
            is_closed: false,
            buffer: vec![0; BLOCK],
        })
    }

    /// Types `keys`, in the background of whatever is waited for next.
    pub(super) fn type_keys(&mut self, keys: &[u8]) {
        self.to_type.extend(keys);
    }

    /// Waits until one of `words` is shown and says which; `None` when `limit` has passed.
    ///
    /// # Errors
    ///
    /// When the program ends before it shows any of them.
    pub(super) fn wait_for(&mut self, words: &[&str], limit: Duration) -> Result<Option<usize>> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(found) = words.iter().position(|word| self.shows(word)) {
                return Ok(Some(found));
            }
            if self.is_closed {
                let last = self.last_shown();
                bail!("the program ended while {words:?} was waited for; its last output: {last}");
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.turn(left)?;
        }
    }

    /// Waits until the program lets go of the terminal.
    ///
    /// # Errors
    ///
    /// When it does not within `limit`.
    pub(super) fn wait_for_end(&mut self, limit: Duration) -> Result<()> {
        let deadline = Instant::now() + limit;
        while !self.is_closed {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                bail!("the program stays; its last output: {}", self.last_shown());
            }
            self.turn(left)?;
        }
        Ok(())
    }

    /// The end of what the program has shown, with its control characters spelled out.
    pub(super) fn last_shown(&self) -> String {
        String::from_utf8_lossy(&self.shown)
            .escape_debug()
            .to_string()
    }

    fn shows(&self, word: &str) -> bool {
        memchr::memmem::find(&self.shown, word.as_bytes()).is_some()
    }

    /// Waits until something can be read or typed, and does it.
    fn turn(&mut self, limit: Duration) -> Result<()> {
        let has_keys = !self.to_type.is_empty();
        let interest = if has_keys {
            Interest::ReadWrite
        } else {
            Interest::Read
        };
        wait_for(&self.master, interest, Some(limit))?;

        self.shown.drain(..self.shown.len().saturating_sub(KEPT));
        match self.master.read(&mut self.buffer)? {
            Transfer::Bytes(length) => self.shown.extend_from_slice(&self.buffer[..length]),
            Transfer::WouldBlock => {}
            Transfer::Closed => self.is_closed = true,
        }
        let (keys, _) = self.to_type.as_slices();
        if !keys.is_empty()
            && let Transfer::Bytes(length) = self.master.write(keys)?
        {
            self.to_type.drain(..length);
        }
        Ok(())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The program may have ended; then there is nothing to end.
        let _ = self.child.kill(&self.master);
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    fn shell(script: &str) -> Terminal {
        let mut command = Spawn::new("/bin/sh");
        command.arg("-c").arg(script).env("PATH", "/usr/bin:/bin");
        Terminal::start(&command).unwrap()
    }

    #[test]
    fn the_word_that_is_shown_is_found() {
        let mut terminal = shell("printf 'some more'; read key");
        assert_eq!(
            terminal.wait_for(&["less", "more"], LIMIT).unwrap(),
            Some(1)
        );
    }

    #[test]
    fn a_word_in_two_pieces_is_found() {
        // Without an echo, which would come between the pieces.
        let mut terminal = shell("stty -echo; printf mo; read key; printf re; read key");
        assert_eq!(terminal.wait_for(&["mo"], LIMIT).unwrap(), Some(0));
        terminal.type_keys(b"\n");
        assert_eq!(terminal.wait_for(&["more"], LIMIT).unwrap(), Some(0));
    }

    #[test]
    fn a_word_that_does_not_come_is_not_waited_for_forever() {
        let mut terminal = shell("read key");
        assert_eq!(terminal.wait_for(&["word"], Duration::ZERO).unwrap(), None);
    }

    #[test]
    fn a_program_that_ends_is_an_error_with_its_last_words() {
        let error = shell("echo goodbye")
            .wait_for(&["word"], LIMIT)
            .unwrap_err();
        assert!(error.to_string().contains("goodbye"), "{error}");
    }
}
