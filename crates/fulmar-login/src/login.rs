//! The state machine of one login: ssh's output, its end and deadlines go in, orders and the parameters of a connection come out.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::time::Duration;

use fulmar_base::{AddressFamily, Time};

use crate::address_preference::AddressPreference;
use crate::bootstrap::{INPUT_ENDS_LINE, ReadKey};
use crate::candidates::{AddressSource, candidates};
use crate::deferred_text::DeferredText;
use crate::host_lookup::{HostLookup, LookupOrder, QueryStream};
use crate::login_error::{LoginError, SshExit};
use crate::output::LoginOutput;
use crate::output_error::OutputError;
use crate::output_event::OutputEvent;
use crate::remote_service::{ExitFacts, RemoteService};
use crate::silence_timer::SilenceTimer;
use crate::ssh::{SshCommand, SshImplementation};
use crate::ssh_error::SshError;
use crate::stderr_buffer::StderrBuffer;
use crate::text_sanitizer::TextSanitizer;

/// The time that a remote end which waits is kept waiting for its addresses: a resolver may be slow for a name that ssh
/// did not need. Chosen by eye.
const ADDRESSES_WITHIN: Duration = Duration::from_secs(3);

/// The time that a server which has said hello may leave it at that: as long as one that is to answer a datagram.
///
/// Source: docs/protocol.md §2.8.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);

/// The time that a remote side is given to end, when its input has, before ssh is ended. Chosen by eye: longer than a
/// round trip.
const LEAVE_WITHIN: Duration = Duration::from_millis(500);

/// The interval at which is checked if ssh has read all that was written to it. Chosen by eye: short beside a silence that the
/// user is told of.
const DRAIN_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The most that is kept of ssh's own words, to learn from them why it has ended. Chosen by eye: the warning about a
/// changed host key is half as long.
const LAST_WORDS_BYTES_MAX: usize = 2048;

/// The user's wishes for a login.
#[derive(Clone, Debug)]
pub struct LoginConfig {
    /// The user's ssh, and whom it is to reach.
    pub ssh: SshCommand,
    /// The command that ssh is to run on the remote side.
    pub command: String,
    /// The addresses that are used.
    pub addresses: AddressPreference,
    /// The source of the remote end's address.
    pub address_source: AddressSource,
    /// The command that copies this program there, if its file is known: a copy of it may be a server.
    pub copying: Option<String>,
}

/// A step on the way, for a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginStep {
    /// ssh's configuration for the host is known.
    SettingsKnown,
    /// The addresses of the host are known.
    Resolved,
    /// ssh is in: it has handed on what was written at first.
    LoggedIn,
    /// The remote side reads.
    Hello,
    /// The remote end can be reached.
    Connect,
    /// The server knows what it is for.
    Agreed,
    /// The server has had a datagram.
    Heard,
}

/// An order or a piece of news from a login.
pub enum LoginEvent<S: RemoteService> {
    /// Start ssh with this command line. One that runs is ended without waiting for it, and what it still says is not
    /// handed over.
    StartSsh(Vec<OsString>),
    /// Write this to ssh.
    WriteToSsh(Vec<u8>),
    /// Close ssh's input, once all is written.
    CloseInput,
    /// Close ssh's input, give the remote side that long to end, and then end ssh.
    EndSsh(Duration),
    /// Run this command line, and hand over what it writes and how it ends.
    QuerySsh(Vec<OsString>),
    /// End the program that was asked last; it is not waited for.
    EndQuery,
    /// Ask the system for addresses.
    Resolve {
        /// The name, or a numeric address with or without zone.
        host: OsString,
        /// The only family of the addresses that are wanted, if any.
        family: Option<AddressFamily>,
    },
    /// Show this text of others. Control characters are spelled out in it.
    Show(String),
    /// Tell the user this, in a line of ours.
    Notice(String),
    /// A step was taken, perhaps not for the first time.
    Reached(LoginStep),
    /// The remote end can be reached, at one of these addresses.
    Reachable(S::Params, Vec<SocketAddr>),
    /// Frames follow. These have come by now; the rest is not for the login.
    OverSsh(Vec<u8>),
    /// The login has come to nothing.
    Failed(S::Error),
}

