//! The entries of a copy, one after the other.

use crate::entry_error::{EntryError, EntryErrorKind};
use crate::limits::{PATH_BYTES_MAX, SIZE_MAX};
use crate::path::RelativePath;

/// The number of an entry, given by the [`Sender`](crate::Sender) in the order of [`Source::next_entry`](crate::Source),
/// from 0 without gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub u64);

/// One file, folder or link, or the leaving of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The operand of the request that it came from, counted from 0. A [`Receiver`](crate::Receiver) asks its
    /// [`Allowed`](crate::Allowed) whether that operand may bring this root.
    pub operand: u32,
    /// The path that it gets, below the target's folder.
    pub path: RelativePath,
    /// The kind of entry.
    pub kind: EntryKind,
    /// Permission bits, at most 0o7777. What a target does with set-id bits is the target's affair; ours drops them.
    pub mode: u32,
    /// The time at which its content last changed.
    pub modified: Timestamp,
}

/// The kind of an [`Entry`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder. What is in it may come before it, on another stream.
    Folder,
    /// A regular file, or a pipe.
    File {
        /// Bytes when it was opened. `None`: a pipe, whose end tells. At most [`SIZE_MAX`](crate::SIZE_MAX).
        size: Option<u64>,
    },
    /// A symbolic link.
    Link {
        /// The text of the link: 1 to 4096 bytes without NUL. It is not followed.
        target: Vec<u8>,
    },
    /// A folder of which every entry has been sent: now its mode and time can be set.
    Leave,
}

impl Entry {
    /// Within what the wire can say.
    ///
    /// # Errors
    ///
    /// A trouble, where that would be another entry.
    pub(crate) fn fitted(mut self) -> Result<Self, EntryError> {
        /// Chosen by eye: later than any date, and less than a number with a sign can say
        /// (docs/copy-protocol.md §2).
        const SECONDS_MAX: i64 = 1 << 60;
        let fault = |why| Err(EntryError::at(self.path.as_bytes(), why));
        match &self.kind {
            EntryKind::File { size: Some(size) } if *size > SIZE_MAX => {
                return fault(EntryErrorKind::TooLarge);
            }
            EntryKind::Link { target } if target.len() > PATH_BYTES_MAX => {
                return fault(EntryErrorKind::TooDeep);
            }
            EntryKind::Link { target } if target.is_empty() || target.contains(&0) => {
                return fault(EntryErrorKind::BadName);
            }
            _ => {}
        }
        self.mode &= 0o7777;
        self.modified.seconds = self.modified.seconds.clamp(-SECONDS_MAX, SECONDS_MAX);
        self.modified.nanoseconds = self.modified.nanoseconds.min(999_999_999);
        Ok(self)
    }
}

impl EntryKind {
    /// Bytes of a file whose size is known; 0 for anything else.
    pub fn size(&self) -> u64 {
        self.known_size().unwrap_or(0)
    }

    /// As [`size`](EntryKind::size), and `None` for a pipe.
    pub(crate) fn known_size(&self) -> Option<u64> {
        match self {
            EntryKind::File { size } => *size,
            _ => Some(0),
        }
    }
}

/// A point on the wall clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Seconds since 1970 began, in UTC. On the wire they are within ±2^60.
    pub seconds: i64,
    /// 0 to 999 999 999 beyond.
    pub nanoseconds: u32,
}
