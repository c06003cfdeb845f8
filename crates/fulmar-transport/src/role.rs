//! The two ends of a conversation.

/// One of the two ends of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The one that begins, knows where the peer is, and never follows it.
    Client,
    /// The one that is found, and follows its peer.
    Server,
}
