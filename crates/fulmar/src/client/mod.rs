//! The client: a user's terminal, joined to a server.
//!
//! Source: docs/protocol.md §2.8.

pub(crate) mod capabilities;
mod error;
mod event_loop;
mod key_source;
mod over_ssh;
mod scrollback;
mod signals;
mod sockets;
mod terminal;

use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::path::Path;

use fulmar_base::SendError;
use fulmar_core::{
    Agreement, Capabilities, Capability, Client, ClientConfig, ClientEnding, CompatMode, ExitCause,
    LastScreen, OuterTerminal, SessionEnd, Way, WayPreference, Ways,
};
use fulmar_datagram::Key;
use fulmar_login::{CandidateAddresses, DIRECT_COLORS, SessionName, SessionService};
use fulmar_platform::tty::is_terminal;
use fulmar_platform::{Tty, forbid_core_dumps};
use fulmar_settings::{Environment, Scrollback, SettingSources, Settings};
use fulmar_terminal::{Colors, ScrollbackLimits, Size};

use self::capabilities::{Alternate, TerminalWishes};
pub(crate) use self::error::ClientError;
use self::event_loop::EventLoop;
use self::key_source::KeyText;
use self::over_ssh::OverSsh;
use self::sockets::Sockets;
use self::terminal::Terminal;
use crate::clock::now;
use crate::environment;
use crate::log::{self, Log};
use crate::reactor::Reactor;
use crate::settings;
use crate::ssh_login::{LoginAgain, SshLogin};
use crate::steps::{Steps, Verbosity};
use crate::system::{SystemError, while_doing};
use crate::trace::Trace;
use crate::{address, crash, random, report};

/// Joins a server, and returns the status to leave with.
///
/// # Errors
///
/// When the session cannot begin.
pub(crate) fn run(
    address: OsString,
    port: u16,
    sources: &SettingSources,
) -> Result<u8, ClientError> {
    let compat = sources.compat_mode();
    // Before there is anything that a core dump must not have (docs/threat-model.md §9).
    forbid_core_dumps().map_err(while_doing("switching core dumps off"))?;
    let text = key_source::from_environment()?;
    if text.is_none() && (compat == CompatMode::Mosh || is_terminal(io::stdin())) {
        return Err(ClientError::KeyMissing);
    }
    let setup = ClientSetup::prepare(sources)?;
    let ended = begin(text, address, port).and_then(|(key, server)| {
        // As stock's, the stand-in for it draws on standard input all the same.
        if compat == CompatMode::Fulmar && !is_terminal(io::stdout()) {
            return Err(ClientError::Redirected);
        }
        setup.connect_to(key, server, None)
    });
    let ended = ended.unwrap_or_else(|failure| EndedSession {
        end: Err(failure),
        way_back: None,
        taker: None,
        lost: 0,
    });
    Ok(farewell(ended, LastScreen::Dropped, compat))
}

fn begin(
    text: Option<KeyText>,
    address: OsString,
    port: u16,
) -> Result<(Key, SocketAddr), ClientError> {
    let text = text.map_or_else(key_source::from_stdin, Ok)?;
    let key = key_source::parse(&text)?;
    let server = address::parse(&address, port).ok_or(ClientError::BadAddress { text: address })?;
    Ok((key, server))
}

/// All that is needed to join a server that waits.
pub(crate) struct ConnectParams {
    /// The session's key.
    pub(crate) key: Key,
    /// The addresses that the server may have.
    pub(crate) candidates: CandidateAddresses,
    /// True if the server can only be on this machine. A login to this machine may lead elsewhere, through a tunnel or a
    /// container.
    pub(crate) is_server_local: bool,
    /// The agreement with it.
    pub(crate) agreement: Option<Agreement>,
    /// The fate of the last screen at the end.
    pub(crate) last_screen: LastScreen,
    /// The words by which the user has named the machine, if that was done as for another login there.
    pub(crate) destination: Option<String>,
    /// The login that has started it, if that was us.
    pub(crate) login: Option<SshLogin<SessionService>>,
    /// The way to run ssh once more, if there is one.
    pub(crate) again: Option<LoginAgain>,
    /// True if ssh has left what we wrote; of that a signal may tell yet.
    pub(crate) is_cut_off: bool,
    /// The reactor, which has watched for signals since the command was given.
    pub(crate) reactor: Reactor,
    /// The steps that were reached since then.
    pub(crate) steps: Steps,
}

