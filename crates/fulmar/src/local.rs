//! Both ends on one machine: what a login does, without ssh.

use std::convert::Infallible;
use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use fulmar_core::CompatMode;
use fulmar_login::{
    BootstrapRequest, CandidateAddresses, Execution, Login, LoginEvent, Offer, SessionParams,
    SessionService, session_command,
};
use fulmar_platform::{Signal, signals};
use fulmar_settings::SettingSources;

use crate::client::{ClientSetup, ConnectParams, farewell};
use crate::clock::now;
use crate::login::{SessionError, SessionWish, in_its_words, local_server, redirected_stream};
use crate::reactor::{Reactor, ReactorEvent};
use crate::ssh_login::{SshChild, SshLogin};
use crate::steps::{Step, Steps, Verbosity};
use crate::system::{cannot_start, while_doing};
use crate::{report, session_key};

/// Opens a session on this machine with `command`, or with a shell, and returns the status to leave
/// with.
///
/// # Errors
///
/// When the session cannot begin.
pub(crate) fn run(
    command: &[OsString],
    wish: SessionWish,
    sources: &SettingSources,
    verbosity: Verbosity,
) -> Result<u8, SessionError> {
    let execution = Execution::choose(!command.is_empty(), redirected_stream());
    if execution == Ok(Execution::WithoutSession) {
        match become_command(command)? {}
    }
    let mut steps = Steps::begin(now(), verbosity);
    let setup = ClientSetup::prepare(sources)?;
    let is_attach = wish.task.is_some();
    execution.map_err(|stream| SessionError::redirected(stream, is_attach))?;
    let encoded = offer(command, wish, &setup)
        .encode()
        .map_err(SessionError::Request)?;
    // Before the first child, of whose end it tells.
    let mut reactor = ClientSetup::reactor()?;
    let order = local_server::order(setup.settings());
    let mut order = order.map_err(while_doing("finding our program"))?;
    let child = SshChild::of(&mut order).map_err(while_doing("starting a server"))?;
    let service = SessionService::new(encoded).waiting_for_agreement();
    let service = if is_attach {
        service.joining()
    } else {
        service
    };
    let addresses = vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))];
    let host = "this machine".to_owned();
    let machine = Login::without_ssh(now(), host, addresses, service, session_key::read);
    let mut login = SshLogin::over(child, machine);
    let params = match listen(&mut login, &mut reactor) {
        Ok(params) => params,
        Err(failure) => {
            login.end();
            return Err(failure);
        }
    };
    steps.take(now(), Step::Connect);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, params.port));
    let last_screen = crate::client::last_screen(command);
    let params = ConnectParams {
        key: params.key,
        candidates: CandidateAddresses::named(address),
        is_server_local: true,
        agreement: params.agreement,
        last_screen,
        destination: Some("--local".to_owned()),
        again: None,
        is_cut_off: login.take_cut_off(),
        login: Some(login),
        reactor,
        steps,
    };
    Ok(farewell(
        setup.connect(params),
        last_screen,
        CompatMode::Fulmar,
    ))
}

/// Becomes the command of these words.
fn become_command(words: &[OsString]) -> Result<Infallible, SessionError> {
    let words = session_command(words);
    let (program, arguments) = words.split_first().expect("there is a command");
    let error = Command::new(program).args(arguments).exec();
    Err(cannot_start(program)(error).into())
}

/// Returns what a server is asked for that only this machine can reach.
fn offer(command: &[OsString], wish: SessionWish, setup: &ClientSetup) -> BootstrapRequest {
    let offer = Offer {
        history: setup.offered_history(),
        name: wish.name,
        task: wish.task,
        size: Some(setup.size()),
        colors: Some(setup.colors()),
        command: session_command(command),
        ..Offer::of(setup.offered_capabilities())
    };
    BootstrapRequest {
        start: None,
        fallback: None,
        offer,
    }
}

/// Listens to the server until it can be reached.
fn listen(
    login: &mut SshLogin<SessionService>,
    reactor: &mut Reactor,
) -> Result<SessionParams, SessionError> {
    loop {
        while let Some(event) = login.poll_event(now()) {
            match event {
                LoginEvent::Show(text) => report::print_to_stderr(&text),
                // It is about a login, and there is none.
                LoginEvent::Notice(what) => tracing::warn!(what, "the server warns"),
                LoginEvent::Reachable(params, _) => return Ok(params),
                LoginEvent::Failed(failure) => return Err(in_its_words(failure)),
                _ => {}
            }
        }
        let waited = reactor.wait(None, |registry| login.register(registry));
        waited.map_err(while_doing("waiting for the server"))?;
        while let Some(event) = reactor.poll_event() {
            match event {
                ReactorEvent::Signal(signal) => handle_signal(signal)?,
                ReactorEvent::Ready(token, _) => login.handle_ready(now(), token),
                // What happens to the network matters to nobody yet.
                ReactorEvent::Hint(_) => {}
            }
        }
        login.end_turn(now());
    }
}

fn handle_signal(signal: Signal) -> Result<(), SessionError> {
    match signal {
        Signal::Suspend => Ok(signals::stop_process_group().map_err(while_doing("stopping"))?),
        // The last is about what the server did not read, whose end says more.
        Signal::Child | Signal::Continue | Signal::WindowChange | Signal::Pipe => Ok(()),
        signal => {
            report::begin_line_after(signal);
            Err(SessionError::Interrupted(signal))
        }
    }
}
