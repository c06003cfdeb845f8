//! A terminal that is read as fast as this machine can, and searched for a word.

use std::time::Duration;

use anyhow::{Result, bail};
use fulmar_platform::boot_time;
use fulmar_testbed::PtyProgram;

use crate::replay::SessionHosts;
use crate::trace::Size;

/// The bytes of what was shown that are kept to look for a word in: more than any word.
const KEPT: usize = 256;

/// A program on a terminal. Dropping it ends the program.
pub(super) struct LoadTerminal {
    client: PtyProgram,
    /// The end of what was shown before, and all that the last turn has read.
    shown: Vec<u8>,
}

impl LoadTerminal {
    /// Starts this line on the client's host, in a window of that size.
    pub(super) fn start(hosts: &SessionHosts, line: &str, size: Size) -> Result<Self> {
        Ok(Self {
            client: hosts.start(line, size)?,
            shown: Vec::new(),
        })
    }

    /// Types keys, in the background of whatever is waited for next.
    pub(super) fn type_keys(&mut self, keys: impl AsRef<[u8]>) {
        self.client.type_keys(keys);
    }

    /// Waits until one of some words is shown, and returns it; `None` where that takes longer than the limit.
    ///
    /// # Errors
    ///
    /// Where the program lets go of the terminal before.
    pub(super) fn wait_for<'a>(
        &mut self,
        words: &[&'a str],
        limit: Duration,
    ) -> Result<Option<&'a str>> {
        let until = boot_time() + limit;
        loop {
            let shown = words.iter().find(|word| self.shows(word));
            if shown.is_some() || boot_time() >= until {
                return Ok(shown.copied());
            }
            self.turn(until)?;
        }
    }

    /// Reads and types for so long.
    ///
    /// # Errors
    ///
    /// Where the program lets go of the terminal.
    pub(super) fn rest(&mut self, time: Duration) -> Result<()> {
        let until = boot_time() + time;
        while boot_time() < until {
            self.turn(until)?;
        }
        Ok(())
    }

    /// Returns the end of what was shown, with control characters spelled out.
    pub(super) fn last_shown(&self) -> String {
        let last = &self.shown[self.shown.len().saturating_sub(KEPT)..];
        String::from_utf8_lossy(last).escape_debug().to_string()
    }

    fn shows(&self, word: &str) -> bool {
        memchr::memmem::find(&self.shown, word.as_bytes()).is_some()
    }

    /// Waits until something can be read or typed, and does it.
    fn turn(&mut self, until: Duration) -> Result<()> {
        self.shown.drain(..self.shown.len().saturating_sub(KEPT));
        let left = until.saturating_sub(boot_time());
        self.shown.extend_from_slice(self.client.turn(Some(left))?);
        if self.client.is_closed() {
            bail!("the peer has left; shown last: {}", self.last_shown());
        }
        Ok(())
    }
}