/// The user's side of a session that has not begun.
pub(crate) struct ClientSetup {
    tty: Tty,
    environment: Environment,
    settings: Settings,
    trace: Trace,
    compat: CompatMode,
}

/// Returns the reason for which lines do not enter the scrollback of the terminal of these variables, if that is the terminal.
pub(crate) fn scrollback_doubt(
    settings: &Settings,
    environment: &Environment,
) -> Option<&'static str> {
    let doubt = scrollback::doubt(environment);
    doubt.filter(|_| settings.scrollback == Scrollback::Auto)
}

impl ClientSetup {
    /// Looks for the terminal and for what the user has set.
    ///
    /// # Errors
    ///
    /// When there is no terminal, or what is to be written cannot be.
    pub(crate) fn prepare(sources: &SettingSources) -> Result<ClientSetup, ClientError> {
        forbid_core_dumps().map_err(while_doing("switching core dumps off"))?;
        let environment = environment::current();
        let settings = settings::resolve(sources, &environment)?;
        let log = Log::to(settings.records.log.as_deref());
        log::begin_filtered(log, settings.log_filter.clone())?;
        let trace = Trace::begin(settings.records.trace.as_deref())?;
        let compat = sources.compat_mode();
        let tty = terminal::find(compat)?;
        // Before there is a server that waits for us, and while every signal still ends us.
        tty.wait_for_foreground();
        Ok(ClientSetup {
            tty,
            environment,
            settings,
            trace,
            compat,
        })
    }

