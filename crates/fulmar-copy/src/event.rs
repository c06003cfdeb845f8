//! News for the edge.

use crate::answer::Answer;
use crate::entry::EntryKind;
use crate::entry_error::EntryError;
use crate::path::RelativePath;

/// The state of a copy after one call of `poll`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Poll {
    /// The budget is used up, or events wait: there is more to do at once.
    More,
    /// Until streams, source or target are ready again.
    Waiting,
    /// The copy is over, on both sides.
    Done,
}

/// News from a [`Sender`](crate::Sender) or [`Receiver`](crate::Receiver).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopyEvent {
    /// The remote end has answered a request that was followed up before its answer.
    Answered(Answer),
    /// An entry is over and done with, on both sides. Not told of [`EntryKind::Leave`] unless it failed.
    Settled {
        /// The path of the entry.
        path: RelativePath,
        /// The kind of the entry; a pipe has its size by now.
        kind: EntryKind,
        /// The verdict.
        verdict: EntryVerdict,
    },
    /// Something has no entry, since the source could not look at it.
    EntryError(EntryError),
}

/// The verdict on an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryVerdict {
    /// It is at its place, verified.
    Whole,
    /// It is at its place and verified, but was changed while it was read: a mixture, maybe.
    Changed,
    /// This is at its place, and a dry run has left it so.
    Looked(Occupant),
    /// It is not there.
    Failed {
        /// The end that could not do its part.
        end: CopyEnd,
        /// The reason. Its `place` is filled in.
        error: EntryError,
    },
}

impl EntryVerdict {
    /// Tells if the user has to know of it.
    pub(crate) fn is_trouble(&self) -> bool {
        matches!(self, EntryVerdict::Changed | EntryVerdict::Failed { .. })
    }
}

/// The thing that a dry run has found at the place of an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Occupant {
    /// Nothing.
    #[default]
    Nothing = 0,
    /// Something else, which a copy would replace.
    Another = 1,
    /// A folder where a folder is to be, a link that says the same, or a file of the same size and time, to the second.
    Same = 2,
    /// The partial file of an interrupted copy, which a copy would complete, whatever has the final name.
    Partial = 3,
}

/// One end of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyEnd {
    /// The end that has the files.
    Source,
    /// The end that gets them.
    Target,
}

/// The progress of a copy. All numbers only grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of files known so far, of which [`bytes`](Progress::bytes) are done; final once `is_walked`.
    pub bytes_known: u64,
    /// Bytes of files sent or received, or found to be there; holes count as bytes.
    pub bytes: u64,
    /// Of these, bytes that were there from an earlier try.
    pub bytes_held: u64,
    /// Bytes of files that went over the streams.
    pub bytes_carried: u64,
    /// Entries known so far.
    pub entries_known: u64,
    /// Entries settled.
    pub entries: u64,
    /// Files among the entries known so far.
    pub files_known: u64,
    /// Files settled.
    pub files: u64,
    /// True once all entries are known.
    pub is_walked: bool,
    /// True if one of the files is a pipe, whose size is known only at its end.
    pub has_pipe: bool,
}

/// The totals of a copy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Files at their place.
    pub files: u64,
    /// Folders.
    pub folders: u64,
    /// Links.
    pub links: u64,
    /// Bytes of these files.
    pub bytes: u64,
    /// Entries that failed or were changed while they were read, and names that led to no entry.
    pub troubles: u64,
}
