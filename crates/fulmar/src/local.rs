//! Both ends on one machine: what a login does, without ssh.

use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use fulmar_core::{Capabilities, Names};
use fulmar_platform::{PollList, Signal, signals};

use crate::bootstrap::offer::{Offer, Opening};
use crate::cli::Records;
use crate::client::destinations::Destinations;
use crate::client::{Desk, Meeting, farewell};
use crate::errors::{Failure, while_doing};
use crate::login::{Call, Reachable, Said};
use crate::settings::Sources;
use crate::steps::{Step, Steps};
use crate::surroundings::{Surroundings, now};
use crate::{log, report};

/// Opens a session on this machine with `command`, or with a shell, and returns the status to leave
/// with.
///
/// # Errors
///
/// When the session cannot begin.
pub(crate) fn run(command: &[OsString], sources: &Sources) -> Result<u8, Failure> {
    let mut steps = Steps::begin(now());
    let desk = Desk::prepare(sources)?;
    let block = offer(command, &desk).block().map_err(Failure::Opening)?;
    // Before the first child, of whose end it tells.
    let mut surroundings = Desk::watch()?;
    let mut order = server(&desk.settings().records).map_err(while_doing("finding our program"))?;
    let mut call = Call::of(&mut order, "this machine".to_owned(), block)
        .map_err(while_doing("starting a server"))?
        .wait_for_agreement();
    let reachable = match listen(&mut call, &mut surroundings) {
        Ok(reachable) => reachable,
        Err(failure) => {
            call.end();
            return Err(failure);
        }
    };
    steps.take(now(), Step::Connect);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, reachable.port));
    let meeting = Meeting {
        key: reachable.key,
        destinations: Destinations::named(address),
        agreement: reachable.agreement,
        is_cut_off: call.was_cut_off(),
        call: call.status().is_none().then_some(call),
        surroundings,
        steps,
    };
    Ok(farewell(desk.meet(meeting), Names::Own))
}

/// Returns what a server is asked for that only this machine can reach.
fn offer(command: &[OsString], desk: &Desk) -> Opening {
    let offer = Offer {
        size: Some(desk.size()),
        colors: u32::try_from(desk.colors()).ok(),
        command: command.to_vec(),
        ..Offer::of(Capabilities::ALL)
    };
    Opening {
        start: None,
        fallback: None,
        offer,
    }
}

/// Returns an order to start a server: this very program, also if its file is gone since.
fn server(records: &Records) -> io::Result<Command> {
    let file = std::env::current_exe()?;
    let program = if file.exists() {
        file
    } else {
        PathBuf::from("/proc/self/exe")
    };
    let mut server = Command::new(program);
    // The name decides which program we are. Only this machine can reach it.
    server.arg0("fulmar").args(["server", "-i", "127.0.0.1"]);
    for (option, file) in [("--trace", &records.trace), ("--log", &records.log)] {
        if let Some(file) = file {
            server.arg(option).arg(log::beside(file));
        }
    }
    Ok(server)
}

/// Listens to the server until it can be reached.
fn listen(call: &mut Call, surroundings: &mut Surroundings) -> Result<Reachable, Failure> {
    loop {
        let mut list = PollList::new();
        let slots = surroundings.enlist(&mut list);
        let pipes = call.enlist(&mut list);
        let ready = surroundings
            .wait(&mut list, slots)
            .map_err(while_doing("waiting for the server"))?;
        let pipes = Call::ready(&list, pipes);
        for signal in surroundings.signals(ready) {
            obey(signal)?;
        }
        // What happens to the network matters to nobody yet; unread it would end every wait at once.
        let _ = surroundings.hints(ready);
        let turn = call.turn(pipes);
        turn.said.iter().for_each(tell);
        report::print_to_stderr(&turn.printed);
        if let Some(reachable) = call.transcript_mut().take_reachable() {
            return Ok(reachable);
        }
        if turn.trouble.is_some() {
            return Err(Failure::LocalServer);
        }
        if call.status().is_some() {
            return Err(failure(call));
        }
    }
}

fn obey(signal: Signal) -> Result<(), Failure> {
    match signal {
        Signal::Suspend => signals::stop_process_group().map_err(while_doing("stopping")),
        // The last is about what the server did not read, whose end says more.
        Signal::Child | Signal::Continue | Signal::WindowChange | Signal::Pipe => Ok(()),
        signal => Err(Failure::Signalled(signal)),
    }
}

fn tell(said: &Said) {
    match said {
        // It is about a login, and there is none.
        Said::Warning(what) => tracing::warn!(what, "the server warns"),
        Said::Other(line) => report::print_to_stderr(&format!("{line}\n")),
        Said::Ready | Said::Hello | Said::Invited | Said::Agreed | Said::Heard => {}
    }
}

/// Returns why a server has ended, in its own words if it had any.
fn failure(call: &Call) -> Failure {
    match call.transcript().remarks().error() {
        Some((what, advice)) => Failure::OfServer {
            what: what.to_owned(),
            advice: advice.to_vec(),
        },
        None => Failure::LocalServer,
    }
}
