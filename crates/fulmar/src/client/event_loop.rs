//! The client's loop: terminal, sockets, signals, time.
//!
//! One turn hands everything that is ready to the core, within budgets, and then carries out what
//! the core wants. It waits in one place only and decides nothing about the protocol.

mod asking;
mod carrying;
mod pager;

use std::io;
use std::process::Child;
use std::time::Duration;

use fulmar_base::Time;
use fulmar_core::{Client, ClientEnding, ClientEvent, ExitCause};
use fulmar_login::{LoginEvent, LoginStep, SessionService};
use fulmar_platform::{Readiness, Signal, process, signals};

use super::error::ClientError;
use super::over_ssh::OverSsh;
use super::signals::Meaning;
use super::sockets::Sockets;
use super::terminal::{Keys, Terminal};
use crate::clock::now;
use crate::reactor::{Reactor, ReactorEvent, Token};
use crate::ssh_login::SshLogin;
use crate::steps::{Step, Steps};

/// The byte that Ctrl-C types on a terminal in raw mode.
const INTERRUPT: u8 = 0x03;

/// The time for which a login that the user gives up goes on, so that a goodbye is sent. Chosen by eye:
/// longer than the pause between two datagrams.
const GOODBYE_WITHIN: Duration = Duration::from_millis(500);

/// A client at work.
pub(crate) struct EventLoop {
    /// The client's state machine.
    pub(crate) client: Client,
    /// The sockets to the server.
    pub(crate) sockets: Sockets,
    /// The part that the login's ssh has in it.
    pub(crate) over_ssh: OverSsh,
    /// The user's terminal.
    pub(crate) terminal: Terminal,
    /// The pager that has the terminal, if one has.
    pub(crate) pager: Option<Child>,
    /// The one that waits.
    pub(crate) reactor: Reactor,
    /// The login that has started the server, if that was us.
    pub(crate) login: Option<SshLogin<SessionService>>,
    /// The time until which a login that the user gives up goes on.
    pub(crate) goodbye_until: Option<Time>,
    /// The warnings of the server, and about the terminal. A notice passes, and may be cut.
    pub(crate) warnings: Vec<String>,
    /// The steps that were reached.
    pub(crate) steps: Steps,
    /// The first signal that asked us to end.
    pub(crate) ended_by: Option<Signal>,
    /// True if ssh has left what we wrote; of that a signal tells.
    pub(crate) is_cut_off: bool,
    /// True if the session has ended without an answer that there was time for.
    pub(crate) is_answer_late: bool,
    /// The trouble, told by ssh, that makes the session impossible.
    pub(crate) trouble: Option<ClientError>,
}

impl EventLoop {
    /// Carries a session until it is over. The terminal is not given back.
    ///
    /// # Errors
    ///
    /// When the system does not let us wait any more, or has no socket for us to begin with.
    pub(crate) fn run(&mut self) -> io::Result<ClientEnding> {
        if self.sockets.ways().may_use_udp() {
            let path = self.sockets.open()?;
            self.client.handle_path_opened(now(), path);
        }
        loop {
            if let Some(ending) = self.carry_out(now()) {
                self.end_pager(now());
                return Ok(ending);
            }
            self.wait()?;
            self.take_in(now());
        }
    }

    /// Shows the last state without notices, and gives the terminal back.
    pub(crate) fn give_back(&mut self) {
        self.await_answers();
        let client = &mut self.client;
        self.terminal.draw(|out| client.leave(out));
        self.terminal.leave();
    }

    /// Reads what the terminal still has to answer: the shell would take it for keys.
    fn await_answers(&mut self) {
        while let Some(due) = self.client.answers_due() {
            let left = due.since(now());
            let Ok(readiness) = self.terminal.wait_for_input(left) else {
                return;
            };
            match self.terminal.read(readiness, true) {
                Keys::Typed([]) if left.is_zero() => return,
                Keys::Typed(typed) => self.client.handle_keys(now(), typed),
                Keys::Last(_) => return,
            }
        }
    }

    /// Ends the ssh that has started the server, if it is still there. It takes a moment, so that comes before the terminal
    /// is given back: what is typed meanwhile would echo there.
    pub(crate) fn hang_up(&mut self) {
        self.end_input();
        // One that is still on its way in would stay, and be left with the user's next shell.
        if self.over_ssh.is_coming()
            && let Some(mut later) = self.over_ssh.later.take()
        {
            later.end();
        }
        let Some(login) = &mut self.login else { return };
        match (login.is_running(), self.client.is_connected()) {
            (true, true) => {
                login.hear_out();
                login.release();
            }
            (true, false) => login.end(),
            (false, _) => login.release(),
        }
    }

