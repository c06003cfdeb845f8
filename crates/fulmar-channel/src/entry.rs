//! What is copied, one thing after the other.

use crate::path::RelativePath;

/// The number of an entry, given by the [`Sender`](crate::Sender) in the order of [`Source::next_entry`](crate::Source),
/// from 0 without gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub u64);

/// One file, folder or link, or the leaving of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Which operand of the request it came from, counted from 0. A [`Receiver`](crate::Receiver) asks its
    /// [`Allowed`](crate::Allowed) whether that operand may bring this root.
    pub operand: u32,
    /// Where it goes, below the target's folder.
    pub path: RelativePath,
    /// What it is.
    pub kind: Kind,
    /// Permission bits, at most 0o7777. What a target does with set-id bits is the target's affair; ours drops them.
    pub mode: u32,
    /// When its content last changed.
    pub modified: Timestamp,
}

/// What an [`Entry`] is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A folder. What is in it may come before it, on another lane.
    Folder,
    /// A regular file, or a stream.
    File {
        /// Bytes when it was opened. `None`: a stream, whose end tells. At most [`SIZE_MAX`](crate::SIZE_MAX).
        size: Option<u64>,
    },
    /// A symbolic link.
    Link {
        /// What it says: 1 to 4096 bytes without NUL. It is a text and is not followed.
        target: Vec<u8>,
    },
    /// A folder of which every entry has been sent: now its mode and time can be set.
    Leave,
}

impl Kind {
    /// Bytes of a file whose size is known; 0 for anything else.
    pub fn size(&self) -> u64 {
        match self {
            Kind::File { size } => size.unwrap_or(0),
            _ => 0,
        }
    }
}

/// A point on the wall clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Seconds since 1970 began, in UTC. On the wire they are within ±2^61.
    pub seconds: i64,
    /// 0 to 999 999 999 beyond.
    pub nanoseconds: u32,
}
