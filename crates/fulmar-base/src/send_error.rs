//! The reasons why a datagram does not leave.

use std::fmt;

/// A reason why the system did not send a datagram, or what it was told about one that it did send.
///
/// Sorted by what it means for the sender, not by the system's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SendError {
    /// Longer than the path allows (`EMSGSIZE`).
    TooBig,
    /// No path there (`ENETUNREACH`, `EHOSTUNREACH`, `ENETDOWN`).
    Unreachable,
    /// Somebody said that nobody listens (`ECONNREFUSED`).
    Refused,
    /// The source address is not, or no longer, this machine's (`EADDRNOTAVAIL`).
    SourceGone,
    /// A local rule forbids it (`EPERM`, `EACCES`).
    Forbidden,
    /// No room at present (`ENOBUFS`, `EAGAIN`).
    NoRoom,
    /// Anything else.
    Other,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SendError::TooBig => "too big",
            SendError::Unreachable => "network unreachable",
            SendError::Refused => "connection refused",
            SendError::SourceGone => "source address gone",
            SendError::Forbidden => "forbidden",
            SendError::NoRoom => "no room",
            SendError::Other => "other error",
        })
    }
}
