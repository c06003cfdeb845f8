//! A login at work: the state machine that decides, and the processes and pipes that it is about.

mod again;
mod resolve;
mod ssh_child;

use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
use std::process::Command;
use std::time::Duration;

use fulmar_base::{AddressFamily, Time};
use fulmar_login::{Login, LoginConfig, LoginEvent, QueryStream, RemoteService, SessionService};
use fulmar_platform::{Interest, Piped, Poller, Stream, Transfer, boot_time};

pub(crate) use self::again::LoginAgain;
use self::resolve::Resolver;
pub(crate) use self::ssh_child::SshChild;
use crate::advice::remedy;
use crate::clock::now;
use crate::reactor::{Registry, Token};
use crate::{report, session_key};

/// The time that an ssh which has not ended yet is listened to when the session is over. Chosen by eye: it ends a round
/// trip after the server has begun.
const HEARD_OUT_WITHIN: Duration = Duration::from_millis(300);

/// A login with its ssh.
pub(crate) struct SshLogin<S: RemoteService> {
    state: Login<S>,
    child: Option<SshChild>,
    query: Option<SshQuery>,
    resolver: Option<Resolver>,
    was_cut_off: bool,
    /// True if ssh is to ask nobody anything.
    is_unattended: bool,
    /// True if ssh's standard error was read in this turn, which has a budget for it.
    has_read_errors: bool,
}

/// A program that answers a query on its output and ends.
struct SshQuery(Piped);

impl<S: RemoteService> SshLogin<S> {
    /// Begins to log in; ssh starts with the first events.
    pub(crate) fn begin(now: Time, config: LoginConfig, service: S) -> SshLogin<S> {
        SshLogin::with(Login::begin(now, config, service, session_key::read), None)
    }

    /// Begins to log in over a program that runs in ssh's stead.
    pub(crate) fn over(child: SshChild, state: Login<S>) -> SshLogin<S> {
        SshLogin::with(state, Some(child))
    }

    fn with(state: Login<S>, child: Option<SshChild>) -> SshLogin<S> {
        SshLogin {
            state,
            child,
            query: None,
            resolver: None,
            was_cut_off: false,
            is_unattended: false,
            has_read_errors: false,
        }
    }

    /// Returns the same with an ssh that runs in the background, and asks nobody anything.
    pub(super) fn unattended(mut self) -> SshLogin<S> {
        self.is_unattended = true;
        self
    }

    /// Returns the state of the login, to be asked.
    pub(crate) fn state(&self) -> &Login<S> {
        &self.state
    }

    /// Returns the state of the login, to be told.
    pub(crate) fn state_mut(&mut self) -> &mut Login<S> {
        &mut self.state
    }

    /// Tells if there is an ssh that has not ended.
    pub(crate) fn is_running(&self) -> bool {
        self.child.is_some() && self.state.exit().is_none()
    }

    /// Returns the pipes themselves, when what is said over them is no business of the login.
    pub(crate) fn pipes(&mut self) -> Option<&mut Piped> {
        Some(self.child.as_mut()?.pipes())
    }

    /// Tells if something was written to nobody since this was asked last.
    pub(crate) fn take_cut_off(&mut self) -> bool {
        let of_child = self.child.as_mut().is_some_and(SshChild::take_cut_off);
        std::mem::take(&mut self.was_cut_off) | of_child
    }

