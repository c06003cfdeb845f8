//! The contract that every impairment keeps.

use std::fmt;
use std::time::Duration;

use crate::datagram::{Datagram, Label};
use crate::impairment::{Impairment, Notice};
use fulmar_base::SendError;

/// One thing that happens to datagrams on their way, in one direction.
///
/// `take` hands a datagram in. Whatever comes out, then or later, goes into the [`Outlet`]. A stage
/// that holds datagrams back names the instant of the next release in `next_due`, and is asked to
/// `release` at exactly that instant, also when its owner looks late: times are computed, so a
/// late look shifts nothing.
pub trait Stage: fmt::Debug {
    /// Takes a datagram that reaches this stage at `now`.
    fn take(&mut self, now: Duration, datagram: Datagram, outlet: &mut Outlet);

    /// Gives out what is due at `now`, which is the instant that [`next_due`](Self::next_due) named.
    fn release(&mut self, _now: Duration, _outlet: &mut Outlet) {}

    /// Returns the instant of the next release, or `None` where nothing is held.
    fn next_due(&self) -> Option<Duration> {
        None
    }

    /// Takes new settings, if they are of this stage's kind. What it holds stays held.
    ///
    /// Returns false where they are for another kind of stage.
    fn change(&mut self, _now: Duration, _to: &Impairment) -> bool {
        false
    }
}

/// The datagrams that came out of a stage.
#[derive(Debug, Default)]
pub struct Outlet {
    pub(crate) passed: Vec<Datagram>,
    pub(crate) fates: Vec<(Label, Fate)>,
    pub(crate) refused: Vec<(Datagram, SendError)>,
}

impl Outlet {
    /// Passes a datagram on.
    pub fn pass(&mut self, datagram: Datagram) {
        self.passed.push(datagram);
    }

    /// Loses a datagram without telling anybody.
    pub fn lose(&mut self, datagram: Datagram, why: LossCause) {
        self.fates.push((datagram.label(), Fate::Lost(why)));
    }

    /// Loses a datagram and lets its sender know.
    pub fn refuse(&mut self, datagram: Datagram, error: SendError) {
        self.refused.push((datagram, error));
    }

    /// Loses a datagram, and tells its sender if that is the setting.
    pub(crate) fn stop(&mut self, datagram: Datagram, why: LossCause, notice: Notice) {
        match notice {
            Notice::Silent => self.lose(datagram, why),
            Notice::Reported(error) => self.refuse(datagram, error),
        }
    }

    /// Passes a datagram on, and behind it a copy.
    pub fn double(&mut self, datagram: Datagram) {
        let mut copy = datagram.clone();
        copy.ticket.is_copy = true;
        self.fates.push((copy.label(), Fate::Doubled));
        self.passed.push(datagram);
        self.passed.push(copy);
    }

    /// Notes for the timeline that a datagram has to wait behind others.
    pub(crate) fn queued(&mut self, datagram: &Datagram) {
        self.fates.push((datagram.label(), Fate::Queued));
    }
}

/// The fate of a datagram inside a path, when it is not simply passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Lost(LossCause),
    Refused(SendError),
    Doubled,
    Queued,
}

/// The cause of the loss of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LossCause {
    /// By chance.
    Random,
    /// In a burst of losses.
    Burst,
    /// The queue in front of a slow link was full.
    QueueFull,
    /// The queue in front of a slow link had been standing for too long.
    QueueStanding,
    /// Larger than the link carries.
    TooBig,
    /// The link was out.
    Outage,
    /// A firewall lets nothing through.
    Blocked,
    /// The address translator has no mapping for it, or filters it.
    Nat,
    /// Nobody has that address, or not any more.
    Nobody,
    /// The host it reached was asleep.
    Asleep,
    /// A test picked it.
    Picked,
}

impl fmt::Display for LossCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Random => "by chance",
            Self::Burst => "in a burst",
            Self::QueueFull => "queue full",
            Self::QueueStanding => "standing queue",
            Self::TooBig => "too big",
            Self::Outage => "outage",
            Self::Blocked => "blocked",
            Self::Nat => "no NAT mapping",
            Self::Nobody => "nobody has this address",
            Self::Asleep => "host asleep",
            Self::Picked => "picked by the test",
        })
    }
}