/// The cause of a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginTimer {
    /// The program that is used as ssh has not told its version.
    Version,
    /// The addresses are not known, and the remote end waits.
    Addresses,
    /// The server has not said what it makes of the offer.
    Answer,
    /// ssh may have read what was written to it.
    Drain,
    /// The remote side has been silent for long.
    Silence,
    /// The server has lost its login, and has not been heard.
    Lost,
}

/// The state of a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LoginStage {
    /// It is on its way.
    LoggingIn,
    /// The remote end is known, and its own connection is not there yet.
    Reachable,
    /// The remote end was heard over its own connection, and needs the login no more.
    Connected,
    /// It has come to nothing, or is not wanted any more.
    Over,
}

/// A login on its way, and what remains of it beside what it has started.
///
/// Inputs are the `handle_` methods; all that has come is handed over, what ssh wrote before how it ended. Then
/// [`poll_event`](Login::poll_event) is called until it returns `None`, and [`poll_timeout`](Login::poll_timeout) once.
pub struct Login<S: RemoteService> {
    /// The destination, as the user wrote it.
    host: String,
    /// The way ssh is called, if the login starts it itself.
    config: Option<LoginConfig>,
    lookup: HostLookup,
    output: LoginOutput<S>,
    /// An error of the output. The rest of the output is not read then, so that one who writes without end keeps
    /// nobody busy but itself.
    error: Option<OutputError>,
    /// True if no more of the output is wanted.
    ignores_output: bool,
    sanitizer: TextSanitizer,
    last_words: String,
    stderr: StderrBuffer,
    /// True if the last line of ssh's own words that was shown has no end yet.
    is_in_line: bool,
    deferred: DeferredText,
    exit: Option<SshExit>,
    written: usize,
    /// True if the remote side was told that its input ends.
    is_input_closed: bool,
    /// True if ssh has read all that was written at first, which it does once the command runs there.
    is_input_drained: bool,
    drain_checked_at: Time,
    stage: LoginStage,
    /// Since when nothing has come of a remote side that has begun.
    silence: Option<SilenceTimer>,
    greeted_at: Option<Time>,
    reachable_at: Option<Time>,
    /// The time at which a server is given up whose login has ended too early.
    lost_at: Option<Time>,
    events: VecDeque<LoginEvent<S>>,
}

impl<S: RemoteService> Login<S> {
    /// Begins a login. Keys are read by `read_key`.
    pub fn begin(now: Time, config: LoginConfig, service: S, read_key: ReadKey) -> Login<S> {
        let host = config.ssh.destination.text().display().to_string();
        let lookup = HostLookup::begin(now, config.ssh.clone(), config.address_source);
        let mut login = Login::new(host, Some(config), lookup, service, read_key);
        // Without waiting for its version. If it is another one that was called in vain, it is
        // called again.
        login.start(SshImplementation::LIKELY);
        login
    }

    /// Begins a login over a program that is started in ssh's stead, to a remote end at one of these addresses. No
    /// deadlines are kept: the program is our own.
    pub fn without_ssh(
        now: Time,
        host: String,
        addresses: Vec<SocketAddr>,
        service: S,
        read_key: ReadKey,
    ) -> Login<S> {
        let lookup = HostLookup::known(now, addresses);
        let mut login = Login::new(host, None, lookup, service, read_key);
        login.write_request();
        login
    }

