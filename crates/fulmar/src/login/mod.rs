//! Logging in: from `[user@]host` to a server that waits for us, through the user's own ssh.
//!
//! ```text
//!  Destination ─► Ssh ─► Call ══ ssh ══► remote command ─► server
//!                  │      └─► Transcript ─► port, key, agreement ──┐
//!                  └─► Whereabouts ─► addresses ─► candidates ─────┴─► Meeting ─► client
//! ```
//!
//! Source: docs/protocol.md §2.9, docs/threat-model.md §9.

mod call;
mod candidates;
mod complaint;
mod messages;
mod other_client;
mod process;
mod remarks;
mod remote_command;
mod request;
mod resolve;
mod shown;
mod ssh;
mod transcript;
mod whereabouts;

use std::ffi::{OsStr, OsString};
use std::net::{IpAddr, SocketAddr};
use std::process::ExitStatus;
use std::time::Duration;

use fulmar_base::Time;
use fulmar_core::Names;
use fulmar_platform::{PollList, Signal, signals};

pub(crate) use self::call::{Call, Ready as CallReady};
use self::candidates::candidates;
pub(crate) use self::complaint::SshComplaint;
pub(crate) use self::messages::Messages;
pub(crate) use self::process::{Hearing, Ready as SshReady, Slots as SshSlots, SshProcess};
pub(crate) use self::remarks::Remarks;
use self::remote_command::{STATUS_NO_SERVER, remote_command};
pub(crate) use self::remote_command::{copy_command, is_plain};
use self::request::Window;
use self::ssh::OnlyFamily;
pub(crate) use self::ssh::{BadDestination, Destination, Make, Ssh};
pub(crate) use self::transcript::{READY, Reachable, Said, Trouble};
pub(crate) use self::whereabouts::Whereabouts;
use crate::bootstrap::offer::{Block, OpeningError};
use crate::client::destinations::Destinations;
use crate::client::{Desk, Meeting, farewell};
use crate::errors::{Failure, LoginFailure, while_doing};
use crate::report;
use crate::settings::{self, Family, Sources};
use crate::steps::{Step, Steps};
use crate::surroundings::{self, Surroundings, now};

/// How long a server that waits is kept waiting for its addresses: a resolver may be slow for a name
/// that ssh did not need. Chosen by eye.
pub(crate) const ADDRESSES_WITHIN: Duration = Duration::from_secs(3);

/// How long a server that has said hello may leave it at that: as long as one that is to answer a
/// datagram.
///
/// Source: docs/protocol.md §2.8.
const ANSWER_WITHIN: Duration = Duration::from_secs(15);

/// Reads `[user@]host`.
///
/// # Errors
///
/// When ssh would refuse it.
pub(crate) fn host_of(destination: &OsStr) -> Result<OsString, Failure> {
    Ok(parse(destination)?.host().to_owned())
}

fn parse(destination: &OsStr) -> Result<Destination, Failure> {
    Destination::parse(destination).map_err(|why| {
        let text = destination.to_owned();
        Failure::Login(LoginFailure::Destination { text, why })
    })
}

/// Logs in at `destination`, holds a session there with the command of these words, or with a
/// shell, and returns the status to leave with.
///
/// # Errors
///
/// When the session cannot begin.
pub(crate) fn run(
    destination: &OsStr,
    words: &[OsString],
    sources: &Sources,
) -> Result<u8, Failure> {
    let destination = parse(destination)?;
    let desk = Desk::prepare(sources)?;
    let modes = desk.tty().modes().map_err(Failure::NoTerminal)?;
    let login = Login::begin(&desk, destination, words)?;
    let meeting = login.finish();
    if meeting.is_err() {
        // ssh may have been killed while it asked for a password.
        let _ = modes.restore();
    }
    let meeting = meeting?;
    match &desk.settings().login.client {
        Some(client) => other_client::run(client, desk.settings(), meeting),
        None => Ok(farewell(desk.meet(meeting), Names::Own)),
    }
}

