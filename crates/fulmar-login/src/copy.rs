//! Logins that start the remote end of a copy.
//!
//! Source: docs/protocol.md §2.10, docs/threat-model.md §6.

use std::time::Duration;

use crate::bootstrap::{BootstrapLine, CopyParams, becoming, has_line};
use crate::diagnostics::Diagnostics;
use crate::login_error::{LoginError, SshExit};
use crate::output_error::OutputError;
use crate::output_event::OutputEvent;
use crate::remote_service::{ExitFacts, RemoteService};
use crate::ssh::SshImplementation;
use crate::ssh_error::SshError;

/// The version of copying that this program speaks.
///
/// Source: docs/protocol.md §2.10.
pub const COPY_VERSION: u32 = 2;

/// The line that asks ssh to carry the copy, and that answers it: frames follow.
///
/// Source: docs/protocol.md §2.10.
pub const OVER_SSH_LINE: &str = "FULMAR OVER SSH\n";

/// A copy to be started.
#[derive(Default)]
pub struct CopyService {
    request: Vec<u8>,
    is_ready: bool,
    is_reachable: bool,
    params: Option<CopyParams>,
}

/// A failure of a login for a copy.
pub enum CopyLoginError {
    /// One that any login can have.
    Login(LoginError),
    /// There is no program of ours there.
    NoFulmar {
        /// The host.
        host: String,
        /// The kind of system that it is.
        system: String,
        /// The command that copies this program there, if its file is known.
        copying: Option<String>,
    },
    /// The program there has ended without a word.
    NoCopyServer {
        /// The host.
        host: String,
        /// Its end.
        exit: SshExit,
    },
    /// The remote end speaks another version.
    Version {
        /// The host.
        host: String,
        /// The version that it speaks.
        version: u32,
    },
}

impl From<LoginError> for CopyLoginError {
    fn from(failure: LoginError) -> CopyLoginError {
        CopyLoginError::Login(failure)
    }
}

impl CopyService {
    /// Returns a copy whose remote end `command` starts, as ssh runs it. A `program` is named to a command that asks for it.
    pub fn new(command: &str, program: Option<&str>) -> CopyService {
        let told = program.map(|line| format!("FULMAR START {line}\n"));
        let told = told.unwrap_or_default().into_bytes();
        CopyService {
            request: [becoming(command, &told), told].concat(),
            ..CopyService::default()
        }
    }
}

impl RemoteService for CopyService {
    type Params = CopyParams;
    type Error = CopyLoginError;

    const KEEPS_TEXT: bool = false;
    const NEEDS_ADDRESS: bool = false;
    const LOST_WITHIN: Option<Duration> = None;

    fn request(&self) -> &[u8] {
        &self.request
    }

    fn repeated(&self, event: &OutputEvent) -> &[u8] {
        match event {
            OutputEvent::Ready => &self.request,
            _ => &[],
        }
    }

    fn take_ready(&mut self) -> Option<OutputEvent> {
        self.is_ready = true;
        Some(OutputEvent::Ready)
    }

    fn take_line(
        &mut self,
        line: BootstrapLine,
        events: &mut Vec<OutputEvent>,
    ) -> Result<Option<BootstrapLine>, OutputError> {
        match line {
            BootstrapLine::Copy(params) if params.version != COPY_VERSION => {
                return Err(OutputError::Version(params.version));
            }
            BootstrapLine::Copy(_) if self.is_reachable => return Err(OutputError::TwoServers),
            BootstrapLine::Copy(params) => {
                self.is_reachable = true;
                self.params = Some(params);
                events.push(OutputEvent::Reachable);
            }
            BootstrapLine::OverSsh if self.is_reachable => events.push(OutputEvent::OverSsh),
            BootstrapLine::Hello { .. } | BootstrapLine::MoshConnect(_) => {
                return Err(OutputError::SessionServer);
            }
            other => return Ok(Some(other)),
        }
        Ok(None)
    }

    fn shows_others(&self) -> bool {
        // Whoever prints something once the remote end runs is not talking to us.
        !self.is_reachable
    }

    fn has_written(&self, line: &[u8], is_cut: bool) -> bool {
        has_line(&self.request, line, is_cut)
    }

    fn has_begun(&self, diagnostics: &Diagnostics) -> bool {
        self.is_ready || self.is_reachable || diagnostics.error().is_some()
    }

    fn has_greeted(&self) -> bool {
        false
    }

    fn awaits_agreement(&self) -> bool {
        false
    }

    fn is_reachable(&self) -> bool {
        self.is_reachable
    }

    fn take_params(&mut self) -> Option<CopyParams> {
        self.params.take()
    }

    fn port(params: &CopyParams) -> u16 {
        params.port
    }

    fn needs_ssh(&self) -> bool {
        true
    }

    fn mismatch(&self, _: &str, _: &Diagnostics) -> Option<CopyLoginError> {
        None
    }

    fn failure_of_output(host: &str, error: OutputError) -> CopyLoginError {
        let host = host.to_owned();
        match error {
            OutputError::Version(version) => CopyLoginError::Version { host, version },
            other => other.failure(host).into(),
        }
    }

