//! The options of a connection.

use std::time::Duration;

/// The largest window that is ever offered or held, in bytes (docs/threat-model.md §6).
pub const WINDOW_MAX: u64 = 512 << 20;

/// The most data streams that a connection can have.
///
/// Source: docs/copy-protocol.md §1.
pub const STREAMS_MAX: u8 = 64;

/// The options of a connection. Both ends must agree on the number of streams.
#[derive(Clone, Debug)]
pub struct ConnectionOptions {
    /// Cap of each window in bytes: of what the peer may have under way to us, and of what is kept
    /// here for sending again. At most [`WINDOW_MAX`].
    pub window_max: u64,
    /// The number of data streams, 1 to [`STREAMS_MAX`].
    ///
    /// A stream may have 2.4 MB under way, so that no order of arrival makes more than 1000 gaps in
    /// it; together they carry a round trip's worth of a fast long path.
    pub streams: u8,
    /// After so long without a sign of the peer the connection ends.
    pub idle_timeout: Duration,
    /// True if larger datagrams are tried than every path carries. Only where the socket forbids fragmentation.
    pub discover_mtu: bool,
    /// The algorithm that decides how much is under way.
    pub control: CongestionControl,
}

/// The algorithm that decides how much is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CongestionControl {
    /// Ours: the window is what the path delivers in its shortest round trip and a target queueing delay.
    #[default]
    DelayBased,
    /// BBR as quinn has it: for comparison.
    Bbr,
    /// CUBIC as quinn has it: for comparison.
    Cubic,
}

impl Default for ConnectionOptions {
    fn default() -> ConnectionOptions {
        ConnectionOptions {
            window_max: WINDOW_MAX,
            streams: 32,
            idle_timeout: Duration::from_secs(12 * 3600),
            discover_mtu: true,
            control: CongestionControl::default(),
        }
    }
}