/// A login on its way.
struct Login {
    settings: settings::Login,
    ssh: Ssh,
    block: Block,
    remote_command: String,
    has_fallback: bool,
    call: Call,
    whereabouts: Whereabouts,
    surroundings: Surroundings,
    steps: Steps,
    messages: Messages,
    /// When the server began to read what we write.
    greeted_at: Option<Time>,
    /// When the server was ready.
    reachable_since: Option<Time>,
}

/// The things that the wait has found.
struct Ready {
    surroundings: surroundings::Ready,
    call: CallReady,
}

impl Login {
    fn begin(desk: &Desk, destination: Destination, words: &[OsString]) -> Result<Login, Failure> {
        let mut steps = Steps::begin(now());
        let settings = desk.settings().login.clone();
        let window = Window {
            size: desk.size(),
            colors: desk.colors().unsigned_abs(),
        };
        let command = request::command(words);
        let mut opening = request::opening(&settings, command, window, desk.environment());
        let mut block = opening.block();
        if matches!(block, Err(OpeningError::TooLong(_))) {
            // The command is in it twice, and once may be enough.
            opening.fallback = None;
            block = opening.block();
        }
        let block = block.map_err(Failure::Opening)?;
        let ssh = Ssh {
            words: settings.ssh.clone(),
            destination,
            family: only_family(settings.family),
        };
        // Before the first child, of whose end it tells.
        let surroundings = Desk::watch()?;
        let remote_command = remote_command(opening.start.as_deref());
        let call = start(&ssh, Make::LIKELY, &remote_command, &block, &settings)?;
        steps.take(now(), Step::SshStarted);
        Ok(Login {
            whereabouts: Whereabouts::ask(now(), ssh.clone(), &settings),
            settings,
            ssh,
            remote_command,
            has_fallback: opening.fallback.is_some(),
            block,
            call,
            surroundings,
            steps,
            messages: Messages::held(),
            greeted_at: None,
            reachable_since: None,
        })
    }

    /// Goes on to the end of it.
    fn finish(mut self) -> Result<Meeting, Failure> {
        match self.run() {
            Ok((reachable, destinations)) => Ok(Meeting {
                key: reachable.key,
                destinations,
                agreement: reachable.agreement,
                is_cut_off: self.call.was_cut_off(),
                call: self.call.status().is_none().then_some(self.call),
                surroundings: self.surroundings,
                steps: self.steps,
            }),
            Err(failure) => {
                self.call.end();
                Err(failure)
            }
        }
    }

    fn run(&mut self) -> Result<(Reachable, Destinations), Failure> {
        loop {
            if let Some(end) = self.decide(now())? {
                return Ok(end);
            }
            let deadline = self.deadline();
            let set = self.surroundings.set_deadline(deadline);
            set.map_err(while_doing("setting a timer"))?;
            let ready = self.wait().map_err(while_doing("waiting for ssh"))?;
            self.take_in(now(), &ready)?;
        }
    }

    fn deadline(&self) -> Option<Time> {
        let addresses = self.reachable_since.map(|since| since + ADDRESSES_WITHIN);
        [self.whereabouts.deadline(), addresses, self.answer_limit()]
            .into_iter()
            .flatten()
            .min()
    }

    fn answer_limit(&self) -> Option<Time> {
        let waits = self.reachable_since.is_none();
        self.greeted_at
            .filter(|_| waits)
            .map(|at| at + ANSWER_WITHIN)
    }

    fn wait(&self) -> std::io::Result<Ready> {
        let mut list = PollList::new();
        let slots = self.surroundings.enlist(&mut list);
        let call = self.call.enlist(&mut list);
        self.whereabouts.enlist(&mut list);
        let surroundings = self.surroundings.wait(&mut list, slots)?;
        Ok(Ready {
            surroundings,
            call: Call::ready(&list, call),
        })
    }

