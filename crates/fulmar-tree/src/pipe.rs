//! Standard input and output, and devices and pipes that the user has named as target.
//!
//! Nothing here waits: the loop that carries a copy has timers to serve.

use std::collections::VecDeque;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use bytes::Bytes;
use fulmar_copy::{
    CHUNK_BYTES_MIN, Entry, EntryError, EntryErrorKind, EntryId, EntryKind, ExistingFile,
    NextEntry, Occupant, PartialFile, Piece, RelativePath, Settled, Source, Target, Timestamp,
};
use rustix::event::PollFlags;
use rustix::fs::FileType;

use crate::entry_error::own;
use crate::placement::NEEDS_FOLDER;
use crate::system::{self, Errno};

/// The most bytes that can be written to a pipe at once without waiting, when there is room at all:
/// `PIPE_BUF` of Linux; elsewhere it is 512 at least.
const AT_ONCE: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// Bytes written in one call, about. What takes bytes without end, as a file or `/dev/null` does, must not keep the loop
/// from its signals and timers while a long hole is written. Chosen: 32 streams ask once each in a turn, 8 MiB together.
const AT_A_TIME: usize = 256 * 1024;

/// Mode of a file made from a pipe, before the umask.
const PIPE_MODE: u32 = 0o666;

/// One pipe that is sent as a file of unknown size.
#[derive(Debug)]
pub struct PipeSource {
    pipe: OwnedFd,
    name: RelativePath,
    is_given: bool,
    /// Bytes read so far.
    offset: u64,
}

impl PipeSource {
    /// Sends what `pipe` gives until it ends. The target is called `-` unless the user names it.
    ///
    /// # Panics
    ///
    /// Never: `-` is a name.
    #[must_use]
    pub fn new(pipe: OwnedFd) -> Self {
        Self {
            pipe,
            name: RelativePath::new(b"-").expect("a name of one byte"),
            is_given: false,
            offset: 0,
        }
    }

    /// The pipe, to wait for when there is nothing.
    #[must_use]
    pub fn pipe(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    fn entry(&self) -> Entry {
        Entry {
            operand: 0,
            path: self.name.clone(),
            kind: EntryKind::File { size: None },
            mode: PIPE_MODE,
            modified: Timestamp::default(),
        }
    }
}

impl Source for PipeSource {
    fn next_entry(&mut self, _: EntryId) -> NextEntry {
        if std::mem::replace(&mut self.is_given, true) {
            return NextEntry::End;
        }
        NextEntry::Entry(self.entry())
    }

    fn read(&mut self, _: EntryId, offset: u64, limit: usize) -> Result<Piece, EntryError> {
        if offset != self.offset {
            return Err(own(Errno::SPIPE));
        }
        if !is_ready(self.pipe.as_fd(), PollFlags::IN) {
            return Ok(Piece::NotNow);
        }
        match system::read(&self.pipe, limit) {
            Ok(bytes) if bytes.is_empty() => Ok(Piece::End),
            Ok(bytes) => {
                self.offset += bytes.len() as u64;
                Ok(Piece::Bytes(bytes.into()))
            }
            Err(Errno::AGAIN) => Ok(Piece::NotNow),
            Err(error) => Err(own(error)),
        }
    }

    fn close(&mut self, _: EntryId) -> Settled {
        Settled::Same
    }
}

/// Writes files to a pipe, one after the other.
#[derive(Debug)]
pub struct PipeTarget {
    pipe: OwnedFd,
    is_regular: bool,
    /// One file only: what the user has named is no folder.
    is_one: bool,
    /// All data comes in order.
    in_order: bool,
    /// Bytes go to their offset, in whatever order they come.
    any_order: bool,
    begun: Option<EntryId>,
    /// Bytes of the present file that were taken.
    offset: u64,
    waiting: VecDeque<Waiting>,
    /// The error after which nothing can be written any more.
    failed: Option<Errno>,
}

/// Bytes that the pipe has not taken.
#[derive(Debug)]
enum Waiting {
    Bytes(Bytes),
    /// So many of them, and where to if that is not the next place.
    Zeros(u64, Option<u64>),
}

impl PipeTarget {
    /// Writes any number of files.
    #[must_use]
    pub fn new(pipe: OwnedFd) -> Self {
        let is_regular = system::facts(&pipe).is_ok_and(|facts| facts.is_regular());
        Self {
            pipe,
            is_regular,
            is_one: false,
            in_order: true,
            any_order: false,
            begun: None,
            offset: 0,
            waiting: VecDeque::new(),
            failed: None,
        }
    }

