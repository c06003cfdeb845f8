//! The warnings and errors of any remote side, whatever it is there for.
//!
//! Source: docs/protocol.md §2.9, §2.10.

use std::net::IpAddr;

use crate::bootstrap::BootstrapLine;
use crate::candidates::reported_address;
use crate::install_advice::install_advice;
use crate::login_error::{LoginError, SshExit};
use crate::output_error::OutputError;
use crate::text::escaped;

/// The exit status of a server that cannot run the program which a client has asked for. The command that starts it takes
/// 126 and 127 for a server that cannot be run itself.
///
/// Source: docs/protocol.md §2.9.
pub const SERVER_STATUS_NO_PROGRAM: u8 = 125;

/// The exit status that a user gets then: that of a shell.
///
/// Source: POSIX.1-2017, Shell Command Language, section 2.8.2.
pub const STATUS_NO_PROGRAM: u8 = 127;

/// The most warnings that a remote side is believed to have.
///
/// Source: docs/protocol.md §2.9.
pub(crate) const WARNINGS_MAX: usize = 8;

/// The most lines of an error that are kept. Chosen by eye: what happened, and some advice.
pub(crate) const ERROR_LINES_MAX: usize = 4;

/// The warnings and errors so far.
#[derive(Default)]
pub struct Diagnostics {
    warnings: usize,
    reported: Option<IpAddr>,
    program: Option<String>,
    missing: Option<String>,
    error: Vec<String>,
}

impl Diagnostics {
    /// Takes note of such a line. Returns a warning that the user is to know of.
    ///
    /// # Errors
    ///
    /// When it is another line: then it is out of place.
    pub fn take(&mut self, line: BootstrapLine) -> Result<Option<String>, OutputError> {
        match line {
            BootstrapLine::SshConnection([_, _, address, _]) => {
                self.reported = self.reported.or_else(|| reported_address(&address));
            }
            BootstrapLine::Warning(what) if self.warnings < WARNINGS_MAX => {
                self.warnings += 1;
                return Ok(Some(escaped(&what)));
            }
            BootstrapLine::Error(what) if self.error.len() < ERROR_LINES_MAX => {
                self.error.push(escaped(&what));
            }
            BootstrapLine::Warning(_) | BootstrapLine::Error(_) => {}
            BootstrapLine::Missing { system } => self.missing = Some(escaped(&system)),
            _ => return Err(OutputError::Malformed),
        }
        Ok(None)
    }

    /// Returns the address that ssh was reached at, if the remote side has told.
    pub fn reported(&self) -> Option<IpAddr> {
        self.reported
    }

    /// Takes note of where the remote shell has found `fulmar`; nowhere if that is empty.
    pub fn note_program(&mut self, path: &[u8]) {
        let path = escaped(&String::from_utf8_lossy(path));
        self.program = (!path.is_empty()).then_some(path);
    }

    /// Returns where the remote shell has found `fulmar`, if it has.
    pub fn program(&self) -> Option<&str> {
        self.program.as_deref()
    }

    /// Returns on what system there is no program of ours, or none that runs, if that is so.
    pub fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// Returns what the user is to know of a session at that host all the same, if there was no server of ours to start.
    pub fn stock_note(&self, host: &str) -> Option<String> {
        self.missing.as_ref()?;
        let cause = match self.program() {
            Some(program) => format!("{program} does not run on {host}"),
            None => format!("there is no fulmar on {host}"),
        };
        Some(format!(
            "{cause}: its mosh-server serves this session, without the program's exit status"
        ))
    }

    /// Returns what to do so that a server of ours serves the next session, by the command that copies this program there;
    /// `None` if there is one, or one that does not run.
    pub fn stock_advice(&self, copying: Option<&str>) -> Option<String> {
        let system = self.missing.as_deref()?;
        let is_missing = self.program().is_none();
        is_missing.then(|| install_advice(system, copying))
    }

    /// Returns why it will not be what it is to be, in its own words: what happened, then what to try.
    pub fn error(&self) -> Option<(&str, &[String])> {
        let (what, advice) = self.error.split_first()?;
        Some((what, advice))
    }

    /// Returns the same as a failure of a login to that host, whose ssh has ended so, if it has.
    pub fn refusal(&self, host: &str, exit: Option<SshExit>) -> Option<LoginError> {
        let (what, advice) = self.error()?;
        let (host, what, advice) = (host.to_owned(), what.to_owned(), advice.to_vec());
        let has_no_program = exit.and_then(SshExit::code) == Some(SERVER_STATUS_NO_PROGRAM.into());
        Some(if has_no_program {
            LoginError::ProgramMissing { host, what, advice }
        } else {
            let program = self.program.clone();
            LoginError::Refused {
                host,
                what,
                advice,
                program,
            }
        })
    }
}
