//! Keeps what is known of the peer's presence.

use std::time::Duration;

use fulmar_base::Time;

use crate::Role;
use crate::limits::{RETRY_MARGIN, UNANSWERED_MIN, UNHEARD_MIN};
use crate::timing::{Large, PathProbe};

/// The peer's presence: the time it was last heard, the things it waits for, and a path that is being probed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Liveness {
    /// True once anything was sent.
    pub(crate) has_sent: bool,
    /// The instructions of several datagrams sent since the peer last acknowledged anything.
    pub(crate) large: Option<Large>,
    /// The arrival of the newest state of the peer, if any has come.
    pub(crate) heard: Option<Time>,
    /// The arrival of the last datagram newer than all before.
    pub(crate) arrived: Option<Time>,
    /// The number of retries since then.
    pub(crate) retries: u32,
    /// The departure of the first question since then.
    asked: Option<Time>,
    /// The time since which a state of the peer waits for its acknowledgement.
    pub(crate) unacknowledged_since: Option<Time>,
    /// True if much input is in that state, or in one that came after it.
    pub(crate) owes_for_much: bool,
    /// The time since which the path has not changed: what was sent earlier may have gone astray.
    pub(crate) way_since: Time,
    pub(crate) path_probe: Option<PathProbe>,
}

impl Liveness {
    /// Returns what is known at the beginning: a client does not know whether its path works, a server
    /// does not send before it does.
    pub(crate) fn new(now: Time, role: Role) -> Liveness {
        let path_probe = match role {
            Role::Client => Some(PathProbe::new(now, 0)),
            Role::Server => None,
        };
        Liveness {
            has_sent: false,
            large: None,
            heard: None,
            arrived: None,
            retries: 0,
            asked: None,
            unacknowledged_since: None,
            owes_for_much: false,
            way_since: now,
            path_probe,
        }
    }

    /// Takes note that the peer is at the end of another path, which works.
    pub(crate) fn moved(&mut self, now: Time) {
        self.way_since = now;
        self.path_probe = None;
        self.large = None;
    }

    /// Takes note that the path may have changed, and is to be tried at once.
    pub(crate) fn probe_path(&mut self, now: Time) {
        self.way_since = now;
        self.path_probe = Some(PathProbe::new(now, 0));
        self.large = None;
    }

    /// Tells whether our own datagrams remain unanswered, so that a report of why may be true. Of the peer's silence so
    /// much was announced.
    ///
    /// Source: docs/threat-model.md §7: anybody off the path can forge a report.
    pub(crate) fn is_unanswered(&self, now: Time, timeout: Duration, excused: Duration) -> bool {
        // Nothing has ever come that a report would contradict.
        let Some(arrived) = self.arrived else {
            return true;
        };
        let patience = UNANSWERED_MIN.max((timeout + RETRY_MARGIN) * 2);
        let is_overdue = self.asked.is_some_and(|asked| now.since(asked) >= patience);
        is_overdue || now.since(arrived) >= UNHEARD_MIN.max(timeout * 2) + excused
    }

    /// Takes note of a datagram newer than all before. If an acknowledgement is overdue, the silence
    /// has ended, and all may be sent.
    pub(crate) fn found_alive(&mut self, now: Time, timeout: Duration) {
        self.arrived = Some(now);
        self.retries = 0;
        self.asked = None;
        if let Some(probe) = &mut self.path_probe {
            probe.is_failing = false;
        }
        self.large = self.large.filter(|large| !large.is_overdue(now, timeout));
    }

    /// Takes note that the system did not send; `is_mended` says that the next try will be of another
    /// kind and need not wait.
    pub(crate) fn failed(&mut self, now: Time, is_mended: bool) {
        // A probe that is under way goes on. If each error began one, its pauses would not grow.
        let probe = self.path_probe.get_or_insert(PathProbe::new(now, 1));
        probe.is_failing = true;
        if is_mended {
            self.probe_path(now);
        }
    }

    /// Takes note of a newest state of the peer.
    pub(crate) fn heard(&mut self, now: Time) {
        self.heard = Some(now);
    }

    /// Takes note that the peer waits for an acknowledgement.
    pub(crate) fn owe_acknowledgement(&mut self, now: Time) {
        self.unacknowledged_since.get_or_insert(now);
    }

    /// Takes note that the peer waits for it with more input.
    pub(crate) fn owe_acknowledgement_for_much(&mut self, now: Time) {
        self.owe_acknowledgement(now);
        self.owes_for_much = true;
    }

    /// Takes note of a round trip that began at `sent_at`.
    pub(crate) fn proven(&mut self, sent_at: Time) {
        self.large = None;
        // A round trip that began before the news proves only how the path was.
        self.path_probe = self.path_probe.filter(|probe| sent_at < probe.since);
    }

