//! Keeps what is known of the peer's presence.

use fulmar_datagram::Time;

use crate::Role;
use crate::timing::Doubt;

/// The peer's presence: the time it was last heard, the things it waits for, and a doubt about the way to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    /// True once anything was sent.
    pub(crate) has_sent: bool,
    /// Whether what was sent last fitted into one datagram.
    pub(crate) was_small: bool,
    /// When the newest state of the peer arrived, if any has.
    pub(crate) heard: Option<Time>,
    /// Since when a state of the peer waits for its acknowledgement.
    pub(crate) unacknowledged_since: Option<Time>,
    /// Since when the way has not changed: what was sent earlier may have gone astray.
    pub(crate) way_since: Time,
    pub(crate) doubt: Option<Doubt>,
}

impl Contact {
    /// Returns what is known at the beginning: a client does not know whether its way works, a server
    /// does not send before it does.
    pub(crate) fn new(now: Time, role: Role) -> Contact {
        let doubt = match role {
            Role::Client => Some(Doubt::new(now, 0)),
            Role::Server => None,
        };
        Contact {
            has_sent: false,
            was_small: true,
            heard: None,
            unacknowledged_since: None,
            way_since: now,
            doubt,
        }
    }

    /// Takes note that the peer is at the end of another way, which works.
    pub(crate) fn moved(&mut self, now: Time) {
        self.way_since = now;
        self.doubt = None;
    }

    /// Takes note that the way may have changed, and is to be tried at once.
    pub(crate) fn doubt_way(&mut self, now: Time) {
        self.way_since = now;
        self.doubt = Some(Doubt::new(now, 0));
    }

    /// Takes note that the system did not send; `is_mended` says that the next try will be of another
    /// kind and need not wait.
    pub(crate) fn failed(&mut self, now: Time, is_mended: bool) {
        let doubt = self.doubt.get_or_insert(Doubt::new(now, 1));
        doubt.is_failing = true;
        if is_mended {
            self.doubt_way(now);
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

    /// Takes note of a round trip that began at `sent_at`.
    pub(crate) fn proven(&mut self, sent_at: Time) {
        self.doubt = self.doubt.filter(|doubt| sent_at < doubt.since);
    }

    /// Takes note that an instruction was sent, in so many datagrams.
    pub(crate) fn sent(&mut self, datagrams: usize) {
        self.has_sent = true;
        self.was_small = datagrams == 1;
        self.unacknowledged_since = None;
        if let Some(doubt) = &mut self.doubt {
            doubt.tries = doubt.tries.saturating_add(1);
            doubt.is_failing = false;
            doubt.is_costly = datagrams > 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn at(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    fn server() -> Contact {
        Contact::new(at(0), Role::Server)
    }

    #[test]
    fn a_client_begins_in_doubt_and_a_server_does_not() {
        assert!(Contact::new(at(0), Role::Client).doubt.is_some());
        assert!(server().doubt.is_none());
    }

    #[test]
    fn only_a_round_trip_that_began_later_ends_a_doubt() {
        let mut contact = server();
        contact.doubt_way(at(100));
        contact.proven(at(99));
        assert!(contact.doubt.is_some());
        contact.proven(at(100));
        assert!(contact.doubt.is_none());
    }

    #[test]
    fn a_peer_found_elsewhere_ends_a_doubt() {
        let mut contact = server();
        contact.doubt_way(at(100));
        contact.moved(at(200));
        assert_eq!((contact.doubt, contact.way_since), (None, at(200)));
    }

    #[test]
    fn each_try_is_counted_until_news_of_the_way() {
        let mut contact = server();
        contact.doubt_way(at(100));
        contact.sent(1);
        contact.sent(3);
        let doubt = contact.doubt.unwrap();
        assert_eq!((doubt.tries, doubt.is_costly), (2, true));
        contact.doubt_way(at(200));
        assert_eq!(contact.doubt, Some(Doubt::new(at(200), 0)));
    }

    #[test]
    fn a_refusal_is_forgotten_with_the_next_try() {
        let mut contact = server();
        contact.failed(at(100), false);
        assert!(contact.doubt.unwrap().is_failing);
        contact.sent(1);
        assert!(!contact.doubt.unwrap().is_failing);
        contact.failed(at(200), false);
        let doubt = contact.doubt.unwrap();
        assert_eq!((doubt.since, doubt.tries), (at(100), 2));
    }

    #[test]
    fn what_was_too_big_is_tried_again_at_once_and_once() {
        let mut contact = server();
        contact.failed(at(100), true);
        assert_eq!(contact.doubt, Some(Doubt::new(at(100), 0)));
    }

    #[test]
    fn any_instruction_settles_an_acknowledgement() {
        let mut contact = server();
        contact.owe_acknowledgement(at(100));
        contact.owe_acknowledgement(at(150));
        assert_eq!(contact.unacknowledged_since, Some(at(100)));
        contact.sent(1);
        assert_eq!(contact.unacknowledged_since, None);
    }
}
