//! What has come out of ssh so far, and what it means for a copy.
//!
//! A function of bytes: it owns no pipe and waits for nothing.
//!
//! Source: docs/protocol.md §2.10, docs/threat-model.md §6.

use super::COPY_VERSION;
use crate::bootstrap::line_splitter::{Arrived, LineSplitter};
use crate::bootstrap::lines::{CopyInvitation, Line};
pub(super) use crate::login::Trouble;
use crate::login::{READY, Remarks};

/// News for whoever copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A line of somebody else's, without its end and with its control characters spelled out.
    Other(String),
    /// Something that the user is to know.
    Warning(String),
    /// The far end can be reached.
    Invited,
    /// What follows are frames.
    OverSsh,
}

/// A reader of all that ssh writes on its standard output, up to frames.
pub(super) struct Transcript {
    splitter: LineSplitter,
    has_said: bool,
    is_begun: bool,
    remarks: Remarks,
    is_invited: bool,
    invitation: Option<CopyInvitation>,
}

impl Transcript {
    /// Returns an empty one.
    pub(super) fn new() -> Transcript {
        Transcript {
            splitter: LineSplitter::new(),
            has_said: false,
            is_begun: false,
            remarks: Remarks::default(),
            is_invited: false,
            invitation: None,
        }
    }

    /// Takes what has come off the front of `bytes`, and appends what it says. What stands behind the
    /// line that begins frames is left.
    ///
    /// # Errors
    ///
    /// When it cannot go on. It was read up to there.
    pub(super) fn read(&mut self, bytes: &mut &[u8], said: &mut Vec<Said>) -> Result<(), Trouble> {
        self.has_said |= !bytes.is_empty();
        while !bytes.is_empty() {
            match self.splitter.take(bytes) {
                Ok(Some(line)) => self.take_line(&line, said)?,
                Ok(None) => {}
                Err(_) => return Err(Trouble::TooMuchText),
            }
            if said.last() == Some(&Said::OverSsh) {
                break;
            }
        }
        Ok(())
    }

    /// Takes note that nothing more will come: what was not ended by then is a line, too.
    ///
    /// # Errors
    ///
    /// As for [`read`](Transcript::read).
    pub(super) fn end(&mut self, said: &mut Vec<Said>) -> Result<(), Trouble> {
        match self.splitter.rest() {
            Some(line) => self.take_line(&line, said),
            None => Ok(()),
        }
    }

    /// Tells if anything has come at all.
    pub(super) fn has_said_anything(&self) -> bool {
        self.has_said
    }

    /// Tells if our command has begun there.
    pub(super) fn is_begun(&self) -> bool {
        self.is_begun || self.remarks.error().is_some()
    }

    /// Tells if the far end can be reached.
    pub(super) fn is_invited(&self) -> bool {
        self.is_invited
    }

    /// Returns what was said besides how to reach the far end.
    pub(super) fn remarks(&self) -> &Remarks {
        &self.remarks
    }

    /// Returns how to reach the far end, once.
    pub(super) fn take_invitation(&mut self) -> Option<CopyInvitation> {
        self.invitation.take()
    }

    fn take_line(&mut self, line: &Arrived, said: &mut Vec<Said>) -> Result<(), Trouble> {
        if line.bytes() == READY {
            self.is_begun = true;
            return Ok(());
        }
        match line.parse() {
            Err(_) => Err(Trouble::Malformed),
            Ok(Some(line)) => self.take_known(line, said),
            // Whoever prints something once the far end runs is not talking to us.
            Ok(None) if self.is_invited => Ok(()),
            Ok(None) => {
                said.push(Said::Other(line.shown()));
                Ok(())
            }
        }
    }

    fn take_known(&mut self, line: Line, said: &mut Vec<Said>) -> Result<(), Trouble> {
        match line {
            Line::Copy(invitation) => return self.take_copy(invitation, said),
            Line::OverSsh if self.is_invited => said.push(Said::OverSsh),
            other => said.extend(self.remarks.take(other)?.map(Said::Warning)),
        }
        Ok(())
    }

