//! The life of a session as its client sees it: from connecting to the end, and the ways out.

use std::time::Duration;

use fulmar_base::Time;
use fulmar_transport::Ending;

use crate::notice::SUSPICIOUS_AFTER;

/// The longest wait for the first answer.
///
/// Source: docs/protocol.md §2.8.
const CONNECT_WITHIN: Duration = Duration::from_secs(15);

/// The time for which a goodbye is said to a server that has never answered. Chosen by eye: some repetitions, for one that
/// hears and is not heard.
const GOODBYE_WITHIN: Duration = Duration::from_secs(1);

/// The reason for which the edge wants the session to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExitCause {
    /// A signal that ends programs.
    Signal,
    /// There is nothing more to read from the user.
    InputEnded,
}

/// The way in which a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClientEnding {
    /// The server has ended the session, usually because its program ended.
    ServerEnded,
    /// Another client has taken the session, which goes on.
    TakenOver,
    /// The user wanted it, and the server knows.
    UserQuit,
    /// The user has left the session, which goes on, and the server knows.
    Detached,
    /// The session was left, so that it goes on, and the server did not say that it knows. It may have ended before.
    LeftUnheard,
    /// The edge wanted it, and the server knows.
    Asked(ExitCause),
    /// The server has never answered.
    NeverConnected,
    /// It was ended here, and the server did not say that it knows. Its program may go on.
    Unanswered,
    /// The offer or the announcement has changed on its way.
    Altered,
    /// The key has encrypted all that it safely can.
    KeySpent,
}

/// The stage that a session has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Open,
    /// The server is being told.
    Closing(ClientEnding),
    Ended,
}

/// The knowledge about the server when a session is to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    /// True if it has answered.
    pub(crate) is_connected: bool,
    /// True if anything may have arrived there. That it does not say so over ssh proves nothing: its word may have been lost.
    pub(crate) may_have_heard: bool,
    /// True if it has said by another way that it has heard us; `None` if it does not do that.
    pub(crate) is_heard: Option<bool>,
}

/// A way out of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WayOut {
    /// Tell the server first.
    Goodbye(ClientEnding),
    /// Go.
    End(ClientEnding),
}

/// The stage of a session, and since when.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    pub(crate) phase: Phase,
    /// The time at which the wait for the first answer began, not counting sleep.
    connecting_since: Time,
    /// The time at which the client began to say goodbye, if it did by itself.
    closing_since: Option<Time>,
    /// True if the goodbye says that the session goes on.
    goes_on: bool,
}

impl Lifecycle {
    pub(crate) fn begin(now: Time) -> Lifecycle {
        Lifecycle {
            phase: Phase::Open,
            connecting_since: now,
            closing_since: None,
            goes_on: false,
        }
    }

    /// Takes note that the goodbye, which has not begun, is to say that the session goes on.
    pub(crate) fn note_going_on(&mut self) {
        self.goes_on = true;
    }

