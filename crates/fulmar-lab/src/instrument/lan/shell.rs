//! Somebody at a shell on the server's host.

use std::time::Duration;

use anyhow::Result;
use fulmar_platform::boot_time;
use fulmar_testbed::PtyProgram;

use crate::instrument::WINDOW;
use crate::instrument::hosts::PeerHosts;
use crate::instrument::watcher::{ByteStream as _, ScreenWatcher};
use crate::judge::ScreenObserver;
use crate::peer::Peer;
use crate::replay::LEAVE;

/// The time that the first prompt may take.
const SET_UP: Duration = Duration::from_secs(100);

/// The time that an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The shell that runs at the remote end. It ends with its terminal, and reads nobody's settings.
const SHELL: &str = "sh -i";

/// The prompt that is set, as it is typed and as it is shown: nothing else shows it.
const PROMPT: [&str; 2] = ["PS1=la''b-prompt:", "lab-prompt:"];

/// A session, and the terminal before which somebody sits.
pub(super) struct ShellSession {
    pub(super) watcher: ScreenWatcher<PtyProgram>,
    /// The line with which it was begun.
    pub(super) line: String,
    /// The time at which the peer was started.
    began: Duration,
}

impl ShellSession {
    /// Begins a session of a peer.
    pub(super) fn enter(hosts: &PeerHosts, peer: &Peer) -> Result<Self> {
        Self::start(hosts, hosts.line(peer, SHELL.to_owned())?)
    }

    /// Begins a session by this line.
    pub(super) fn start(hosts: &PeerHosts, line: String) -> Result<Self> {
        let began = boot_time();
        let client = hosts.session.start(&line, WINDOW)?;
        Ok(Self {
            watcher: ScreenWatcher::new(client, WINDOW),
            line,
            began,
        })
    }

    /// Waits for the shell's own prompt, and returns how long that took from the start.
    pub(super) fn await_first_prompt(&mut self) -> Result<Duration> {
        let find = |screen: &ScreenObserver| at_row(screen, |row| row.ends_with(['#', '$']));
        let came = self.watcher.await_sight("a prompt", SET_UP, find)?;
        Ok(came - self.began)
    }

    /// Sets a prompt that no output has.
    pub(super) fn set_prompt(&mut self) -> Result<()> {
        self.enter_line(PROMPT[0])?;
        self.await_prompt().map(drop)
    }

    /// Waits for the prompt that was set, and returns when it was there.
    pub(super) fn await_prompt(&mut self) -> Result<Duration> {
        let find = |screen: &ScreenObserver| at_row(screen, |row| row == PROMPT[1]);
        self.watcher.await_sight("the prompt", PATIENCE, find)
    }

    /// Waits until an answer is there and the prompt follows it, and returns when they were.
    pub(super) fn await_answer(&mut self, answer: &str) -> Result<Duration> {
        let find = |screen: &ScreenObserver| answered(screen, answer);
        self.watcher.await_sight(answer, PATIENCE, find)
    }

    /// Types a line.
    pub(super) fn enter_line(&mut self, line: &str) -> Result<()> {
        self.watcher.stream.write(format!("{line}\r").as_bytes())
    }

    /// Leaves the shell, and lets the peer go.
    pub(super) fn leave(mut self) -> Result<()> {
        self.enter_line("exit")?;
        self.watcher.stream.let_end(LEAVE)?;
        Ok(())
    }
}

/// Returns the time if the cursor's row is as wanted, and the cursor behind its text.
fn at_row(screen: &ScreenObserver, is_wanted: impl Fn(&str) -> bool) -> Option<Duration> {
    let place = screen.cursor().place;
    let row = screen.row_text(place.row);
    let is_behind = usize::from(place.column) >= row.chars().count();
    (is_behind && is_wanted(&row)).then(boot_time)
}

/// Returns the time if the row above the cursor is this answer, and its own the prompt that was set.
fn answered(screen: &ScreenObserver, answer: &str) -> Option<Duration> {
    let row = screen.cursor().place.row;
    let above = screen.row_text(row.checked_sub(1)?);
    (above == answer && screen.row_text(row) == PROMPT[1]).then(boot_time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(shown: &str) -> ScreenObserver {
        let mut screen = ScreenObserver::new(WINDOW);
        screen.show(shown.as_bytes(), &mut Vec::new());
        screen
    }

    #[test]
    fn a_prompt_is_there_with_its_cursor() {
        let is_there = |shown: &str| at_row(&screen(shown), |row| row.ends_with('$')).is_some();
        assert!(is_there("welcome\r\nhost$ "));
        assert!(is_there("host$"), "some have no blank behind it");
        assert!(!is_there("host$ \r\nwelcome"));
        assert!(!is_there("host$ \r"), "the line is about to be drawn again");
        assert!(!is_there("host$\x08") && !is_there(""));
    }

    #[test]
    fn an_answer_is_there_when_the_prompt_is_below_it() {
        let is_answered = |shown: &str| answered(&screen(shown), "answer 100").is_some();
        assert!(is_answered("answer 100\r\nlab-prompt:"));
        assert!(!is_answered("lab-prompt:echo answer 100\r\nlab-prompt:"));
        assert!(!is_answered("answer 100\r\n") && !is_answered("answer 100"));
        assert!(!is_answered("answer 10\r\nlab-prompt:"));
        assert!(!is_answered("answer 100\r\n\r\nlab-prompt:"));
    }
}
