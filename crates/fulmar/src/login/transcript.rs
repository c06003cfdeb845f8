//! Logins that start a session's server.
//!
//! Source: docs/protocol.md §2.9, docs/threat-model.md §6.

use fulmar_core::{Agreement, Capabilities};
use fulmar_datagram::Key;
use zeroize::Zeroizing;

use super::remarks::Remarks;
use crate::bootstrap::WIRE_VERSION;
use crate::bootstrap::line_splitter::{Arrived, LineSplitter};
use crate::bootstrap::lines::{Announcement, Line};
use crate::bootstrap::offer::Block;
use crate::errors::LoginFailure;

/// What the remote shell says when it begins to read.
///
/// Source: docs/protocol.md §2.9.
pub(crate) const READY: &[u8] = b"FULMAR READY";

/// News for whoever logs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// The remote shell reads: what was written earlier may be lost.
    Ready,
    /// A server of ours reads: the same.
    Hello,
    /// A line of somebody else's, without its end and with its control characters spelled out.
    Other(String),
    /// Something that the user is to know.
    Warning(String),
    /// The server can be reached.
    Invited,
    /// The server has read what it is for, and can be that.
    Agreed,
    /// The server has had a datagram of ours.
    Heard,
}

/// Why what has come out of ssh cannot be gone on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// More text has come than belongs there.
    TooMuchText,
    /// A line begins as one of a server's and goes on otherwise.
    Malformed,
    /// The server speaks this version.
    Version(u32),
    /// There were two servers.
    TwoServers,
}

impl Trouble {
    /// Returns it as a failure of a login to that host.
    pub(crate) fn failure(self, host: String) -> LoginFailure {
        match self {
            Trouble::TooMuchText => LoginFailure::TooMuchText { host },
            Trouble::Malformed => LoginFailure::Malformed { host },
            Trouble::Version(version) => LoginFailure::Version { host, version },
            Trouble::TwoServers => LoginFailure::TwoServers { host },
        }
    }
}

/// A server's port and key, and what was agreed on with it, if it is ours.
pub(crate) struct Reachable {
    /// The UDP port.
    pub(crate) port: u16,
    /// The session's key.
    pub(crate) key: Key,
    /// What was agreed on.
    pub(crate) agreement: Option<Agreement>,
}

/// A reader of all that ssh writes on its standard output.
pub(crate) struct Transcript {
    splitter: LineSplitter,
    /// The offer as it was sent, for the agreement.
    offer: Vec<u8>,
    offered: Capabilities,
    /// Whether a server of ours can be reached only once it has agreed: it may yet move to where the
    /// offer wishes it, or whoever joins it does not hear what it says later.
    waits: bool,
    has_said: bool,
    remarks: Remarks,
    /// Whether a server of ours has said hello or what it can do.
    is_ours: bool,
    announcement: Option<Announcement>,
    is_agreed: bool,
    invitation: Option<Invited>,
}

/// An invitation that has come.
struct Invited {
    /// The line that told it, to know another one by.
    text: Zeroizing<String>,
    /// Until it is taken.
    reachable: Option<Reachable>,
}

impl Transcript {
    /// Returns an empty one of a login in which `block` is written.
    pub(crate) fn of(block: &Block) -> Transcript {
        Transcript {
            splitter: LineSplitter::new(),
            offer: block.offer().to_vec(),
            offered: block.capabilities(),
            waits: block.wishes_for_a_place(),
            has_said: false,
            remarks: Remarks::default(),
            is_ours: false,
            announcement: None,
            is_agreed: false,
            invitation: None,
        }
    }

    /// Has a server of ours be reachable only once it has agreed, wherever it listens.
    pub(crate) fn wait_for_agreement(&mut self) {
        self.waits = true;
    }

    /// Takes what has come, and appends what it says.
    ///
    /// # Errors
    ///
    /// When the login cannot go on. It was read up to there.
    pub(crate) fn read(&mut self, mut bytes: &[u8], said: &mut Vec<Said>) -> Result<(), Trouble> {
        self.has_said |= !bytes.is_empty();
        while !bytes.is_empty() {
            match self.splitter.take(&mut bytes) {
                Ok(Some(line)) => self.take_line(&line, said)?,
                Ok(None) => {}
                Err(_) => return Err(Trouble::TooMuchText),
            }
        }
        Ok(())
    }

