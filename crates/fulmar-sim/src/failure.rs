//! The ways in which a run can fail.

use std::fmt;
use std::time::Duration;

use crate::ledger::NonceError;

/// The failure of a run, with the timeline up to there.
///
/// `Debug` prints the same as `Display`, so that `unwrap` and a test that returns it are readable.
pub struct Failure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The time of the failure.
    pub at: Duration,
    /// The seed of the network.
    pub seed: u64,
    /// The events before it, ready to be read.
    pub timeline: String,
}

/// A kind of failure of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// An event that was waited for did not happen within this time.
    Late(Duration),
    /// So many turns passed at one instant: two programs answer each other without end, or one wants
    /// to be woken at once for ever.
    Spin {
        /// The number of turns.
        turns: u32,
        /// The host that was last at work.
        host: String,
    },
    /// A program wanted to send more than so many datagrams at one instant.
    Flood {
        /// The number of datagrams.
        datagrams: u32,
        /// Its host.
        host: String,
    },
    /// A nonce sealed two texts.
    Nonce(NonceError),
    /// The test itself has found something wrong.
    Found(String),
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Late(within) => write!(f, "did not happen within {within:?}"),
            Self::Spin { turns, host } => {
                write!(
                    f,
                    "time stands still: {turns} turns at one instant, the last on {host}"
                )
            }
            Self::Flood { datagrams, host } => {
                write!(
                    f,
                    "{host} sent {datagrams} datagrams at one instant and wants to go on"
                )
            }
            Self::Nonce(error) => write!(f, "{error}"),
            Self::Found(what) => f.write_str(what),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            at,
            seed,
            timeline,
        } = self;
        write!(f, "{kind} (at {at:?}, network seed {seed:#x})\n{timeline}")
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {}
