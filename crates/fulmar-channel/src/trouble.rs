//! The trouble with one entry.

use std::fmt;

use crate::limits::{NOTE_BYTES_MAX, PATH_BYTES_MAX};
use crate::path::shown;

/// One thing that could not be copied, or not well. The rest goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The path that it is about, in the words of the end that has the trouble: at most 4096 bytes, with
    /// anything in them. Empty: the path of the entry.
    pub place: Vec<u8>,
    /// The kind of trouble.
    pub why: Why,
    /// The system's words for it, in text without control characters, at most 256 bytes; may be empty.
    pub note: String,
}

/// Kinds of trouble. The numbers go over the wire (docs/channel.md §4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Why {
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

impl Why {
    /// Every kind; the number of one is its index.
    pub const ALL: [Why; 22] = [
        Why::Missing,
        Why::Denied,
        Why::DiskFull,
        Why::Quota,
        Why::ReadOnly,
        Why::BadName,
        Why::TooLarge,
        Why::TooDeep,
        Why::IsFolder,
        Why::NotFolder,
        Why::Special,
        Why::LinkInTheWay,
        Why::Taken,
        Why::Io,
        Why::Shrunk,
        Why::Changed,
        Why::Digest,
        Why::NotAsked,
        Why::Exhausted,
        Why::Unsupported,
        Why::NoMatch,
        Why::Interrupted,
    ];
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Why::Missing => "no such file or folder",
            Why::Denied => "permission denied",
            Why::DiskFull => "the disk is full",
            Why::Quota => "the quota is used up",
            Why::ReadOnly => "the file system is read-only",
            Why::BadName => "the target cannot hold this name",
            Why::TooLarge => "the file is too large for the target",
            Why::TooDeep => "the path is too long or too deep",
            Why::IsFolder => "is a folder",
            Why::NotFolder => "is no folder",
            Why::Special => "is no regular file",
            Why::LinkInTheWay => "a link stands in the way",
            Why::Taken => "the name is taken",
            Why::Io => "cannot be read or written",
            Why::Shrunk => "became shorter while it was read",
            Why::Changed => "changed while it was read",
            Why::Digest => "what arrived is not what was sent",
            Why::NotAsked => "was not asked for",
            Why::Exhausted => "too many open files, or no memory",
            Why::Unsupported => "is not supported there",
            Why::NoMatch => "no match",
            Why::Interrupted => "the copy was interrupted",
        })
    }
}

impl Trouble {
    /// A trouble about the entry itself.
    pub fn new(why: Why) -> Self {
        Self {
            place: Vec::new(),
            why,
            note: String::new(),
        }
    }

    /// A trouble about a path; what is longer than 4096 bytes is cut.
    pub fn at(place: &[u8], why: Why) -> Self {
        let place = place.get(..PATH_BYTES_MAX).unwrap_or(place).to_vec();
        Self {
            place,
            why,
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
            why,
            note,
        } = self;
        place.truncate(PATH_BYTES_MAX);
        let trouble = Self {
            place,
            why,
            note: String::new(),
        };
        trouble.with_note(&note)
    }
}

/// `place: why (note)`, safe for a terminal.
impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", shown(&self.place))?;
        }
        write!(f, "{}", self.why)?;
        if !self.note.is_empty() {
            write!(f, " ({})", shown(self.note.as_bytes()))?;
        }
        Ok(())
    }
}
