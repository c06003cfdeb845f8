//! Logins that start a session's server.
//!
//! Source: docs/protocol.md §2.9, docs/threat-model.md §6.

use std::time::Duration;

use fulmar_core::{Agreement, Capability};
use fulmar_datagram::{Key, KeyMark};

use crate::bootstrap::{
    Announcement, BootstrapLine, EncodedRequest, MoshConnect, WIRE_VERSION, has_line,
};
use crate::diagnostics::Diagnostics;
use crate::login_error::LoginError;
use crate::output_error::OutputError;
use crate::output_event::OutputEvent;
use crate::remote_command::STATUS_NO_SERVER;
use crate::remote_service::{ExitFacts, RemoteService};
use crate::session_name::SessionName;
use crate::ssh::SshImplementation;
use crate::ssh_error::SshError;

/// The time that a server has to answer whose login has ended too early. What it had sent before it learnt of that is
/// still on its way. Chosen by eye: a slow round trip.
const LOST_WITHIN: Duration = Duration::from_secs(2);

/// A server's port and key, and what was agreed on with it, if it is ours.
pub struct SessionParams {
    /// The UDP port.
    pub port: u16,
    /// The session's key.
    pub key: Key,
    /// The agreement with the server.
    pub agreement: Option<Agreement>,
}

/// A session to be started.
pub struct SessionService {
    request: EncodedRequest,
    /// True if a server of ours can be reached only once it has agreed: it may yet move to where the offer wishes it,
    /// or whoever joins it does not hear what it says later.
    waits: bool,
    /// True if stock's server could be started as well.
    has_fallback: bool,
    /// True if the command that starts the server is the user's.
    is_chosen: bool,
    /// True if a session that is there is wanted, so that the server it has announces itself after the one that the login
    /// starts.
    joins: bool,
    name: Option<SessionName>,
    is_ready: bool,
    has_greeted: bool,
    /// True if a server of ours has said hello or what it can do.
    is_ours: bool,
    announcement: Option<Announcement>,
    is_agreed: bool,
    is_heard: bool,
    known: Option<KnownServer>,
}

/// A server that has said where it is.
struct KnownServer {
    /// The port and the key, to know another one by. A second key in its text would lie somewhere
    /// else than the key, and stay for the whole session.
    port: u16,
    key: KeyMark,
    /// The parameters, until they are taken.
    params: Option<SessionParams>,
}

impl SessionService {
    /// Returns a session that is asked for with `request`.
    pub fn new(request: EncodedRequest) -> SessionService {
        SessionService {
            waits: request.may_move(),
            request,
            has_fallback: true,
            is_chosen: false,
            joins: false,
            name: None,
            is_ready: false,
            has_greeted: false,
            is_ours: false,
            announcement: None,
            is_agreed: false,
            is_heard: false,
            known: None,
        }
    }

    /// Has a server of ours be reachable only once it has agreed, wherever it listens.
    #[must_use]
    pub fn waiting_for_agreement(self) -> SessionService {
        SessionService {
            waits: true,
            ..self
        }
    }

    /// Has a remote side without a server of ours be a failure, even if it has stock's.
    #[must_use]
    pub fn without_fallback(self) -> SessionService {
        SessionService {
            has_fallback: false,
            ..self
        }
    }

    /// Has the command that starts the server be the user's.
    #[must_use]
    pub fn by_chosen_command(self) -> SessionService {
        SessionService {
            is_chosen: true,
            ..self
        }
    }

    /// Tells if a session that is there is wanted.
    pub fn is_joining(&self) -> bool {
        self.joins
    }

    /// Has a session that is there be wanted: only a server of ours can have it, and only a later announcement counts.
    #[must_use]
    pub fn joining(self) -> SessionService {
        SessionService {
            joins: true,
            has_fallback: false,
            waits: true,
            ..self
        }
    }

