//! The trouble with one entry.

use std::fmt;

use crate::limits::{NOTE_BYTES_MAX, PATH_BYTES_MAX};
use crate::path::shown;

/// One thing that could not be copied, or not well. The rest goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryError {
    /// The path that it is about, in the words of the end that has the trouble: at most 4096 bytes, with
    /// anything in them. Empty: the path of the entry.
    pub place: Vec<u8>,
    /// The kind of trouble.
    pub kind: EntryErrorKind,
    /// The system's words for it, in text without control characters, at most 256 bytes; may be empty.
    pub note: String,
}

/// Kinds of trouble. The numbers go over the wire (docs/copy-protocol.md §4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum EntryErrorKind {
    /// There is nothing of that name.
    Missing = 0,
    /// The system does not permit it.
    Denied = 1,
    /// The disk is full.
    DiskFull = 2,
    /// The user's quota is used up.
    Quota = 3,
    /// The file system can only be read.
    ReadOnly = 4,
    /// The target cannot hold this name.
    BadName = 5,
    /// The file is larger than the target can hold.
    TooLarge = 6,
    /// Too deep a tree, or too long a path.
    TooDeep = 7,
    /// A folder, and folders were not asked for.
    IsFolder = 8,
    /// No folder, and one is needed.
    NotFolder = 9,
    /// A device, a socket, a pipe: not copied.
    Special = 10,
    /// A link stands in the way and is not followed.
    LinkInTheWay = 11,
    /// Something else is already there under this name, or two sources are called alike.
    Taken = 12,
    /// The system could not read or write.
    Io = 13,
    /// It became shorter while it was read. Nothing was put under its name.
    Shrunk = 14,
    /// It was changed while it was read. What was read is under its name.
    Changed = 15,
    /// The bytes that arrived have another digest than those that were sent. Nothing was put under their name.
    Digest = 16,
    /// The requester did not ask for anything of that name.
    NotAsked = 17,
    /// Too many open files, or no memory.
    Exhausted = 18,
    /// This end cannot do that.
    Unsupported = 19,
    /// A pattern stands for nothing.
    NoMatch = 20,
    /// The copy ended before this was complete.
    Interrupted = 21,
}

impl EntryErrorKind {
    /// Every kind; the number of one is its index.
    pub const ALL: [EntryErrorKind; 22] = [
        EntryErrorKind::Missing,
        EntryErrorKind::Denied,
        EntryErrorKind::DiskFull,
        EntryErrorKind::Quota,
        EntryErrorKind::ReadOnly,
        EntryErrorKind::BadName,
        EntryErrorKind::TooLarge,
        EntryErrorKind::TooDeep,
        EntryErrorKind::IsFolder,
        EntryErrorKind::NotFolder,
        EntryErrorKind::Special,
        EntryErrorKind::LinkInTheWay,
        EntryErrorKind::Taken,
        EntryErrorKind::Io,
        EntryErrorKind::Shrunk,
        EntryErrorKind::Changed,
        EntryErrorKind::Digest,
        EntryErrorKind::NotAsked,
        EntryErrorKind::Exhausted,
        EntryErrorKind::Unsupported,
        EntryErrorKind::NoMatch,
        EntryErrorKind::Interrupted,
    ];
}

impl fmt::Display for EntryErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EntryErrorKind::Missing => "no such file or folder",
            EntryErrorKind::Denied => "permission denied",
            EntryErrorKind::DiskFull => "the disk is full",
            EntryErrorKind::Quota => "the quota is used up",
            EntryErrorKind::ReadOnly => "the file system is read-only",
            EntryErrorKind::BadName => "the target cannot hold this name",
            EntryErrorKind::TooLarge => "the file is too large for the target",
            EntryErrorKind::TooDeep => "the path is too long or too deep",
            EntryErrorKind::IsFolder => "it is a folder",
            EntryErrorKind::NotFolder => "it is not a folder",
            EntryErrorKind::Special => "it is not a regular file",
            EntryErrorKind::LinkInTheWay => "a link stands in the way",
            EntryErrorKind::Taken => "the name is taken",
            EntryErrorKind::Io => "input or output failed",
            EntryErrorKind::Shrunk => "it became shorter while it was read",
            EntryErrorKind::Changed => "it changed while it was read",
            EntryErrorKind::Digest => "what arrived is not what was sent",
            EntryErrorKind::NotAsked => "it was not asked for",
            EntryErrorKind::Exhausted => "too many open files, or no memory",
            EntryErrorKind::Unsupported => "that is not supported there",
            EntryErrorKind::NoMatch => "nothing there matches",
            EntryErrorKind::Interrupted => "the copy was interrupted",
        })
    }
}

impl EntryError {
    /// A trouble about the entry itself.
    pub fn new(kind: EntryErrorKind) -> Self {
        Self {
            place: Vec::new(),
            kind,
            note: String::new(),
        }
    }

    /// A trouble about a path; what is longer than 4096 bytes is cut.
    pub fn at(place: &[u8], kind: EntryErrorKind) -> Self {
        let place = place.get(..PATH_BYTES_MAX).unwrap_or(place).to_vec();
        Self {
            place,
            kind,
            note: String::new(),
        }
    }

    /// Adds what the system says, cut at 256 bytes, control characters replaced.
    #[must_use]
    pub fn with_note(mut self, note: &str) -> Self {
        self.note = shown(note.as_bytes());
        let cut = (0..=NOTE_BYTES_MAX)
            .rev()
            .find(|at| self.note.is_char_boundary(*at));
        self.note.truncate(cut.unwrap_or(0));
        self
    }
    /// Within the limits of the wire, whoever made it.
    pub(crate) fn fitted(self) -> Self {
        let Self {
            mut place,
            kind,
            note,
        } = self;
        place.truncate(PATH_BYTES_MAX);
        let trouble = Self {
            place,
            kind,
            note: String::new(),
        };
        trouble.with_note(&note)
    }
}

/// `place: why (note)`, safe for a terminal.
impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", shown(&self.place))?;
        }
        write!(f, "{}", self.kind)?;
        if !self.note.is_empty() {
            write!(f, " ({})", shown(self.note.as_bytes()))?;
        }
        Ok(())
    }
}
