//! Ends a conversation.

use std::time::Duration;

use fulmar_base::Time;

use crate::Role;
use crate::ending::Ending;
use crate::timing::{linger_end, shutdown_limit};

/// The state of an end: ours, the peer's, or both at once.
///
/// ```text
///  we want to end                                the peer wants to end
///  ─ target MAX, repeated ──────────►            ◄────────── target MAX ─
///  ◄─────────── acknowledged MAX ─  done         ─ acknowledged MAX ────►  done, after a moment
/// ```
///
/// Source: docs/protocol.md §5.6.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closing {
    own: Option<OwnShutdown>,
    peer: Option<PeerShutdown>,
    /// True if a peer that did not answer is told again when it is heard.
    is_persistent: bool,
}

#[derive(Clone, Copy, Debug)]
struct OwnShutdown {
    began: Time,
    tries: u32,
}

#[derive(Clone, Copy, Debug)]
struct PeerShutdown {
    owes_answer: bool,
    /// The first and the last answer.
    answered: Option<(Time, Time)>,
}

/// The values that the end depends on, beside [`Closing`] itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circumstances {
    pub(crate) now: Time,
    pub(crate) role: Role,
    /// True once the peer has acknowledged our last state.
    pub(crate) is_acknowledged: bool,
    pub(crate) last_sent: Time,
    pub(crate) interval: Duration,
    pub(crate) timeout: Duration,
}

impl Closing {
    /// Begins to end the conversation from our side. Once is enough.
    pub(crate) fn begin(&mut self, now: Time) {
        self.own.get_or_insert(OwnShutdown {
            began: now,
            tries: 0,
        });
    }

    /// Has a peer that does not answer be told again when it is heard later.
    pub(crate) fn persist(&mut self) {
        self.is_persistent = true;
    }

    /// Begins once more after that end, if a peer that is heard is to be told again. Returns whether it is.
    pub(crate) fn begin_again(&mut self, now: Time, ended: Ending) -> bool {
        let begins = self.is_told_again(ended);
        if begins {
            self.own = None;
            self.begin(now);
        }
        begins
    }

    /// Tells whether the peer would be told again after that end.
    pub(crate) fn is_told_again(&self, ended: Ending) -> bool {
        self.is_persistent && ended == Ending::Unanswered
    }

    /// Takes note that the peer wants to end, or wants to know once more that we know.
    pub(crate) fn hear(&mut self) {
        let peer = self.peer.get_or_insert(PeerShutdown {
            owes_answer: true,
            answered: None,
        });
        peer.owes_answer = true;
    }

    /// Takes note that an instruction was sent. Returns whether it was the first that answers the
    /// peer's shutdown.
    pub(crate) fn sent(&mut self, now: Time) -> bool {
        if let Some(own) = &mut self.own {
            own.tries = own.tries.saturating_add(1);
        }
        let Some(peer) = &mut self.peer else {
            return false;
        };
        let first = peer.answered.map(|(first, _)| first);
        peer.owes_answer = false;
        peer.answered = Some((first.unwrap_or(now), now));
        first.is_none()
    }

    /// Returns when we began to end, and how often we have said so.
    pub(crate) fn own(&self) -> Option<(Time, u32)> {
        self.own.map(|own| (own.began, own.tries))
    }

    /// Tells whether the peer waits for an answer.
    pub(crate) fn owes_answer(&self) -> bool {
        self.peer.is_some_and(|peer| peer.owes_answer)
    }

    /// Returns when the peer's shutdown was first and last answered.
    pub(crate) fn answered(&self) -> Option<(Time, Time)> {
        self.peer.and_then(|peer| peer.answered)
    }

    /// Returns how the conversation has ended, if it has.
    pub(crate) fn ending(&self, at: Circumstances) -> Option<Ending> {
        if let Some(OwnShutdown { began, tries }) = self.own {
            let (limit, _) = shutdown_limit(began, tries, at.last_sent, at.timeout);
            // Where both ends end at once, the peer's goodbye is answered first, or it would wait
            // in vain.
            return if at.is_acknowledged && (!self.owes_answer() || limit <= at.now) {
                Some(Ending::Acknowledged)
            } else {
                (limit <= at.now).then_some(Ending::Unanswered)
            };
        }
        let (first, last) = self.answered()?;
        let (end, _) = linger_end(at.role, first, last, at.interval, at.timeout);
        (end <= at.now).then_some(Ending::ByPeer)
    }
}

#[cfg(test)]
mod tests;