    /// Prints what ssh has said meanwhile. The terminal is the user's again.
    pub(crate) fn tell_of_login(&mut self) {
        if let Some(login) = &mut self.login {
            login.tell();
        }
    }

    fn deadline(&self) -> Option<Time> {
        let timeout = self.client.poll_timeout().map(|(at, _)| at);
        let login = self.login.as_ref().and_then(SshLogin::deadline);
        let limits = [timeout, login, self.goodbye_until, self.over_ssh_due()];
        limits.into_iter().flatten().min()
    }

    fn wait(&mut self) -> io::Result<()> {
        let deadline = self.deadline();
        self.reactor.wait(deadline, |registry| {
            if self.sockets.has_more() {
                registry.add_ready(Token::Backlog);
            }
            self.sockets.register(registry);
            let wants_room = self.sockets.wants_room_over_ssh();
            self.over_ssh
                .register(registry, self.login.as_ref(), wants_room);
            let wants_keys = self.client.wants_keys();
            self.terminal.register(registry, wants_keys);
        })
    }

    /// Hands everything over that has come.
    fn take_in(&mut self, now: Time) {
        self.sockets.begin_turn();
        let mut keys = None;
        while let Some(event) = self.reactor.poll_event() {
            match event {
                ReactorEvent::Hint(hint) => {
                    self.sockets.ways_mut().try_soon(now);
                    self.run_ssh_soon(now);
                    self.client.handle_hint(now, hint);
                }
                ReactorEvent::Signal(signal) if self.is_for_pager(signal) => {}
                ReactorEvent::Signal(signal) => self.handle_signal(now, Meaning::of(signal)),
                ReactorEvent::Ready(Token::Backlog, _) => {
                    self.sockets.resume(now, &mut self.client);
                    self.hear_over_ssh(now, Token::SshOutput);
                }
                ReactorEvent::Ready(Token::Socket(index), _) => {
                    self.sockets.receive(now, index, &mut self.client);
                }
                ReactorEvent::Ready(Token::Terminal, readiness) => keys = Some(readiness),
                ReactorEvent::Ready(token, _) => self.hear_ssh(now, token),
            }
        }
        self.sockets.end_turn();
        self.attend_pager(now);
        if self.terminal.is_lent() && self.terminal.take_back() {
            self.resume(now);
        }
        self.attend_login(now);
        self.attend_over_ssh(now);
        if let Some(readiness) = keys {
            self.read_keys(now, readiness);
        }
        self.give_up(now);
        if self.reactor.is_due() {
            self.client.handle_timeout(now);
        }
    }

    fn hear_ssh(&mut self, now: Time, token: Token) {
        if self.hear_over_ssh(now, token) || self.hear_later(now, token) {
            return;
        }
        if let Some(login) = &mut self.login {
            if self.client.is_connected() {
                login.state_mut().handle_connected();
            }
            login.handle_ready(now, token);
        }
    }

    /// Hears what ssh still has to say: that the server has heard us, and its own end.
    fn attend_login(&mut self, now: Time) {
        let Some(login) = &mut self.login else { return };
        if self.client.is_connected() {
            login.state_mut().handle_connected();
        }
        if login.is_running() {
            login.end_turn(now);
        }
        self.is_cut_off |= login.take_cut_off();
        // It may have been said before the session began.
        let is_heard = login.state().output().service().is_heard();
        if is_heard && self.steps.take(now, Step::Heard) {
            self.client.note_heard();
        }
        let mut early = None;
        while let Some(event) = login.poll_event(now) {
            match event {
                LoginEvent::OverSsh(bytes) => early = Some(bytes),
                LoginEvent::Reached(LoginStep::Agreed) => {
                    self.steps.take(now, Step::Agreed);
                }
                LoginEvent::Notice(warning) => {
                    self.client.tell(now, warning.clone());
                    self.warnings.push(warning);
                }
                LoginEvent::Failed(failure) => self.trouble = Some(ClientError::Login(failure)),
                _ => {}
            }
        }
        if let Some(early) = early {
            self.begin_over_ssh(now, &early);
        }
    }

    /// Gives up a server that the user does not want any more, if it has not answered all the same.
    fn give_up(&mut self, now: Time) {
        if self.client.is_connected() {
            self.goodbye_until = None;
        }
        if self.goodbye_until.take_if(|due| *due <= now).is_some() {
            self.client.request_exit(now, ExitCause::Signal);
        }
    }

    /// Tells if the user waits for a login, and so can give it up as one.
    fn is_logging_in(&self) -> bool {
        self.login.as_ref().is_some_and(SshLogin::is_running) && !self.client.is_connected()
    }

