//! The login that leads to a remote end that waits: ssh at work, and meanwhile the question where the host is.
//!
//! Source: docs/protocol.md §2.10, docs/threat-model.md §9.

use std::ffi::{OsStr, OsString};
use std::net::IpAddr;

use fulmar_copy::RateLimit;
use fulmar_login::{
    COPY_VERSION, CandidateAddresses, CopyLoginError, CopyParams, CopyService, Destination,
    LoginError, LoginEvent, STATUS_NO_PROGRAM, copy_command, is_shell_safe,
};
use fulmar_platform::resolve::numeric;
use fulmar_platform::{Interest, Signal};
use fulmar_settings::{BindServer, LoginSettings};

use super::error::CopyError;
use super::reporter::Reporter;
use crate::clock::now;
use crate::login::{self, step_of, tried_text};
use crate::reactor::{Reactor, ReactorEvent, Token};
use crate::ssh_login::SshLogin;
use crate::steps::{Step, Steps, Verbosity};
use crate::system::while_doing;

/// A remote end that waits.
pub(super) struct WaitingRemoteEnd {
    /// Its connection parameters.
    pub(super) params: CopyParams,
    /// The addresses that it may have; `None` if no address of it is known.
    pub(super) candidates: Option<CandidateAddresses>,
    /// The login that has started it.
    pub(super) login: SshLogin<CopyService>,
    /// The steps that were reached.
    pub(super) steps: Steps,
}

/// A login for a copy, on its way.
pub(super) struct CopyLogin {
    login: SshLogin<CopyService>,
    steps: Steps,
}

impl CopyLogin {
    /// Begins to log in. Signals are watched for already. A remote end that sends files keeps to `limit` by itself: what
    /// is taken slowly from one that does not is sent in bursts.
    ///
    /// # Errors
    ///
    /// When the destination is none for ssh.
    pub(super) fn begin(
        settings: &LoginSettings,
        destination: &OsStr,
        ssh_words: &[OsString],
        limit: Option<RateLimit>,
        verbosity: Verbosity,
        names_program: bool,
    ) -> Result<CopyLogin, CopyError> {
        let steps = Steps::begin(now(), verbosity);
        let destination = Destination::parse(destination).map_err(|why| {
            let text = destination.to_owned();
            CopyError::Login(LoginError::Destination { text, why })
        })?;
        let words = server_words(settings, limit);
        let program = settings.server.as_deref();
        let program = program.and_then(|server| {
            remote_program(server).or_else(|| named_program(server).filter(|_| names_program))
        });
        let command = copy_command(program.as_deref(), &words);
        let asked_for = program.filter(|program| !is_shell_safe(program));
        let line = asked_for.map(|program| format!("{program} copy-server {}", words.join(" ")));
        let service = CopyService::new(&command, line.as_deref());
        let ssh: Vec<OsString> = settings.ssh.iter().chain(ssh_words).cloned().collect();
        let config = login::config(settings, &ssh, destination, command);
        Ok(CopyLogin {
            login: SshLogin::begin(now(), config, service),
            steps,
        })
    }

    /// Goes on until the remote end waits.
    ///
    /// # Errors
    ///
    /// When there will be none.
    pub(super) fn finish(
        mut self,
        reactor: &mut Reactor,
        reporter: &mut Reporter,
    ) -> Result<WaitingRemoteEnd, CopyError> {
        match self.run(reactor, reporter) {
            Ok((params, candidates)) => Ok(WaitingRemoteEnd {
                params,
                candidates,
                login: self.login,
                steps: self.steps,
            }),
            Err(failure) => {
                self.login.state_mut().handle_stop();
                while let Some(event) = self.login.poll_event(now()) {
                    if let LoginEvent::Show(text) = event {
                        reporter.show(&text);
                    }
                }
                self.login.end();
                Err(failure)
            }
        }
    }

    fn run(
        &mut self,
        reactor: &mut Reactor,
        reporter: &mut Reporter,
    ) -> Result<(CopyParams, Option<CandidateAddresses>), CopyError> {
        loop {
            if let Some(end) = self.handle_events(reporter)? {
                return Ok(end);
            }
            self.steps.take(now(), Step::SshStarted);
            reporter.tell_steps(&mut self.steps);
            let waited = reactor.wait(self.login.deadline(), |registry| {
                self.login.register(registry);
                if let Some(output) = reporter.awaited() {
                    registry.add_borrowed(Token::Output, output, Interest::Write);
                }
            });
            waited.map_err(while_doing("waiting for ssh"))?;
            while let Some(event) = reactor.poll_event() {
                match event {
                    ReactorEvent::Signal(signal) => check_ending(signal)?,
                    ReactorEvent::Ready(token, _) => self.login.handle_ready(now(), token),
                    // What happens to the network matters to nobody yet.
                    ReactorEvent::Hint(_) => {}
                }
            }
            reporter.look_after_output();
            self.login.end_turn(now());
        }
    }

