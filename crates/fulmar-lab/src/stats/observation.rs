//! One waiting time.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::millis;

/// The time that something took, or at least took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Form", into = "Form")]
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

/// The form in which it is written to files.
#[derive(Serialize, Deserialize)]
struct Form {
    #[serde(with = "millis")]
    ms: Duration,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    censored: bool,
}

impl From<Observation> for Form {
    fn from(observation: Observation) -> Self {
        Self {
            ms: observation.waited(),
            censored: observation.is_censored(),
        }
    }
}

impl From<Form> for Observation {
    fn from(form: Form) -> Self {
        if form.censored {
            Self::Censored(form.ms)
        } else {
            Self::After(form.ms)
        }
    }
}