    /// Returns the name of the session, if the server has said it.
    pub fn name(&self) -> Option<&SessionName> {
        self.name.as_ref()
    }

    /// Tells if the server has said that it has heard us.
    pub fn is_heard(&self) -> bool {
        self.is_heard
    }

    fn take_announcement(&mut self, announcement: Announcement) -> Result<(), OutputError> {
        if announcement.version != WIRE_VERSION {
            return Err(OutputError::Version(announcement.version));
        }
        if self.joins && !announcement.has(Capability::Attach) {
            return Err(OutputError::NoAttach);
        }
        match &self.announcement {
            // That of the session's server, which may be another version.
            _ if self.joins && self.awaits_agreement() => {
                self.announcement = Some(announcement);
                Ok(())
            }
            Some(known) if *known != announcement => Err(OutputError::TwoServers),
            // What comes after its port and key is not a server's that we have agreed with.
            None if self.known.is_some() => Err(OutputError::TwoServers),
            _ => {
                self.is_ours = true;
                self.announcement = Some(announcement);
                Ok(())
            }
        }
    }

    fn take_connect(
        &mut self,
        connect: MoshConnect,
        events: &mut Vec<OutputEvent>,
    ) -> Result<(), OutputError> {
        let MoshConnect { port, key } = connect;
        if let Some(known) = &self.known {
            match (known.key.is_of(&key), known.port == port) {
                (true, true) if !(self.joins && self.awaits_agreement()) => return Ok(()),
                (true, true) => {}
                // It moves.
                (true, false) if !self.is_reachable() => {}
                _ => return Err(OutputError::TwoServers),
            }
        }
        let (offered, offer) = (self.request.capabilities(), self.request.offer());
        let announcement = self.announcement.as_ref();
        let agreement = announcement.map(|one| one.agreement_on(offered, offer));
        let mark = key.mark();
        let params = Some(SessionParams {
            port,
            key,
            agreement,
        });
        let was_reachable = self.is_reachable();
        self.known = Some(KnownServer {
            port,
            key: mark,
            params,
        });
        self.tell_if_reachable(was_reachable, events);
        Ok(())
    }

    fn tell_if_reachable(&self, was_reachable: bool, events: &mut Vec<OutputEvent>) {
        if self.is_reachable() && !was_reachable {
            events.push(OutputEvent::Reachable);
        }
    }
}

impl RemoteService for SessionService {
    type Params = SessionParams;
    type Error = LoginError;

    const KEEPS_TEXT: bool = true;
    const NEEDS_ADDRESS: bool = true;
    const LOST_WITHIN: Option<Duration> = Some(LOST_WITHIN);

    fn request(&self) -> &[u8] {
        self.request.bytes()
    }

    fn repeated(&self, event: &OutputEvent) -> &[u8] {
        match event {
            OutputEvent::Ready => self.request.bytes(),
            OutputEvent::Hello => self.request.offer(),
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
            BootstrapLine::Hello { .. } => {
                // What is said after a port and a key does not change whose they are.
                self.is_ours |= self.known.is_none();
                self.has_greeted = true;
                events.push(OutputEvent::Hello);
            }
            BootstrapLine::Announcement(announcement) => self.take_announcement(announcement)?,
            BootstrapLine::MoshConnect(connect) => self.take_connect(connect, events)?,
            BootstrapLine::Agreed if self.awaits_agreement() => {
                let was_reachable = self.is_reachable();
                self.is_agreed = true;
                events.push(OutputEvent::Agreed);
                self.tell_if_reachable(was_reachable, events);
            }
            BootstrapLine::Agreed => {}
            BootstrapLine::Name(name) => self.name = Some(name),
            BootstrapLine::OverSsh if self.is_reachable() => events.push(OutputEvent::OverSsh),
            BootstrapLine::Heard => {
                self.is_heard = true;
                events.push(OutputEvent::Heard);
            }
            other => return Ok(Some(other)),
        }
        Ok(None)
    }

