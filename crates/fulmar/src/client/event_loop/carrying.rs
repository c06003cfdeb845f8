//! Has ssh carry the session's datagrams, where that is of use.
//!
//! Source: docs/protocol.md §2.12.

use fulmar_base::Time;
use fulmar_core::Way;
use fulmar_login::{LoginError, LoginEvent, OVER_SSH_LINE, RemoteService as _, SessionName};

use super::EventLoop;
use crate::client::over_ssh::{OverSsh, RUN_PAUSE, RUN_PAUSE_MAX, SILENT_MAX, Stage};
use crate::clock::now;
use crate::reactor::Token;
use crate::report;
use crate::sessions::NO_SESSION;
use crate::ssh_login::SshLogin;

impl EventLoop {
    /// Returns when ssh is to be asked.
    pub(super) fn over_ssh_due(&self) -> Option<Time> {
        let ask_at = self.may_ask().then_some(self.over_ssh.ask_at);
        let later = self.over_ssh.later.as_ref().and_then(SshLogin::deadline);
        let run_at = self.may_run().then_some(self.over_ssh.run_at);
        [ask_at, later, run_at].into_iter().flatten().min()
    }

    /// Hands over datagrams that have come over ssh, if the descriptor of that token has them.
    pub(super) fn hear_over_ssh(&mut self, now: Time, token: Token) -> bool {
        let is_ours = self.over_ssh.stage == Stage::Open && token == Token::SshOutput;
        let login = self.over_ssh.later.as_mut().or(self.login.as_mut());
        if is_ours && let Some(login) = login {
            let read = |bytes: &mut [u8]| login.read_records(bytes);
            self.sockets.receive_over_ssh(now, &mut self.client, read);
        }
        is_ours
    }

    /// Hands over what an ssh says that was run later.
    pub(super) fn hear_later(&mut self, now: Time, token: Token) -> bool {
        let later = self.over_ssh.later.as_mut();
        later.map(|later| later.handle_ready(now, token)).is_some()
    }

    /// Takes note that datagrams follow, of which these bytes have come.
    pub(super) fn begin_over_ssh(&mut self, now: Time, early: &[u8]) {
        if self.over_ssh.stage == Stage::Asked {
            self.over_ssh.stage = Stage::Open;
            self.sockets.open_ssh(now, &mut self.client);
            self.sockets.take_early(early);
            self.hear_over_ssh(now, Token::SshOutput);
        }
    }

    /// Asks for ssh when it is time, and lets it go when it is of no use.
    pub(super) fn attend_over_ssh(&mut self, now: Time) {
        self.attend_later(now);
        let login = self.over_ssh.later.as_ref().or(self.login.as_ref());
        let is_running = login.is_some_and(SshLogin::is_running);
        let is_gone = !is_running || self.sockets.is_ssh_gone() || self.is_ssh_silent(now);
        match self.over_ssh.stage {
            Stage::Asked | Stage::Open if is_gone => {
                tracing::info!("ssh carries nothing any more");
                let was_way = self.sockets.ways().in_use() == Way::Ssh;
                self.over_ssh.lost_at = was_way.then_some(now);
                self.leave_ssh(now);
                if self.client.is_connected() {
                    self.client.note_ssh_gone(now);
                }
            }
            Stage::Asked | Stage::Open
                if !self.sockets.ways().needs_ssh()
                    && self.sockets.ways().in_doubt_since(now).is_none() =>
            {
                self.leave_ssh(now);
            }
            Stage::Unasked if self.may_ask() && self.over_ssh.ask_at <= now => self.ask_ssh(),
            Stage::Over if self.may_run() && self.over_ssh.run_at <= now => self.run_again(now),
            // A server that could use it for our datagrams stays as long as it is open.
            Stage::Unasked | Stage::Over if self.client.is_connected() => {
                self.over_ssh.stage = Stage::Over;
                self.end_input();
            }
            _ => {}
        }
        if self.over_ssh.stage == Stage::Open && self.client.is_connected() {
            self.client.note_way(now, self.sockets.ways().in_use());
        }
    }

    /// Writes what was sent over ssh.
    pub(super) fn flush_over_ssh(&mut self) {
        if let Some(login) = self.over_ssh.later.as_mut().or(self.login.as_mut()) {
            self.sockets
                .flush_over_ssh(|bytes| login.write_records(bytes));
        }
        self.is_cut_off |= self.sockets.take_cut_off();
    }

    /// Ends the input of the login's ssh, and with it what it carries.
    pub(super) fn end_input(&mut self) {
        if let Some(login) = self.over_ssh.later.as_mut().or(self.login.as_mut()) {
            login.end_input();
        }
    }

    /// Tells if the ssh that is the way has brought no answer for long.
    fn is_ssh_silent(&mut self, now: Time) -> bool {
        let is_silent = self.over_ssh.stage == Stage::Open
            && self.sockets.ways().in_use() == Way::Ssh
            && self.client.is_answer_missing(now);
        if !is_silent {
            self.over_ssh.silent_since = None;
            return false;
        }
        let since = *self.over_ssh.silent_since.get_or_insert(now);
        now.since(since) >= SILENT_MAX
    }

