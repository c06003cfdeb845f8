//! A peer that breaks the rules.

use thiserror::Error;

/// The peer has sent what no peer of ours sends. The copy ends; what is verified stays, parts stay for another try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Wrong {
    /// A lane has ended in the middle.
    #[error("the other side stopped in the middle of the copy")]
    EndedEarly,
}
