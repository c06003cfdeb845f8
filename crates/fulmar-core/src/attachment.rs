//! A connection whose client is to take a session.

use std::time::Duration;

use fulmar_base::Time;
use fulmar_transport::FarewellWords;

use crate::connection::Connection;

/// The time for which the client of an attachment is waited for.
///
/// Chosen by eye: as long as for a session's first client.
const USED_WITHIN: Duration = Duration::from_secs(60);

/// A connection whose client was not heard of yet, for a session that may have another client.
pub(crate) struct Attachment {
    made: Time,
    pub(crate) connection: Connection,
    /// Says who attaches, to the client that loses the session.
    pub(crate) taker: Option<FarewellWords>,
}

impl Attachment {
    pub(crate) fn new(
        now: Time,
        connection: Connection,
        taker: Option<FarewellWords>,
    ) -> Attachment {
        Attachment {
            made: now,
            connection,
            taker,
        }
    }

    /// Returns the time at which it is dropped.
    pub(crate) fn due(&self) -> Time {
        self.made + USED_WITHIN
    }
}