    fn new(
        host: String,
        config: Option<LoginConfig>,
        lookup: HostLookup,
        service: S,
        read_key: ReadKey,
    ) -> Login<S> {
        Login {
            host,
            config,
            lookup,
            output: LoginOutput::new(service, read_key),
            error: None,
            ignores_output: false,
            sanitizer: TextSanitizer::default(),
            last_words: String::new(),
            stderr: StderrBuffer::holding(),
            is_in_line: false,
            deferred: DeferredText::default(),
            exit: None,
            written: 0,
            is_input_closed: false,
            is_input_drained: false,
            drain_checked_at: Time::ZERO,
            stage: LoginStage::LoggingIn,
            silence: None,
            greeted_at: None,
            reachable_at: None,
            lost_at: None,
            events: VecDeque::new(),
        }
    }

    /// Returns the destination, as the user wrote it.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns what ssh has said on its standard output.
    pub fn output(&self) -> &LoginOutput<S> {
        &self.output
    }

    /// Tells if the remote side's input was ended, so that nothing more can be said to it.
    pub fn is_input_closed(&self) -> bool {
        self.is_input_closed
    }

    /// Returns how ssh has ended, if it has.
    pub fn exit(&self) -> Option<SshExit> {
        self.exit
    }

    /// Tells if ssh's standard output is still to be read and handed over.
    pub fn wants_output(&self) -> bool {
        !self.ignores_output
    }

    /// Returns the time that the remote side has to end by itself once its input has: one that can be reached is not
    /// asking for a password.
    pub fn exit_grace(&self) -> Duration {
        if self.output.service().is_reachable() {
            LEAVE_WITHIN
        } else {
            Duration::ZERO
        }
    }

    /// Takes what ssh has written on its standard output.
    pub fn handle_output(&mut self, now: Time, bytes: &[u8]) {
        if self.ignores_output || bytes.is_empty() {
            return;
        }
        let (mut rest, mut events) = (bytes, Vec::new());
        let outcome = self.output.read(&mut rest, &mut events);
        self.take_output(now, events, outcome, rest);
    }

    /// Takes note that there is no more standard output of ssh.
    pub fn handle_output_end(&mut self, now: Time) {
        if !self.ignores_output {
            let mut events = Vec::new();
            let outcome = self.output.end(&mut events);
            self.take_output(now, events, outcome, &[]);
        }
    }

    /// Takes what ssh has written on its standard error.
    pub fn handle_errors(&mut self, now: Time, bytes: &[u8]) {
        let text = self.sanitizer.take(bytes);
        self.take_errors(&text);
        self.restart_silence(now);
    }

    /// Takes note that there is no more standard error of ssh.
    pub fn handle_errors_end(&mut self, now: Time) {
        let text = self.sanitizer.finish();
        self.take_errors(&text);
        self.restart_silence(now);
    }

    /// Tells if it matters whether ssh has read what was written to it: it does that once it is in and the command runs, so
    /// that the remote side's silence is one.
    pub fn awaits_drain(&self) -> bool {
        let has_begun = self.output.service().has_begun(self.output.diagnostics());
        let is_logging_in = self.config.is_some() && self.stage == LoginStage::LoggingIn;
        is_logging_in && self.written > 0 && !self.is_input_drained && !has_begun
    }

    /// Takes note that ssh has read all that was written to it.
    pub fn handle_input_drained(&mut self, now: Time) {
        self.is_input_drained = true;
        self.events
            .push_back(LoginEvent::Reached(LoginStep::LoggedIn));
        self.restart_silence(now);
    }

    /// Takes note that ssh has ended. All that it wrote was handed over before; a stream may stay open, because a
    /// master of shared connections has it.
    pub fn handle_exit(&mut self, now: Time, exit: SshExit) {
        self.handle_output_end(now);
        let text = self.sanitizer.finish();
        self.take_errors(&text);
        self.exit.get_or_insert(exit);
        let is_lost = self.stage == LoginStage::Reachable && self.output.service().needs_ssh();
        if let Some(within) = S::LOST_WITHIN.filter(|_| is_lost) {
            self.lost_at.get_or_insert(now + within);
        }
    }

