//! News about the world.

use std::time::Duration;

/// News about the world that change what is worth trying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The machine has slept.
    Woke {
        /// The length of the sleep.
        slept: Duration,
    },
    /// An address of this machine came or went.
    AddressChanged,
    /// A network link came up.
    LinkUp,
}