    fn may_ask(&self) -> bool {
        let login = self.login.as_ref().filter(|login| login.is_running());
        let reads = login.is_some_and(|login| {
            // What is written behind the offer before that is read may be lost with it.
            let state = login.state();
            !state.is_input_closed() && !state.output().service().awaits_agreement()
        });
        reads && self.over_ssh.stage == Stage::Unasked && !self.client.is_connected()
    }

    /// Nothing else is said before the answer: a remote side that does not know of this may take anything for anything.
    fn ask_ssh(&mut self) {
        tracing::info!("ssh is to carry datagrams");
        self.over_ssh.stage = Stage::Asked;
        if let Some(login) = &mut self.login {
            login.write(OVER_SSH_LINE.as_bytes());
        }
    }

    /// Tells if ssh is to be run once more: nothing comes over UDP, or the ssh that was the way has ended.
    fn may_run(&self) -> bool {
        let ways = self.sockets.ways();
        let lost_at = self.over_ssh.lost_at;
        let is_lost = lost_at.is_some_and(|lost| !ways.has_heard_udp_since(lost));
        self.over_ssh.stage == Stage::Over
            && self.over_ssh.again.is_some()
            && self.ended_by.is_none()
            && self.client.may_detach()
            && (is_lost && ways.in_doubt_since(now()).is_some()
                || ways.in_use() == Way::Ssh
                || self.client.is_answer_missing(now()))
    }

    fn run_again(&mut self, now: Time) {
        let OverSsh {
            run_at, run_pause, ..
        } = &mut self.over_ssh;
        *run_at = now + *run_pause;
        *run_pause = (*run_pause * 2).min(RUN_PAUSE_MAX);
        let name = self.session_name();
        let again = self.over_ssh.again.as_ref();
        let later = again
            .zip(name)
            .and_then(|(again, name)| again.begin_unattended(now, name));
        match later {
            Some(later) => {
                tracing::info!("ssh is run once more");
                self.over_ssh.later = Some(later);
                self.over_ssh.stage = Stage::Running;
                self.attend_later(now);
            }
            None => self.over_ssh.again = None,
        }
    }

    /// Returns the name that the session had when it was last heard of.
    pub(super) fn session_name(&self) -> Option<SessionName> {
        let login = self.login.as_ref();
        let service = login.map(|login| login.state().output().service());
        let begun = service.and_then(|service| service.name());
        self.over_ssh.renamed.as_ref().or(begun).cloned()
    }

    /// Hears what the ssh says that was run later, and its end.
    pub(super) fn attend_later(&mut self, now: Time) {
        let Some(later) = &mut self.over_ssh.later else {
            return;
        };
        // Also of one that has ended: the login waits for the rest of what it wrote, and only then says that it failed.
        later.end_turn(now);
        self.is_cut_off |= later.take_cut_off();
        let (mut early, mut failure) = (None, None);
        while let Some(event) = later.poll_event(now) {
            match event {
                LoginEvent::Reachable(..) => {
                    let name = later.state().output().service().name();
                    self.over_ssh.renamed = name.cloned().or(self.over_ssh.renamed.take());
                    later.write(OVER_SSH_LINE.as_bytes());
                    self.over_ssh.stage = Stage::Asked;
                }
                LoginEvent::OverSsh(bytes) => early = Some(bytes),
                LoginEvent::Failed(error) => failure = Some(error),
                LoginEvent::Show(text) if self.over_ssh.is_here => report::print_others(&text),
                _ => {}
            }
        }
        self.is_cut_off |= later.take_cut_off();
        if let Some(early) = early {
            self.over_ssh.lost_at = None;
            self.over_ssh.has_told = false;
            self.over_ssh.run_pause = RUN_PAUSE;
            self.begin_over_ssh(now, &early);
        }
        if let Some(failure) = failure {
            tracing::info!(%failure, "ssh that was run once more");
            self.leave_ssh(now);
            if is_session_missing(&failure) {
                return self.client.note_session_missing();
            }
            if self.over_ssh.is_here {
                let told = format!("no ssh carries the session: {failure}");
                return self.client.tell(now, told);
            }
            // Those that follow would say the same.
            if !std::mem::replace(&mut self.over_ssh.has_told, true) {
                self.client.note_ssh_failed(now, &failure.to_string());
            }
        }
    }

    /// Has ssh be run soon, if it is to be run: something has changed.
    pub(super) fn run_ssh_soon(&mut self, now: Time) {
        // News may come in numbers.
        self.over_ssh.run_at = self.over_ssh.run_at.min(now + RUN_PAUSE);
        self.over_ssh.run_pause = RUN_PAUSE;
    }

    pub(super) fn leave_ssh(&mut self, now: Time) {
        self.over_ssh.stage = Stage::Over;
        self.flush_over_ssh();
        self.end_input();
        if let Some(mut later) = self.over_ssh.later.take() {
            self.is_cut_off |= later.take_cut_off();
            later.release();
        }
        self.sockets.close_ssh(now, &mut self.client);
    }
}

/// Tells if ssh got in, and the server there knows no such session.
fn is_session_missing(failure: &LoginError) -> bool {
    matches!(failure, LoginError::Refused { what, .. } if what.starts_with(NO_SESSION))
}