    /// Writes one file to what the user has named.
    pub(crate) fn one(pipe: OwnedFd, in_order: bool) -> Self {
        Self {
            is_one: true,
            in_order,
            any_order: takes_any_order(pipe.as_fd()),
            ..Self::new(pipe)
        }
    }

    /// Sees that an entry is what can be written here.
    fn check(&self, entry: &Entry) -> Result<(), EntryError> {
        let is_fine = self.in_order || self.any_order;
        match entry.kind {
            EntryKind::File { size: Some(size) } if size > CHUNK_BYTES_MIN && !is_fine => {
                Err(EntryError::new(EntryErrorKind::Unsupported)
                    .with_note("its parts come in any order; use: fulmar cp - host:name < file"))
            }
            EntryKind::File { .. } => Ok(()),
            _ => Err(EntryError::new(EntryErrorKind::NotFolder)),
        }
    }

    /// The pipe, to wait for when it is not ready. When a copy is over, it is to be asked
    /// [`is_ready`](Target::is_ready) until it is: then the last byte has been taken.
    #[must_use]
    pub fn pipe(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Writes as much as goes without waiting, and not too much of it.
    fn pump(&mut self) -> Result<(), Errno> {
        let mut budget = AT_A_TIME;
        while budget > 0
            && let Some(next) = self.waiting.front_mut()
        {
            if !self.is_regular && !is_ready(self.pipe.as_fd(), PollFlags::OUT) {
                break;
            }
            let written = match write_some(self.pipe.as_fd(), next, self.is_regular) {
                Err(Errno::AGAIN) => break,
                written => written?,
            };
            budget = budget.saturating_sub(written);
            if next.take(written) {
                self.waiting.pop_front();
            }
        }
        Ok(())
    }

    fn push(&mut self, id: EntryId, waiting: Waiting, length: u64) -> Result<(), EntryError> {
        if self.begun != Some(id) {
            return Err(own(Errno::BADF));
        }
        self.offset += length;
        self.waiting.push_back(waiting);
        self.settle()
    }

    fn settle(&mut self) -> Result<(), EntryError> {
        if let Err(error) = self.pump() {
            self.failed = Some(error);
            self.waiting.clear();
        }
        self.failed.map_or(Ok(()), |error| Err(own(error)))
    }
}

const ZEROS: &[u8] = &[0; 64 * 1024];

impl Waiting {
    /// Takes bytes off the front; whether nothing is left.
    fn take(&mut self, length: usize) -> bool {
        match self {
            Self::Bytes(bytes) => {
                let _ = bytes.split_to(length.min(bytes.len()));
                bytes.is_empty()
            }
            Self::Zeros(left, place) => {
                *left = left.saturating_sub(length as u64);
                *place = place.map(|offset| offset + length as u64);
                *left == 0
            }
        }
    }
}

fn write_some(pipe: BorrowedFd<'_>, waiting: &Waiting, is_regular: bool) -> Result<usize, Errno> {
    let (bytes, place) = match waiting {
        Waiting::Bytes(bytes) => (bytes.as_ref(), None),
        Waiting::Zeros(left, place) => {
            let left = usize::try_from(*left).ok();
            let zeros = left.and_then(|left| ZEROS.get(..left));
            (zeros.unwrap_or(ZEROS), *place)
        }
    };
    if let Some(offset) = place {
        return system::write_at(pipe, bytes, offset).map(|()| bytes.len());
    }
    // More might wait for room.
    let limit = if is_regular {
        bytes.len()
    } else {
        bytes.len().min(AT_ONCE)
    };
    system::write(pipe, bytes.get(..limit).unwrap_or(bytes))
}

/// Returns true if it is a disk, or the device that takes everything and keeps nothing. Other things that can
/// be told an offset may still not heed it, as a tape.
fn takes_any_order(pipe: BorrowedFd<'_>) -> bool {
    let Ok(facts) = system::facts(pipe) else {
        return false;
    };
    let null = system::facts_along(system::here(), b"/dev/null");
    facts.kind == FileType::BlockDevice || null.is_ok_and(|null| null.is_same_file(&facts))
}

/// Returns true if a pipe can be read or written, or has an error to tell, without waiting.
fn is_ready(pipe: BorrowedFd<'_>, what: PollFlags) -> bool {
    let mut polled = [rustix::event::PollFd::from_borrowed_fd(pipe, what)];
    let now = rustix::event::Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    rustix::event::poll(&mut polled, Some(&now)).is_ok_and(|ready| ready > 0)
}

impl Target for PipeTarget {
    fn is_ready(&mut self) -> bool {
        // An error is told by the next write.
        let _ = self.settle();
        self.waiting.is_empty()
    }

