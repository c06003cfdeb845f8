//! The end of a session that ended as it should.

use crate::compat_mode::CompatMode;
use crate::display::LastScreen;
use crate::exit_status::ExitStatus;

/// The status of a client whose session another one has taken: neither that of failures nor one that shells
/// or signals give.
///
/// Chosen by eye.
const TAKEN_OVER_STATUS: u8 = 254;

/// The one who has ended a session, or its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// Its program, by ending: in this way if the server has said so.
    Program(Option<ExitStatus>),
    /// The user, by the escape key.
    User,
    /// The user, who has left it without ending it. The program goes on.
    Detached,
    /// Another client, by taking the session. The program goes on.
    OtherClient,
}

impl SessionEnd {
    /// Returns the status with which the client leaves: the program's, 0 if that is not known, and as Fulmar
    /// that of failures if the user has ended the session, as ssh does after `~.`.
    pub fn status(self, compat: CompatMode) -> u8 {
        match (self, compat) {
            (SessionEnd::Program(status), _) => status.map_or(0, ExitStatus::to_status),
            (SessionEnd::User, CompatMode::Fulmar) => compat.failure_status(),
            (SessionEnd::User, CompatMode::Mosh) => 0,
            (SessionEnd::Detached, _) => 0,
            (SessionEnd::OtherClient, _) => TAKEN_OVER_STATUS,
        }
    }

    /// Returns what the user is told by Fulmar; `None` if nothing, since the last screen and the status of a command say
    /// enough. `taker` says who has taken the session, if it was taken.
    pub fn farewell(self, last_screen: LastScreen, taker: Option<&str>) -> Option<String> {
        let told = match (self, last_screen) {
            (SessionEnd::User, _) => "you have ended the session".to_owned(),
            (SessionEnd::Detached, _) => "you have left the session, which goes on".to_owned(),
            (SessionEnd::OtherClient, _) => {
                let who = taker.map_or("another client".to_owned(), |from| {
                    format!("a client at {from}")
                });
                format!("{who} has taken the session, which goes on")
            }
            (SessionEnd::Program(_), LastScreen::Printed) => return None,
            (SessionEnd::Program(status), LastScreen::Dropped) => match status {
                None => "the session has ended".to_owned(),
                Some(ExitStatus::Code(0)) => "the program has exited".to_owned(),
                Some(ExitStatus::Code(code)) => {
                    format!("the program has exited with status {code}")
                }
                Some(ExitStatus::Signal(signal)) => {
                    format!("signal {signal} has ended the program")
                }
            },
        };
        Some(format!("[{}: {told}]", CompatMode::Fulmar.program()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: SessionEnd = SessionEnd::Program(Some(ExitStatus::Code(7)));

    #[test]
    fn a_program_gives_its_status_and_a_user_that_of_ssh_or_of_stock() {
        for compat in [CompatMode::Fulmar, CompatMode::Mosh] {
            assert_eq!(CODE.status(compat), 7);
            assert_eq!(SessionEnd::Program(None).status(compat), 0);
        }
        assert_eq!(SessionEnd::User.status(CompatMode::Fulmar), 255);
        assert_eq!(SessionEnd::User.status(CompatMode::Mosh), 0);
        assert_eq!(SessionEnd::OtherClient.status(CompatMode::Fulmar), 254);
        assert_eq!(SessionEnd::Detached.status(CompatMode::Fulmar), 0);
    }

    #[test]
    fn the_farewell_tells_who_has_ended_the_session() {
        let killed = SessionEnd::Program(Some(ExitStatus::Signal(9)));
        for (end, told) in [
            (SessionEnd::Program(None), "[fulmar: the session has ended]"),
            (CODE, "[fulmar: the program has exited with status 7]"),
            (killed, "[fulmar: signal 9 has ended the program]"),
            (SessionEnd::User, "[fulmar: you have ended the session]"),
            (
                SessionEnd::Detached,
                "[fulmar: you have left the session, which goes on]",
            ),
            (
                SessionEnd::OtherClient,
                "[fulmar: another client has taken the session, which goes on]",
            ),
        ] {
            assert_eq!(
                end.farewell(LastScreen::Dropped, None).as_deref(),
                Some(told)
            );
        }
        let taken = SessionEnd::OtherClient.farewell(LastScreen::Dropped, Some("192.0.2.7"));
        let told = "[fulmar: a client at 192.0.2.7 has taken the session, which goes on]";
        assert_eq!(taken.as_deref(), Some(told));
    }

    #[test]
    fn a_command_that_has_ended_needs_no_farewell() {
        assert_eq!(CODE.farewell(LastScreen::Printed, None), None);
        assert!(
            SessionEnd::User
                .farewell(LastScreen::Printed, None)
                .is_some()
        );
    }
}