    /// Takes note that nothing more will come: what was not ended by then is a line, too.
    ///
    /// # Errors
    ///
    /// As for [`read`](Transcript::read).
    pub(crate) fn end(&mut self, said: &mut Vec<Said>) -> Result<(), Trouble> {
        match self.splitter.rest() {
            Some(line) => self.take_line(&line, said),
            None => Ok(()),
        }
    }

    /// Tells if anything has come at all.
    pub(crate) fn has_said_anything(&self) -> bool {
        self.has_said
    }

    /// Returns what was said besides how to reach the server.
    pub(crate) fn remarks(&self) -> &Remarks {
        &self.remarks
    }

    /// Tells if the server can be reached: it is where it stays.
    pub(crate) fn is_reachable(&self) -> bool {
        // Stock's is told where to listen by its arguments.
        self.invitation.is_some() && !(self.waits && self.awaits_agreement())
    }

    /// Tells if a server of ours has not said yet that it has read what it is for.
    pub(crate) fn awaits_agreement(&self) -> bool {
        self.is_ours && !self.is_agreed
    }

    /// Returns how to reach the server, once.
    pub(crate) fn take_reachable(&mut self) -> Option<Reachable> {
        match self.is_reachable() {
            true => self.invitation.as_mut()?.reachable.take(),
            false => None,
        }
    }

    fn take_line(&mut self, line: &Arrived, said: &mut Vec<Said>) -> Result<(), Trouble> {
        if line.bytes() == READY {
            said.push(Said::Ready);
            return Ok(());
        }
        match line.parse() {
            Err(_) => Err(Trouble::Malformed),
            Ok(Some(line)) => self.take_known(line, said),
            // Whoever prints something once the server runs is not talking to us.
            Ok(None) if self.is_reachable() => Ok(()),
            Ok(None) => {
                said.push(Said::Other(line.shown()));
                Ok(())
            }
        }
    }

    fn take_known(&mut self, line: Line, said: &mut Vec<Said>) -> Result<(), Trouble> {
        match line {
            Line::Hello { .. } => {
                // What is said after an invitation does not change whose that was.
                self.is_ours |= self.invitation.is_none();
                said.push(Said::Hello);
            }
            Line::Connect(announcement) => return self.take_announcement(announcement),
            line @ Line::Invitation(_) => return self.take_invitation(line, said),
            Line::Agreed if self.awaits_agreement() => {
                let was_reachable = self.is_reachable();
                self.is_agreed = true;
                said.push(Said::Agreed);
                self.tell_if_reachable(was_reachable, said);
            }
            Line::Agreed => {}
            Line::Heard => said.push(Said::Heard),
            other => said.extend(self.remarks.take(other)?.map(Said::Warning)),
        }
        Ok(())
    }

    fn take_announcement(&mut self, announcement: Announcement) -> Result<(), Trouble> {
        if announcement.version != WIRE_VERSION {
            return Err(Trouble::Version(announcement.version));
        }
        match &self.announcement {
            Some(known) if *known != announcement => Err(Trouble::TwoServers),
            // What comes after its invitation is not a server's that we have agreed with.
            None if self.invitation.is_some() => Err(Trouble::TwoServers),
            _ => {
                self.is_ours = true;
                self.announcement = Some(announcement);
                Ok(())
            }
        }
    }

    fn take_invitation(&mut self, line: Line, said: &mut Vec<Said>) -> Result<(), Trouble> {
        let text = line.text();
        if let Some(known) = &self.invitation {
            let moves = !self.is_reachable() && key_in(&known.text) == key_in(&text);
            match *known.text == *text {
                true => return Ok(()),
                false if moves => {}
                false => return Err(Trouble::TwoServers),
            }
        }
        let Line::Invitation(invitation) = line else {
            return Ok(());
        };
        let announcement = self.announcement.as_ref();
        let agreement = announcement.map(|one| one.agreement_on(self.offered, &self.offer));
        let reachable = Some(Reachable {
            port: invitation.port,
            key: invitation.key,
            agreement,
        });
        let was_reachable = self.is_reachable();
        self.invitation = Some(Invited { text, reachable });
        self.tell_if_reachable(was_reachable, said);
        Ok(())
    }

    fn tell_if_reachable(&self, was_reachable: bool, said: &mut Vec<Said>) {
        if self.is_reachable() && !was_reachable {
            said.push(Said::Invited);
        }
    }
}