    fn shows_others(&self) -> bool {
        true
    }

    fn has_written(&self, line: &[u8], is_cut: bool) -> bool {
        has_line(self.request.bytes(), line, is_cut)
    }

    fn has_begun(&self, _: &Diagnostics) -> bool {
        self.is_ready
    }

    fn has_greeted(&self) -> bool {
        // Its hello may have been lost.
        self.has_greeted || self.awaits_agreement()
    }

    fn awaits_agreement(&self) -> bool {
        self.is_ours && !self.is_agreed
    }

    fn is_reachable(&self) -> bool {
        // Stock's is told where to listen by its arguments.
        self.known.is_some() && !(self.waits && self.awaits_agreement())
    }

    fn take_params(&mut self) -> Option<SessionParams> {
        if self.is_reachable() {
            self.known.as_mut()?.params.take()
        } else {
            None
        }
    }

    fn port(params: &SessionParams) -> u16 {
        params.port
    }

    fn needs_ssh(&self) -> bool {
        self.announcement.is_some() && !self.is_heard
    }

    fn mismatch(&self, host: &str, diagnostics: &Diagnostics) -> Option<LoginError> {
        let is_for_stock = diagnostics.missing().is_some() && !self.has_fallback;
        let host = host.to_owned();
        is_for_stock.then_some(if self.joins {
            LoginError::NoSessionsOfStock { host }
        } else {
            LoginError::NotForStock { host }
        })
    }

    fn failure_of_output(host: &str, error: OutputError) -> LoginError {
        error.failure(host.to_owned())
    }

    fn is_fatal_later(error: OutputError) -> bool {
        error == OutputError::TwoServers
    }

    fn failure_of_exit(&self, facts: &ExitFacts<'_>) -> LoginError {
        let host = facts.host.to_owned();
        if let Some(refusal) = facts.diagnostics.refusal(&host, Some(facts.exit)) {
            return refusal;
        }
        let status = facts.exit;
        let program = facts.diagnostics.program().map(str::to_owned);
        match (facts.diagnostics.missing(), status.code()) {
            (Some(system), Some(STATUS_NO_SERVER)) => LoginError::NoServer {
                host,
                system: system.to_owned(),
                unusable: program,
                copying: facts.copying.map(str::to_owned),
            },
            _ if is_of_ssh(facts) => LoginError::SshEnded {
                host,
                status,
                error: SshError::of(facts.last_words),
                got_in: facts.has_said,
            },
            _ => LoginError::CommandEnded {
                host,
                status,
                is_chosen: self.is_chosen,
                program,
            },
        }
    }
}

/// Tells if it is ssh that has failed, and not the command that it ran.
///
/// OpenSSH says that by a status which the command may have, too. Once the command has said something, it is ssh's only
/// with its words about a connection that is lost. What Dropbear's client says of itself is any status.
fn is_of_ssh(facts: &ExitFacts<'_>) -> bool {
    let is_other = facts.implementation == SshImplementation::Other;
    match facts.exit.code() {
        None => true,
        Some(_) if !facts.has_said && is_other => true,
        Some(255) if facts.has_said => SshError::of(facts.last_words).is_of_connection(),
        Some(code) => code == 255,
    }
}

#[cfg(test)]
mod tests {
    use fulmar_core::Capabilities;
    use proptest::prelude::*;

    use super::*;
    use crate::bootstrap::{BootstrapRequest, Offer};
    use crate::diagnostics::{ERROR_LINES_MAX, WARNINGS_MAX};
    use crate::output::LoginOutput;
    use crate::ports::PortRange;

    const KEY: &str = "c68K8iLyuCr1oEM7Hszyjg";
    const OTHER_KEY: &str = "AAAAAAAAAAAAAAAAAAAAAA";
    const OFFER: &[u8] =
        b"FULMAR OFFER 1 attach,challenge,events,exit,hints,history,idle,rich,sizes,ssh,terminal\nFULMAR END\n";

