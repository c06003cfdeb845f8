//! Asking about the sessions of a machine, by a login that begins none.

use std::ffi::{OsStr, OsString};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use fulmar_login::{
    BootstrapRequest, Login, LoginEvent, SessionInfo, SessionListService, SessionRequest,
    SessionTask, remote_command,
};
use fulmar_settings::{SettingSources, Settings};
use fulmar_terminal::Size;

use super::error::SessionError;
use super::local_server::{self, in_its_words};
use super::{config, parse, step_of, wait_for_ssh};
use crate::client::{ClientError, ClientSetup};
use crate::clock::now;
use crate::environment;
use crate::reactor::Reactor;
use crate::report;
use crate::session_key;
use crate::settings;
use crate::ssh_login::{SshChild, SshLogin};
use crate::steps::{Steps, Verbosity};
use crate::system::while_doing;

/// The time that ssh has to end when all is said. Chosen by eye: longer than a round trip.
const ENDS_WITHIN: Duration = Duration::from_millis(500);

/// Asks at `destination`, by ssh with these words more, or on this machine, and returns the sessions of which the answer
/// tells.
///
/// # Errors
///
/// When the login fails, or what is asked for is refused.
pub(crate) fn ask(
    destination: Option<&OsStr>,
    ssh_words: Vec<OsString>,
    task: SessionTask,
    sources: &SettingSources,
    verbosity: Verbosity,
) -> Result<Vec<SessionInfo>, SessionError> {
    let steps = Steps::begin(now(), verbosity);
    let settings = settings::resolve(sources, &environment::current());
    let settings = settings.map_err(ClientError::from)?;
    // Before the first child, of whose end it tells.
    let reactor = ClientSetup::reactor()?;
    let login = match destination {
        Some(destination) => begin_over_ssh(destination, ssh_words, task, &settings)?,
        None => begin_here(task, &settings)?,
    };
    let mut query = SessionQuery {
        login,
        reactor,
        steps,
    };
    let outcome = query.run();
    if outcome.is_err() {
        query.login.state_mut().handle_stop();
        query.login.tell();
        query.login.end();
    } else {
        query.login.end_within(ENDS_WITHIN);
    }
    outcome.map_err(|failure| match (failure, destination) {
        (SessionError::Login(failure), None) => in_its_words(failure),
        (failure, _) => failure,
    })
}

fn begin_over_ssh(
    destination: &OsStr,
    ssh_words: Vec<OsString>,
    task: SessionTask,
    settings: &Settings,
) -> Result<SshLogin<SessionListService>, SessionError> {
    let destination = parse(destination)?;
    let settings = &settings.login;
    let request = request(settings.server.as_deref(), task);
    let command = remote_command(request.start.as_deref());
    let encoded = request
        .encode_for(&command)
        .map_err(SessionError::Request)?;
    let mut service = SessionListService::new(encoded);
    if settings.server.is_some() {
        service = service.by_chosen_command();
    }
    let ssh = [settings.ssh.clone(), ssh_words].concat();
    let config = config(settings, &ssh, destination, command);
    Ok(SshLogin::begin(now(), config, service))
}

fn begin_here(
    task: SessionTask,
    settings: &Settings,
) -> Result<SshLogin<SessionListService>, SessionError> {
    let encoded = request(None, task)
        .encode()
        .map_err(SessionError::Request)?;
    let order = local_server::order(settings);
    let mut order = order.map_err(while_doing("finding our program"))?;
    let child = SshChild::of(&mut order).map_err(while_doing("starting a server"))?;
    let addresses = vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))];
    let host = "this machine".to_owned();
    let service = SessionListService::new(encoded);
    let machine = Login::without_ssh(now(), host, addresses, service, session_key::read);
    Ok(SshLogin::over(child, machine))
}

fn request(server: Option<&str>, task: SessionTask) -> BootstrapRequest {
    let request = SessionRequest {
        server,
        bind: None,
        ports: None,
        locale: Vec::new(),
        size: Size::default(),
        colors: 0,
        command: Vec::new(),
    };
    let mut request = request.bootstrap();
    request.offer.task = Some(task);
    request.fallback = None;
    request
}

/// A question on its way.
struct SessionQuery {
    login: SshLogin<SessionListService>,
    reactor: Reactor,
    steps: Steps,
}

impl SessionQuery {
    fn run(&mut self) -> Result<Vec<SessionInfo>, SessionError> {
        loop {
            while let Some(event) = self.login.poll_event(now()) {
                match event {
                    LoginEvent::Show(text) => report::print_others(&text),
                    LoginEvent::Notice(what) => report::complain("fulmar", what),
                    LoginEvent::Reached(step) => {
                        if let Some(step) = step_of(step) {
                            self.steps.take(now(), step);
                        }
                    }
                    LoginEvent::Reachable(sessions, _) => return Ok(sessions),
                    LoginEvent::Failed(failure) => return Err(SessionError::Login(failure)),
                    _ => {}
                }
            }
            for line in self.steps.take_lines() {
                report::complain("fulmar", line);
            }
            wait_for_ssh(&mut self.login, &mut self.reactor)?;
        }
    }
}
