//! The news in the output of ssh.

/// News from the remote side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputEvent {
    /// The remote shell reads: what was written earlier may be lost.
    Ready,
    /// A server of ours reads: the same.
    Hello,
    /// A line of somebody else's, without its end and with its control characters spelled out.
    Other(String),
    /// A warning for the user.
    Warning(String),
    /// The remote end can be reached.
    Reachable,
    /// The server has read what it is for, and can be that.
    Agreed,
    /// The server has had a datagram of ours.
    Heard,
    /// Frames of a copy follow.
    OverSsh,
}