/// Returns the key in an invitation: its last word.
fn key_in(invitation: &str) -> Option<&str> {
    invitation.trim_ascii_end().rsplit(' ').next()
}

#[cfg(test)]
mod tests {
    use fulmar_core::{Capabilities, Capability};
    use proptest::prelude::*;

    use super::super::remarks::{ERROR_LINES_MAX, WARNINGS_MAX};
    use super::*;
    use crate::bootstrap::offer::{Offer, Opening};
    use crate::server::ports::PortRange;

    const KEY: &str = "c68K8iLyuCr1oEM7Hszyjg";
    const OTHER_KEY: &str = "AAAAAAAAAAAAAAAAAAAAAA";
    const OFFER: &[u8] = b"FULMAR OFFER 1 exit,hints\nFULMAR END\n";

    /// What is written to ask for a session, on these ports if any.
    fn block(ports: Option<&str>) -> Block {
        let offer = Offer {
            ports: ports.map(|ports| PortRange::parse(ports).unwrap()),
            ..Offer::of(Capabilities::ALL)
        };
        let opening = Opening {
            start: None,
            fallback: None,
            offer,
        };
        opening.block().unwrap()
    }

    /// What is said by a text that comes in these pieces and then ends.
    fn heard<'a>(
        pieces: impl IntoIterator<Item = &'a [u8]>,
    ) -> (Vec<Said>, Result<(), Trouble>, Transcript) {
        let mut transcript = Transcript::of(&block(None));
        let mut said = Vec::new();
        let mut outcome = Ok(());
        for piece in pieces {
            outcome = outcome.and_then(|()| transcript.read(piece, &mut said));
        }
        outcome = outcome.and_then(|()| transcript.end(&mut said));
        (said, outcome, transcript)
    }

    fn said(text: &str) -> Vec<Said> {
        let (said, outcome, _) = heard([text.as_bytes()]);
        assert_eq!(outcome, Ok(()), "{text}");
        said
    }

    fn trouble(text: &str) -> Option<Trouble> {
        heard([text.as_bytes()]).1.err()
    }

    #[test]
    fn a_login_to_a_server_of_ours_is_understood() {
        let text = format!(
            "Welcome\x1b[2J!\r\nFULMAR READY\nFULMAR HELLO 0.1.0\n\
             MOSH SSH_CONNECTION 192.0.2.1 5 ::ffff:192.0.2.2 22\nFULMAR WARNING logind\n\
             FULMAR CONNECT 1 exit 0.1.0\nMOSH CONNECT 60001 {KEY}\nFULMAR AGREED\nFULMAR HEARD\n"
        );
        let (said, outcome, mut transcript) = heard([text.as_bytes()]);
        assert_eq!(outcome, Ok(()));
        assert_eq!(
            said,
            [
                Said::Other("Welcome\\u{1b}[2J!".to_owned()),
                Said::Ready,
                Said::Hello,
                Said::Warning("logind".to_owned()),
                Said::Invited,
                Said::Agreed,
                Said::Heard,
            ]
        );
        assert_eq!(transcript.remarks().reported(), "192.0.2.2".parse().ok());
        let reachable = transcript.take_reachable().unwrap();
        assert_eq!(reachable.port, 60001);
        assert_eq!(*reachable.key.to_base64(), KEY);
        let answer = b"FULMAR CONNECT 1 exit 0.1.0\n";
        let wanted = Agreement::of(OFFER, answer, Capabilities::from_iter([Capability::Exit]));
        assert_eq!(reachable.agreement, Some(wanted));
        assert!(transcript.take_reachable().is_none() && transcript.is_reachable());
    }

    #[test]
    fn a_stock_server_is_reached_without_an_agreement() {
        let text = format!("FULMAR NONE Linux x86_64 debian\n\r\nMOSH CONNECT 7 {KEY} \r\nmore\n");
        let (said, _, mut transcript) = heard([text.as_bytes()]);
        assert_eq!(said, [Said::Other(String::new()), Said::Invited]);
        assert_eq!(transcript.remarks().missing(), Some("Linux x86_64 debian"));
        assert!(transcript.take_reachable().unwrap().agreement.is_none());
    }

    #[test]
    fn an_error_of_the_servers_is_kept_with_its_advice() {
        let (said, _, transcript) =
            heard([&b"FULMAR ERROR no port is free\nFULMAR ERROR name others\n"[..]]);
        assert!(said.is_empty());
        let (what, advice) = transcript.remarks().error().unwrap();
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
            assert_eq!(two(&first, &other), Some(Trouble::TwoServers));
        }
        let answer = |server: &str| format!("FULMAR CONNECT 1 exit {server}\n");
        assert_eq!(two(&answer("0.1"), &answer("0.1")), None);
        assert_eq!(
            two(&answer("0.1"), &answer("0.2")),
            Some(Trouble::TwoServers)
        );
    }

    /// What the reader of a login understands in which the server is wished to other ports.
    fn moving(text: &str) -> (Vec<Said>, Result<(), Trouble>, Option<u16>) {
        let mut transcript = Transcript::of(&block(Some("7")));
        let mut said = Vec::new();
        let outcome = transcript.read(text.as_bytes(), &mut said);
        let reachable = transcript.take_reachable();
        (said, outcome, reachable.map(|reachable| reachable.port))
    }

    #[test]
    fn a_server_that_is_wished_elsewhere_is_reached_where_it_is_once_it_has_read_that() {
        let first = format!("FULMAR CONNECT 1 exit 0.1.0\nMOSH CONNECT 60001 {KEY}\n");
        assert_eq!(moving(&first), (vec![], Ok(()), None));
        let moved = format!("{first}MOSH CONNECT 7 {KEY}\n");
        assert_eq!(moving(&moved), (vec![], Ok(()), None));
        let both = vec![Said::Agreed, Said::Invited];
        for (text, port) in [(&moved, 7), (&first, 60001)] {
            let agreed = moving(&format!("{text}FULMAR AGREED\n"));
            assert_eq!(agreed, (both.clone(), Ok(()), Some(port)));
        }
        let (_, later, _) = moving(&format!("{first}FULMAR AGREED\nMOSH CONNECT 7 {KEY}\n"));
        let (_, other, _) = moving(&format!("{first}MOSH CONNECT 7 {OTHER_KEY}\n"));
        assert_eq!([later, other], [Err(Trouble::TwoServers); 2]);
        // Stock's is where it was asked to be.
        let stock = moving(&format!("MOSH CONNECT 7 {KEY}\nFULMAR AGREED\n"));
        assert_eq!(stock, (vec![Said::Invited], Ok(()), Some(7)));
    }

    #[test]
    fn what_is_announced_after_the_invitation_is_another_servers() {
        let text = format!("MOSH CONNECT 7 {KEY}\nFULMAR CONNECT 1 exit 0.1.0\n");
        assert_eq!(trouble(&text), Some(Trouble::TwoServers));
    }

    #[test]
    fn what_no_server_of_ours_says_is_trouble() {
        assert_eq!(
            trouble("FULMAR CONNECT 2 - 9.0\n"),
            Some(Trouble::Version(2))
        );
        for line in [
            "MOSH CONNECT 60001 abc\n",
            "FULMAR CONNECT one\n",
            "FULMAR HELLO \n",
        ] {
            assert_eq!(trouble(line), Some(Trouble::Malformed), "{line}");
        }
        let long = format!("FULMAR WARNING {}\n", "x".repeat(2000));
        assert_eq!(trouble(&long), Some(Trouble::Malformed));
    }

    #[test]
    fn noise_is_shown_and_has_a_bound() {
        let long = "x".repeat(5000) + "\n";
        match said(&long).as_slice() {
            [Said::Other(line)] => assert!(line.ends_with("x…") && line.len() < 1100),
            other => panic!("{other:?}"),
        }
        let megabyte = "noise\n".repeat(1_000_000 / 6);
        let (said, outcome, _) = heard(megabyte.as_bytes().chunks(4096));
        assert_eq!(outcome, Err(Trouble::TooMuchText));
        assert!(said.len() <= 64 * 1024 / 6);
        let warnings = "FULMAR WARNING w\n".repeat(100);
        assert_eq!(tests::said(&warnings).len(), WARNINGS_MAX);
        let errors = "FULMAR ERROR e\n".repeat(100);
        let (_, _, transcript) = heard([errors.as_bytes()]);
        assert_eq!(
            transcript.remarks().error().unwrap().1.len() + 1,
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
                if let Said::Other(text) | Said::Warning(text) = said {
                    prop_assert!(!text.chars().any(char::is_control));
                }
            }
        }
    }
}