    fn read_keys(&mut self, now: Time, ready: Readiness) {
        let gives_up = self.is_logging_in();
        match self.terminal.read(ready, self.client.wants_keys()) {
            Keys::Typed([]) => {}
            Keys::Typed(keys) if gives_up && keys.contains(&INTERRUPT) => {
                self.ask_for_end(now, Signal::Interrupt);
            }
            Keys::Typed(keys) => self.client.handle_keys(now, keys),
            Keys::Last(keys) => {
                self.client.handle_keys(now, keys);
                // A hang-up is told twice: by its signal, and here. A second request would end
                // the session without a goodbye.
                if self.ended_by.is_none() {
                    self.ended_by = Some(Signal::HangUp);
                    self.client.request_exit(now, ExitCause::InputEnded);
                }
            }
        }
    }

    fn handle_signal(&mut self, now: Time, meaning: Meaning) {
        match meaning {
            Meaning::Resized => self.client.handle_resize(now, self.terminal.size()),
            Meaning::Continued => {
                if self.terminal.take_back() {
                    self.resume(now);
                }
            }
            Meaning::Stop => self.suspend(now),
            Meaning::End(Signal::HangUp) if self.ended_by.is_some() => {}
            Meaning::End(Signal::Pipe) if std::mem::take(&mut self.is_cut_off) => {}
            Meaning::End(signal) => self.ask_for_end(now, signal),
            // It is looked for each turn.
            Meaning::Child => {}
        }
    }

    fn ask_for_end(&mut self, now: Time, signal: Signal) {
        self.ended_by.get_or_insert(signal);
        self.client.request_exit(now, ExitCause::Signal);
        if self.is_logging_in() {
            // The server learns of it by the end of ssh, and so no answer is waited for. One that has
            // heard us, and whose word of that is still on its way, learns of it by the goodbye.
            self.goodbye_until.get_or_insert(now + GOODBYE_WITHIN);
        }
    }

    /// Gives the terminal back and stops, with all processes of our job. When we go on, SIGCONT
    /// has come too, and says so. Without a shell to continue us we do not stop.
    fn suspend(&mut self, now: Time) {
        if process::leads_session() {
            return self.resume(now);
        }
        self.give_back();
        if signals::stop_process_group().is_err() && self.terminal.take_back() {
            self.resume(now);
        }
    }

    fn resume(&mut self, now: Time) {
        self.client.handle_resize(now, self.terminal.size());
        self.client.handle_resumed(now);
    }

    /// Does what has been decided.
    fn carry_out(&mut self, now: Time) -> Option<ClientEnding> {
        let ending = self.handle_events(now);
        if self.sockets.transmit(now, &mut self.client) {
            self.steps.take(now, Step::FirstDatagram);
        }
        self.flush_over_ssh();
        if self.client.is_connected() {
            self.steps.take(now, Step::FirstAnswer);
        }
        // The datagram that ends the session may just have left.
        let ending = ending.or_else(|| self.handle_events(now));
        self.terminal.flush();
        if self.terminal.wants_frame() {
            let client = &mut self.client;
            self.terminal.draw(|out| client.draw(now, out));
            if self.client.is_connected() {
                self.steps.take(now, Step::FirstScreen);
            }
        }
        // Why is told by the trouble.
        let trouble = self.trouble.as_ref();
        ending.or(trouble.map(|_| ClientEnding::NeverConnected))
    }

    fn handle_events(&mut self, now: Time) -> Option<ClientEnding> {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Suspend => self.suspend(now),
                ClientEvent::RunSsh => self.run_ssh_here(now),
                ClientEvent::OpenPager => self.open_pager(now),
                ClientEvent::OpenPath => self.open_path(now),
                ClientEvent::ClosePath { path } => self.sockets.close(path),
                ClientEvent::Ended(ending) => {
                    tracing::info!(?ending, "the session is over");
                    // Whoever gives up at once has learnt nothing of the server.
                    self.is_answer_late = self.client.is_answer_late(now);
                    let is_unheard = ending == ClientEnding::NeverConnected && self.is_answer_late;
                    if is_unheard && self.trouble.is_none() {
                        // An ssh that others share does not end with its server.
                        let login = self.login.as_ref().filter(|login| login.is_running());
                        let failure = login.and_then(|login| login.state().unheard());
                        self.trouble = failure.map(ClientError::Login);
                    }
                    return Some(ending);
                }
                _ => {}
            }
        }
        None
    }

    fn open_path(&mut self, now: Time) {
        if !self.sockets.ways().may_use_udp() {
            return;
        }
        match self.sockets.open() {
            Ok(path) => {
                self.client.handle_path_opened(now, path);
                self.sockets.ways_mut().try_soon(now);
                self.sockets.use_ssh(now, &mut self.client);
            }
            // The paths that are open go on.
            Err(error) => tracing::warn!(%error, "opening another port"),
        }
    }
}

#[cfg(test)]
mod tests;
