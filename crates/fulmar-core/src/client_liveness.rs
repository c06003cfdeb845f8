//! Follows whether somebody is at the other end, and since when nobody is.

use std::time::Duration;

use fulmar_base::{PathId, Time};

/// The time for which a server waits for its first client.
///
/// Source: docs/protocol.md §2.6.
const FIRST_CLIENT_WITHIN: Duration = Duration::from_secs(60);

/// Silence after which a session counts as detached.
///
/// Source: docs/protocol.md §2.6.
const DETACHED_AFTER: Duration = Duration::from_secs(30);

/// A change in the client's liveness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// It is there, on this path.
    At(PathId),
    /// Nothing has come from it for a while.
    Detached,
    /// It never came.
    NeverCame,
    /// It has been away for longer than the session may wait.
    Expired,
}

/// Follows the client by the states that arrive from it; a heartbeat is one too.
#[derive(Debug)]
pub(crate) struct ClientLiveness {
    started: Time,
    /// The time for which the session outlives the last client state; `None` for ever.
    expiry: Option<Duration>,
    /// The arrival of its last state, or later if it has announced a pause.
    silent_since: Option<Time>,
    /// The path on which the client was last said to be; `None` while it counts as detached.
    announced: Option<PathId>,
    is_over: bool,
}

impl ClientLiveness {
    pub(crate) fn new(started: Time, expiry: Option<Duration>) -> ClientLiveness {
        ClientLiveness {
            started,
            expiry,
            silent_since: None,
            announced: None,
            is_over: false,
        }
    }

    /// Notes a new state of the client, after which its silence means something from `since` on. Says if it came from
    /// somewhere else than before.
    pub(crate) fn note_state(&mut self, since: Time, path: Option<PathId>) -> Option<Change> {
        self.silent_since = Some(since);
        let path = path?;
        if self.announced == Some(path) {
            return None;
        }
        self.announced = Some(path);
        Some(Change::At(path))
    }

    /// Says what the silence has come to mean. Each meaning is told once.
    pub(crate) fn look(&mut self, now: Time) -> Option<Change> {
        if self.over_at().is_some_and(|over| over <= now) {
            self.is_over = true;
            return Some(match self.silent_since {
                Some(_) => Change::Expired,
                None => Change::NeverCame,
            });
        }
        if self.detached_at().is_some_and(|detached| detached <= now) {
            self.announced = None;
            return Some(Change::Detached);
        }
        None
    }

    /// Notes that the client has left and is not waited for. Says if that is news.
    pub(crate) fn note_left(&mut self, now: Time) -> Option<Change> {
        self.silent_since = Some(now);
        self.announced.take().map(|_| Change::Detached)
    }

    /// Returns the time that is left until the session ends if nothing comes from a client; `None` if it waits for ever.
    pub(crate) fn expires_in(&self, now: Time) -> Option<Duration> {
        self.over_at().map(|over| over.since(now))
    }

    /// Returns true if there is a client that was heard of lately.
    pub(crate) fn is_attended(&self) -> bool {
        self.announced.is_some()
    }

    /// Returns the time at which [`ClientLiveness::look`] will next have something to say.
    pub(crate) fn due(&self) -> Option<Time> {
        [self.over_at(), self.detached_at()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Returns true once the client has been heard of.
    pub(crate) fn has_met(&self) -> bool {
        self.silent_since.is_some()
    }

    /// Returns the time for which nothing has come from the client; `None` if nothing ever did.
    pub(crate) fn silence(&self, now: Time) -> Option<Duration> {
        Some(now.since(self.silent_since?))
    }

    fn over_at(&self) -> Option<Time> {
        if self.is_over {
            return None;
        }
        match self.silent_since {
            Some(last) => Some(last + self.expiry?),
            None => Some(self.started + FIRST_CLIENT_WITHIN),
        }
    }

    fn detached_at(&self) -> Option<Time> {
        self.announced?;
        Some(self.silent_since? + DETACHED_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: PathId = PathId::new(1);
    const THERE: PathId = PathId::new(2);

    fn secs(seconds: u64) -> Time {
        Time::from_origin(Duration::from_secs(seconds))
    }

    #[test]
    fn a_client_that_never_comes_is_waited_for_a_minute() {
        let mut liveness = ClientLiveness::new(secs(100), None);
        assert_eq!(liveness.due(), Some(secs(160)));
        assert_eq!(liveness.look(secs(159)), None);
        assert_eq!(liveness.look(secs(160)), Some(Change::NeverCame));
        assert_eq!(liveness.look(secs(1000)), None);
        assert_eq!(liveness.due(), None);
    }

    #[test]
    fn a_client_is_announced_where_it_is_and_once() {
        let mut liveness = ClientLiveness::new(secs(0), None);
        assert_eq!(
            liveness.note_state(secs(1), Some(HERE)),
            Some(Change::At(HERE))
        );
        assert_eq!(liveness.note_state(secs(2), Some(HERE)), None);
        assert_eq!(
            liveness.note_state(secs(3), Some(THERE)),
            Some(Change::At(THERE))
        );
        assert_eq!(liveness.look(secs(1_000_000)), Some(Change::Detached));
    }

    #[test]
    fn silence_of_30_s_is_detached_until_it_ends() {
        let mut liveness = ClientLiveness::new(secs(0), None);
        liveness.note_state(secs(1), Some(HERE));
        assert_eq!(liveness.due(), Some(secs(31)));
        assert_eq!(liveness.look(secs(30)), None);
        assert_eq!(liveness.look(secs(31)), Some(Change::Detached));
        assert_eq!(liveness.look(secs(90)), None);
        assert_eq!(liveness.due(), None);
        assert_eq!(
            liveness.note_state(secs(91), Some(HERE)),
            Some(Change::At(HERE))
        );
    }

    #[test]
    fn a_client_that_leaves_is_gone_at_once_and_the_session_waits_from_then_on() {
        let mut liveness = ClientLiveness::new(secs(0), Some(Duration::from_secs(100)));
        liveness.note_state(secs(1), Some(HERE));
        assert!(liveness.is_attended());
        assert_eq!(liveness.note_left(secs(5)), Some(Change::Detached));
        assert_eq!(liveness.note_left(secs(6)), None);
        assert!(!liveness.is_attended());
        let left = liveness.expires_in(secs(16));
        assert_eq!(left, Some(Duration::from_secs(90)));
        assert_eq!(liveness.due(), Some(secs(106)));
        assert_eq!(liveness.look(secs(50)), None);
    }

    #[test]
    fn a_session_expires_if_it_is_told_to() {
        let mut liveness = ClientLiveness::new(secs(0), Some(Duration::from_secs(4)));
        assert_eq!(liveness.look(secs(5)), None, "nobody came yet");
        liveness.note_state(secs(10), Some(HERE));
        assert_eq!(liveness.due(), Some(secs(14)));
        assert_eq!(liveness.look(secs(13)), None);
        assert_eq!(liveness.look(secs(14)), Some(Change::Expired));
        assert_eq!(liveness.silence(secs(14)), Some(Duration::from_secs(4)));
    }
}
