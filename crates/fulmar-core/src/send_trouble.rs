//! The words for datagrams that could not be sent, or cannot have arrived.

use fulmar_base::SendError;

use crate::notice::REJECTED;

/// Returns what a person can make of an error of the system.
pub(crate) fn of_system(error: SendError) -> String {
    let why = match error {
        SendError::TooBig => "the network takes only short datagrams",
        SendError::Unreachable | SendError::SourceGone => "no network leads to the server",
        SendError::Refused => "nothing listens at the server's port",
        SendError::Forbidden => "a local firewall forbids it",
        SendError::NoRoom => "the system has no room for more",
        SendError::Other => "the system reports an error",
    };
    format!("cannot send: {why}")
}

/// Returns what a person can make of a report about what was sent to `server`. It came from the network: only if there is
/// nothing between the two ends is it known who has sent it.
pub(crate) fn of_report(error: SendError, server: &str, is_server_local: bool) -> String {
    match error {
        SendError::Refused if !is_server_local => REJECTED.to_owned(),
        SendError::Unreachable | SendError::Forbidden => {
            format!("a firewall or router refuses {server}")
        }
        error => of_system(error),
    }
}
