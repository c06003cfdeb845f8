//! The impairments of a path, as plain data.

mod blocked;
mod burst_loss;
mod delay;
mod duplication;
mod loss;
mod marking;
mod mtu;
mod outage;
mod picked;
mod rate;
mod reordering;
mod stage;
mod traced;

pub use blocked::Blocked;
pub use burst_loss::BurstLoss;
pub use delay::Delay;
pub use duplication::Duplication;
pub use loss::Loss;
pub use marking::Marking;
pub use mtu::Mtu;
pub use outage::Outage;
pub use picked::Picked;
pub use rate::Rate;
pub use reordering::Reordering;
pub(crate) use stage::Fate;
pub use stage::{LossCause, Outlet, Stage};
pub use traced::Traced;

use crate::random::Random;
use fulmar_base::SendError;

/// One entry of a path's description.
///
/// The constructors of the settings return it, so that a path is written as one list:
///
/// ```
/// use fulmar_sim::{Delay, Impairment, Loss, Queue, Rate, ms};
///
/// let slow: [Impairment; 3] =
///     [Loss::percent(2), Rate::kbit(400, Queue::datagrams(24)), Delay::fixed(ms(80))];
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Impairment {
    /// Nothing gets through.
    Blocked(Blocked),
    /// Losses come in bursts.
    BurstLoss(BurstLoss),
    /// Datagrams take time.
    Delay(Delay),
    /// Some arrive twice.
    Duplication(Duplication),
    /// Some are lost.
    Loss(Loss),
    /// Congestion marks are set or wiped.
    Marking(Marking),
    /// Large ones are lost.
    Mtu(Mtu),
    /// Nothing gets through at times.
    Outage(Outage),
    /// A slow link with a queue in front of it.
    Rate(Rate),
    /// Some, named by number, are lost.
    Picked(Picked),
    /// Some are overtaken.
    Reordering(Reordering),
    /// A link that follows a trace, with a queue in front of it.
    Traced(Traced),
}

impl Impairment {
    /// Builds the stage that does this, with chance from `random`.
    #[must_use]
    pub(crate) fn into_stage(self, random: Random) -> Box<dyn Stage> {
        match self {
            Self::Blocked(setting) => Box::new(setting),
            Self::BurstLoss(setting) => Box::new(setting.into_stage(random)),
            Self::Delay(setting) => Box::new(setting.into_stage(random)),
            Self::Duplication(setting) => Box::new(setting.into_stage(random)),
            Self::Loss(setting) => Box::new(setting.into_stage(random)),
            Self::Marking(setting) => Box::new(setting.into_stage(random)),
            Self::Mtu(setting) => Box::new(setting),
            Self::Outage(setting) => Box::new(setting),
            Self::Picked(setting) => Box::new(setting.into_stage()),
            Self::Rate(setting) => Box::new(setting.into_stage()),
            Self::Reordering(setting) => Box::new(setting.into_stage(random)),
            Self::Traced(setting) => Box::new(setting.into_stage()),
        }
    }
}

/// The report to the sender of a datagram that was not carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// It is lost without a word, as most networks do.
    Silent,
    /// The sender's system reports this error.
    Reported(SendError),
}