    pub(crate) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.phase == Phase::Ended
    }

    /// Takes note of a sleep, in which a server cannot have answered.
    pub(crate) fn note_sleep(&mut self, slept: Duration) {
        self.connecting_since += slept;
    }

    /// Returns the time at which the client gives up waiting for the first answer, even if that is one to its goodbye.
    pub(crate) fn limit(&self, is_connected: bool) -> Option<Time> {
        match self.phase {
            _ if is_connected => None,
            Phase::Open => Some(self.connecting_since + CONNECT_WITHIN),
            Phase::Closing(_) => self.closing_since.map(|since| since + GOODBYE_WITHIN),
            Phase::Ended => None,
        }
    }

    /// Returns true if a server that has not answered has had the time to.
    pub(crate) fn is_answer_late(&self, now: Time) -> bool {
        now.since(self.connecting_since) >= SUSPICIOUS_AFTER
    }

    /// Returns the way out for somebody who wants the end: a goodbye, unless nobody can hear it or it has been said.
    pub(crate) fn quit(&self, why: ClientEnding, contact: Contact) -> Option<WayOut> {
        match self.phase {
            Phase::Open if contact.may_have_heard => Some(WayOut::Goodbye(why)),
            Phase::Open => Some(WayOut::End(ClientEnding::NeverConnected)),
            Phase::Closing(why @ ClientEnding::Altered) => Some(WayOut::End(why)),
            Phase::Closing(_) => Some(WayOut::End(self.unanswered(contact.is_connected))),
            Phase::Ended => None,
        }
    }

    /// Returns the way out of a session that has not begun. A server that has not heard us ends with the login, and
    /// would not hear a goodbye either.
    pub(crate) fn give_up(&self, contact: Contact) -> WayOut {
        if self.closing_since.is_some() || contact.is_heard == Some(false) {
            WayOut::End(ClientEnding::NeverConnected)
        } else {
            WayOut::Goodbye(ClientEnding::NeverConnected)
        }
    }

    /// Takes note of a goodbye that begins, by itself or because the endpoint says one.
    pub(crate) fn begin_closing(&mut self, why: ClientEnding) {
        self.phase = Phase::Closing(why);
    }

    /// Begins a goodbye. Returns false, and does nothing, if one has begun.
    pub(crate) fn close(&mut self, now: Time, why: ClientEnding) -> bool {
        let is_open = self.is_open();
        if is_open {
            self.begin_closing(why);
            self.closing_since = Some(now);
        }
        is_open
    }

    /// Ends. Returns false if that is no news.
    pub(crate) fn end(&mut self) -> bool {
        std::mem::replace(&mut self.phase, Phase::Ended) != Phase::Ended
    }

    /// Returns how a session has ended whose endpoint has.
    pub(crate) fn ending(
        &self,
        ending: Ending,
        is_connected: bool,
        is_taken_over: bool,
    ) -> ClientEnding {
        match (self.phase, ending) {
            (_, Ending::KeySpent) => ClientEnding::KeySpent,
            (_, Ending::Altered) => ClientEnding::Altered,
            (Phase::Closing(why @ ClientEnding::NeverConnected), _) => why,
            (Phase::Closing(why), Ending::Acknowledged | Ending::ByPeer) => why,
            (Phase::Closing(_), _) => self.unanswered(is_connected),
            (Phase::Open | Phase::Ended, _) if is_taken_over => ClientEnding::TakenOver,
            (Phase::Open | Phase::Ended, _) => ClientEnding::ServerEnded,
        }
    }

    /// Returns the ending if nobody answers: either no goodbye was acknowledged, or the server never answered at all.
    fn unanswered(&self, is_connected: bool) -> ClientEnding {
        match (is_connected, self.goes_on) {
            (true, true) => ClientEnding::LeftUnheard,
            (true, false) => ClientEnding::Unanswered,
            (false, _) => ClientEnding::NeverConnected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: Contact = Contact {
        is_connected: false,
        may_have_heard: false,
        is_heard: None,
    };

    fn secs(seconds: u64) -> Time {
        Time::from_origin(Duration::from_secs(seconds))
    }

    #[test]
    fn whoever_leaves_says_goodbye_once_and_only_if_it_can_be_heard() {
        let mut life = Lifecycle::begin(secs(0));
        let why = ClientEnding::UserQuit;
        let never = Some(WayOut::End(ClientEnding::NeverConnected));
        assert_eq!(life.quit(why, NOBODY), never);
        let heard = Contact {
            may_have_heard: true,
            ..NOBODY
        };
        assert_eq!(life.quit(why, heard), Some(WayOut::Goodbye(why)));
        assert!(life.close(secs(1), why) && !life.close(secs(2), why));
        assert_eq!(life.quit(why, heard), never);
        let connected = Contact {
            is_connected: true,
            ..heard
        };
        let unanswered = WayOut::End(ClientEnding::Unanswered);
        assert_eq!(life.quit(why, connected), Some(unanswered));
        assert!(life.end() && !life.end());
        assert_eq!(life.quit(why, connected), None);
    }

    #[test]
    fn a_session_that_was_left_is_known_to_go_on_only_if_its_server_answers() {
        let mut life = Lifecycle::begin(secs(0));
        let why = ClientEnding::Detached;
        let heard = Contact {
            is_connected: true,
            may_have_heard: true,
            is_heard: None,
        };
        life.note_going_on();
        assert_eq!(life.quit(why, heard), Some(WayOut::Goodbye(why)));
        assert!(life.close(secs(1), why));
        let unheard = ClientEnding::LeftUnheard;
        let impatient = life.quit(ClientEnding::UserQuit, heard);
        assert_eq!(impatient, Some(WayOut::End(unheard)));
        for (ending, told) in [
            (Ending::Acknowledged, why),
            (Ending::ByPeer, why),
            (Ending::Unanswered, unheard),
        ] {
            assert_eq!(life.ending(ending, true, false), told);
        }
        assert_eq!(life.ending(Ending::ByPeer, true, true), why);
    }

    #[test]
    fn a_first_answer_is_waited_for_and_sleep_does_not_count() {
        let mut life = Lifecycle::begin(secs(0));
        assert_eq!(life.limit(false), Some(secs(15)));
        life.note_sleep(Duration::from_secs(100));
        assert_eq!(life.limit(false), Some(secs(115)));
        assert_eq!(life.limit(true), None);
        assert!(!life.is_answer_late(secs(102)) && life.is_answer_late(secs(103)));
        life.close(secs(110), ClientEnding::NeverConnected);
        assert_eq!(life.limit(false), Some(secs(111)));
        life.end();
        assert_eq!(life.limit(false), None);
    }

    #[test]
    fn a_server_that_has_not_heard_us_gets_no_goodbye() {
        let life = Lifecycle::begin(secs(0));
        for (is_heard, way_out) in [
            (Some(false), WayOut::End(ClientEnding::NeverConnected)),
            (Some(true), WayOut::Goodbye(ClientEnding::NeverConnected)),
            (None, WayOut::Goodbye(ClientEnding::NeverConnected)),
        ] {
            let contact = Contact { is_heard, ..NOBODY };
            assert_eq!(life.give_up(contact), way_out);
        }
    }
}