    /// Takes note that ssh cannot be started, in the system's words, and of what to try where it has too little of something.
    pub fn handle_start_error(&mut self, error: String, remedy: Option<&'static str>) {
        let words = self.config.as_ref().map(|config| &config.ssh.words);
        let program = words.and_then(|words| words.first()).cloned();
        let program = program.unwrap_or_default();
        let failure = LoginError::NoSsh {
            program,
            error,
            remedy,
        };
        self.fail(failure.into());
    }

    /// Tells if what a program that was asked writes is still to be read and handed over.
    pub fn wants_query_output(&self) -> bool {
        self.lookup.wants_query_output()
    }

    /// Takes what a program that was asked has written.
    pub fn handle_query_output(&mut self, stream: QueryStream, bytes: &[u8]) {
        self.lookup.handle_query_output(stream, bytes);
    }

    /// Takes note that a program that was asked has ended, well or not; all that it wrote was handed over before.
    pub fn handle_query_end(&mut self, is_success: bool) {
        self.lookup.handle_query_end(is_success);
    }

    /// Takes note that a program cannot be asked.
    pub fn handle_query_error(&mut self) {
        self.lookup.handle_query_error();
    }

    /// Takes the addresses that the system has found, none if there are none; `None` if it cannot be asked.
    pub fn handle_addresses(&mut self, addresses: Option<Vec<SocketAddr>>) {
        self.lookup.handle_addresses(addresses);
    }

    /// Takes note that the remote end was heard over its own connection: what becomes of the login does not matter now.
    pub fn handle_connected(&mut self) {
        if self.stage == LoginStage::Reachable {
            self.stage = LoginStage::Connected;
            self.lost_at = None;
        }
    }

    /// Takes note that the user does not want it any more. What was kept back is shown, and ssh is ended.
    pub fn handle_stop(&mut self) {
        if self.stage != LoginStage::Over {
            self.leave();
        }
    }

    /// Looks at the clock.
    pub fn handle_timeout(&mut self, now: Time) {
        self.lookup.handle_timeout(now);
        self.drain_checked_at = now;
        let awaits_shell = self.awaits_shell();
        if self.config.is_some()
            && self.stage == LoginStage::LoggingIn
            && let Some(silence) = &mut self.silence
            && let Some(told) = silence.notice(now, &self.host, awaits_shell)
        {
            self.events.push_back(LoginEvent::Notice(told));
            if awaits_shell {
                self.close_input();
            }
        }
    }

    /// Tells if the command has said nothing, so that another shell may read what is for it, and wait for the end of that.
    fn awaits_shell(&self) -> bool {
        let service = self.output.service();
        let has_begun = service.has_begun(self.output.diagnostics()) || service.has_greeted();
        self.written > 0 && !has_begun && !self.is_input_closed
    }

    /// Ends the remote side's input, and has a remote end that reads it later not take that for the end of the login.
    fn close_input(&mut self) {
        self.is_input_closed = true;
        let announcement = INPUT_ENDS_LINE.as_bytes().to_vec();
        self.events.push_back(LoginEvent::WriteToSsh(announcement));
        self.events.push_back(LoginEvent::CloseInput);
    }

    /// Shows what was kept for the time when the user has the terminal again.
    pub fn release_text(&mut self) {
        let (text, cut) = self.deferred.take();
        self.push_text(text);
        self.events.extend(cut.map(LoginEvent::Notice));
    }

    /// Returns why the remote end may not have been heard, in what it has said.
    pub fn unheard(&self) -> Option<LoginError> {
        let refusal = self.output.diagnostics().refusal(&self.host, self.exit);
        let is_silent = self.output.service().awaits_agreement();
        let host = self.host.clone();
        refusal.or(is_silent.then_some(LoginError::NoAnswer { host }))
    }

