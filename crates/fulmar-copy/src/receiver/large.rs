//! A file that comes in chunks on several streams.

use std::collections::BTreeMap;
use std::ops::Range;

use super::part::Part;
use crate::chunks::Chunks;
use crate::digest::{ChunkDigest, Digest, FileDigest};
use crate::entry::Entry;
use crate::protocol_error::ProtocolError;
use crate::target::ExistingFile;

/// One that has begun and is not settled.
#[derive(Debug)]
pub(super) struct Large {
    pub(super) entry: Entry,
    pub(super) chunks: Chunks,
    /// Chunks of which every byte is known.
    known: BTreeMap<u64, Known>,
    /// The chunk that each stream is in the middle of.
    open: BTreeMap<usize, Open>,
    /// The sender's report on the whole file.
    pub(super) ending: Option<WholeEnding>,
    pub(super) holding: ResumeState,
    /// Its digest is right: nothing more is taken.
    pub(super) is_verified: bool,
    /// Bytes that count as done.
    pub(super) bytes: u64,
}

/// A chunk that is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// It was sent, and is in the temporary file.
    Got(Digest),
    /// It was there, and the sender knows.
    Held(Digest),
}

/// The data that were there when the file began.
#[derive(Debug)]
pub(super) enum ResumeState {
    Nothing,
    /// In the temporary file.
    Parts(Vec<Range<u64>>),
    /// Under the final name, with the digests of what has been read of it.
    Present(BTreeMap<u64, Digest>),
}

#[derive(Debug)]
struct Open {
    chunk: u64,
    offset: u64,
    digest: ChunkDigest,
    /// It counts as done since it was there already.
    is_counted: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct WholeEnding {
    pub(super) digest: Digest,
    pub(super) is_changed: bool,
}

impl Known {
    pub(super) fn digest(self) -> Digest {
        match self {
            Known::Got(digest) | Known::Held(digest) => digest,
        }
    }
}

impl Large {
    pub(super) fn new(entry: Entry, begun: ExistingFile) -> Self {
        Self {
            chunks: Chunks::new(entry.kind.size()),
            entry,
            known: BTreeMap::new(),
            open: BTreeMap::new(),
            ending: None,
            holding: match begun {
                ExistingFile::New => ResumeState::Nothing,
                ExistingFile::Parts(ranges) => ResumeState::Parts(ranges),
                ExistingFile::Present => ResumeState::Present(BTreeMap::new()),
            },
            is_verified: false,
            bytes: 0,
        }
    }

    /// Takes a part that came on a stream into account: the bytes that it adds to what is done.
    pub(super) fn take(
        &mut self,
        stream: usize,
        offset: u64,
        part: &Part,
    ) -> Result<u64, ProtocolError> {
        if !self.open.contains_key(&stream) {
            let open = self.begin(offset)?;
            self.open.insert(stream, open);
        }
        let open = self
            .open
            .get_mut(&stream)
            .ok_or(ProtocolError::OutOfOrder)?;
        // Chunks come in any order, but the bytes of one in theirs and on one stream: its digest is
        // computed as they come.
        if open.offset != offset {
            return Err(ProtocolError::OutOfOrder);
        }
        let end = self.chunks.end(open.chunk);
        if part.length() > end - offset {
            return Err(ProtocolError::Overrun);
        }
        part.digest(&mut open.digest);
        open.offset += part.length();
        let done = if open.is_counted { 0 } else { part.length() };
        if open.offset == end
            && let Some(open) = self.open.remove(&stream)
        {
            self.known
                .insert(open.chunk, Known::Got(open.digest.finish()));
        }
        self.bytes += done;
        Ok(done)
    }

    /// Returns true if everything before `offset` has come.
    pub(super) fn is_next(&self, offset: u64) -> bool {
        // In order, the chunks that are known are the first ones.
        let next = self.chunks.start(self.known.len() as u64);
        offset >= next && offset - next < self.chunks.start(1)
    }

    /// A chunk begins. One that is there may come in spite of that: the sender did not know.
    fn begin(&mut self, offset: u64) -> Result<Open, ProtocolError> {
        let chunk = self
            .chunks
            .beginning_at(offset)
            .ok_or(ProtocolError::OutOfOrder)?;
        if self.is_sent(chunk) {
            return Err(ProtocolError::OutOfOrder);
        }
        let is_counted = self.known.remove(&chunk).is_some();
        Ok(Open {
            chunk,
            offset,
            digest: ChunkDigest::default(),
            is_counted,
        })
    }

    /// Returns true if the sender has begun to send a chunk.
    pub(super) fn is_sent(&self, chunk: u64) -> bool {
        matches!(self.known.get(&chunk), Some(Known::Got(_)))
            || self.open.values().any(|open| open.chunk == chunk)
    }

    /// A chunk was found to be there. The bytes that it adds to what is done.
    pub(super) fn hold(&mut self, chunk: u64, digest: Digest) -> u64 {
        self.known.insert(chunk, Known::Held(digest));
        self.bytes += self.chunks.length(chunk);
        self.chunks.length(chunk)
    }

    /// A chunk that was held lies in the temporary file now.
    pub(super) fn filled(&mut self, chunk: u64, digest: Digest) {
        self.known.insert(chunk, Known::Got(digest));
    }

    pub(super) fn known(&self, chunk: u64) -> Option<Known> {
        self.known.get(&chunk).copied()
    }

    /// Returns true if every chunk is known. One that is held may be another than the sender's, which is then
    /// on its way.
    pub(super) fn is_complete(&self) -> bool {
        self.ending.is_some() && self.known.len() as u64 == self.chunks.count()
    }

    /// The digest of the file, once it is complete.
    pub(super) fn digest(&self) -> Digest {
        let mut file = FileDigest::default();
        self.known
            .values()
            .for_each(|known| file.push(known.digest()));
        file.finish(self.entry.kind.size())
    }

    /// Returns true if the target says that it holds a whole chunk.
    pub(super) fn may_hold(&self, chunk: u64) -> bool {
        let (start, end) = (self.chunks.start(chunk), self.chunks.end(chunk));
        match &self.holding {
            ResumeState::Nothing => false,
            ResumeState::Parts(ranges) => ranges
                .iter()
                .any(|held| held.start <= start && end <= held.end),
            ResumeState::Present(_) => true,
        }
    }

    /// Returns true if all chunks have come from the sender, or were put beside those that have.
    pub(super) fn is_all_got(&self) -> bool {
        self.known
            .values()
            .all(|known| matches!(known, Known::Got(_)))
    }
}
