//! A peer that breaks the rules.

use thiserror::Error;

use crate::path::PathFault;

/// The peer has sent what no peer of ours sends (docs/copy-protocol.md §9). The copy ends; what is verified stays, parts stay
/// for another try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// A stream has ended in the middle.
    #[error("the other side stopped in the middle of the copy")]
    EndedEarly,
    /// It speaks another version of the protocol.
    #[error("the other side speaks version {0} of the copy protocol, this one version {VERSION}", VERSION = crate::limits::VERSION)]
    Version(u64),
    /// No frame has this number: it is another program, or not one at all.
    #[error("what the other side sends is no copy (frame {0:#04x})")]
    UnknownFrame(u8),
    /// A frame is longer than a frame may be.
    #[error("the other side sent a frame that is too long ({0})")]
    TooLong(&'static str),
    /// A field is missing, superfluous or out of its range.
    #[error("the other side sent a broken frame ({0})")]
    Malformed(&'static str),
    /// A path that could lead elsewhere, or that nothing can hold.
    #[error("the other side sent a path that is refused: {0}")]
    Path(#[from] PathFault),
    /// A frame that is right elsewhere: on another stream, from the other end, or at another time.
    #[error("the other side sent a frame out of its turn ({0})")]
    Misplaced(&'static str),
    /// Data of an entry that has not been announced.
    #[error("the other side sent data of a file that it had not announced")]
    UnknownEntry,
    /// An entry comes twice, and not the same.
    #[error("the other side used the number of an entry twice")]
    EntryTwice,
    /// An entry that is too far ahead, or behind the last.
    #[error("the other side sent more than it may have under way")]
    BeyondWindow,
    /// A file that follows another on its stream before that one's end.
    #[error("the other side began a file before another was complete")]
    Unfinished,
    /// More large files than may be under way.
    #[error("the other side sent too many files at the same time")]
    TooManyFiles,
    /// Data that is not the next of its chunk, or of a chunk that is there already.
    #[error("the other side sent data out of order")]
    OutOfOrder,
    /// Data behind the end of its chunk or file.
    #[error("the other side sent more than a file holds")]
    Overrun,
    /// The receiver claims to have settled or to hold what was never sent.
    #[error("the other side answered about what it was not sent")]
    NotSent,
    /// It says that all has been sent or settled, and something is missing.
    #[error("the other side left something out and says that it is done")]
    Incomplete,
}