    fn take_in(&mut self, now: Time, ready: &Ready) -> Result<(), Failure> {
        for signal in self.surroundings.signals(ready.surroundings) {
            match signal {
                Signal::Suspend => {
                    // ssh has had the key as well, and puts the terminal in order before it stops.
                    signals::stop().map_err(while_doing("stopping"))?;
                }
                // The last is about what ssh did not read, whose end says more.
                Signal::Child | Signal::Continue | Signal::WindowChange | Signal::Pipe => {}
                signal => return Err(Failure::Signalled(signal)),
            }
        }
        // What happens to the network matters to nobody yet; unread it would end every wait at once.
        let _ = self.surroundings.hints(ready.surroundings);
        self.listen(now, ready.call)?;
        self.whereabouts.turn(now, &mut self.steps);
        self.judge_make()
    }

    /// Takes what ssh and the far side say.
    fn listen(&mut self, now: Time, ready: CallReady) -> Result<(), Failure> {
        let turn = self.call.turn(ready);
        for said in turn.said {
            match said {
                Said::Ready => {
                    self.steps.take(now, Step::Hello);
                }
                Said::Hello => {
                    self.steps.take(now, Step::Hello);
                    self.greeted_at.get_or_insert(now);
                }
                Said::Other(line) => self.show(&format!("{line}\n")),
                Said::Warning(what) => report::complain("fulmar", format!("warning: {what}")),
                Said::Invited => {
                    self.steps.take(now, Step::Connect);
                    self.reachable_since = Some(now);
                }
                Said::Agreed => {
                    self.steps.take(now, Step::Agreed);
                }
                Said::Heard => {}
            }
        }
        if self.call.transcript().awaits_agreement() {
            // Its hello may have been lost.
            self.greeted_at.get_or_insert(now);
        }
        self.show_messages(&turn.printed);
        match turn.trouble {
            Some(trouble) => Err(self.call.failure_of(trouble)),
            None => Ok(()),
        }
    }

    /// What stands before the session is for the user; what comes later would be drawn over.
    fn show(&self, text: &str) {
        match self.reachable_since {
            None => report::print_to_stderr(text),
            Some(_) => text
                .lines()
                .for_each(|line| tracing::info!(line, "ssh says")),
        }
    }

    fn show_messages(&mut self, text: &str) {
        let text = self.messages.add(text);
        self.show(&text);
    }

    fn release_messages(&mut self) {
        let held = self.messages.release();
        self.show(&held);
    }

    /// Calls ssh again if it is of a make that does not understand how it was called.
    fn judge_make(&mut self) -> Result<(), Failure> {
        let Some(make) = self.whereabouts.make().filter(|_| self.messages.are_held()) else {
            return Ok(());
        };
        let is_understood = make.is_called_like(Make::LIKELY)
            || self.call.transcript().has_said_anything()
            || !self.whereabouts.is_sure();
        if !is_understood {
            tracing::info!(?make, "calling it as it can be called");
            let (command, block) = (&self.remote_command, &self.block);
            let call = start(&self.ssh, make, command, block, &self.settings)?;
            std::mem::replace(&mut self.call, call).end();
            self.messages.release();
        }
        self.release_messages();
        Ok(())
    }

    /// Returns where the server is, if all of that is known.
    fn decide(&mut self, now: Time) -> Result<Option<(Reachable, Destinations)>, Failure> {
        let Some(since) = self.reachable_since else {
            return self.look_for_end(now).map(|()| None);
        };
        let is_late = since + ADDRESSES_WITHIN <= now;
        if self.whereabouts.addresses().is_none() && !is_late {
            return Ok(None);
        }
        let Some(reachable) = self.call.transcript_mut().take_reachable() else {
            return Ok(None);
        };
        match self.call.status() {
            // It leaves with the login, until it has heard us.
            Some(status) if reachable.agreement.is_some() && !self.call.is_heard() => {
                return Err(Failure::Login(self.failure_of_end(status)));
            }
            _ => {}
        }
        let destinations = self.destinations(&reachable)?;
        if reachable.agreement.is_none() {
            tracing::info!("a server of stock's, and so a session without extensions");
        }
        Ok(Some((reachable, destinations)))
    }

