//! Tells paths of an instruction that was sent.

use std::time::Duration;

use fulmar_base::Time;

use crate::StateNumber;

/// An instruction that was sent, as far as it matters to paths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    /// The bytes of its datagrams.
    pub(crate) bytes: usize,
    /// The state that it leads to, if none of that number was sent before.
    pub(crate) news: Option<StateNumber>,
    /// The time since which a round trip is missing: the newest acknowledged state was sent then, or the first question
    /// after it.
    pub(crate) proven: Time,
    /// The part of the peer's silence that was announced.
    pub(crate) excused: Duration,
    /// The time for which a path may be without a proof that it works.
    pub(crate) hop_interval: Duration,
}
