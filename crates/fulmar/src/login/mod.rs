//! Logging in: from `[user@]host` to a server that waits for us, through the user's own ssh.
//!
//! ```text
//!  Destination ─► SshLogin ══ ssh ══► remote command ─► server
//!                   └─► fulmar_login::Login ─► port, key, agreement, addresses ─► ConnectParams ─► client
//! ```
//!
//! ssh asks for passwords and about host keys on the terminal itself, and nothing of that is seen here: its standard
//! streams are pipes, and the terminal's modes are put back if it was ended while it asked.
//!
//! Source: docs/protocol.md §2.9, docs/threat-model.md §9.

mod arguments;
mod error;
pub(crate) mod local_server;
mod other_client;
mod plain_ssh;
mod session_query;
pub(crate) mod session_table;

use std::ffi::{OsStr, OsString};
use std::net::SocketAddr;

use fulmar_core::{Capability, CompatMode, LastScreen};
use fulmar_login::shell_words::quoted;
use fulmar_login::{
    BootstrapRequestError, CandidateAddresses, Destination, Execution, LoginConfig, LoginError,
    LoginEvent, LoginStep, RemoteService, SessionName, SessionParams, SessionRequest,
    SessionService, SessionTask, SshCommand, copying_command, remote_command, session_command,
};
use fulmar_platform::{Signal, signals};
use fulmar_settings::SettingSources;

pub(crate) use self::arguments::{
    ATTACH_USAGE, AttachArgs, KILL_USAGE, KillArgs, LS_USAGE, LoginArgs, LsArgs, MachineArgs,
    RENAME_USAGE, RenameArgs, session_name,
};
pub(crate) use self::error::SessionError;
pub(crate) use self::local_server::in_its_words;
pub(crate) use self::plain_ssh::redirected_stream;
pub(crate) use self::session_query::ask;
use crate::client::{ClientError, ClientSetup, ConnectParams, farewell};
use crate::clock::now;
use crate::environment;
use crate::reactor::{Reactor, ReactorEvent};
use crate::report;
use crate::settings;
use crate::ssh_login::{LoginAgain, SshLogin};
use crate::steps::{Step, Steps, Verbosity};
use crate::system::while_doing;

/// Reads `[user@]host`.
///
/// # Errors
///
/// When ssh would refuse it.
pub(crate) fn host_of(destination: &OsStr) -> Result<OsString, LoginError> {
    Ok(parse(destination)?.host().to_owned())
}

fn parse(destination: &OsStr) -> Result<Destination, LoginError> {
    Destination::parse(destination).map_err(|why| {
        let text = destination.to_owned();
        LoginError::Destination { text, why }
    })
}

/// The session that is wanted, beside what it runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionWish {
    /// The name of a new session, if not of the server's choice.
    pub(crate) name: Option<SessionName>,
    /// A session that is there is to be taken.
    pub(crate) task: Option<SessionTask>,
    /// The options of the command line that say how to get there.
    pub(crate) way: Vec<OsString>,
}

/// Logs in at `destination`, by ssh with these words more, holds a session there with the command of the others, or with
/// a shell, and returns the status to leave with. A command whose input or output was redirected is run by ssh.
///
/// # Errors
///
/// When the session cannot begin.
pub(crate) fn run(
    destination: &OsStr,
    ssh_words: Vec<OsString>,
    words: &[OsString],
    wish: SessionWish,
    sources: &SettingSources,
    verbosity: Verbosity,
) -> Result<u8, SessionError> {
    let destination = parse(destination)?;
    let execution = Execution::choose(!words.is_empty(), redirected_stream());
    if execution != Ok(Execution::Session) {
        // A wrong setting would be told next, and is easier to mend.
        let settings = settings::resolve(sources, &environment::current());
        let mut settings = settings.map_err(ClientError::from)?.login;
        execution.map_err(|stream| SessionError::redirected(stream, wish.task.is_some()))?;
        settings.ssh.extend(ssh_words);
        match plain_ssh::become_ssh(&settings, destination, words, verbosity)? {}
    }
    let setup = ClientSetup::prepare(sources)?;
    let ssh = [setup.settings().login.ssh.clone(), ssh_words].concat();
    let modes = setup.tty().modes().map_err(ClientError::NoTerminal)?;
    // No other client speaks what it takes to take a session.
    let own_client = wish.task.is_some();
    let login = SessionLogin::begin(&setup, &ssh, destination, words, wish, verbosity)?;
    let params = login.finish();
    if params.is_err() {
        // ssh may have been killed while it asked for a password.
        let _ = modes.restore();
    }
    let params = params?;
    match &setup.settings().login.client {
        Some(client) if !own_client => other_client::run(client, setup.settings(), params),
        _ => {
            let last_screen = params.last_screen;
            Ok(farewell(
                setup.connect(params),
                last_screen,
                CompatMode::Fulmar,
            ))
        }
    }
}

