//! The counters of an endpoint.

use crate::cause::{Cause, DropReason, Tally};

/// Counts of one endpoint. They only rise.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Instructions sent, by cause.
    pub sent: Tally<Cause>,
    /// Wake-ups, by what had come due.
    pub woken: Tally<Cause>,
    /// Datagrams of which no use was made, by reason.
    pub dropped: Tally<DropReason>,
    /// Datagrams sent.
    pub datagrams_sent: u64,
    /// Bytes of those.
    pub bytes_sent: u64,
    /// Datagrams that arrived, whatever became of them.
    pub datagrams_received: u64,
    /// Bytes of those.
    pub bytes_received: u64,
    /// Datagrams newer than all before.
    pub fresh: u64,
    /// Genuine datagrams that were overtaken or repeated.
    pub late: u64,
    /// Instructions whose state was held already.
    pub duplicates: u64,
    /// Instructions that made a state of the peer the newest.
    pub advanced: u64,
    /// Times that the system refused to send, or a report of somebody else's was believed.
    pub send_errors: u64,
    /// Times that long datagrams were found to be lost for their length.
    pub black_holes: u64,
    /// Reports of others that datagrams cannot have arrived, believed or not.
    pub reports: u64,
}

impl Counters {
    pub(crate) fn received(&mut self, bytes: usize) {
        self.datagrams_received = self.datagrams_received.saturating_add(1);
        self.bytes_received = self.bytes_received.saturating_add(bytes as u64);
    }

    pub(crate) fn transmitted(&mut self, datagrams: usize, bytes: usize) {
        self.datagrams_sent = self.datagrams_sent.saturating_add(datagrams as u64);
        self.bytes_sent = self.bytes_sent.saturating_add(bytes as u64);
    }
}

/// Adds one to a count.
pub(crate) fn tick(count: &mut u64) {
    *count = count.saturating_add(1);
}
