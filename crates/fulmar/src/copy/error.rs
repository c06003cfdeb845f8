//! The errors of a copy.

use std::ffi::OsString;

use fulmar_core::CompatMode;
use fulmar_login::{LoginError, PortRange, StandardStream, install_advice};
use fulmar_platform::Signal;
use fulmar_settings::{SettingsError, ValueSource};

use super::operand::{BadOperand, Operand};
use crate::advice::{Advice, signal_name, status_after};
use crate::log::LogError;
use crate::server::ServerError;
use crate::system::SystemError;

/// The reason why a copy came to nothing, or not to all that was asked for. Hosts are as the user wrote them.
///
/// Its text says what happened and to whom, [`advice`](Advice::advice) what to try.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CopyError {
    /// There are fewer operands than a source and a target.
    #[error("nothing to copy: name a source and a target")]
    NothingNamed,
    /// An operand makes no sense.
    #[error("\"{}\" names no file: {why}", text.display())]
    Operand {
        /// As it was written.
        text: OsString,
        /// The fault of the operand.
        why: BadOperand,
    },
    /// No host was named.
    #[error("neither the source nor the target is on another machine")]
    BothHere,
    /// Two hosts were named.
    #[error("the source and the target are both on other machines")]
    BothThere,
    /// Sources are here and there.
    #[error("{} is on this machine, and so is the target", path.display())]
    Mixed {
        /// The source that is here.
        path: OsString,
    },
    /// Standard input is one of several sources.
    #[error("standard input can only be copied alone")]
    StdioAmongOthers,
    /// A standard stream was closed by whoever started the program.
    #[error("{0} is not open")]
    NotOpen(StandardStream),
    /// Two things want to be written to standard output.
    #[error("the files and the report of --json cannot both go to standard output")]
    TwoOutputs,

    /// The remote end was started by hand.
    #[error("copy-server is started over ssh, by fulmar cp")]
    NotByHand,
    /// There is no program of ours there.
    #[error("there is no fulmar on {host}{}", known(system))]
    NoFulmar {
        /// The remote host.
        host: String,
        /// The kind of system that it is.
        system: String,
        /// The command that copies this program there, if its file is known.
        copying: Option<String>,
    },
    /// The program there has ended without a word.
    #[error("the fulmar on {host} cannot copy: it has ended with {status}")]
    NoCopyServer {
        /// The remote host.
        host: String,
        /// The status with which the program ended.
        status: String,
        /// True if that is what a shell says of a program that is not there or does not run.
        is_missing: bool,
    },
    /// The two programs are of different times.
    #[error(
        "the fulmar on {host} speaks version {version} of copying, and this one version {ours}"
    )]
    Version {
        /// The remote host.
        host: String,
        /// The version that it speaks.
        version: u32,
        /// The version that we speak.
        ours: u32,
    },
    /// The connection has ended in the middle.
    #[error("the connection to {host} has ended: {why}")]
    Lost {
        /// The remote host.
        host: String,
        /// The reason, as far as it is known.
        why: String,
        /// True if the same command goes on where it was.
        resumes: bool,
    },
    /// Nothing was heard for long.
    #[error("nothing was heard from {host} for {minutes} minutes")]
    Silent {
        /// The remote host.
        host: String,
        /// The length of the silence.
        minutes: u64,
        /// True if the same command goes on where it was.
        resumes: bool,
    },
    /// Nobody listens there any more.
    #[error(
        "the far end on {host} is gone: that machine has refused what was sent for {seconds} seconds"
    )]
    Gone {
        /// The remote host.
        host: String,
        /// The time for which it has refused them.
        seconds: u64,
        /// True if the same command goes on where it was.
        resumes: bool,
    },
    /// The remote end says what it must not.
    #[error("the far end on {host} is wrong: {what}")]
    ProtocolError {
        /// The remote host.
        host: String,
        /// The fault of what it said.
        what: String,
    },
    /// A path that was named cannot be copied from or to.
    #[error("{what}")]
    Refused {
        /// The path with its machine, and the reason.
        what: String,
    },
    /// Some files were copied, some were not or changed while they were read; they were named.
    #[error("{troubles} files or folders {}", not_whole(*is_dry_run))]
    Incomplete {
        /// The number of entries that were not.
        troubles: u64,
        /// True if nothing was to be copied.
        is_dry_run: bool,
    },
    /// A signal has ended it.
    #[error("ended by {}", signal_name(*signal))]
    Interrupted {
        /// The signal.
        signal: Signal,
        /// True if the same command goes on where it was.
        resumes: bool,
        /// True if it does without `--no-resume`.
        is_kept: bool,
    },

    /// No copy begins, and an operand that was taken for one on another machine is a file here, too.
    #[error("{failure}")]
    MaybeLocal {
        /// The failure.
        failure: Box<CopyError>,
        /// The operand, as it was written.
        name: OsString,
    },

    /// A file that is not here was named behind `-p`, and may have been meant as a port.
    #[error("{failure}")]
    MaybePort {
        /// The failure.
        failure: Box<CopyError>,
        /// The operand, as it was written.
        name: OsString,
    },

    /// The login to it came to nothing.
    #[error(transparent)]
    Login(#[from] LoginError),
    /// The settings make no sense.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Nothing can be logged.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The remote end has no port.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The system refuses something.
    #[error(transparent)]
    System(#[from] SystemError),
}

impl CopyError {
    /// Returns the same for a copy that was lost and goes on by the same command, or does not.
    pub(crate) fn resuming(mut self, is_resumed: bool) -> CopyError {
        if let CopyError::Lost { resumes, .. }
        | CopyError::Silent { resumes, .. }
        | CopyError::Gone { resumes, .. } = &mut self
        {
            *resumes = is_resumed;
        }
        self
    }

    /// Returns the same with what may have been meant, if times and modes are kept and the first of these operands is a
    /// port rather than a file here.
    pub(crate) fn with_port(self, is_preserving: bool, operands: &[OsString]) -> CopyError {
        let is_port = |name: &&OsString| {
            let ports = name.to_str().and_then(|text| PortRange::parse(text).ok());
            ports.and_then(PortRange::single).is_some() && std::fs::symlink_metadata(name).is_err()
        };
        match operands.first().filter(is_port) {
            Some(name) if is_preserving => CopyError::MaybePort {
                failure: Box::new(self),
                name: name.clone(),
            },
            _ => self,
        }
    }

    /// Returns the same with what may have been meant, if one of these operands is a file here with a colon in its name.
    pub(crate) fn with_local_file(self, operands: &[OsString]) -> CopyError {
        let begins_none = matches!(self, CopyError::Login(_) | CopyError::BothThere);
        let is_mistaken = |word: &&OsString| {
            let is_remote = matches!(Operand::parse(word), Ok(Operand::Remote(_)));
            is_remote && std::fs::symlink_metadata(word).is_ok()
        };
        match operands.iter().find(is_mistaken) {
            Some(name) if begins_none => CopyError::MaybeLocal {
                failure: Box::new(self),
                name: name.clone(),
            },
            _ => self,
        }
    }
}

impl Advice for CopyError {
    fn passed_on(&self) -> Option<&dyn Advice> {
        match self {
            CopyError::MaybeLocal { failure, .. } | CopyError::MaybePort { failure, .. } => {
                Some(&**failure)
            }
            CopyError::Login(failure) => Some(failure),
            CopyError::Settings(failure) => Some(failure),
            CopyError::Log(failure) => Some(failure),
            CopyError::Server(failure) => Some(failure),
            CopyError::System(failure) => Some(failure),
            _ => None,
        }
    }

    /// Returns the status as scp: 255 where the other machine was not reached or was lost, else 1. A
    /// signal has its own, as in a shell.
    fn status(&self, compat: CompatMode) -> u8 {
        // The command line makes no sense.
        if let CopyError::Settings(SettingsError::Setting { place, .. }) = self
            && matches!(place, ValueSource::Flag(_))
        {
            return 1;
        }
        if let Some(failure) = self.passed_on() {
            return failure.status(compat);
        }
        match self {
            CopyError::NoFulmar { .. }
            | CopyError::NoCopyServer { .. }
            | CopyError::Version { .. }
            | CopyError::Lost { .. }
            | CopyError::Silent { .. }
            | CopyError::Gone { .. }
            | CopyError::ProtocolError { .. } => 255,
            CopyError::Interrupted { signal, .. } => status_after(*signal),
            _ => 1,
        }
    }

    fn told(&self) -> Vec<String> {
        match (self, self.passed_on()) {
            // It was told by itself.
            (CopyError::Incomplete { troubles: 1, .. }, _) => Vec::new(),
            (_, Some(failure)) => failure.told(),
            (_, None) => vec![self.to_string()],
        }
    }

    fn advice(&self, compat: CompatMode) -> Option<String> {
        Some(match self {
            CopyError::NothingNamed
            | CopyError::Operand { .. }
            | CopyError::NotByHand => {
                "write it like this: fulmar cp SOURCE... [user@]host:PATH; an IPv6 address is \
                 written [::1]:PATH, and a file here ./a:b"
                    .to_owned()
            }
            CopyError::MaybePort { failure, name } => {
                let name = name.display();
                let port = PortRange::parse(&name.to_string()).ok().and_then(PortRange::single);
                // As for a login: one that servers do not use unless they are told to is rather ssh's.
                let is_session_port = port.is_some_and(|port| PortRange::DEFAULT.contains(port));
                let meant = if is_session_port {
                    format!("-p keeps times and modes; the UDP port is --port: fulmar cp --port {name}")
                } else {
                    format!("-p keeps times and modes; ssh's port is -P: fulmar cp -P {name}")
                };
                let advice = failure.advice(compat);
                advice.map_or(meant.clone(), |advice| format!("{meant}\n{advice}"))
            }
            CopyError::MaybeLocal { failure, name } => {
                let name = name.display();
                let meant = format!("a file named {name} exists here; to copy it, write ./{name}");
                let advice = failure.advice(compat);
                advice.map_or(meant.clone(), |advice| format!("{meant}\n{advice}"))
            }
            CopyError::BothHere => {
                "write a colon after the host, as in host:path; to copy on one machine, use cp(1)".to_owned()
            }
            CopyError::BothThere => {
                "log in to one of the two and copy from there: fulmar ONE, and there fulmar cp FILE OTHER:PATH"
                    .to_owned()
            }
            CopyError::Mixed { .. } => "copy it separately, with cp(1)".to_owned(),
            CopyError::StdioAmongOthers => {
                "to copy a file with the name -, write ./-".to_owned()
            }
            CopyError::NotOpen(StandardStream::Input) => {
                "give it something to read: a pipe, or < FILE; < /dev/null for nothing".to_owned()
            }
            CopyError::NotOpen(StandardStream::Output) => {
                "give it something to write to: a pipe, or > FILE; > /dev/null for nothing".to_owned()
            }
            CopyError::TwoOutputs => "leave one of them out".to_owned(),
            CopyError::NoFulmar { system, copying, .. } => format!(
                "{}\nif it is there already, say where: --server /path/to/fulmar",
                install_advice(system, copying.as_deref())
            ),
            CopyError::NoCopyServer { is_missing: true, .. } => {
                "the program is not there, or does not run there; --server has to name it, as in --server \
                 /path/to/fulmar"
                    .to_owned()
            }
            CopyError::NoCopyServer { host, .. } => format!(
                "it may be older: fulmar cp needs the same version at both ends; run ssh {host} fulmar \
                 copy-server </dev/null, with the options for ssh that you gave here, to see why"
            ),
            CopyError::Version { .. } => "install the same version at both ends".to_owned(),
            CopyError::Lost { resumes: true, .. }
            | CopyError::Silent { resumes: true, .. }
            | CopyError::Gone { resumes: true, .. } => {
                "run the same command again to continue".to_owned()
            }
            CopyError::Lost { .. } | CopyError::Silent { .. } | CopyError::Gone { .. } => {
                "run the same command again; it starts from the beginning".to_owned()
            }
            CopyError::ProtocolError { .. } => {
                "install the same version at both ends; if it is the same, do not trust that machine"
                    .to_owned()
            }
            CopyError::Interrupted { resumes: true, .. } => {
                "run the same command again to continue".to_owned()
            }
            CopyError::Interrupted { is_kept: true, .. } => {
                "if a file was in the middle, its partial file stays beside the target, .NAME.HASH.fulmar-part: the same \
                 command without --no-resume continues it, and with it begins anew"
                    .to_owned()
            }
            CopyError::Refused { .. }
            | CopyError::Incomplete { .. }
            | CopyError::Interrupted { .. } => return None,
            CopyError::Login(_)
            | CopyError::Settings(_)
            | CopyError::Log(_)
            | CopyError::Server(_)
            | CopyError::System(_) => return self.passed_on()?.advice(compat),
        })
    }
}

/// Returns what is said of several entries that were not copied as they should be.
fn not_whole(is_dry_run: bool) -> &'static str {
    if is_dry_run {
        "cannot be copied"
    } else {
        "were not copied, or changed during the copy"
    }
}

fn known(system: &str) -> String {
    if system.is_empty() {
        String::new()
    } else {
        format!(" ({system})")
    }
}