    /// Returns the text that asks for a session, on these ports if any.
    fn request(ports: Option<&str>) -> EncodedRequest {
        let offer = Offer {
            ports: ports.map(|ports| PortRange::parse(ports).unwrap()),
            ..Offer::of(Capabilities::ALL)
        };
        let request = BootstrapRequest {
            start: None,
            fallback: None,
            offer,
        };
        request.encode().unwrap()
    }

    fn reader(ports: Option<&str>) -> LoginOutput<SessionService> {
        LoginOutput::new(SessionService::new(request(ports)), Key::from_base64)
    }

    /// Returns the events of a text that comes in these pieces and then ends.
    fn heard<'a>(
        pieces: impl IntoIterator<Item = &'a [u8]>,
    ) -> (
        Vec<OutputEvent>,
        Result<(), OutputError>,
        LoginOutput<SessionService>,
    ) {
        let mut output = reader(None);
        let mut said = Vec::new();
        let mut outcome = Ok(());
        for piece in pieces {
            outcome = outcome.and_then(|()| output.read(&mut &*piece, &mut said));
        }
        outcome = outcome.and_then(|()| output.end(&mut said));
        (said, outcome, output)
    }

    fn said(text: &str) -> Vec<OutputEvent> {
        let (said, outcome, _) = heard([text.as_bytes()]);
        assert_eq!(outcome, Ok(()), "{text}");
        said
    }

    fn trouble(text: &str) -> Option<OutputError> {
        heard([text.as_bytes()]).1.err()
    }

    #[test]
    fn a_login_to_a_server_of_ours_is_understood() {
        let text = format!(
            "Welcome\x1b[2J!\r\nFULMAR READY\nFULMAR HELLO 0.1.0\n\
             MOSH SSH_CONNECTION 192.0.2.1 5 ::ffff:192.0.2.2 22\nFULMAR WARNING logind\n\
             FULMAR CONNECT 1 exit 0.1.0\nMOSH CONNECT 60001 {KEY}\nFULMAR AGREED\nFULMAR HEARD\n"
        );
        let (said, outcome, mut output) = heard([text.as_bytes()]);
        assert_eq!(outcome, Ok(()));
        assert_eq!(
            said,
            [
                OutputEvent::Other("Welcome\\u{1b}[2J!".to_owned()),
                OutputEvent::Ready,
                OutputEvent::Hello,
                OutputEvent::Warning("logind".to_owned()),
                OutputEvent::Reachable,
                OutputEvent::Agreed,
                OutputEvent::Heard,
            ]
        );
        assert_eq!(output.diagnostics().reported(), "192.0.2.2".parse().ok());
        let params = output.service_mut().take_params().unwrap();
        assert_eq!(params.port, 60001);
        assert_eq!(*params.key.to_base64(), KEY);
        let answer = b"FULMAR CONNECT 1 exit 0.1.0\n";
        let wanted = Agreement::of(OFFER, answer, Capabilities::from_iter([Capability::Exit]));
        assert_eq!(params.agreement, Some(wanted));
        assert!(output.service_mut().take_params().is_none() && output.service().is_reachable());
    }

    #[test]
    fn text_without_an_end_of_line_is_no_part_of_the_remote_shells_answer() {
        let (said, outcome, output) = heard([&b"partialFULMAR READY /opt/fulmar\n"[..]]);
        assert_eq!(outcome, Ok(()));
        let partial = OutputEvent::Other("partial".to_owned());
        assert_eq!(said, [partial, OutputEvent::Ready]);
        assert_eq!(output.diagnostics().program(), Some("/opt/fulmar"));
    }

    #[test]
    fn a_stock_server_is_reached_without_an_agreement() {
        let text = format!("FULMAR NONE Linux x86_64 debian\n\r\nMOSH CONNECT 7 {KEY} \r\nmore\n");
        let (said, _, mut output) = heard([text.as_bytes()]);
        let others = |line: &str| OutputEvent::Other(line.to_owned());
        assert_eq!(said, [others(""), OutputEvent::Reachable, others("more")]);
        assert_eq!(output.diagnostics().missing(), Some("Linux x86_64 debian"));
        let note = output.diagnostics().stock_note("ada@host");
        assert!(note.is_some_and(|note| note.contains("no fulmar on ada@host")));
        assert!(
            output
                .service_mut()
                .take_params()
                .unwrap()
                .agreement
                .is_none()
        );
    }

    #[test]
    fn lines_that_a_terminal_sends_back_are_not_shown() {
        let word = "x".repeat(2000);
        let mut offer = Offer::of(Capabilities::ALL);
        offer.command = vec![word.clone().into()];
        let request = BootstrapRequest {
            start: None,
            fallback: None,
            offer,
        };
        let encoded = request.encode().unwrap();
        let service = SessionService::new(encoded);
        let mut output = LoginOutput::new(service, Key::from_base64);
        let text = format!(
            "\r\nFULMAR OFFER 1 attach,challenge,events,exit,hints,history,idle,rich,sizes,ssh,terminal\r\nword {word}\r\nFULMAR END\r\nFULMAR\nword {}\n",
            "y".repeat(2000)
        );
        let mut said = Vec::new();
        output.read(&mut text.as_bytes(), &mut said).unwrap();
        let others: Vec<bool> = said
            .iter()
            .map(|event| matches!(event, OutputEvent::Other(line) if line.is_empty() || line == "FULMAR" || line.starts_with("word y")))
            .collect();
        assert_eq!(others, [true; 3], "{said:?}");
    }

    #[test]
    fn an_error_of_the_servers_is_kept_with_its_advice() {
        let (said, _, output) =
            heard([&b"FULMAR ERROR no port is free\nFULMAR ERROR name others\n"[..]]);
        assert!(said.is_empty());
        let (what, advice) = output.diagnostics().error().unwrap();
        assert_eq!(
            (what, advice),
            ("no port is free", &["name others".to_owned()][..])
        );
    }

    #[test]
    fn two_servers_are_noticed_and_one_that_repeats_itself_is_one() {
        let connect = |port: u16, key: &str| format!("MOSH CONNECT {port} {key}\n");
        let two = |one: &str, other: &str| trouble(&format!("{one}{other}"));
        let first = connect(60001, KEY);
        assert_eq!(two(&first, &first), None);
        for other in [connect(60002, KEY), connect(60001, OTHER_KEY)] {
            assert_eq!(two(&first, &other), Some(OutputError::TwoServers));
        }
        let answer = |server: &str| format!("FULMAR CONNECT 1 exit {server}\n");
        assert_eq!(two(&answer("0.1"), &answer("0.1")), None);
        assert_eq!(
            two(&answer("0.1"), &answer("0.2")),
            Some(OutputError::TwoServers)
        );
    }

    /// Returns the events of a login in which the server is asked for other ports.
    fn moving(text: &str) -> (Vec<OutputEvent>, Result<(), OutputError>, Option<u16>) {
        let mut output = reader(Some("7"));
        let mut said = Vec::new();
        let outcome = output.read(&mut text.as_bytes(), &mut said);
        let params = output.service_mut().take_params();
        (said, outcome, params.map(|params| params.port))
    }

    #[test]
    fn a_server_that_is_wished_elsewhere_is_reached_where_it_is_once_it_has_read_that() {
        let first = format!("FULMAR CONNECT 1 exit 0.1.0\nMOSH CONNECT 60001 {KEY}\n");
        assert_eq!(moving(&first), (vec![], Ok(()), None));
        let moved = format!("{first}MOSH CONNECT 7 {KEY}\n");
        assert_eq!(moving(&moved), (vec![], Ok(()), None));
        let both = vec![OutputEvent::Agreed, OutputEvent::Reachable];
        for (text, port) in [(&moved, 7), (&first, 60001)] {
            let agreed = moving(&format!("{text}FULMAR AGREED\n"));
            assert_eq!(agreed, (both.clone(), Ok(()), Some(port)));
        }
        let (_, later, _) = moving(&format!("{first}FULMAR AGREED\nMOSH CONNECT 7 {KEY}\n"));
        let (_, other, _) = moving(&format!("{first}MOSH CONNECT 7 {OTHER_KEY}\n"));
        assert_eq!([later, other], [Err(OutputError::TwoServers); 2]);
        // Stock's is where it was asked to be.
        let stock = moving(&format!("MOSH CONNECT 7 {KEY}\nFULMAR AGREED\n"));
        assert_eq!(stock, (vec![OutputEvent::Reachable], Ok(()), Some(7)));
    }

    /// Returns what is known of a server from its text, to a client that wants a session which is there.
    fn joined(
        text: &str,
    ) -> (
        Vec<OutputEvent>,
        Result<(), OutputError>,
        Option<SessionParams>,
    ) {
        let service = SessionService::new(request(None)).joining();
        let mut output = LoginOutput::new(service, Key::from_base64);
        let mut said = Vec::new();
        let outcome = output.read(&mut text.as_bytes(), &mut said);
        (said, outcome, output.service_mut().take_params())
    }

    #[test]
    fn of_a_session_that_is_there_its_own_announcement_and_port_count() {
        let of_login = format!("FULMAR CONNECT 1 attach,exit,rich 0.2\nMOSH CONNECT 60001 {KEY}\n");
        let of_session = "FULMAR CONNECT 1 attach,exit 0.1\n";
        for port in [60001, 60007] {
            let text =
                format!("{of_login}{of_session}MOSH CONNECT {port} {KEY}\nFULMAR NAME work\n");
            let (said, outcome, params) = joined(&text);
            assert_eq!((said, outcome), (vec![], Ok(())));
            assert!(params.is_none(), "it may yet be refused");
            let (said, outcome, params) = joined(&format!("{text}FULMAR AGREED\n"));
            assert_eq!(outcome, Ok(()));
            assert_eq!(said, [OutputEvent::Agreed, OutputEvent::Reachable]);
            let params = params.unwrap();
            let both = Capabilities::from_iter([Capability::Attach, Capability::Exit]);
            let wanted = Agreement::of(OFFER, of_session.as_bytes(), both);
            assert_eq!((params.port, params.agreement), (port, Some(wanted)));
        }
        // The login's server had no port of its own.
        let text = format!("{of_session}MOSH CONNECT 7 {KEY}\nFULMAR AGREED\n");
        let (_, outcome, params) = joined(&text);
        assert_eq!(
            (outcome, params.map(|params| params.port)),
            (Ok(()), Some(7))
        );
    }

    #[test]
    fn of_a_session_that_is_there_nothing_counts_after_the_agreement_and_no_other_key() {
        let all = format!("FULMAR CONNECT 1 attach 0.1\nMOSH CONNECT 60001 {KEY}\nFULMAR AGREED\n");
        for (begin, more) in [
            ("", "FULMAR CONNECT 1 attach 0.2\n".to_owned()),
            ("", format!("MOSH CONNECT 60002 {KEY}\n")),
            ("", format!("MOSH CONNECT 60001 {OTHER_KEY}\n")),
            (
                &*format!("FULMAR CONNECT 1 attach 0.1\nMOSH CONNECT 5 {OTHER_KEY}\n"),
                String::new(),
            ),
        ] {
            let outcome = joined(&format!("{begin}{all}{more}")).1;
            assert_eq!(outcome, Err(OutputError::TwoServers), "{begin}{more}");
        }
    }

    #[test]
    fn a_server_that_cannot_be_attached_to_is_refused_at_its_announcement() {
        let (said, outcome, _) = joined("FULMAR HELLO 0.1\nFULMAR CONNECT 1 exit 0.1\n");
        assert_eq!(outcome, Err(OutputError::NoAttach));
        assert_eq!(said, [OutputEvent::Hello]);
    }

    #[test]
    fn what_is_announced_after_the_key_is_another_servers() {
        let text = format!("MOSH CONNECT 7 {KEY}\nFULMAR CONNECT 1 exit 0.1.0\n");
        assert_eq!(trouble(&text), Some(OutputError::TwoServers));
    }

    #[test]
    fn what_no_server_of_ours_says_is_trouble() {
        assert_eq!(
            trouble("FULMAR CONNECT 2 - 9.0\n"),
            Some(OutputError::Version(2))
        );
        for line in [
            "MOSH CONNECT 60001 abc\n",
            "FULMAR CONNECT one\n",
            "FULMAR HELLO \n",
        ] {
            assert_eq!(trouble(line), Some(OutputError::Malformed), "{line}");
        }
        let long = format!("FULMAR WARNING {}\n", "x".repeat(2000));
        assert_eq!(trouble(&long), Some(OutputError::Malformed));
    }

    #[test]
    fn noise_is_shown_and_has_a_bound() {
        let long = "x".repeat(5000) + "\n";
        match said(&long).as_slice() {
            [OutputEvent::Other(line)] => assert!(line.ends_with("x…") && line.len() < 1100),
            other => panic!("{other:?}"),
        }
        let megabyte = "noise\n".repeat(1_000_000 / 6);
        let (said, outcome, _) = heard(megabyte.as_bytes().chunks(4096));
        assert_eq!(outcome, Err(OutputError::TooMuchText));
        assert!(said.len() <= 64 * 1024 / 6);
        let warnings = "FULMAR WARNING w\n".repeat(100);
        assert_eq!(tests::said(&warnings).len(), WARNINGS_MAX);
        let errors = "FULMAR ERROR e\n".repeat(100);
        let (_, _, output) = heard([errors.as_bytes()]);
        assert_eq!(
            output.diagnostics().error().unwrap().1.len() + 1,
            ERROR_LINES_MAX
        );
    }

    /// Lines of all kinds, whole and broken.
    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            Just(format!("MOSH CONNECT 60001 {KEY}")),
            Just(format!("MOSH CONNECT 60002 {KEY}")),
            Just("FULMAR CONNECT 1 exit 0.1.0".to_owned()),
            Just("FULMAR HELLO 0.1.0\r".to_owned()),
            Just("FULMAR READY".to_owned()),
            Just("FULMAR AGREED".to_owned()),
            Just("FULMAR HEARD".to_owned()),
            Just("FULMAR NONE".to_owned()),
            "FULMAR (WARNING|ERROR|NONE|CONNECT) [ -~]{0,20}",
            "[ -~]{0,30}",
        ]
    }

    proptest! {
        #[test]
        fn where_the_text_is_cut_makes_no_difference(
            lines in prop::collection::vec(line(), 0..12),
            cuts in prop::collection::vec(0..400_usize, 0..6),
        ) {
            let text = lines.join("\n").into_bytes();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]);
            let (said, outcome, _) = heard(pieces);
            let (said_at_once, outcome_at_once, _) = heard([text.as_slice()]);
            prop_assert_eq!(said, said_at_once);
            prop_assert_eq!(outcome, outcome_at_once);
        }

        #[test]
        fn any_bytes_are_read_and_nothing_said_is_a_control_character(
            bytes in prop::collection::vec(any::<u8>(), 0..3000),
        ) {
            for said in heard([bytes.as_slice()]).0 {
                if let OutputEvent::Other(text) | OutputEvent::Warning(text) = said {
                    prop_assert!(!text.chars().any(char::is_control));
                }
            }
        }
    }
}