    /// Returns when to look again, and why.
    pub fn poll_timeout(&self) -> Option<(Time, LoginTimer)> {
        let lost = self.lost_at.map(|at| (at, LoginTimer::Lost));
        if self.stage != LoginStage::LoggingIn {
            return lost.filter(|_| self.stage == LoginStage::Reachable);
        }
        let version = self.lookup.poll_timeout();
        let is_known = self.lookup.addresses().is_some();
        let addresses = self.reachable_at.filter(|_| !is_known);
        let addresses = addresses.map(|since| since + ADDRESSES_WITHIN);
        let silence = self.silence.filter(|_| self.config.is_some());
        let drain_check = self
            .awaits_drain()
            .then(|| self.drain_checked_at + DRAIN_CHECK_INTERVAL);
        [
            version.map(|at| (at, LoginTimer::Version)),
            addresses.map(|at| (at, LoginTimer::Addresses)),
            self.answer_due().map(|at| (at, LoginTimer::Answer)),
            drain_check.map(|at| (at, LoginTimer::Drain)),
            silence
                .and_then(|silence| silence.deadline())
                .map(|at| (at, LoginTimer::Silence)),
        ]
        .into_iter()
        .flatten()
        .min_by_key(|(at, _)| *at)
    }

    /// Returns what is to be done or to be known next.
    pub fn poll_event(&mut self, now: Time) -> Option<LoginEvent<S>> {
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        while let Some(order) = self.lookup.poll_order() {
            if self.stage != LoginStage::Over {
                return Some(of_order(order));
            }
        }
        match self.stage {
            LoginStage::LoggingIn => self.decide(now),
            LoginStage::Reachable => self.look_for_loss(now),
            LoginStage::Connected | LoginStage::Over => {}
        }
        self.events.pop_front()
    }

    fn start(&mut self, implementation: SshImplementation) {
        if let Some(config) = &self.config {
            let line = config.ssh.login(implementation, &config.command);
            self.events.push_back(LoginEvent::StartSsh(line));
            self.write_request();
        }
    }

    fn write_request(&mut self) {
        (self.is_input_drained, self.is_input_closed) = (false, false);
        let request = self.output.service().request().to_vec();
        self.written = request.len();
        if !request.is_empty() {
            self.events.push_back(LoginEvent::WriteToSsh(request));
        }
    }

    /// Writes again what a start-up file may have taken.
    fn repeat(&mut self, event: &OutputEvent) {
        let service = self.output.service();
        // Whoever asks for more than both, once each, gets no more.
        let limit = 4 * service.request().len();
        let again = service.repeated(event).to_vec();
        if !again.is_empty() && self.written < limit && !self.is_input_closed {
            self.written += again.len();
            self.events.push_back(LoginEvent::WriteToSsh(again));
        }
    }

    fn take_output(
        &mut self,
        now: Time,
        events: Vec<OutputEvent>,
        outcome: Result<(), OutputError>,
        rest: &[u8],
    ) {
        for event in events {
            self.repeat(&event);
            self.take_output_event(now, event, rest);
        }
        if let Err(error) = outcome {
            self.ignores_output = true;
            self.error = Some(error);
        }
        if self.output.service().has_greeted() {
            self.greeted_at.get_or_insert(now);
        }
        self.restart_silence(now);
    }

    fn take_output_event(&mut self, now: Time, event: OutputEvent, rest: &[u8]) {
        let reached = |step| LoginEvent::Reached(step);
        let event = match event {
            OutputEvent::Ready | OutputEvent::Hello => reached(LoginStep::Hello),
            OutputEvent::Other(line) => return self.show(format!("{line}\n")),
            OutputEvent::Warning(what) => {
                LoginEvent::Notice(format!("{} warns: {what}", self.host))
            }
            OutputEvent::Reachable => {
                self.reachable_at.get_or_insert(now);
                reached(LoginStep::Connect)
            }
            OutputEvent::Agreed => reached(LoginStep::Agreed),
            OutputEvent::Heard => reached(LoginStep::Heard),
            // Nobody has asked for it yet.
            OutputEvent::OverSsh if self.stage == LoginStage::LoggingIn => {
                self.ignores_output = true;
                self.error = Some(OutputError::Malformed);
                return;
            }
            OutputEvent::OverSsh => {
                self.ignores_output = true;
                LoginEvent::OverSsh(rest.to_vec())
            }
        };
        self.events.push_back(event);
    }