/// A login on its way.
struct SessionLogin {
    login: SshLogin<SessionService>,
    /// The command that copies this program there, if its file is known.
    copying: Option<String>,
    /// The way to run ssh once more.
    again: LoginAgain,
    last_screen: LastScreen,
    /// The name that the session is to have.
    name: Option<SessionName>,
    /// The options of the command line that say how to get there.
    way: Vec<OsString>,
    reactor: Reactor,
    steps: Steps,
}

impl SessionLogin {
    fn begin(
        setup: &ClientSetup,
        ssh: &[OsString],
        destination: Destination,
        words: &[OsString],
        wish: SessionWish,
        verbosity: Verbosity,
    ) -> Result<SessionLogin, SessionError> {
        let mut steps = Steps::begin(now(), verbosity);
        if let Some(doubt) = setup.scrollback_doubt() {
            steps.tell(
                now(),
                &format!("lines do not enter the terminal's scrollback: {doubt}"),
            );
        }
        let settings = &setup.settings().login;
        let request = SessionRequest {
            server: settings.server.as_deref(),
            bind: settings.bind_server.request(),
            ports: settings.port,
            locale: setup.environment().locale(),
            size: setup.size(),
            colors: setup.colors(),
            command: session_command(words),
        };
        let mut request = request.bootstrap();
        if settings.client.is_none() {
            request.offer.capabilities = setup.offered_capabilities();
            request.offer.history = setup.offered_history();
        }
        let joins = wish.task.is_some();
        request.offer.name = wish.name.clone();
        request.offer.task = wish.task;
        if joins {
            request.fallback = None;
        }
        if settings.client.is_some() {
            // It has no hand for ssh, which the server would wait for.
            let offered = request.offer.capabilities.iter();
            let offered = offered.filter(|one| *one != Capability::Ssh);
            request.offer.capabilities = offered.collect();
        }
        let command = remote_command(request.start.as_deref());
        let mut encoded = request.encode_for(&command);
        if matches!(encoded, Err(BootstrapRequestError::TooLong(_))) {
            // The command is in it twice, and once may be enough.
            request.fallback = None;
            encoded = request.encode_for(&command);
        }
        let config = config(settings, ssh, destination, command);
        let again = LoginAgain::like(&config, &request, settings.server.is_some());
        let mut service = SessionService::new(encoded.map_err(SessionError::Request)?);
        if request.fallback.is_none() {
            service = service.without_fallback();
        }
        if settings.server.is_some() {
            service = service.by_chosen_command();
        }
        if joins {
            service = service.joining();
        }
        if settings.client.is_some() {
            // It has no ears for what the server says about the offer.
            service = service.waiting_for_agreement();
        }
        // Before the first child, of whose end it tells.
        let reactor = ClientSetup::reactor()?;
        Ok(SessionLogin {
            again,
            copying: config.copying.clone(),
            login: SshLogin::begin(now(), config, service),
            last_screen: crate::client::last_screen(words),
            name: wish.name,
            way: wish.way,
            reactor,
            steps,
        })
    }

    /// Goes on to the end of it.
    fn finish(mut self) -> Result<ConnectParams, SessionError> {
        match self.run() {
            Ok((params, candidates)) => {
                if params.agreement.is_none() {
                    tracing::info!("a server of stock's, and so a session without extensions");
                    if let Some(name) = &self.name {
                        let what = "stock's mosh-server knows no names, and nobody can come back";
                        report::complain(
                            "fulmar",
                            format!("the session is not called {name}: {what}"),
                        );
                    }
                    let state = self.login.state();
                    if let Some(note) = state.output().diagnostics().stock_note(state.host()) {
                        report::complain("fulmar", note);
                        let diagnostics = state.output().diagnostics();
                        report::advise(diagnostics.stock_advice(self.copying.as_deref()));
                    }
                }
                Ok(ConnectParams {
                    key: params.key,
                    candidates,
                    is_server_local: false,
                    agreement: params.agreement,
                    last_screen: self.last_screen,
                    destination: Some(with_way(&self.way, self.login.state().host())),
                    again: Some(self.again),
                    is_cut_off: self.login.take_cut_off(),
                    login: Some(self.login),
                    reactor: self.reactor,
                    steps: self.steps,
                })
            }
            Err(failure) => {
                self.login.state_mut().handle_stop();
                self.login.tell();
                self.login.end();
                Err(failure)
            }
        }
    }

    fn run(&mut self) -> Result<(SessionParams, CandidateAddresses), SessionError> {
        loop {
            if let Some(end) = self.handle_events()? {
                return Ok(end);
            }
            self.steps.take(now(), Step::SshStarted);
            self.tell_steps();
            wait_for_ssh(&mut self.login, &mut self.reactor)?;
        }
    }