    fn begin(&mut self, id: EntryId, entry: &Entry) -> Result<ExistingFile, EntryError> {
        if entry.path.depth() > 1 || self.is_one && self.begun.is_some() {
            return Err(EntryError::new(EntryErrorKind::NotFolder).with_note(NEEDS_FOLDER));
        }
        self.check(entry)?;
        (self.begun, self.offset) = (Some(id), 0);
        Ok(ExistingFile::New)
    }

    fn write(&mut self, id: EntryId, offset: u64, bytes: &[u8]) -> Result<(), EntryError> {
        if offset == self.offset {
            return self.push(
                id,
                Waiting::Bytes(Bytes::copy_from_slice(bytes)),
                bytes.len() as u64,
            );
        }
        if !self.any_order {
            return Err(own(Errno::SPIPE));
        }
        system::write_at(&self.pipe, bytes, offset).map_err(own)
    }

    fn zeros(&mut self, id: EntryId, offset: u64, length: u64) -> Result<(), EntryError> {
        if offset == self.offset {
            return self.push(id, Waiting::Zeros(length, None), length);
        }
        if !self.any_order || offset.checked_add(length).is_none() {
            return Err(own(Errno::SPIPE));
        }
        self.push(id, Waiting::Zeros(length, Some(offset)), 0)
    }

    fn read_back(&mut self, _: EntryId, _: u64, _: usize) -> Result<Bytes, EntryError> {
        Err(own(Errno::SPIPE))
    }

    fn commit(&mut self, _: EntryId, _: u64) -> Result<(), EntryError> {
        self.settle()
    }

    fn keep(&mut self, _: EntryId) -> Result<(), EntryError> {
        Ok(())
    }

    fn abandon(&mut self, _: EntryId, _: PartialFile) {
        self.waiting.clear();
    }

    fn folder(&mut self, _: &Entry) -> Result<(), EntryError> {
        Err(EntryError::new(EntryErrorKind::NotFolder))
    }

    fn link(&mut self, _: &Entry) -> Result<(), EntryError> {
        Err(EntryError::new(EntryErrorKind::Unsupported)
            .with_note("a link cannot be written to a stream"))
    }

    fn leave(&mut self, _: &Entry) -> Result<(), EntryError> {
        Ok(())
    }

    fn look(&mut self, entry: &Entry) -> Result<Occupant, EntryError> {
        self.check(entry).map(|()| Occupant::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_disk_takes_bytes_and_holes_in_any_order() {
        let mut disk = tempfile::tempfile().unwrap();
        let length = 3 * AT_A_TIME as u64;
        std::io::Write::write_all(&mut disk, &vec![b'x'; 3 * AT_A_TIME]).unwrap();
        std::io::Seek::rewind(&mut disk).unwrap();
        let mut target = PipeTarget::one(disk.try_clone().unwrap().into(), false);
        target.any_order = true;
        let entry = Entry {
            kind: EntryKind::File { size: Some(length) },
            ..PipeSource::new(disk.try_clone().unwrap().into()).entry()
        };
        let id = EntryId(0);
        target.begin(id, &entry).unwrap();
        target.zeros(id, 10, length - 20).unwrap();
        assert!(!target.is_ready(), "a piece at a time");
        target.write(id, length - 10, b"the end...").unwrap();
        target.write(id, 0, b"beginning!").unwrap();
        while !target.is_ready() {}
        target.commit(id, length).unwrap();
        let mut read = Vec::new();
        std::io::Seek::rewind(&mut disk).unwrap();
        disk.read_to_end(&mut read).unwrap();
        let zeros = vec![0; 3 * AT_A_TIME - 20];
        assert!(read == [b"beginning!".as_slice(), &zeros, b"the end..."].concat());
    }
}
