//! What is known of the peer's presence.

use fulmar_datagram::Time;

use crate::Role;
use crate::timing::Doubt;

/// When the peer was last heard, what it waits for, and whether the way to it is in doubt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    /// Whether anything was ever sent.
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