    /// Returns when it is to be looked after again.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.state.poll_timeout().map(|(at, _)| at)
    }

    /// Registers all that it waits for.
    pub(crate) fn register<'fd>(&'fd self, registry: &mut Registry<'fd>) {
        self.register_lookup(registry);
        if let Some(child) = &self.child {
            child.register(registry, self.state.wants_output());
        }
    }

    /// The same for whoever reads and writes the pipes directly.
    pub(crate) fn register_pipes<'fd>(
        &'fd self,
        registry: &mut Registry<'fd>,
        reads: bool,
        writes: bool,
    ) {
        self.register_lookup(registry);
        if let Some(child) = &self.child {
            child.register_pipes(registry, reads, writes);
        }
    }

    fn register_lookup<'fd>(&'fd self, registry: &mut Registry<'fd>) {
        if let Some(SshQuery(program)) = &self.query {
            for stream in [Stream::Output, Stream::Errors] {
                if let Some(end) = program.stream(stream) {
                    registry.add_borrowed(Token::HostLookup, end, Interest::Read);
                }
            }
        }
        if let Some(resolver) = &self.resolver {
            registry.add(Token::HostLookup, resolver, Interest::Read);
        }
    }

    /// Hands over what has come on the descriptor of this token, if it is one of ssh's.
    pub(crate) fn handle_ready(&mut self, now: Time, token: Token) {
        let Some(child) = &mut self.child else { return };
        match token {
            Token::SshOutput => {
                read_output(now, child, &mut self.state);
                // What was said before the remote end's line is there by then.
                read_errors(now, child, &mut self.state);
                self.has_read_errors = true;
            }
            Token::SshErrors if !self.has_read_errors => {
                read_errors(now, child, &mut self.state);
            }
            _ => {}
        }
    }

    /// Ends a turn: looks for the end of ssh and for answers, and writes what there is to write.
    pub(crate) fn end_turn(&mut self, now: Time) {
        self.has_read_errors = false;
        if let Some(child) = &mut self.child {
            // What it wrote is handed over before how it ended.
            if let Some(exit) = child.look_for_end() {
                read_output(now, child, &mut self.state);
                read_errors(now, child, &mut self.state);
                self.state.handle_exit(now, exit);
            }
            child.write();
            if self.state.awaits_drain() && child.has_taken_all() {
                self.state.handle_input_drained(now);
            }
        }
        self.read_query();
        if let Some(addresses) = self.resolver.as_ref().and_then(Resolver::answer) {
            tracing::info!(?addresses, "the host's");
            self.resolver = None;
            self.state.handle_addresses(Some(addresses));
        }
        self.state.handle_timeout(now);
    }

    /// Carries out what the state machine wants, and returns the next of its events that is for the user or for whoever
    /// logs in.
    pub(crate) fn poll_event(&mut self, now: Time) -> Option<LoginEvent<S>> {
        while let Some(event) = self.state.poll_event(now) {
            match event {
                LoginEvent::StartSsh(line) => self.start(&line),
                LoginEvent::WriteToSsh(bytes) => self.write(&bytes),
                LoginEvent::CloseInput => self.end_input(),
                LoginEvent::EndSsh(grace) => self.end_within(grace),
                LoginEvent::QuerySsh(line) => self.ask(&line),
                LoginEvent::EndQuery => self.end_query(),
                LoginEvent::Resolve { host, family } => self.resolve(host, family),
                other => return Some(other),
            }
        }
        None
    }

    /// Writes to the remote side.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        if let Some(child) = &mut self.child {
            child.append(bytes);
            child.write();
        }
    }

    /// Reads what is no business of the login.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub(crate) fn read_records(&mut self, bytes: &mut [u8]) -> io::Result<Transfer> {
        match &mut self.child {
            Some(child) => child.pipes().read(Stream::Output, bytes),
            None => Ok(Transfer::Closed),
        }
    }

    /// Writes what is no business of the login, behind what is.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub(crate) fn write_records(&mut self, bytes: &[u8]) -> io::Result<Transfer> {
        match &mut self.child {
            Some(child) => child.write_behind(bytes),
            None => Ok(Transfer::Closed),
        }
    }

    /// Ends its input behind what there is to write.
    pub(crate) fn end_input(&mut self) {
        if let Some(child) = &mut self.child {
            child.close_input();
        }
    }

    /// Ends ssh, and with it a remote end that has not been reached yet. Waits for a moment, so that nothing of it is
    /// left when we go.
    pub(crate) fn end(&mut self) {
        let grace = self.state.exit_grace();
        self.end_within(grace);
    }

    /// The same with so much time for the remote end.
    pub(crate) fn end_within(&mut self, grace: Duration) {
        self.end_query();
        if let Some(mut child) = self.child.take() {
            self.was_cut_off |= child.take_cut_off();
            child.end(grace);
        }
    }

    /// Lets ssh go: there is nothing left for it to do.
    pub(crate) fn release(&mut self) {
        if let Some(child) = self.child.take() {
            child.release();
        }
    }

    fn start(&mut self, line: &[OsString]) {
        let started = if self.is_unattended {
            SshChild::start_unattended(line)
        } else {
            SshChild::start(line)
        };
        match started {
            Ok(child) => {
                if let Some(former) = self.child.replace(child) {
                    tracing::info!("calling it as it can be called");
                    former.end(Duration::ZERO);
                }
            }
            Err(error) => {
                let remedy = remedy(&error);
                self.state.handle_start_error(error.to_string(), remedy);
            }
        }
    }

    fn ask(&mut self, line: &[OsString]) {
        match SshQuery::ask(line) {
            Ok(query) => self.query = Some(query),
            Err(error) => {
                tracing::info!(%error, "asking ssh");
                self.state.handle_query_error();
            }
        }
    }

    fn end_query(&mut self) {
        if let Some(SshQuery(mut program)) = self.query.take() {
            program.end_at_once();
        }
    }

    fn resolve(&mut self, host: OsString, family: Option<AddressFamily>) {
        match Resolver::ask(host, family) {
            Ok(resolver) => self.resolver = Some(resolver),
            Err(error) => {
                tracing::warn!(%error, "asking for an address");
                self.state.handle_addresses(None);
            }
        }
    }

    fn read_query(&mut self) {
        let Some(SshQuery(program)) = &mut self.query else {
            return;
        };
        // Asked before the pipes are read, so that nothing is missed of what it wrote until it
        // ended.
        let status = program.try_wait();
        for (stream, query_stream) in [
            (Stream::Output, QueryStream::Output),
            (Stream::Errors, QueryStream::Errors),
        ] {
            let mut bytes = [0; 4096];
            while self.state.wants_query_output()
                && let Ok(Transfer::Bytes(count)) = program.read(stream, &mut bytes)
            {
                let bytes = bytes.get(..count).unwrap_or_default();
                self.state.handle_query_output(query_stream, bytes);
            }
        }
        if !matches!(status, Ok(None)) {
            let is_success = matches!(status, Ok(Some(status)) if status.success());
            self.query = None;
            self.state.handle_query_end(is_success);
        }
    }

    /// Prints what was said while a session had the terminal, once. The terminal is the user's again.
    pub(crate) fn tell(&mut self) {
        self.state.release_text();
        let mut notices = Vec::new();
        while let Some(event) = self.poll_event(now()) {
            match event {
                LoginEvent::Show(text) => report::print_others(&text),
                LoginEvent::Notice(what) => notices.push(what),
                _ => {}
            }
        }
        report::print_to_stderr(&report::end_of_others());
        for what in notices {
            report::complain("fulmar", what);
        }
    }
}