    /// Takes note that an instruction was sent, in so many datagrams, and whether the peer is to answer
    /// it soon.
    pub(crate) fn sent(&mut self, now: Time, datagrams: usize, is_question: bool) {
        self.has_sent = true;
        if is_question {
            self.asked.get_or_insert(now);
        }
        if datagrams > 1 {
            self.large = Some(Large::again(self.large, now));
        }
        self.unacknowledged_since = None;
        self.owes_for_much = false;
        if let Some(probe) = &mut self.path_probe {
            probe.tries = probe.tries.saturating_add(1);
            probe.is_failing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    fn server() -> Liveness {
        Liveness::new(at(0), Role::Server)
    }

    #[test]
    fn a_client_begins_with_a_probe_and_a_server_does_not() {
        assert!(Liveness::new(at(0), Role::Client).path_probe.is_some());
        assert!(server().path_probe.is_none());
    }

    #[test]
    fn only_a_round_trip_that_began_later_ends_a_probe() {
        let mut liveness = server();
        liveness.probe_path(at(100));
        liveness.proven(at(99));
        assert!(liveness.path_probe.is_some());
        liveness.proven(at(100));
        assert!(liveness.path_probe.is_none());
    }

    #[test]
    fn a_peer_found_elsewhere_ends_a_probe() {
        let mut liveness = server();
        liveness.probe_path(at(100));
        liveness.moved(at(200));
        assert_eq!((liveness.path_probe, liveness.way_since), (None, at(200)));
    }

    #[test]
    fn each_try_is_counted_until_news_of_the_way() {
        let mut liveness = server();
        liveness.probe_path(at(100));
        liveness.sent(at(120), 1, true);
        liveness.sent(at(140), 3, true);
        assert_eq!(liveness.path_probe.unwrap().tries, 2);
        liveness.probe_path(at(200));
        assert_eq!(liveness.path_probe, Some(PathProbe::new(at(200), 0)));
    }

    #[test]
    fn a_refusal_is_forgotten_with_the_next_try() {
        let mut liveness = server();
        liveness.failed(at(100), false);
        assert!(liveness.path_probe.unwrap().is_failing);
        liveness.sent(at(150), 1, true);
        assert!(!liveness.path_probe.unwrap().is_failing);
        liveness.failed(at(200), false);
        let probe = liveness.path_probe.unwrap();
        assert_eq!((probe.since, probe.tries), (at(100), 2));
    }

    #[test]
    fn what_was_too_big_is_tried_again_at_once_and_once() {
        let mut liveness = server();
        liveness.failed(at(100), true);
        assert_eq!(liveness.path_probe, Some(PathProbe::new(at(100), 0)));
    }

    #[test]
    fn what_is_large_counts_until_something_is_acknowledged_or_a_silence_ends() {
        let mut liveness = server();
        let timeout = Duration::from_millis(200);
        liveness.sent(at(100), 3, true);
        liveness.found_alive(at(150), timeout);
        liveness.sent(at(160), 1, true);
        assert_eq!(liveness.large, Some(Large::again(None, at(100))));
        liveness.found_alive(at(400), timeout);
        assert_eq!(liveness.large, None, "it was overdue");
        liveness.sent(at(500), 3, true);
        liveness.proven(at(500));
        assert_eq!(liveness.large, None);
    }

    #[test]
    fn a_report_may_be_true_when_nothing_has_come_back_for_a_while() {
        let mut liveness = server();
        let timeout = Duration::from_millis(200);
        assert!(
            liveness.is_unanswered(at(0), timeout, Duration::ZERO),
            "nobody was heard"
        );
        liveness.found_alive(at(100), timeout);
        liveness.sent(at(3000), 1, false);
        assert!(!liveness.is_unanswered(at(6599), timeout, Duration::ZERO));
        assert!(liveness.is_unanswered(at(6600), timeout, Duration::ZERO));
        liveness.sent(at(4000), 1, true);
        liveness.sent(at(4900), 1, true);
        assert!(!liveness.is_unanswered(at(4999), timeout, Duration::ZERO));
        assert!(liveness.is_unanswered(at(5000), timeout, Duration::ZERO));
        let slow = Duration::from_millis(1000);
        assert!(!liveness.is_unanswered(at(6199), slow, Duration::ZERO));
        assert!(liveness.is_unanswered(at(6200), slow, Duration::ZERO));
        liveness.found_alive(at(5000), timeout);
        assert!(!liveness.is_unanswered(at(5000), timeout, Duration::ZERO));
    }

    #[test]
    fn a_sign_of_life_ends_what_a_refusal_has_caused() {
        let mut liveness = server();
        liveness.failed(at(100), false);
        liveness.found_alive(at(200), Duration::from_millis(200));
        assert!(!liveness.path_probe.unwrap().is_failing);
    }

    #[test]
    fn any_instruction_settles_an_acknowledgement() {
        let mut liveness = server();
        liveness.owe_acknowledgement(at(100));
        liveness.owe_acknowledgement_for_much(at(150));
        assert_eq!(liveness.unacknowledged_since, Some(at(100)));
        assert!(liveness.owes_for_much);
        liveness.sent(at(150), 1, true);
        assert_eq!(liveness.unacknowledged_since, None);
        assert!(!liveness.owes_for_much);
    }
}
