//! Output of ssh that a login cannot go on with.

use crate::login_error::LoginError;

/// The line that the remote shell prints when it begins to read. Behind a blank it may say where it has found `fulmar`.
///
/// Source: docs/protocol.md §2.9.
pub(crate) const READY_LINE: &[u8] = b"FULMAR READY";

/// A reason to read no more of what comes out of ssh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputError {
    /// More text has come than belongs there.
    TooMuchText,
    /// A line begins as one of a server's and goes on otherwise.
    Malformed,
    /// A server of sessions answers where a copy is wanted.
    SessionServer,
    /// The server speaks this version.
    Version(u32),
    /// There were two servers.
    TwoServers,
    /// A session that is there is wanted of a server that knows of none.
    NoAttach,
}

impl OutputError {
    /// Returns it as a failure of a login to that host.
    pub fn failure(self, host: String) -> LoginError {
        match self {
            OutputError::TooMuchText => LoginError::TooMuchText { host },
            OutputError::Malformed => LoginError::Malformed { host },
            OutputError::SessionServer => LoginError::SessionServer { host },
            OutputError::Version(version) => LoginError::Version { host, version },
            OutputError::TwoServers => LoginError::TwoServers { host },
            OutputError::NoAttach => LoginError::NoAttach { host },
        }
    }
}