    fn is_fatal_later(_: OutputError) -> bool {
        true
    }

    /// OpenSSH says by a status of its own that it was not the command that has failed.
    fn failure_of_exit(&self, facts: &ExitFacts<'_>) -> CopyLoginError {
        let host = facts.host.to_owned();
        if let Some(refusal) = facts.diagnostics.refusal(&host, None) {
            return refusal.into();
        }
        if let Some(system) = facts.diagnostics.missing() {
            let system = system.to_owned();
            let copying = facts.copying.map(str::to_owned);
            return CopyLoginError::NoFulmar {
                host,
                system,
                copying,
            };
        }
        let is_sshs = match facts.implementation {
            SshImplementation::OpenSsh(_) => facts.exit.code().is_none_or(|code| code == 255),
            SshImplementation::Other => !facts.has_said,
        };
        if is_sshs && !self.has_begun(facts.diagnostics) {
            let ended = LoginError::SshEnded {
                host,
                status: facts.exit,
                error: SshError::of(facts.last_words),
                got_in: false,
            };
            ended.into()
        } else {
            let exit = facts.exit;
            CopyLoginError::NoCopyServer { host, exit }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use fulmar_datagram::Key;

    use super::*;
    use crate::output::LoginOutput;

    const COPY: &str = "FULMAR COPY 2 60001 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\n";

    type Reader = LoginOutput<CopyService>;

    fn reader() -> Reader {
        LoginOutput::new(CopyService::default(), Key::from_base64)
    }

    fn read(text: &str) -> (Reader, Vec<OutputEvent>, Result<(), OutputError>, String) {
        let (mut output, mut said) = (reader(), Vec::new());
        let mut bytes = text.as_bytes();
        let outcome = output.read(&mut bytes, &mut said);
        let rest = String::from_utf8_lossy(bytes).into_owned();
        (output, said, outcome, rest)
    }

    #[test]
    fn a_remote_end_says_where_it_is_and_the_rest_is_frames() {
        let connection = "MOSH SSH_CONNECTION 192.0.2.1 5 192.0.2.2 22\n";
        let text = format!("hello\x1b[2J\nFULMAR READY\n{connection}{COPY}late\n");
        let (mut output, said, outcome, _) = read(&text);
        assert_eq!(outcome, Ok(()));
        assert_eq!(
            said,
            [
                OutputEvent::Other("hello\\u{1b}[2J".to_owned()),
                OutputEvent::Ready,
                OutputEvent::Reachable
            ]
        );
        assert_eq!(output.diagnostics().reported(), "192.0.2.2".parse().ok());
        let params = output.service_mut().take_params().unwrap();
        assert_eq!((params.version, params.port), (COPY_VERSION, 60001));
        assert!(output.service_mut().take_params().is_none());
        let (_, said, outcome, rest) = read(&format!("{COPY}x\nFULMAR OVER SSH\nFULMAR \0frames"));
        assert_eq!(
            (said.last(), outcome),
            (Some(&OutputEvent::OverSsh), Ok(()))
        );
        assert_eq!(rest, "FULMAR \0frames");
    }

    #[test]
    fn what_makes_no_sense_ends_it() {
        let trouble = |text: &str| read(text).2.unwrap_err();
        assert_eq!(trouble(&"x\n".repeat(40_000)), OutputError::TooMuchText);
        assert_eq!(trouble(&"x".repeat(80_000)), OutputError::TooMuchText);
        assert_eq!(trouble("FULMAR COPY 2 0 x\n"), OutputError::Malformed);
        assert_eq!(trouble("FULMAR OVER SSH\n"), OutputError::Malformed);
        assert_eq!(trouble("FULMAR HELLO 0.1.0\n"), OutputError::SessionServer);
        assert_eq!(trouble(&format!("{COPY}{COPY}")), OutputError::TwoServers);
        let later = COPY.replace("COPY 2", "COPY 7");
        assert_eq!(trouble(&later), OutputError::Version(7));
    }

    #[test]
    fn what_is_wrong_there_is_kept() {
        let (output, ..) = read("FULMAR NONE Linux x86_64 debian\n");
        assert_eq!(output.diagnostics().missing(), Some("Linux x86_64 debian"));
        let (output, ..) = read("FULMAR ERROR no port\nFULMAR ERROR try -p\n");
        let (what, advice) = output.diagnostics().error().unwrap();
        assert_eq!((what, advice.len()), ("no port", 1));
    }

    proptest! {
        #[test]
        fn any_text_is_read(pieces in prop::collection::vec(prop_oneof![
            "[ -~\n]{0,40}",
            Just(COPY.to_owned()),
            Just("FULMAR OVER SSH\n".to_owned()),
            Just("FULMAR ERROR x\n".to_owned()),
        ], 0..12)) {
            let (mut output, mut said) = (reader(), Vec::new());
            for piece in &pieces {
                if output.read(&mut piece.as_bytes(), &mut said).is_err() {
                    break;
                }
            }
            let _ = output.end(&mut said);
            let told = said.iter().filter(|said| **said == OutputEvent::Reachable).count();
            prop_assert!(told <= 1);
        }
    }
}