    /// Does what the login wants, and returns where the remote end is, if all of that is known.
    fn handle_events(
        &mut self,
        reporter: &mut Reporter,
    ) -> Result<Option<(CopyParams, Option<CandidateAddresses>)>, CopyError> {
        while let Some(event) = self.login.poll_event(now()) {
            match event {
                LoginEvent::Show(text) => reporter.show(&text),
                LoginEvent::Notice(what) => reporter.note(&what),
                LoginEvent::Reachable(params, addresses) => {
                    tracing::info!(?addresses, "where the far end may be");
                    let is_known = !addresses.is_empty();
                    if is_known {
                        self.steps.tell(now(), &tried_text(&addresses));
                    }
                    let candidates = is_known.then(|| CandidateAddresses::found(addresses));
                    return Ok(Some((params, candidates)));
                }
                LoginEvent::Reached(step) => {
                    if let Some(step) = step_of(step) {
                        self.steps.take(now(), step);
                    }
                }
                LoginEvent::Failed(failure) => return Err(failure.into()),
                _ => {}
            }
        }
        Ok(None)
    }
}

impl From<CopyLoginError> for CopyError {
    fn from(failure: CopyLoginError) -> CopyError {
        match failure {
            CopyLoginError::Login(failure) => CopyError::Login(failure),
            CopyLoginError::NoFulmar {
                host,
                system,
                copying,
            } => CopyError::NoFulmar {
                host,
                system,
                copying,
            },
            CopyLoginError::NoCopyServer { host, exit } => {
                let is_missing = exit.code() == Some(STATUS_NO_PROGRAM.into());
                let status = exit.to_string();
                CopyError::NoCopyServer {
                    host,
                    status,
                    is_missing,
                }
            }
            CopyLoginError::Version { host, version } => CopyError::Version {
                host,
                version,
                ours: COPY_VERSION,
            },
        }
    }
}

/// Returns what the remote end is told of where to listen and how fast to send: words that every shell reads
/// alike.
fn server_words(settings: &LoginSettings, limit: Option<RateLimit>) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(ports) = settings.port {
        words.extend(["-p".to_owned(), ports.as_option()]);
    }
    match &settings.bind_server {
        BindServer::Auto | BindServer::Any => {}
        BindServer::Ssh => words.push("-s".to_owned()),
        BindServer::Address(address) => words.extend(["-i".to_owned(), plain(*address)]),
    }
    if let Some(rate) = limit {
        words.extend(["-l".to_owned(), rate.as_option()]);
    }
    words
}

fn plain(address: IpAddr) -> String {
    numeric((address, 0).into())
}

/// Returns the command that starts our program there, out of the one that starts its server. Its file may be called
/// fulmar with something behind it, such as a version.
fn remote_program(server: &str) -> Option<String> {
    let name_at = server.rfind("fulmar")?;
    let is_of_name = |character: char| character.is_alphanumeric() || "-_.".contains(character);
    let (_, name) = server.split_at_checked(name_at)?;
    let end = name.find(|character| !is_of_name(character));
    let (program, rest) = server.split_at_checked(end.map_or(server.len(), |end| name_at + end))?;
    let quotes = rest
        .chars()
        .take_while(|character| matches!(character, '"' | '\''))
        .count();
    let (quotes, rest) = rest.split_at_checked(quotes)?;
    let is_whole = rest.is_empty() || rest.starts_with(' ');
    is_whole.then(|| format!("{program}{quotes}"))
}

/// The same for a name that the user has given to this very copy: that of Mosh's server does for logins alone, and any other
/// is meant.
fn named_program(server: &str) -> Option<String> {
    let is_stock = server.contains("mosh-server");
    let program = server.strip_suffix(" server").unwrap_or(server);
    (!is_stock).then(|| program.to_owned())
}

/// Tells if a signal asks us to end before anything was copied.
///
/// # Errors
///
/// When it does.
pub(super) fn check_ending(signal: Signal) -> Result<(), CopyError> {
    ending(signal).map_or(Ok(()), |signal| {
        Err(CopyError::Interrupted {
            signal,
            resumes: false,
            is_kept: false,
        })
    })
}

/// Returns the signal if it asks us to end.
pub(super) fn ending(signal: Signal) -> Option<Signal> {
    let asks = matches!(
        signal,
        Signal::HangUp | Signal::Interrupt | Signal::Quit | Signal::Terminate
    );
    asks.then_some(signal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_there_is_that_of_the_server() {
        for (server, program) in [
            ("fulmar server", Some("fulmar")),
            ("/opt/fulmar", Some("/opt/fulmar")),
            ("/opt/fulmar-0.2_x server", Some("/opt/fulmar-0.2_x")),
            (
                "env A=b '/a b/fulmar' server -p 7",
                Some("env A=b '/a b/fulmar'"),
            ),
            ("mosh-server", None),
            ("/opt/fulmar-old/bin/x", None),
        ] {
            assert_eq!(remote_program(server).as_deref(), program, "{server}");
        }
        for (server, program) in [
            ("/opt/copier", Some("/opt/copier")),
            ("/opt/copier server", Some("/opt/copier")),
            ("mosh-server new", None),
        ] {
            assert_eq!(named_program(server).as_deref(), program, "{server}");
        }
    }
}