    fn take_copy(
        &mut self,
        invitation: CopyInvitation,
        said: &mut Vec<Said>,
    ) -> Result<(), Trouble> {
        if invitation.version != COPY_VERSION {
            return Err(Trouble::Version(invitation.version));
        }
        if self.is_invited {
            return Err(Trouble::TwoServers);
        }
        self.is_begun = true;
        self.is_invited = true;
        self.invitation = Some(invitation);
        said.push(Said::Invited);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COPY: &str = "FULMAR COPY 1 60001 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\n";

    fn read(text: &str) -> (Transcript, Vec<Said>, Result<(), Trouble>, String) {
        let (mut transcript, mut said) = (Transcript::new(), Vec::new());
        let mut bytes = text.as_bytes();
        let outcome = transcript.read(&mut bytes, &mut said);
        let rest = String::from_utf8_lossy(bytes).into_owned();
        (transcript, said, outcome, rest)
    }

    #[test]
    fn a_far_end_says_where_it_is_and_the_rest_is_frames() {
        let connection = "MOSH SSH_CONNECTION 192.0.2.1 5 192.0.2.2 22\n";
        let text = format!("hello\x1b[2J\nFULMAR READY\n{connection}{COPY}late\n");
        let (mut transcript, said, outcome, _) = read(&text);
        assert_eq!(outcome, Ok(()));
        assert_eq!(
            said,
            [Said::Other("hello\\u{1b}[2J".to_owned()), Said::Invited]
        );
        assert_eq!(transcript.remarks().reported(), "192.0.2.2".parse().ok());
        let invitation = transcript.take_invitation().unwrap();
        assert_eq!((invitation.version, invitation.port), (1, 60001));
        assert!(transcript.take_invitation().is_none());
        let (_, said, outcome, rest) = read(&format!("{COPY}x\nFULMAR OVER SSH\nFULMAR \0frames"));
        assert_eq!((said.last(), outcome), (Some(&Said::OverSsh), Ok(())));
        assert_eq!(rest, "FULMAR \0frames");
    }

    #[test]
    fn what_makes_no_sense_ends_it() {
        let trouble = |text: &str| read(text).2.unwrap_err();
        assert_eq!(trouble(&"x\n".repeat(40_000)), Trouble::TooMuchText);
        assert_eq!(trouble(&"x".repeat(80_000)), Trouble::TooMuchText);
        assert_eq!(trouble("FULMAR COPY 1 0 x\n"), Trouble::Malformed);
        assert_eq!(trouble("FULMAR OVER SSH\n"), Trouble::Malformed);
        assert_eq!(trouble("FULMAR HELLO 0.1.0\n"), Trouble::Malformed);
        assert_eq!(trouble(&format!("{COPY}{COPY}")), Trouble::TwoServers);
        let later = COPY.replace("COPY 1", "COPY 7");
        assert_eq!(trouble(&later), Trouble::Version(7));
    }

    #[test]
    fn what_is_wrong_there_is_kept() {
        let (transcript, ..) = read("FULMAR NONE Linux x86_64 debian\n");
        assert_eq!(transcript.remarks().missing(), Some("Linux x86_64 debian"));
        let (transcript, ..) = read("FULMAR ERROR no port\nFULMAR ERROR try -p\n");
        let (what, advice) = transcript.remarks().error().unwrap();
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
            let (mut transcript, mut said) = (Transcript::new(), Vec::new());
            for piece in &pieces {
                if transcript.read(&mut piece.as_bytes(), &mut said).is_err() {
                    break;
                }
            }
            let _ = transcript.end(&mut said);
            let invited = said.iter().filter(|said| **said == Said::Invited).count();
            prop_assert!(invited <= 1);
        }
    }
}
