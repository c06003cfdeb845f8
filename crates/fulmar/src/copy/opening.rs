//! The way to a far end that waits: ssh at work, and meanwhile the question where the host is.
//!
//! Source: docs/protocol.md §2.10, docs/threat-model.md §9.

use std::ffi::{OsStr, OsString};
use std::net::IpAddr;

use fulmar_base::Time;
use fulmar_platform::resolve::numeric;
use fulmar_platform::{Interest, PollList, Signal};

use super::call::Call;
use super::rate::Rate;
use super::reporter::Reporter;
use super::transcript::Said;
use crate::bootstrap::lines::CopyInvitation;
use crate::client::destinations::Destinations;
use crate::errors::{CopyFailure, Failure, LoginFailure, while_doing};
use crate::login::{
    ADDRESSES_WITHIN, Destination, Make, Messages, Ssh, SshProcess, SshReady, Whereabouts,
    copy_command, found, is_plain, only_family,
};
use crate::settings::{BindServer, Login};
use crate::steps::Steps;
use crate::surroundings::{self, Surroundings, now};

/// A far end that waits.
pub(super) struct Found {
    /// The invitation to it.
    pub(super) invitation: CopyInvitation,
    /// The addresses that it may have; `None` if no address of it is known.
    pub(super) destinations: Option<Destinations>,
    /// The ssh that has started it.
    pub(super) call: Call,
}

/// A call on its way.
pub(super) struct Opening<'a> {
    settings: &'a Login,
    ssh: Ssh,
    command: String,
    /// What is written to the far side.
    line: Vec<u8>,
    call: Call,
    whereabouts: Whereabouts,
    steps: Steps,
    messages: Messages,
    /// When the far end was ready.
    invited_at: Option<Time>,
}

/// The things that the wait has found.
struct Ready {
    surroundings: surroundings::Ready,
    call: SshReady,
}

