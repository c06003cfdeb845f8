//! The source, from which entries come.

use bytes::Bytes;

use crate::entry::{Entry, EntryId};
use crate::entry_error::EntryError;

/// The files that are sent: those that a user has named, or standard input. The [`Sender`](crate::Sender) asks.
///
/// No call may block for long. Troubles concern one entry, and the rest goes on.
///
/// # Order
///
/// Any, but [`Leave`](crate::EntryKind::Leave) of a folder comes behind all that is in it. No path comes twice (but as
/// `Folder` and `Leave`); roots that are called alike are a trouble of the second one.
pub trait Source {
    /// The next entry of a lazy walk; `id` is the number it will have if one is found. A file is opened here or at its
    /// first `read`, and only one that the sender is about to send is asked for: there are about as many open
    /// files as streams, and at most 64 beside ([`LARGE_FILES_MAX`](crate::LARGE_FILES_MAX)).
    fn next_entry(&mut self, id: EntryId) -> NextEntry;

    /// Bytes of a file from `offset` on, at most `limit`, at least one. The sender reads a file of more than
    /// [`CHUNK_BYTES_MIN`](crate::CHUNK_BYTES_MIN) in several places at once, and a place twice when it compares with what the receiver has;
    /// a pipe of unknown size it reads in order.
    ///
    /// # Errors
    ///
    /// The file cannot be read; the sender then gives it up and calls [`close`](Source::close).
    fn read(&mut self, id: EntryId, offset: u64, limit: usize) -> Result<Piece, EntryError>;

    /// The file is not needed any more: called once for each file that `next_entry` gave, also after an error, unless the whole
    /// copy ends before. Says whether size or times are others than when it was opened.
    fn close(&mut self, id: EntryId) -> Settled;
}

/// The result of [`Source::next_entry`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextEntry {
    /// An entry; its number is taken.
    Entry(Entry),
    /// Something that cannot be sent. The number is not taken.
    EntryError(EntryError),
    /// The walk goes on, but has nothing yet: so that a long one does not block. The sender has more to do at once.
    NotNow,
    /// The walk is over. It is not asked again.
    End,
}

/// The result of [`Source::read`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// 1 to `limit` bytes.
    Bytes(Bytes),
    /// A hole of that many bytes, at least one: zeros that take no room. It may be longer than `limit`, and
    /// longer than the file.
    Hole(u64),
    /// The file ends at or before `offset`.
    End,
    /// Nothing yet: a pipe that somebody still writes to. The sender waits for a turn that the pipe is ready for.
    NotNow,
}

/// A file's state when it was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// As it was when it was opened.
    Same,
    /// Somebody has changed it while it was read.
    Changed,
}
