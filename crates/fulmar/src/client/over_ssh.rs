//! The ssh of the login as a path of the session.
//!
//! Source: docs/protocol.md §2.12.

use std::time::Duration;

use fulmar_base::Time;
use fulmar_core::{Capability, Way, WayPreference};
use fulmar_login::{OVER_SSH_LINE, RemoteService as _, SessionService};

use super::event_loop::EventLoop;
use crate::reactor::{Registry, Token};
use crate::ssh_login::SshLogin;

/// The time that UDP has to answer before ssh is used as well. Chosen by eye: where UDP works it is longer than most round
/// trips, and an ssh that was used in vain costs little; where it does not, a prompt is later by as much.
const ASK_AFTER: Duration = Duration::from_millis(400);

/// The part that the login's ssh has in a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OverSsh {
    stage: Stage,
    ask_at: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// None yet.
    Unasked,
    /// The remote side was asked, and has not answered.
    Asked,
    /// Datagrams come and go.
    Open,
    /// None any more, or none ever.
    Over,
}

impl OverSsh {
    /// Returns that of a login whose server can use it, with that wish of the user.
    pub(crate) fn begin(now: Time, wish: WayPreference) -> OverSsh {
        let patience = match wish {
            WayPreference::Auto => ASK_AFTER,
            WayPreference::Only(_) => Duration::ZERO,
        };
        OverSsh {
            stage: Stage::Unasked,
            ask_at: now + patience,
        }
    }

    /// Returns that of a session that has no such ssh.
    pub(crate) fn none() -> OverSsh {
        OverSsh {
            stage: Stage::Over,
            ask_at: Time::ZERO,
        }
    }

    /// Tells if the user's wish can be met in a session with these capabilities.
    pub(crate) fn is_possible(agreed: fulmar_core::Capabilities, wish: WayPreference) -> bool {
        agreed.has(Capability::Ssh) && wish != WayPreference::Only(Way::Udp)
    }
}

impl OverSsh {
    /// Registers the ssh of the login, for whoever reads it.
    pub(super) fn register<'fd>(
        &self,
        registry: &mut Registry<'fd>,
        login: Option<&'fd SshLogin<SessionService>>,
        wants_room: bool,
    ) {
        let Some(login) = login.filter(|login| login.is_running()) else {
            return;
        };
        match self.stage {
            Stage::Open => login.register_pipes(registry, true, wants_room),
            _ => login.register(registry),
        }
    }
}

impl EventLoop {
    /// Returns when ssh is to be asked.
    pub(super) fn over_ssh_due(&self) -> Option<Time> {
        self.may_ask().then_some(self.over_ssh.ask_at)
    }

    /// Hands over datagrams that have come over ssh, if the descriptor of that token has them.
    pub(super) fn hear_over_ssh(&mut self, now: Time, token: Token) -> bool {
        let is_ours = self.over_ssh.stage == Stage::Open && token == Token::SshOutput;
        if is_ours && let Some(login) = &mut self.login {
            let read = |bytes: &mut [u8]| login.read_records(bytes);
            self.sockets.receive_over_ssh(now, &mut self.client, read);
        }
        is_ours
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
        let is_running = self.login.as_ref().is_some_and(SshLogin::is_running);
        let is_gone = !is_running || self.sockets.is_ssh_gone();
        match self.over_ssh.stage {
            Stage::Asked | Stage::Open if is_gone => {
                tracing::info!("ssh carries nothing any more");
                self.leave_ssh(now);
                self.client.note_ssh_gone(now);
            }
            Stage::Asked | Stage::Open if !self.sockets.ways().needs_ssh() => self.leave_ssh(now),
            Stage::Unasked if self.may_ask() && self.over_ssh.ask_at <= now => self.ask_ssh(),
            // A server that could use it for our datagrams stays as long as it is open.
            Stage::Unasked | Stage::Over if self.client.is_connected() => self.end_input(),
            _ => {}
        }
        if self.over_ssh.stage == Stage::Open
            && self.client.is_connected()
            && self.is_chosen_by_us()
        {
            self.client.note_way(now, self.sockets.ways().in_use());
        }
    }

    /// Writes what was sent over ssh.
    pub(super) fn flush_over_ssh(&mut self) {
        if let Some(login) = &mut self.login {
            self.sockets
                .flush_over_ssh(|bytes| login.write_records(bytes));
        }
        self.is_cut_off |= self.sockets.take_cut_off();
    }

    /// Ends the input of the login's ssh, and with it what it carries.
    pub(super) fn end_input(&mut self) {
        if let Some(login) = &mut self.login {
            login.end_input();
        }
    }

    fn is_chosen_by_us(&self) -> bool {
        self.sockets.ways().may_use_udp()
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

    fn leave_ssh(&mut self, now: Time) {
        self.over_ssh.stage = Stage::Over;
        self.flush_over_ssh();
        self.end_input();
        self.sockets.close_ssh(now, &mut self.client);
    }
}