impl<'a> Opening<'a> {
    /// Starts ssh. Signals are watched for already. A far end that sends files keeps to `limit` by itself: what
    /// is taken slowly from one that does not is sent in bursts.
    ///
    /// # Errors
    ///
    /// When the destination is none for ssh.
    pub(super) fn begin(
        settings: &'a Login,
        destination: &OsStr,
        ssh_words: &[OsString],
        limit: Option<Rate>,
    ) -> Result<Opening<'a>, Failure> {
        let destination = Destination::parse(destination).map_err(|why| {
            let text = destination.to_owned();
            Failure::Login(LoginFailure::Destination { text, why })
        })?;
        let ssh = Ssh {
            words: settings.ssh.iter().chain(ssh_words).cloned().collect(),
            destination,
            family: only_family(settings.family),
        };
        let words = server_words(settings, limit);
        let program = settings.server.as_deref().and_then(far_program);
        let command = copy_command(program.as_deref(), &words);
        let asked_for = program.filter(|program| !is_plain(program));
        let line = asked_for.map_or_else(Vec::new, |program| {
            format!("\nFULMAR START {program} copy-server {}\n", words.join(" ")).into_bytes()
        });
        let call = start_call(&ssh, Make::LIKELY, &command, &line)?;
        Ok(Opening {
            settings,
            whereabouts: Whereabouts::ask(now(), ssh.clone(), settings),
            ssh,
            command,
            line,
            call,
            steps: Steps::begin(now()),
            messages: Messages::held(),
            invited_at: None,
        })
    }

    /// Goes on until the far end waits.
    ///
    /// # Errors
    ///
    /// When there will be none.
    pub(super) fn finish(
        mut self,
        surroundings: &mut Surroundings,
        reporter: &mut Reporter,
    ) -> Result<Found, Failure> {
        match self.run(surroundings, reporter) {
            Ok((invitation, destinations)) => Ok(Found {
                invitation,
                destinations,
                call: self.call,
            }),
            Err(failure) => {
                self.call.end();
                Err(failure)
            }
        }
    }

    fn run(
        &mut self,
        surroundings: &mut Surroundings,
        reporter: &mut Reporter,
    ) -> Result<(CopyInvitation, Option<Destinations>), Failure> {
        loop {
            if let Some(end) = self.decide(now(), reporter)? {
                return Ok(end);
            }
            let addresses = self.invited_at.map(|since| since + ADDRESSES_WITHIN);
            let deadline = [self.whereabouts.deadline(), addresses];
            let deadline = deadline.into_iter().flatten().min();
            let set = surroundings.set_deadline(deadline);
            set.map_err(while_doing("setting a timer"))?;
            let ready = self
                .wait(surroundings, reporter)
                .map_err(while_doing("waiting for ssh"))?;
            for signal in surroundings.signals(ready.surroundings) {
                if let Some(signal) = ending(signal) {
                    let resumes = false;
                    return Err(Failure::Copy(CopyFailure::Interrupted { signal, resumes }));
                }
            }
            // What happens to the network matters to nobody yet; unread it would end every wait at once.
            let _ = surroundings.hints(ready.surroundings);
            reporter.look_after_output();
            self.listen(now(), ready.call, reporter)?;
            self.whereabouts.turn(now(), &mut self.steps);
            self.judge_make(reporter)?;
        }
    }

    fn wait(&self, surroundings: &Surroundings, reporter: &Reporter) -> std::io::Result<Ready> {
        let mut list = PollList::new();
        let slots = surroundings.enlist(&mut list);
        let call = self.call.enlist(&mut list);
        self.whereabouts.enlist(&mut list);
        if let Some(output) = reporter.awaited() {
            list.add_borrowed(output, Interest::Write);
        }
        let surroundings = surroundings.wait(&mut list, slots)?;
        Ok(Ready {
            surroundings,
            call: SshProcess::ready(&list, call),
        })
    }

    /// Takes what ssh and the far side say.
    fn listen(
        &mut self,
        now: Time,
        ready: SshReady,
        reporter: &mut Reporter,
    ) -> Result<(), Failure> {
        let turn = self.call.turn(ready);
        for said in turn.said {
            match said {
                Said::Other(line) => reporter.show(&format!("{line}\n")),
                Said::Warning(what) => reporter.note(&format!("warning: {what}")),
                Said::Invited => self.invited_at = Some(now),
                // Nobody has asked for it yet.
                Said::OverSsh => {
                    return Err(self.call.failure_of(super::transcript::Trouble::Malformed));
                }
            }
        }
        reporter.show(&self.messages.add(&turn.printed));
        match turn.trouble {
            Some(trouble) => Err(self.call.failure_of(trouble)),
            None => Ok(()),
        }
    }

    /// Calls ssh again if it is of a make that does not understand how it was called.
    fn judge_make(&mut self, reporter: &mut Reporter) -> Result<(), Failure> {
        let Some(make) = self.whereabouts.make().filter(|_| self.messages.are_held()) else {
            return Ok(());
        };
        let is_understood = make.is_called_like(Make::LIKELY)
            || self.call.transcript().has_said_anything()
            || !self.whereabouts.is_sure();
        if !is_understood {
            tracing::info!(?make, "calling it as it can be called");
            let call = start_call(&self.ssh, make, &self.command, &self.line)?;
            std::mem::replace(&mut self.call, call).end();
            self.messages.release();
        }
        reporter.show(&self.messages.release());
        Ok(())
    }

    /// Returns where the far end is, if all of that is known.
    fn decide(
        &mut self,
        now: Time,
        reporter: &mut Reporter,
    ) -> Result<Option<(CopyInvitation, Option<Destinations>)>, Failure> {
        // Who it is may be why it has ended.
        if let (Some(status), Some(make)) = (self.call.status(), self.whereabouts.make()) {
            reporter.show(&self.messages.release());
            return Err(self.call.failure_of_end(status, make != Make::Other));
        }
        let Some(since) = self.invited_at else {
            return Ok(None);
        };
        if self.whereabouts.addresses().is_none() && now < since + ADDRESSES_WITHIN {
            return Ok(None);
        }
        let reported = self.call.transcript().remarks().reported();
        let Some(invitation) = self.call.transcript_mut().take_invitation() else {
            return Ok(None);
        };
        let found = found(&self.whereabouts, reported, invitation.port, self.settings);
        Ok(Some((invitation, found.ok())))
    }
}

fn start_call(ssh: &Ssh, make: Make, command: &str, line: &[u8]) -> Result<Call, Failure> {
    let words = ssh.login(make, command);
    let host = ssh.destination.text().display().to_string();
    Call::start(&words, host, line.to_vec()).map_err(|error| {
        let program = ssh.words.first().cloned().unwrap_or_default();
        Failure::Login(LoginFailure::NoSsh { program, error })
    })
}

/// Returns what the far end is told of where to listen and how fast to send: words that every shell reads
/// alike.
fn server_words(settings: &Login, limit: Option<Rate>) -> Vec<String> {
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

/// Returns the command that starts our program there, out of the one that starts its server.
fn far_program(server: &str) -> Option<String> {
    let end = server.rfind("fulmar")? + "fulmar".len();
    let (program, rest) = server.split_at_checked(end)?;
    let quotes = rest
        .chars()
        .take_while(|character| matches!(character, '"' | '\''))
        .count();
    let (quotes, rest) = rest.split_at_checked(quotes)?;
    let is_whole = rest.is_empty() || rest.starts_with(' ');
    is_whole.then(|| format!("{program}{quotes}"))
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
            (
                "env A=b '/a b/fulmar' server -p 7",
                Some("env A=b '/a b/fulmar'"),
            ),
            ("mosh-server", None),
            ("/opt/fulmar-old/bin/x", None),
        ] {
            assert_eq!(far_program(server).as_deref(), program, "{server}");
        }
    }
}