    /// Does what the login wants, and returns where the server is, if all of that is known.
    fn handle_events(
        &mut self,
    ) -> Result<Option<(SessionParams, CandidateAddresses)>, SessionError> {
        while let Some(event) = self.login.poll_event(now()) {
            match event {
                LoginEvent::Show(text) => report::print_others(&text),
                LoginEvent::Notice(what) => report::complain("fulmar", what),
                LoginEvent::Reached(step) => self.note(step),
                LoginEvent::Reachable(params, addresses) => {
                    tracing::info!(?addresses, "where the server may be");
                    self.steps.tell(now(), &tried_text(&addresses));
                    self.tell_steps();
                    return Ok(Some((params, CandidateAddresses::found(addresses))));
                }
                LoginEvent::Failed(failure) => return Err(SessionError::Login(failure)),
                _ => {}
            }
        }
        Ok(None)
    }

    fn tell_steps(&mut self) {
        for line in self.steps.take_lines() {
            report::complain("fulmar", line);
        }
    }

    fn note(&mut self, step: LoginStep) {
        if let Some(step) = step_of(step) {
            self.steps.take(now(), step);
        }
    }
}

/// Returns the host behind the options that lead there, as they are written to a shell.
fn with_way(way: &[OsString], host: &str) -> String {
    let mut line = String::new();
    for word in way {
        let text = word.to_string_lossy();
        let is_plain =
            |character: char| character.is_alphanumeric() || "-_.,/:@%+=".contains(character);
        if !text.is_empty() && text.chars().all(is_plain) {
            line.push_str(&text);
        } else {
            line.push_str(&quoted(word).to_string_lossy());
        }
        line.push(' ');
    }
    line + host
}

/// Returns a step of a login as one of the program, unless the client takes it, which is to know it, too.
pub(crate) fn step_of(step: LoginStep) -> Option<Step> {
    Some(match step {
        LoginStep::LoggedIn => Step::LoggedIn,
        LoginStep::SettingsKnown => Step::SettingsKnown,
        LoginStep::Resolved => Step::Resolved,
        LoginStep::Hello => Step::Hello,
        LoginStep::Connect => Step::Connect,
        LoginStep::Agreed => Step::Agreed,
        LoginStep::Heard => return None,
    })
}

/// Returns what a user is told of the addresses that are tried.
pub(crate) fn tried_text(addresses: &[SocketAddr]) -> String {
    let addresses: Vec<String> = addresses.iter().map(SocketAddr::to_string).collect();
    format!("UDP is tried to {}", addresses.join(", "))
}

/// Waits until something happens to a login, and hands it over.
fn wait_for_ssh<S: RemoteService>(
    login: &mut SshLogin<S>,
    reactor: &mut Reactor,
) -> Result<(), SessionError> {
    let waited = reactor.wait(login.deadline(), |registry| login.register(registry));
    waited.map_err(while_doing("waiting for ssh"))?;
    while let Some(event) = reactor.poll_event() {
        match event {
            ReactorEvent::Signal(signal) => handle_signal(signal)?,
            ReactorEvent::Ready(token, _) => login.handle_ready(now(), token),
            // What happens to the network matters to nobody yet.
            ReactorEvent::Hint(_) => {}
        }
    }
    login.end_turn(now());
    Ok(())
}

/// Handles a signal that comes before there is a session.
fn handle_signal(signal: Signal) -> Result<(), SessionError> {
    match signal {
        // ssh has had the key as well, and puts the terminal in order before it stops.
        Signal::Suspend => Ok(signals::stop().map_err(while_doing("stopping"))?),
        // The last is about what ssh did not read, whose end says more.
        Signal::Child | Signal::Continue | Signal::WindowChange | Signal::Pipe => Ok(()),
        signal => {
            report::begin_line_after(signal);
            Err(SessionError::Interrupted(signal))
        }
    }
}

/// Returns the wishes for a login over the ssh of these words, as far as they are the user's settings.
pub(crate) fn config(
    settings: &fulmar_settings::LoginSettings,
    words: &[OsString],
    destination: Destination,
    command: String,
) -> LoginConfig {
    let ssh = SshCommand {
        words: words.to_vec(),
        destination,
        family: settings.addresses.only(),
    };
    LoginConfig {
        copying: this_program().map(|here| copying_command(&ssh, &here)),
        ssh,
        command,
        addresses: settings.addresses,
        address_source: settings.remote_ip,
    }
}

/// Returns the path of the program that runs, if it can be told to a shell.
fn this_program() -> Option<String> {
    std::env::current_exe()
        .ok()?
        .into_os_string()
        .into_string()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_has_the_options_that_led_there() {
        let way = [
            "-P",
            "2222",
            "-J",
            "gate.example.org",
            "--server",
            "/opt/f server",
        ];
        let way = way.map(OsString::from);
        assert_eq!(
            with_way(&way, "bob@far"),
            "-P 2222 -J gate.example.org --server '/opt/f server' bob@far"
        );
        assert_eq!(with_way(&[], "far"), "far");
    }
}