    fn take_errors(&mut self, text: &str) {
        self.last_words += text;
        let mut excess = self.last_words.len().saturating_sub(LAST_WORDS_BYTES_MAX);
        while !self.last_words.is_char_boundary(excess) {
            excess += 1;
        }
        self.last_words.drain(..excess);
        let text = self.stderr.add(text);
        // A line that has begun on the terminal ends there.
        let end = if self.is_in_line {
            text.find('\n').map_or(text.len(), |at| at + 1)
        } else {
            0
        };
        let (first, rest) = text.split_at(end);
        let is_shown = !self.keeps_text();
        let last = if is_shown { text.as_str() } else { first };
        if !last.is_empty() {
            self.is_in_line = !last.ends_with('\n');
        }
        self.push_text(first.to_owned());
        self.show(rest.to_owned());
    }

    /// Shows what comes before somebody else has the terminal; what comes later would be drawn over, and is kept.
    fn show(&mut self, text: String) {
        if self.keeps_text() {
            self.deferred.add(&text);
        } else {
            self.push_text(text);
        }
    }

    fn push_text(&mut self, text: String) {
        if !text.is_empty() {
            self.events.push_back(LoginEvent::Show(text));
        }
    }

    fn keeps_text(&self) -> bool {
        S::KEEPS_TEXT && self.reachable_at.is_some() && self.stage != LoginStage::Over
    }

    fn release_stderr(&mut self) {
        let stderr = self.stderr.release();
        self.show(stderr);
    }

    /// Begins to count silence anew, once the remote shell has said that it reads, or has been sent what it is to read.
    /// Before that ssh may be asking for a password, and the user may take as long as they like.
    fn restart_silence(&mut self, now: Time) {
        let service = self.output.service();
        let has_begun = self.is_input_drained || service.has_begun(self.output.diagnostics());
        let waits = has_begun && !service.is_reachable();
        self.silence = waits.then_some(SilenceTimer::from(now));
    }

    fn answer_due(&self) -> Option<Time> {
        let is_waited_for = self.config.is_some() && self.reachable_at.is_none();
        let greeted_at = self.greeted_at.filter(|_| is_waited_for);
        greeted_at.map(|at| at + ANSWER_WITHIN)
    }

    /// Calls ssh again if it is an implementation that does not understand how it was called.
    fn judge_implementation(&mut self) {
        let implementation = self.lookup.implementation();
        let Some(implementation) = implementation.filter(|_| self.stderr.is_holding()) else {
            return;
        };
        // A login that has said anything works, and is left alone.
        let is_understood = implementation.is_called_like(SshImplementation::LIKELY)
            || self.output.has_said_anything()
            || !self.lookup.is_sure();
        if !is_understood {
            // What it said was about words that it does not know.
            self.stderr.release();
            self.sanitizer = TextSanitizer::default();
            self.last_words.clear();
            self.exit = None;
            self.start(implementation);
        }
        self.release_stderr();
    }

    /// Looks if the remote end is known, or if there will be none.
    fn decide(&mut self, now: Time) {
        // First, as what looks like a failure may come of the way in which ssh was called.
        self.judge_implementation();
        if let Some(failure) = self.find_failure(now) {
            return self.fail(failure);
        }
        let Some(since) = self.reachable_at else {
            return;
        };
        let is_late = since + ADDRESSES_WITHIN <= now;
        if self.lookup.addresses().is_none() && !is_late {
            return;
        }
        let Some(params) = self.output.service_mut().take_params() else {
            return;
        };
        let port = S::port(&params);
        let addresses = self.candidates(port);
        if addresses.is_empty() && S::NEEDS_ADDRESS {
            let config = self.config.as_ref();
            let failure = LoginError::NoAddress {
                host: self.host.clone(),
                port,
                of_family: config.is_some_and(|config| config.addresses.only().is_some()),
            };
            return self.fail(failure.into());
        }
        self.stage = LoginStage::Reachable;
        let reachable = LoginEvent::Reachable(params, addresses);
        self.events.push_back(reachable);
    }