    fn destinations(&self, reachable: &Reachable) -> Result<Destinations, Failure> {
        let reported = self.call.transcript().remarks().reported();
        let found = found(&self.whereabouts, reported, reachable.port, &self.settings);
        found.map_err(|of_family| {
            Failure::Login(LoginFailure::NoAddress {
                host: self.call.host().to_owned(),
                port: reachable.port,
                of_family,
            })
        })
    }

    /// Tells why there will be no server, if that is known.
    fn look_for_end(&mut self, now: Time) -> Result<(), Failure> {
        let host = || self.call.host().to_owned();
        if self.answer_limit().is_some_and(|limit| limit <= now) {
            let silence = || LoginFailure::NoAnswer { host: host() };
            return Err(Failure::Login(self.call.refusal().unwrap_or_else(silence)));
        }
        if self.call.transcript().remarks().missing().is_some() && !self.has_fallback {
            return Err(Failure::Login(LoginFailure::NotForStock { host: host() }));
        }
        match self.call.status() {
            // Who it is may be why it has ended.
            Some(status) if self.whereabouts.make().is_some() => {
                let failure = self.failure_of_end(status);
                self.release_messages();
                Err(Failure::Login(failure))
            }
            _ => Ok(()),
        }
    }

    fn failure_of_end(&self, status: ExitStatus) -> LoginFailure {
        let host = self.call.host().to_owned();
        if let Some(refusal) = self.call.refusal() {
            return refusal;
        }
        let transcript = self.call.transcript();
        // What Dropbear's client says of itself is any status.
        let is_sshs =
            !transcript.has_said_anything() && self.whereabouts.make() == Some(Make::Other);
        match (transcript.remarks().missing(), status.code()) {
            (Some(system), Some(STATUS_NO_SERVER)) => LoginFailure::NoServer {
                host,
                system: system.to_owned(),
            },
            (_, code) if is_sshs || code.is_none_or(|code| code == 255) => {
                self.call.failure_of_end(status)
            }
            _ => LoginFailure::CommandEnded {
                host,
                status,
                is_chosen: self.settings.server.is_some(),
            },
        }
    }
}

/// Returns where a server at `port` may be, which ssh has reached at the address `reported`, by the
/// server's account.
///
/// # Errors
///
/// When nothing is known; tells if only addresses of one family were wanted.
pub(crate) fn found(
    whereabouts: &Whereabouts,
    reported: Option<IpAddr>,
    port: u16,
    settings: &settings::Login,
) -> Result<Destinations, bool> {
    let mut resolved = whereabouts.addresses().unwrap_or_default().to_vec();
    if whereabouts.make() == Some(Make::Other) {
        // What the user calls the host may mean another one here.
        resolved.extend(reported.map(|address| SocketAddr::new(address, 0)));
    }
    let (family, remote_ip) = (settings.family, settings.remote_ip);
    let found = candidates(&resolved, reported, port, family, remote_ip);
    tracing::info!(?found, ?reported, "where the server may be");
    match found.is_empty() {
        false => Ok(Destinations::found(found)),
        true => Err(matches!(family, Family::Inet | Family::Inet6)),
    }
}

/// Returns to which addresses ssh is to connect.
pub(crate) fn only_family(family: Family) -> OnlyFamily {
    match family {
        Family::Inet => OnlyFamily::Inet,
        Family::Inet6 => OnlyFamily::Inet6,
        Family::All | Family::PreferInet | Family::PreferInet6 => OnlyFamily::Any,
    }
}

fn start(
    ssh: &Ssh,
    make: Make,
    command: &str,
    block: &Block,
    settings: &settings::Login,
) -> Result<Call, Failure> {
    let line = ssh.login(make, command);
    let host = ssh.destination.text().display().to_string();
    let call = Call::start(&line, host, block.clone()).map_err(|error| {
        let program = ssh.words.first().cloned().unwrap_or_default();
        Failure::Login(LoginFailure::NoSsh { program, error })
    })?;
    Ok(match settings.client {
        // It has no ears for what the server says about the offer.
        Some(_) => call.wait_for_agreement(),
        None => call,
    })
}