    /// Returns what the user has set.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    fn terminal_wishes(&self) -> TerminalWishes {
        let alternate = if self.settings.init {
            Alternate::Used
        } else {
            Alternate::Unused
        };
        TerminalWishes {
            alternate,
            true_color: self.settings.true_color,
            // As stock's, the stand-in for it writes no questions.
            probe: self.settings.probe && self.compat == CompatMode::Fulmar,
            events: self.settings.events,
        }
    }

    fn wants_scrollback(&self) -> bool {
        let doubt = scrollback::doubt(&self.environment);
        self.settings.wants_scrollback(doubt.is_none())
    }

    /// Returns the reason for which lines do not enter the terminal's scrollback, if that is the terminal.
    pub(crate) fn scrollback_doubt(&self) -> Option<&'static str> {
        scrollback_doubt(&self.settings, &self.environment)
    }

    /// Returns the capabilities that a server is offered.
    pub(crate) fn offered_capabilities(&self) -> Capabilities {
        if self.wants_scrollback() {
            Capabilities::ALL
        } else {
            Capabilities::OFFERED
        }
    }

    /// Returns the most history that a server is to keep, if not the usual.
    pub(crate) fn offered_history(&self) -> Option<ScrollbackLimits> {
        let limits = ScrollbackLimits {
            lines: self.settings.history_lines,
            bytes: self.settings.history_bytes,
        };
        let is_usual = limits == ScrollbackLimits::default();
        Some(limits).filter(|_| self.wants_scrollback() && !is_usual)
    }

    /// Returns the number of colours to tell a server that is started for this terminal.
    pub(crate) fn colors(&self) -> u32 {
        let term = self.environment.get_text("TERM").unwrap_or_default();
        let known = capabilities::outer_terminal(term, &self.environment, self.terminal_wishes());
        if known.is_some_and(|outer| outer.vocabulary.colors == Colors::Rgb) {
            return DIRECT_COLORS;
        }
        capabilities::colors(term).map_or(0, |count| count.max(0).unsigned_abs())
    }

    /// Returns the size of the user's window, as a session will have it.
    pub(crate) fn size(&self) -> Size {
        terminal::size(&self.tty)
    }

    /// Returns the user's variables.
    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Returns the user's terminal.
    pub(crate) fn tty(&self) -> &Tty {
        &self.tty
    }

    /// Holds the session with a server at an address that the user named.
    ///
    /// # Errors
    ///
    /// As for [`connect`](ClientSetup::connect).
    pub(crate) fn connect_to(
        self,
        key: Key,
        server: SocketAddr,
        agreement: Option<Agreement>,
    ) -> Result<EndedSession, ClientError> {
        let reactor = ClientSetup::reactor()?;
        let candidates = CandidateAddresses::named(server);
        Ok(self.connect(ConnectParams {
            key,
            is_server_local: is_local(&candidates),
            candidates,
            agreement,
            last_screen: LastScreen::Dropped,
            destination: None,
            login: None,
            again: None,
            is_cut_off: false,
            reactor,
            steps: Steps::begin(now(), Verbosity::Usual),
        }))
    }

    /// Begins to watch for what may happen to a client.
    ///
    /// # Errors
    ///
    /// When the system has no descriptors left.
    pub(crate) fn reactor() -> Result<Reactor, SystemError> {
        Reactor::new(&signals::SIGNALS).map_err(while_doing("watching for signals"))
    }

    /// Holds the session, gives the terminal back whatever happens, and returns how it ended.
    pub(crate) fn connect(self, params: ConnectParams) -> EndedSession {
        let mut ended = EndedSession {
            end: Ok(SessionEnd::User),
            way_back: None,
            taker: None,
            lost: 0,
        };
        ended.end = self.hold(params, &mut ended);
        ended
    }

    /// Returns how the session ended, and notes the rest of that in `ended`.
    fn hold(
        self,
        params: ConnectParams,
        ended_session: &mut EndedSession,
    ) -> Result<SessionEnd, ClientError> {
        let (outer, warning) = self.outer_terminal()?;
        let compat = self.compat;
        let mut warnings = Vec::from_iter(warning);
        let mut wish = self.settings.login.transport;
        let agreed = Agreement::capabilities_of(params.agreement);
        let is_logging_in = params.login.as_ref().is_some_and(SshLogin::is_running);
        let keeps_history = self.wants_scrollback() && agreed.has(Capability::History);
        let terminal = Terminal::enter(self.tty).map_err(ClientError::NoTerminal)?;
        let config = ClientConfig {
            size: terminal.size(),
            datagram_bytes: params.candidates.datagram_bytes(),
            outer,
            last_screen: params.last_screen,
            keeps_history,
            reflow: self.settings.reflow,
            checksums: self.settings.checksums,
            escape_key: self.settings.escape_key,
            compat,
            title_prefix: if self.settings.title_prefix {
                format!("[{}] ", compat.program())
            } else {
                String::new()
            },
            session_label: params
                .destination
                .clone()
                .unwrap_or_else(|| compat.program().to_owned()),
            server_label: params.candidates.label(),
            is_server_local: params.is_server_local,
            prediction: self.settings.prediction(),
            // Only ours does.
            attaches: params.login.as_ref().is_some_and(is_attach),
            server_reports: is_logging_in && params.agreement.is_some(),
            agreement: params.agreement,
            ..ClientConfig::new(params.key, random::seed()?)
        };
        let mut client = Client::new(now(), config);
        let can_use_ssh = is_logging_in && OverSsh::is_possible(agreed, wish);
        let over_ssh = if can_use_ssh {
            OverSsh::begin(now(), wish, params.again)
        } else {
            OverSsh::none()
        };
        if wish == WayPreference::Only(Way::Ssh) && !can_use_ssh {
            wish = WayPreference::Only(Way::Udp);
            let what = "this server cannot use ssh for a session: UDP is used";
            client.tell(now(), what.to_owned());
            warnings.push(what.to_owned());
        }
        if wish == WayPreference::Only(Way::Ssh) {
            client.note_wished_way(Way::Ssh);
        }
        for warning in &warnings {
            client.tell(now(), warning.clone());
        }
        if self.trace.is_written() {
            client.observe_prediction();
        }
        let mut event_loop = EventLoop {
            client,
            pager: None,
            sockets: Sockets::new(params.candidates, Ways::new(now(), wish), self.trace),
            over_ssh,
            terminal,
            reactor: params.reactor,
            login: params.login,
            goodbye_until: None,
            warnings,
            steps: params.steps,
            ended_by: None,
            is_cut_off: params.is_cut_off,
            is_answer_late: false,
            trouble: None,
        };
        // The terminal is given back after a panic, too (docs/threat-model.md §8).
        let ended = crash::caught(|| event_loop.run());
        let hung_up = crash::caught(|| event_loop.hang_up());
        let left = crash::caught(|| event_loop.give_back()).and(hung_up);
        event_loop.tell_of_login();
        let steps = event_loop.steps.take_lines();
        for warning in steps.iter().chain(&event_loop.warnings) {
            report::complain(compat.program(), warning);
        }
        let ended = ended.and_then(|ended| left.map(|()| ended));
        let ending = ended
            .map_err(ClientError::Panicked)?
            .map_err(while_doing("opening a socket or waiting for one"))?;
        let end = judge(ending, &mut event_loop, compat);
        let goes_on = match &end {
            Ok(SessionEnd::Detached | SessionEnd::OtherClient) => true,
            Err(ClientError::LeftUnheard { .. }) => true,
            Err(ClientError::Signalled(_) | ClientError::TerminalClosed) => {
                event_loop.client.may_detach()
            }
            _ => false,
        };
        if goes_on {
            let name = event_loop.login.as_ref().and_then(session_name);
            ended_session.way_back = command_back(params.destination.as_deref(), name);
            ended_session.taker = event_loop.client.taken_by().map(str::to_owned);
            ended_session.lost = event_loop.client.unacknowledged_keys();
        }
        end
    }

    /// Finds out what the terminal understands, and what the user is to be warned of. An unknown type is an error under
    /// the stock name.
    fn outer_terminal(&self) -> Result<(OuterTerminal, Option<String>), ClientError> {
        let term = self.environment.get("TERM").unwrap_or_default();
        let wishes = self.terminal_wishes();
        let known = term
            .to_str()
            .and_then(|term| capabilities::outer_terminal(term, &self.environment, wishes));
        match (known, self.compat) {
            (Some(outer), CompatMode::Fulmar) if term == "dumb" => {
                let what = "TERM is dumb: a terminal without a screen, so drawing may look wrong";
                Ok((outer, Some(what.to_owned())))
            }
            (Some(outer), _) => Ok((outer, None)),
            (None, CompatMode::Mosh) => Err(ClientError::UnknownTerminal {
                term: term.to_owned(),
            }),
            (None, CompatMode::Fulmar) => {
                let what = if term.is_empty() {
                    "TERM is not set; the terminal is treated as plain".to_owned()
                } else {
                    format!("the terminal type {term:?} is unknown; it is treated as plain")
                };
                Ok((OuterTerminal::default(), Some(what)))
            }
        }
    }
}