    fn find_failure(&self, now: Time) -> Option<S::Error> {
        if let Some(error) = self.error {
            return Some(S::failure_of_output(&self.host, error));
        }
        let is_reachable = self.reachable_at.is_some();
        if !is_reachable {
            if self.answer_due().is_some_and(|due| due <= now) {
                let host = self.host.clone();
                let refusal = self.output.diagnostics().refusal(&self.host, self.exit);
                return Some(refusal.unwrap_or(LoginError::NoAnswer { host }).into());
            }
            let mismatch = self
                .output
                .service()
                .mismatch(&self.host, self.output.diagnostics());
            if mismatch.is_some() {
                return mismatch;
            }
        }
        // Which ssh it is may be why it has ended.
        let (exit, implementation) = (self.exit?, self.lookup.implementation()?);
        let counts = !is_reachable || self.output.service().needs_ssh();
        counts.then(|| {
            self.output.service().failure_of_exit(&ExitFacts {
                host: &self.host,
                exit,
                implementation,
                has_said: self.output.has_said_anything(),
                diagnostics: self.output.diagnostics(),
                last_words: &self.last_words,
                copying: self
                    .config
                    .as_ref()
                    .and_then(|config| config.copying.as_deref()),
            })
        })
    }

    fn candidates(&self, port: u16) -> Vec<SocketAddr> {
        let mut resolved = self.lookup.addresses().unwrap_or_default().to_vec();
        let reported = self.output.diagnostics().reported();
        if self.lookup.implementation() == Some(SshImplementation::Other) {
            // What the user calls the host may mean another one here.
            resolved.extend(reported.map(|address| SocketAddr::new(address, 0)));
        }
        let (preference, source) = match &self.config {
            Some(config) => (config.addresses, config.address_source),
            None => (AddressPreference::All, AddressSource::Local),
        };
        candidates(&resolved, reported, port, preference, source)
    }

    /// Looks if the remote end has lost its login before it was heard.
    fn look_for_loss(&mut self, now: Time) {
        if let Some(error) = self.error.take_if(|error| S::is_fatal_later(*error)) {
            self.stage = LoginStage::Over;
            let failure = S::failure_of_output(&self.host, error);
            return self.events.push_back(LoginEvent::Failed(failure));
        }
        let (Some(at), Some(status)) = (self.lost_at, self.exit) else {
            return;
        };
        let refusal = self.output.diagnostics().refusal(&self.host, self.exit);
        if refusal.is_some() || at <= now {
            self.stage = LoginStage::Over;
            let ended = || LoginError::SshEnded {
                host: self.host.clone(),
                status,
                error: SshError::of(&self.last_words),
                got_in: true,
            };
            let failure = refusal.unwrap_or_else(ended).into();
            self.events.push_back(LoginEvent::Failed(failure));
        }
    }

    fn fail(&mut self, failure: S::Error) {
        if self.stage != LoginStage::Over {
            self.leave();
            self.events.push_back(LoginEvent::Failed(failure));
        }
    }

    /// Leaves nothing unsaid, and ends ssh.
    fn leave(&mut self) {
        self.release_stderr();
        self.stage = LoginStage::Over;
        self.release_text();
        let grace = self.exit_grace();
        self.events.push_back(LoginEvent::EndSsh(grace));
    }
}

fn of_order<S: RemoteService>(order: LookupOrder) -> LoginEvent<S> {
    match order {
        LookupOrder::QuerySsh(line) => LoginEvent::QuerySsh(line),
        LookupOrder::EndQuery => LoginEvent::EndQuery,
        LookupOrder::Resolve(host, family) => LoginEvent::Resolve { host, family },
        LookupOrder::NoteSettings => LoginEvent::Reached(LoginStep::SettingsKnown),
        LookupOrder::NoteAddresses => LoginEvent::Reached(LoginStep::Resolved),
    }
}
