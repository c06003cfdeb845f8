//! Runs ssh on the user's terminal, in the middle of a session, so that it can ask for a password.

use fulmar_base::Time;
use fulmar_platform::{Signal, signals};

use super::EventLoop;
use crate::client::over_ssh::Stage;
use crate::clock::now;
use crate::reactor::ReactorEvent;
use crate::report;

impl EventLoop {
    /// Lends the terminal to an ssh that is to carry the session, until it is in, fails, or is given up. The session itself
    /// waits meanwhile.
    pub(super) fn run_ssh_here(&mut self, now: Time) {
        if let Some(why) = self.not_here(now) {
            self.client.tell(now, why.to_owned());
            return;
        }
        // One in the background would do the same.
        self.end_later(now);
        let again = self.over_ssh.again.as_ref().zip(self.session_name());
        let begun = again.and_then(|(again, name)| {
            let later = again.begin_attended(now, name)?;
            Some((later, again.host().display().to_string()))
        });
        let Some((later, host)) = begun else { return };
        self.over_ssh.later = Some(later);
        self.over_ssh.stage = Stage::Running;
        self.over_ssh.is_here = true;
        self.give_back();
        let what = format!("ssh logs in to {host} to carry the session; Ctrl-C gives it up");
        report::complain("fulmar", what);
        self.await_ssh();
        self.over_ssh.is_here = false;
        if self.terminal.take_back() {
            self.resume(crate::clock::now());
        }
    }

    /// Returns the reason why no ssh is to be run.
    fn not_here(&self, now: Time) -> Option<&'static str> {
        let ways = self.sockets.ways();
        let is_doubtful = ways.in_doubt_since(now).is_some() || self.client.is_answer_missing(now);
        if self.over_ssh.again.is_none() || self.session_name().is_none() {
            Some("this session has no ssh that could carry it")
        } else if self.over_ssh.stage == Stage::Open && !self.client.is_answer_missing(now) {
            Some("an ssh carries the session already")
        } else if !ways.needs_ssh() && !is_doubtful {
            Some("UDP answers: no ssh is needed")
        } else {
            None
        }
    }

    /// Waits until the ssh that has the terminal is in, has failed, or is given up.
    fn await_ssh(&mut self) {
        loop {
            self.attend_later(now());
            let Some(later) = &self.over_ssh.later else {
                return;
            };
            if self.over_ssh.stage != Stage::Running {
                return;
            }
            let waited = self
                .reactor
                .wait(later.deadline(), |registry| later.register(registry));
            let mut goes_on = waited.is_ok();
            while let Some(event) = self.reactor.poll_event() {
                match event {
                    ReactorEvent::Ready(token, _) => {
                        self.hear_later(now(), token);
                    }
                    ReactorEvent::Signal(signal) => goes_on &= self.goes_on_after(signal),
                    ReactorEvent::Hint(hint) => self.client.handle_hint(now(), hint),
                }
            }
            if !goes_on {
                let told = "no ssh carries the session: it was given up".to_owned();
                self.client.tell(now(), told);
                return self.end_later(now());
            }
        }
    }

    /// Tells if ssh may go on asking after that signal.
    fn goes_on_after(&mut self, signal: Signal) -> bool {
        match signal {
            // ssh has had the key as well, and puts the terminal in order before it stops.
            Signal::Suspend => signals::stop().is_ok(),
            Signal::Child | Signal::Continue | Signal::WindowChange | Signal::Pipe => true,
            Signal::Interrupt | Signal::Quit => false,
            signal => {
                self.ask_for_end(now(), signal);
                false
            }
        }
    }

    /// Ends an ssh that was run later.
    fn end_later(&mut self, now: Time) {
        if let Some(later) = &mut self.over_ssh.later {
            later.end();
            self.leave_ssh(now);
        }
    }
}
