//! The target, to which entries go.

use std::ops::Range;

use bytes::Bytes;

use crate::entry::{Entry, EntryId};
use crate::entry_error::{EntryError, EntryErrorKind};
use crate::event::Occupant;
use crate::path::RelativePath;

/// The place that receives: a folder, or standard output. The [`Receiver`](crate::Receiver) asks.
///
/// Paths have been checked ([`RelativePath`](crate::RelativePath)) and roots allowed; the target sees to it that none leads out of its folder, makes folders above
/// an entry that are missing, and refuses what it does not hold. A trouble concerns one entry, and the rest goes on.
/// The receiver calls `abandon` for a file after any trouble with it, but not when `begin` itself failed.
pub trait Target {
    /// Returns true if [`write`](Target::write) would not block. While it is not so, nothing is read from the
    /// data streams.
    fn is_ready(&mut self) -> bool {
        true
    }

    /// Returns the path of an entry as the user of this end knows it, for an error.
    fn place(&self, path: &RelativePath) -> Vec<u8> {
        path.as_bytes().to_vec()
    }

    /// A file begins, to be written under a temporary name. At most streams + [`LARGE_FILES_MAX`](crate::LARGE_FILES_MAX) are begun at a time,
    /// and never two with the same path.
    ///
    /// # Errors
    ///
    /// It cannot be made. All that comes of it is then thrown away.
    fn begin(&mut self, id: EntryId, entry: &Entry) -> Result<ExistingFile, EntryError>;

    /// Bytes of a file. Chunks come in any order, each from its beginning on, and one that is held already may come again.
    /// A pipe (of unknown size), and all data of a copy with [`Flags::IN_ORDER`](crate::Flags), comes in order.
    ///
    /// # Errors
    ///
    /// Disk full, for example: the receiver abandons the file.
    fn write(&mut self, id: EntryId, offset: u64, bytes: &[u8]) -> Result<(), EntryError>;

    /// `length` zeros (at least one), which should take no room. Where parts of an interrupted copy lie they have to become zeros.
    ///
    /// # Errors
    ///
    /// As of [`write`](Target::write).
    fn zeros(&mut self, id: EntryId, offset: u64, length: u64) -> Result<(), EntryError>;

    /// Reads what is held, at least one byte and at most `limit`: of the partial file, or after [`ExistingFile::Present`] of the one under the final name.
    /// Offsets are within what `begin` said.
    ///
    /// # Errors
    ///
    /// It cannot be read; what was to be read is then asked from the sender instead.
    fn read_back(&mut self, id: EntryId, offset: u64, limit: usize) -> Result<Bytes, EntryError>;

    /// Every byte is there and verified: sets size, mode and times, and gives the file its final name.
    ///
    /// # Errors
    ///
    /// It has not its name, or the trouble says that it has and what it lacks. The receiver abandons it.
    fn commit(&mut self, id: EntryId, size: u64) -> Result<(), EntryError>;

    /// Only after [`ExistingFile::Present`]: what is under the final name is, byte for byte, what was sent. Sets mode and times, and
    /// removes the temporary file.
    ///
    /// # Errors
    ///
    /// Mode or times cannot be set.
    fn keep(&mut self, id: EntryId) -> Result<(), EntryError>;

    /// The file will not be completed now.
    fn abandon(&mut self, id: EntryId, parts: PartialFile);

    /// A folder. One that is there already, also as made for an entry that came before, is fine.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    fn folder(&mut self, entry: &Entry) -> Result<(), EntryError>;

    /// A symbolic link, in the place of a file or link of that name.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    fn link(&mut self, entry: &Entry) -> Result<(), EntryError>;

    /// Every entry sent before has been settled, so nothing more goes into this folder: sets mode and times.
    ///
    /// # Errors
    ///
    /// They cannot be set.
    fn leave(&mut self, entry: &Entry) -> Result<(), EntryError>;

    /// A dry run: what is at the entry's place? Nothing else is called then.
    ///
    /// # Errors
    ///
    /// What would go wrong.
    fn look(&mut self, entry: &Entry) -> Result<Occupant, EntryError>;
}

/// The data that a target has of a file that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExistingFile {
    /// Nothing, or nothing that is to be used.
    New,
    /// A partial file of an interrupted copy, which is written into. The ranges, ascending, hold data; what lies between is not looked at.
    /// They may be too wide, since nothing is believed that has not been compared.
    Parts(Vec<Range<u64>>),
    /// A file of the same size is under the final name. It is compared, and stays as it is if it is the same
    /// ([`keep`](Target::keep)). Data goes to a temporary file, as for `New`.
    Present,
}

/// The fate of the data of an abandoned file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartialFile {
    /// It is kept for another try, where the target can.
    Keep,
    /// It is of no use.
    Drop,
}

impl PartialFile {
    /// Returns the fate of the parts of a file that could not be written: where there is no room they have
    /// taken it from the rest.
    pub(crate) fn after(trouble: &EntryError) -> PartialFile {
        match trouble.kind {
            EntryErrorKind::DiskFull | EntryErrorKind::Quota => PartialFile::Drop,
            _ => PartialFile::Keep,
        }
    }
}