/// A session that has ended for its client.
pub(crate) struct EndedSession {
    /// By whom, if it has ended as it should; else why.
    pub(crate) end: Result<SessionEnd, ClientError>,
    /// The command that takes it again, if it goes on.
    pub(crate) way_back: Option<String>,
    /// The one who has taken it, if that is known.
    pub(crate) taker: Option<String>,
    /// The bytes that were typed, and of which the server has not said that they have arrived, if it goes on.
    pub(crate) lost: usize,
}

/// Tells if the login was for a session that is there.
fn is_attach(login: &SshLogin<SessionService>) -> bool {
    login.state().output().service().is_joining()
}

/// Returns the name that the server has said of the session.
fn session_name(login: &SshLogin<SessionService>) -> Option<&SessionName> {
    login.state().output().service().name()
}

/// Returns the command that takes that session again.
fn command_back(destination: Option<&str>, name: Option<&SessionName>) -> Option<String> {
    Some(format!("fulmar attach {} {}", destination?, name?))
}

/// Tells if the session has ended as it should, and by whom.
fn judge(
    ending: ClientEnding,
    event_loop: &mut EventLoop,
    compat: CompatMode,
) -> Result<SessionEnd, ClientError> {
    if let Some(failure) = event_loop.trouble.take() {
        return Err(failure);
    }
    let is_refused = event_loop.client.link_info().counters.send_errors > 0;
    let has_given_up = ending == ClientEnding::NeverConnected && !event_loop.is_answer_late;
    // A refusal says something at once.
    if has_given_up && !is_refused && compat == CompatMode::Fulmar {
        let signal = event_loop.ended_by.map(ClientError::GivenUp);
        return signal.map_or(Ok(SessionEnd::User), Err);
    }
    let candidates = event_loop.sockets.candidates();
    let server = candidates.label();
    let failure = match ending {
        ClientEnding::ServerEnded => {
            return Ok(SessionEnd::Program(event_loop.client.exit_status()));
        }
        ClientEnding::TakenOver => return Ok(SessionEnd::OtherClient),
        ClientEnding::Detached => return Ok(SessionEnd::Detached),
        ClientEnding::LeftUnheard => left_unheard(event_loop, server),
        ClientEnding::UserQuit => return Ok(SessionEnd::User),
        // As stock: whoever sends the signal wants the end.
        ClientEnding::Asked(_) if compat == CompatMode::Mosh => return Ok(SessionEnd::User),
        ClientEnding::Asked(ExitCause::InputEnded) => ClientError::TerminalClosed,
        ClientEnding::Asked(ExitCause::Signal) => match event_loop.ended_by {
            Some(signal) => ClientError::Signalled(signal),
            None => ClientError::TerminalClosed,
        },
        ClientEnding::KeySpent => ClientError::KeySpent,
        ClientEnding::Altered => ClientError::Altered,
        _ if event_loop.client.is_session_missing() => ClientError::SessionMissing { server },
        _ if event_loop.client.is_server_gone() => ClientError::ServerGone {
            server,
            is_local: event_loop.client.is_server_local(),
        },
        _ if event_loop.client.is_connected() => ClientError::Unanswered { server },
        _ => match event_loop.client.unsent_because() {
            Some(SendError::Unreachable | SendError::SourceGone) => ClientError::NoRoute { server },
            Some(SendError::Forbidden) => ClientError::Forbidden {
                server,
                port: candidates.port(),
            },
            _ => never_connected(event_loop, server),
        },
    };
    Err(failure)
}

