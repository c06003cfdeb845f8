//! The ways in which a conversation ends.

/// The way in which a conversation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ending {
    /// We ended it and the peer knows.
    Acknowledged,
    /// We ended it and the peer did not say that it knows.
    Unanswered,
    /// The peer ended it.
    ByPeer,
    /// The two ends have not seen the same agreement; goodbye was said, whether it was answered or
    /// not.
    Altered,
    /// The key has encrypted all that it safely can.
    KeySpent,
}
