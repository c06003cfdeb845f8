//! The faults of a configuration file that are found before it is read.

/// The longest file that is read, in bytes: far beyond what a person writes.
///
/// Chosen by eye.
pub const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// The fault of a file, before a word of it is looked at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileFault {
    /// The system does not let us read it, for this reason.
    #[error("{0}")]
    System(String),
    /// A folder, a pipe, a device.
    #[error("it is not a file")]
    NotAFile,
    /// It belongs to somebody else.
    #[error("it belongs to another user, who could make you run any program")]
    OthersOwn,
    /// Others may write it.
    #[error("others may write it (mode {:o}), and could make you run any program", .0 & 0o777)]
    OthersWrite(u32),
    /// It is too long to be meant.
    #[error("it has more than {CONFIG_BYTES_MAX} bytes")]
    TooLong,
    /// It is not text.
    #[error("line {0} is not UTF-8")]
    NotText(usize),
}
