//! Finding out where the server is, while ssh logs in: what ssh's configuration means for the host,
//! and which addresses its name has.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use fulmar_base::Time;
use fulmar_platform::resolve::Family as Wanted;
use fulmar_platform::{Interest, Piped, PollList, Stream, Transfer};

use super::resolve::Resolver;
use super::ssh::{Make, OnlyFamily, Ssh, SshSettings};
use crate::settings::{Login, RemoteIp};
use crate::steps::{Step, Steps};

/// How long a program may take to tell its version. One that does not is a wrapper that waits for
/// something else.
///
/// Chosen by eye: ssh takes 10 ms.
const VERSION_WITHIN: Duration = Duration::from_secs(2);

/// What is read of an answer. `ssh -G` says 10 kB.
const ANSWER_BYTES_MAX: usize = 256 * 1024;

/// The questions, one after the other.
pub(crate) struct Whereabouts {
    ssh: Ssh,
    word: RemoteIp,
    make: Option<Make>,
    is_sure: bool,
    stage: Stage,
    version_due: Time,
}

enum Stage {
    /// Who has made the program?
    Make(Query),
    /// What does its configuration mean?
    Settings(Query),
    /// Which addresses has the name?
    Addresses(Resolver),
    /// All is known.
    Known(Vec<SocketAddr>),
}

/// A program that answers a question on its output and ends.
struct Query {
    program: Piped,
    answer: Answer,
}

/// What a program has said.
#[derive(Default)]
struct Answer {
    output: Vec<u8>,
    errors: Vec<u8>,
    is_success: bool,
}

impl Whereabouts {
    /// Begins to ask.
    pub(crate) fn ask(now: Time, ssh: Ssh, login: &Login) -> Whereabouts {
        let stage = match Query::ask(&ssh.version_query()) {
            Some(query) => Stage::Make(query),
            None => Stage::Known(Vec::new()),
        };
        Whereabouts {
            ssh,
            word: login.remote_ip,
            make: None,
            is_sure: true,
            stage,
            version_due: now + VERSION_WITHIN,
        }
    }

    /// Returns who has made the program, as soon as it is known.
    pub(crate) fn make(&self) -> Option<Make> {
        self.make
    }

    /// Tells if it has said so itself.
    pub(crate) fn is_sure(&self) -> bool {
        self.is_sure
    }

    /// Returns the addresses of the host, as soon as they are known; none if there are none.
    pub(crate) fn addresses(&self) -> Option<&[SocketAddr]> {
        match &self.stage {
            Stage::Known(addresses) => Some(addresses),
            _ => None,
        }
    }

    /// Returns when a question is given up.
    pub(crate) fn deadline(&self) -> Option<Time> {
        matches!(self.stage, Stage::Make(_)).then_some(self.version_due)
    }

