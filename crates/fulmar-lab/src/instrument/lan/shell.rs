//! Somebody at a shell on the server's host.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use fulmar_platform::boot_time;
use fulmar_testbed::PtyProgram;

use crate::experiment::Surroundings;
use crate::judge::ScreenObserver;
use crate::peer::Peer;
use crate::replay::{LEAVE, SessionHosts};
use crate::scenario::Scenario;
use crate::trace::Size;

/// The terminal.
const SIZE: Size = Size {
    columns: 80,
    rows: 24,
};

/// The time that the first prompt may take.
const SET_UP: Duration = Duration::from_secs(100);

/// The time that an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The shell that runs at the far end. It ends with its terminal, and reads nobody's settings.
const SHELL: &str = "sh -i";

/// The prompt that is set, as it is typed and as it is shown: nothing else shows it.
const PROMPT: [&str; 2] = ["PS1=la''b-prompt:", "lab-prompt:"];

/// The hosts, and how the session of a peer is begun on them.
pub(super) struct ShellHosts {
    pub(super) session: SessionHosts,
    around: Surroundings,
}

/// A session, and the terminal before which somebody sits.
pub(super) struct ShellSession {
    client: PtyProgram,
    pub(super) line: String,
    observer: ScreenObserver,
    /// The number of bytes that the terminal got.
    pub(super) shown: u64,
    /// The time at which the peer was started.
    pub(super) began: Duration,
}

impl ShellHosts {
    pub(super) fn new(scenario: &Scenario, around: &Surroundings) -> Result<Self> {
        Ok(Self {
            // No recording is played.
            session: SessionHosts::new(scenario, Path::new("/dev/null"))?,
            around: around.clone(),
        })
    }

    /// Begins a session.
    pub(super) fn enter(&self, peer: &Peer) -> Result<ShellSession> {
        let mut values = self.session.files.values(&self.around.fulmar)?;
        values.command = SHELL.to_owned();
        self.start(&peer.line(&values)?)
    }

    /// Begins a session by this line.
    pub(super) fn start(&self, line: &str) -> Result<ShellSession> {
        let began = boot_time();
        Ok(ShellSession {
            client: self.session.start(line, SIZE)?,
            line: line.to_owned(),
            observer: ScreenObserver::new(SIZE),
            shown: 0,
            began,
        })
    }

    /// Returns the commands with which a session was begun.
    pub(super) fn commands(&self, shell: &ShellSession) -> Vec<String> {
        vec![shell.line.clone(), self.session.sshd.command.clone()]
    }
}

impl ShellSession {
    /// Waits for the shell's own prompt, and returns how long that took from the start.
    pub(super) fn await_first_prompt(&mut self) -> Result<Duration> {
        let is_there = |row: &str| row.ends_with(['#', '$']);
        let came = self.await_row("a prompt", SET_UP, is_there)?;
        Ok(came - self.began)
    }

    /// Sets a prompt that no output has.
    pub(super) fn set_prompt(&mut self) -> Result<()> {
        self.enter_line(PROMPT[0])?;
        self.await_prompt()?;
        Ok(())
    }

    /// Waits for the prompt that was set, and returns when it was there.
    pub(super) fn await_prompt(&mut self) -> Result<Duration> {
        self.await_row("the prompt", PATIENCE, |row| row == PROMPT[1])
    }

    /// Waits until the row above the cursor is this one and the prompt follows it.
    pub(super) fn await_answer(&mut self, answer: &str) -> Result<Duration> {
        let limit = boot_time() + PATIENCE;
        loop {
            let row = self.observer.cursor().place.row;
            let above = row
                .checked_sub(1)
                .map(|above| self.observer.row_text(above));
            if above.as_deref() == Some(answer) && self.observer.row_text(row) == PROMPT[1] {
                return Ok(boot_time());
            }
            self.look_for(answer, limit)?;
        }
    }

    /// Types a line.
    pub(super) fn enter_line(&mut self, line: &str) -> Result<()> {
        self.type_keys(line.as_bytes())?;
        self.type_keys(b"\r")
    }

    /// Types keys.
    pub(super) fn type_keys(&mut self, keys: &[u8]) -> Result<()> {
        let limit = boot_time() + PATIENCE;
        self.client.type_keys(keys);
        self.client.type_now()?;
        while self.client.has_keys() {
            self.look_for("room for a key", limit)?;
        }
        Ok(())
    }

    /// Looks on for so long.
    pub(super) fn watch(&mut self, time: Duration) -> Result<()> {
        let limit = boot_time() + time;
        while boot_time() < limit {
            self.look(limit)?;
        }
        Ok(())
    }

    /// Leaves the shell, and lets the peer go.
    pub(super) fn leave(mut self) -> Result<()> {
        self.enter_line("exit")?;
        self.client.let_end(LEAVE)?;
        Ok(())
    }

    /// Waits until the cursor's row is as wanted, with the cursor behind its text.
    fn await_row(
        &mut self,
        what: &str,
        patience: Duration,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Duration> {
        let limit = boot_time() + patience;
        loop {
            let place = self.observer.cursor().place;
            let row = self.observer.row_text(place.row);
            if is_wanted(&row) && usize::from(place.column) >= row.chars().count() {
                return Ok(boot_time());
            }
            self.look_for(what, limit)?;
        }
    }

    fn look_for(&mut self, what: &str, limit: Duration) -> Result<()> {
        ensure!(
            boot_time() < limit,
            "{what} has not come; the screen shows “{}”",
            self.screen()
        );
        let looked = self.look(limit);
        looked.with_context(|| format!("the screen shows “{}”", self.screen()))
    }

    /// Shows what comes next, if something does until then.
    fn look(&mut self, until: Duration) -> Result<()> {
        let left = until.saturating_sub(boot_time());
        let bytes = self.client.turn(Some(left))?;
        self.shown += bytes.len() as u64;
        self.observer.show(bytes, &mut Vec::new());
        ensure!(!self.client.is_closed(), "the peer has left");
        Ok(())
    }

    fn screen(&self) -> String {
        let rows = (0..SIZE.rows).map(|row| self.observer.row_text(row));
        let rows: Vec<String> = rows.filter(|row| !row.is_empty()).collect();
        rows.join("\n")
    }
}