/// Returns what is known of a session that was left, and of whose server nothing was heard then.
fn left_unheard(event_loop: &EventLoop, server: String) -> ClientError {
    let client = &event_loop.client;
    if client.is_session_missing() {
        return ClientError::SessionMissing { server };
    }
    match (client.is_server_gone(), client.is_server_local()) {
        (true, true) => ClientError::ServerGone {
            server,
            is_local: true,
        },
        (is_rejected, _) => ClientError::LeftUnheard {
            server,
            signal: event_loop.ended_by,
            is_rejected,
        },
    }
}

/// Returns what is known of a server that has never answered.
fn never_connected(event_loop: &EventLoop, server: String) -> ClientError {
    let candidates = event_loop.sockets.candidates();
    tracing::info!(tried = ?candidates.tried(), "nobody has answered");
    let client = &event_loop.client;
    ClientError::NeverConnected {
        server,
        port: candidates.port(),
        sent: candidates.unanswered(),
        refusals: client.link_info().counters.send_errors,
        is_filtered: client.is_filtered(),
        is_heard: client.is_heard(),
        is_local: client.is_server_local(),
    }
}

/// Tells if the address that the user named is one of this machine.
fn is_local(candidates: &CandidateAddresses) -> bool {
    let mut tried = candidates.tried().iter();
    tried.all(|tried| tried.address.ip().to_canonical().is_loopback())
}

/// Returns what becomes of the last screen of a session with the command of these words, or with a shell: ssh
/// leaves what a command has written on the terminal.
pub(crate) fn last_screen(command: &[OsString]) -> LastScreen {
    if command.is_empty() {
        LastScreen::Dropped
    } else {
        LastScreen::Printed
    }
}

/// Prints how the session ended, and returns the status to leave with. Under the stock name the
/// last line on standard output is always the same; our own words go to standard error.
pub(crate) fn farewell(ended: EndedSession, last_screen: LastScreen, compat: CompatMode) -> u8 {
    let EndedSession {
        end,
        way_back,
        taker,
        lost,
    } = ended;
    let (status, told) = match &end {
        Ok(end) => (
            end.status(compat),
            end.farewell(last_screen, taker.as_deref()),
        ),
        Err(failure) => (report::failure(failure, compat.program(), compat), None),
    };
    match (compat, told) {
        (CompatMode::Mosh, _) => report::print_to_stdout("[mosh is exiting.]\n"),
        (CompatMode::Fulmar, Some(told)) => report::print_to_stderr(&format!("{told}\n")),
        (CompatMode::Fulmar, None) => {}
    }
    if lost > 0 {
        report::complain(compat.program(), lost_text(lost));
    }
    if let Some(command) = way_back {
        report::advise(Some(format!("to come back: {command}")));
    }
    status
}

/// Returns what is told of bytes that were typed and may not have arrived.
fn lost_text(count: usize) -> String {
    match count {
        1 => "the last key that you typed may not have arrived".to_owned(),
        count => format!("the last {count} bytes that you typed may not have arrived"),
    }
}

/// Prints how many colours the terminal has, for `mosh`, and returns the status to leave with.
pub(crate) fn print_colors(compat: CompatMode) -> Result<u8, ClientError> {
    let environment = environment::current();
    let term = environment.get_filled("TERM").unwrap_or_default();
    let count = match (term.to_str().and_then(capabilities::colors), compat) {
        (Some(count), _) => count,
        (None, CompatMode::Fulmar) => -1,
        (None, CompatMode::Mosh) => {
            return Err(ClientError::UnknownTerminal {
                term: term.to_owned(),
            });
        }
    };
    report::try_print(&format!("{count}\n")).map_err(while_doing(report::PRINTING))?;
    Ok(0)
}

impl<'a> Log<'a> {
    fn to(file: Option<&'a Path>) -> Log<'a> {
        file.map_or(Log::Off, Log::File)
    }
}