    /// Puts what is being asked on the list.
    pub(crate) fn enlist<'fd>(&'fd self, list: &mut PollList<'fd>) {
        match &self.stage {
            Stage::Make(query) | Stage::Settings(query) => query.enlist(list),
            Stage::Addresses(resolver) => {
                list.add(resolver, Interest::Read);
            }
            Stage::Known(_) => {}
        }
    }

    /// Takes the answers that have come, and asks the next question.
    pub(crate) fn turn(&mut self, now: Time, steps: &mut Steps) {
        loop {
            let next = match &mut self.stage {
                Stage::Make(query) => {
                    let is_late = self.version_due <= now;
                    let Some(answer) = query.turn(is_late) else {
                        return;
                    };
                    let text = [answer.output, answer.errors].concat();
                    let make = Make::of_version_text(&text);
                    tracing::info!(?make, "the program that logs in");
                    self.make = Some(make);
                    self.is_sure = !is_late;
                    self.after_make(make)
                }
                Stage::Settings(query) => {
                    let Some(answer) = query.turn(false) else {
                        return;
                    };
                    steps.take(now, Step::SettingsKnown);
                    self.after_settings(match answer.is_success {
                        true => SshSettings::parse(&answer.output),
                        false => SshSettings::default(),
                    })
                }
                Stage::Addresses(resolver) => {
                    let Some(addresses) = resolver.answer() else {
                        return;
                    };
                    steps.take(now, Step::Resolved);
                    tracing::info!(?addresses, "the host's");
                    Stage::Known(addresses)
                }
                Stage::Known(_) => {
                    self.make.get_or_insert(Make::Other);
                    return;
                }
            };
            self.stage = next;
        }
    }

    fn after_make(&self, make: Make) -> Stage {
        if self.word == RemoteIp::Remote {
            return Stage::Known(Vec::new());
        }
        let query = match make.tells_settings() {
            true => Query::ask(&self.ssh.settings_query(make)),
            false => None,
        };
        match query {
            Some(query) => Stage::Settings(query),
            None => self.after_settings(SshSettings::default()),
        }
    }

    /// A host of which ssh says nothing is called as the user calls it.
    fn after_settings(&self, settings: SshSettings) -> Stage {
        let as_written = self.ssh.destination.host();
        let host = settings
            .host_name
            .map_or_else(|| as_written.to_owned(), OsString::from);
        let family = match (self.ssh.family, settings.family) {
            (OnlyFamily::Inet, _) | (OnlyFamily::Any, OnlyFamily::Inet) => Wanted::V4,
            (OnlyFamily::Inet6, _) | (OnlyFamily::Any, OnlyFamily::Inet6) => Wanted::V6,
            (OnlyFamily::Any, OnlyFamily::Any) => Wanted::Any,
        };
        match Resolver::ask(host, family) {
            Ok(resolver) => Stage::Addresses(resolver),
            Err(error) => {
                tracing::warn!(%error, "asking for an address");
                Stage::Known(Vec::new())
            }
        }
    }
}

impl Drop for Whereabouts {
    fn drop(&mut self) {
        if let Stage::Make(query) | Stage::Settings(query) = &mut self.stage {
            query.program.end_at_once();
        }
    }
}

impl Query {
    fn ask(line: &[OsString]) -> Option<Query> {
        let (program, arguments) = line.split_first()?;
        match Piped::spawn(Command::new(program).args(arguments)) {
            Ok(mut program) => {
                program.close_input();
                Some(Query {
                    program,
                    answer: Answer::default(),
                })
            }
            Err(error) => {
                tracing::info!(%error, "asking ssh");
                None
            }
        }
    }

    fn enlist<'fd>(&'fd self, list: &mut PollList<'fd>) {
        for stream in [Stream::Output, Stream::Errors] {
            if let Some(end) = self.program.stream(stream) {
                list.add_borrowed(end, Interest::Read);
            }
        }
    }

    /// Returns the whole answer when the program has ended, or is not waited for any more.
    fn turn(&mut self, is_late: bool) -> Option<Answer> {
        let status = self.program.try_wait();
        for stream in [Stream::Output, Stream::Errors] {
            self.read(stream);
        }
        self.answer.is_success = matches!(status, Ok(Some(status)) if status.success());
        let has_ended = !matches!(status, Ok(None));
        if is_late && !has_ended {
            self.program.end_at_once();
        }
        (has_ended || is_late).then(|| std::mem::take(&mut self.answer))
    }

    fn read(&mut self, stream: Stream) {
        let mut bytes = [0; 4096];
        while let Ok(Transfer::Bytes(count)) = self.program.read(stream, &mut bytes) {
            let text = match stream {
                Stream::Output => &mut self.answer.output,
                Stream::Errors => &mut self.answer.errors,
            };
            let room = ANSWER_BYTES_MAX.saturating_sub(text.len());
            text.extend_from_slice(bytes.get(..count.min(room)).unwrap_or_default());
            if room == 0 {
                // Somebody who writes without end is no ssh.
                return self.program.end_at_once();
            }
        }
    }
}
