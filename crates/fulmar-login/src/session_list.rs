//! Logins that ask about sessions and begin none.
//!
//! Source: docs/protocol.md §2.9, docs/threat-model.md §6.

use std::time::Duration;

use crate::bootstrap::{BootstrapLine, EncodedRequest};
use crate::diagnostics::Diagnostics;
use crate::login_error::LoginError;
use crate::output_error::OutputError;
use crate::output_event::OutputEvent;
use crate::remote_service::{ExitFacts, RemoteService};
use crate::session::SessionService;
use crate::session_info::SessionInfo;

/// The most sessions that are listed.
///
/// Source: docs/threat-model.md §6.
const SESSIONS_MAX: usize = 256;

/// A question about sessions. It is answered by a server that begins none: what that says of a port and a key is of no
/// interest.
pub struct SessionListService {
    session: SessionService,
    sessions: Option<Vec<SessionInfo>>,
    is_answered: bool,
}

impl SessionListService {
    /// Returns a question that is asked with `request`.
    pub fn new(request: EncodedRequest) -> SessionListService {
        SessionListService {
            session: SessionService::new(request).joining(),
            sessions: Some(Vec::new()),
            is_answered: false,
        }
    }

    /// Has the command that starts the server be the user's.
    #[must_use]
    pub fn by_chosen_command(self) -> SessionListService {
        SessionListService {
            session: self.session.by_chosen_command(),
            ..self
        }
    }
}

impl RemoteService for SessionListService {
    type Params = Vec<SessionInfo>;
    type Error = LoginError;

    const KEEPS_TEXT: bool = false;
    const NEEDS_ADDRESS: bool = false;
    const LOST_WITHIN: Option<Duration> = None;

    fn request(&self) -> &[u8] {
        self.session.request()
    }

    fn repeated(&self, event: &OutputEvent) -> &[u8] {
        self.session.repeated(event)
    }

    fn take_ready(&mut self) -> Option<OutputEvent> {
        self.session.take_ready()
    }

    fn take_line(
        &mut self,
        line: BootstrapLine,
        events: &mut Vec<OutputEvent>,
    ) -> Result<Option<BootstrapLine>, OutputError> {
        match line {
            BootstrapLine::Session(info) => {
                let sessions = self.sessions.as_mut();
                if let Some(sessions) = sessions.filter(|all| all.len() < SESSIONS_MAX) {
                    sessions.push(info);
                }
                Ok(None)
            }
            line => {
                let mut said = Vec::new();
                let rest = self.session.take_line(line, &mut said)?;
                said.retain(|event| *event != OutputEvent::Reachable);
                if said.contains(&OutputEvent::Agreed) && !self.is_answered {
                    self.is_answered = true;
                    said.push(OutputEvent::Reachable);
                }
                events.append(&mut said);
                Ok(rest)
            }
        }
    }

    fn shows_others(&self) -> bool {
        !self.is_answered
    }

    fn has_written(&self, line: &[u8], is_cut: bool) -> bool {
        self.session.has_written(line, is_cut)
    }

    fn has_begun(&self, diagnostics: &Diagnostics) -> bool {
        self.session.has_begun(diagnostics)
    }

    fn has_greeted(&self) -> bool {
        self.session.has_greeted()
    }

    fn awaits_agreement(&self) -> bool {
        self.session.awaits_agreement()
    }

    fn is_reachable(&self) -> bool {
        self.is_answered
    }

    fn take_params(&mut self) -> Option<Vec<SessionInfo>> {
        self.sessions.take().filter(|_| self.is_answered)
    }

    fn port(_: &Vec<SessionInfo>) -> u16 {
        0
    }

    fn needs_ssh(&self) -> bool {
        false
    }

    fn mismatch(&self, host: &str, diagnostics: &Diagnostics) -> Option<LoginError> {
        self.session.mismatch(host, diagnostics)
    }

    fn failure_of_output(host: &str, error: OutputError) -> LoginError {
        SessionService::failure_of_output(host, error)
    }

    fn is_fatal_later(error: OutputError) -> bool {
        SessionService::is_fatal_later(error)
    }

    fn failure_of_exit(&self, facts: &ExitFacts<'_>) -> LoginError {
        self.session.failure_of_exit(facts)
    }
}

#[cfg(test)]
mod tests {
    use fulmar_core::Capabilities;
    use fulmar_datagram::Key;

    use super::*;
    use crate::bootstrap::{BootstrapRequest, Offer};
    use crate::output::LoginOutput;
    use crate::session_task::SessionTask;

    fn heard(text: &str) -> (Vec<OutputEvent>, Result<(), OutputError>, Vec<String>) {
        let request = BootstrapRequest {
            start: None,
            fallback: None,
            offer: Offer {
                task: Some(SessionTask::List),
                ..Offer::of(Capabilities::ALL)
            },
        };
        let service = SessionListService::new(request.encode().unwrap());
        let mut output = LoginOutput::new(service, Key::from_base64);
        let mut said = Vec::new();
        let outcome = output.read(&mut text.as_bytes(), &mut said);
        let sessions = output.service_mut().take_params().unwrap_or_default();
        let names = sessions.iter().map(|info| info.name.to_string()).collect();
        (said, outcome, names)
    }

    const HELLO: &str = "FULMAR HELLO 0.1.0\nFULMAR CONNECT 1 attach,exit 0.1.0\n";

    #[test]
    fn sessions_are_known_once_all_are_told_with_or_without_a_port() {
        let session = |name: &str| format!("FULMAR SESSION name={name} pid=1 age=2\n");
        let both = [session("one"), session("two")].concat();
        let key = "MOSH CONNECT 60001 c68K8iLyuCr1oEM7Hszyjg\n";
        for connect in ["", key] {
            let text = format!("{HELLO}{connect}{both}");
            assert_eq!(heard(&text).2, [""; 0]);
            let (said, outcome, names) = heard(&format!("{text}FULMAR AGREED\nFULMAR HEARD\n"));
            assert_eq!((outcome, names), (Ok(()), vec!["one".into(), "two".into()]));
            let reached = said.iter().filter(|said| **said == OutputEvent::Reachable);
            assert_eq!(reached.count(), 1);
        }
    }

    #[test]
    fn a_server_that_knows_of_no_sessions_is_refused() {
        let (_, outcome, _) = heard("FULMAR HELLO 0.1.0\nFULMAR CONNECT 1 exit 0.1.0\n");
        assert_eq!(outcome, Err(OutputError::NoAttach));
        let (_, outcome, _) = heard(&format!("{HELLO}FULMAR SESSION name=a/b\n"));
        assert_eq!(outcome, Err(OutputError::Malformed));
    }

    #[test]
    fn no_list_is_longer_than_its_cap() {
        let lines = "FULMAR SESSION name=a pid=1 age=1\n".repeat(SESSIONS_MAX + 9);
        let (_, outcome, names) = heard(&format!("{HELLO}{lines}FULMAR AGREED\n"));
        assert_eq!((outcome, names.len()), (Ok(()), SESSIONS_MAX));
    }
}
