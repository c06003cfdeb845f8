//! One waiting time.

use std::time::Duration;

/// How long something took, or at least took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Observation {
    /// It came after this time.
    After(Duration),
    /// It had not come after this time, when nobody looked any more.
    Censored(Duration),
}

impl Observation {
    /// Returns the time that was waited, with or without success.
    pub fn waited(self) -> Duration {
        match self {
            Self::After(time) | Self::Censored(time) => time,
        }
    }

    /// Returns the time after which it came, if it did.
    pub fn came(self) -> Option<Duration> {
        match self {
            Self::After(time) => Some(time),
            Self::Censored(_) => None,
        }
    }

    /// True when it did not come.
    pub fn is_censored(self) -> bool {
        matches!(self, Self::Censored(_))
    }
}