impl<S: RemoteService> Drop for SshLogin<S> {
    fn drop(&mut self) {
        self.end_query();
    }
}

impl SshLogin<SessionService> {
    /// Takes what ssh has still to say when the session is over. One that goes on, because others share its connection
    /// or somebody holds its pipes, is not waited for any longer.
    pub(crate) fn hear_out(&mut self) {
        let limit = boot_time() + HEARD_OUT_WITHIN;
        let mut poller = Poller::new();
        loop {
            self.handle_ready(now(), Token::SshOutput);
            self.end_turn(now());
            // Texts are kept by the machine, for `tell`.
            while self.poll_event(now()).is_some() {}
            let left = limit.saturating_sub(boot_time());
            if !self.is_running() || left.is_zero() {
                return;
            }
            let waited = poller.wait(Some(left), |registry| self.register(registry));
            if waited.is_err() {
                return;
            }
        }
    }
}

impl SshQuery {
    fn ask(line: &[OsString]) -> io::Result<SshQuery> {
        let (program, arguments) = line.split_first().ok_or(io::ErrorKind::NotFound)?;
        let mut program = Piped::spawn(Command::new(program).args(arguments))?;
        program.close_input();
        Ok(SshQuery(program))
    }
}

fn read_output<S: RemoteService>(now: Time, child: &mut SshChild, login: &mut Login<S>) {
    if !login.wants_output() {
        return;
    }
    let has_ended = child.read_output(|bytes| {
        login.handle_output(now, bytes);
        if login.wants_output() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    if has_ended {
        login.handle_output_end(now);
    }
}

fn read_errors<S: RemoteService>(now: Time, child: &mut SshChild, login: &mut Login<S>) {
    if child.read_errors(|bytes| login.handle_errors(now, bytes)) {
        login.handle_errors_end(now);
    }
}
