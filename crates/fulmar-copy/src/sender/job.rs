//! The job of one stream.

use bytes::Bytes;

use crate::digest::{ChunkDigest, Digest, SequentialDigest};
use crate::entry::EntryId;
use crate::entry_error::{EntryError, EntryErrorKind};
use crate::limits::{CHUNK_BYTES_MIN, DATA_BYTES_MAX, SIZE_MAX};
use crate::source::{Piece, Source};

/// A part of a file that a stream is sending, or comparing.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) id: EntryId,
    /// The next byte.
    pub(super) offset: u64,
    /// The end of the part; `None`: the end of the pipe.
    pub(super) end: Option<u64>,
    pub(super) part: Part,
}

#[derive(Debug)]
pub(super) enum Part {
    /// All of a file.
    Whole(SequentialDigest),
    /// A chunk of a large one.
    Chunk { chunk: u64, digest: ChunkDigest },
    /// A chunk that the receiver may have already. Nothing is sent as yet.
    Compared {
        chunk: u64,
        digest: ChunkDigest,
        claim: Digest,
    },
}

/// The content that came next in the source.
#[derive(Debug)]
pub(super) enum Content {
    Bytes(Bytes),
    Zeros(u64),
    /// The pipe is over.
    End,
    NotNow,
}

impl Job {
    pub(super) fn whole(id: EntryId, size: Option<u64>) -> Self {
        let part = Part::Whole(SequentialDigest::new(CHUNK_BYTES_MIN));
        Self {
            id,
            offset: 0,
            end: size,
            part,
        }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.end == Some(self.offset)
    }

    /// The next content of the part, which it is taken into account for.
    pub(super) fn read(&mut self, source: &mut impl Source) -> Result<Content, EntryError> {
        let limit = self.limit();
        // Only a stream gets here: it is longer than a number of 62 bits can say.
        if limit == 0 {
            return Err(EntryError::new(EntryErrorKind::TooLarge));
        }
        let most = usize::try_from(limit)
            .unwrap_or(usize::MAX)
            .min(DATA_BYTES_MAX);
        let content = match source.read(self.id, self.offset, most)? {
            Piece::Bytes(mut bytes) if !bytes.is_empty() => {
                bytes.truncate(most);
                Content::Bytes(bytes)
            }
            Piece::Hole(length) if length > 0 => Content::Zeros(length.min(limit)),
            Piece::NotNow => Content::NotNow,
            _ if self.end.is_none() => Content::End,
            _ => return Err(EntryError::new(EntryErrorKind::Shrunk)),
        };
        self.account(&content);
        Ok(content)
    }

    /// Bytes up to the end of the chunk or the part.
    fn limit(&self) -> u64 {
        let left = self.end.unwrap_or(SIZE_MAX) - self.offset;
        match &self.part {
            Part::Whole(digest) => left.min(digest.room()),
            Part::Chunk { .. } | Part::Compared { .. } => left,
        }
    }

    fn account(&mut self, content: &Content) {
        self.offset += content.length();
        match (&mut self.part, content) {
            (Part::Whole(digest), Content::Bytes(bytes)) => digest.update(bytes),
            (Part::Whole(digest), Content::Zeros(length)) => digest.zeros(*length),
            (Part::Chunk { digest, .. } | Part::Compared { digest, .. }, content) => {
                match content {
                    Content::Bytes(bytes) => digest.update(bytes),
                    Content::Zeros(length) => digest.zeros(*length),
                    Content::End | Content::NotNow => {}
                }
            }
            (Part::Whole(_), Content::End | Content::NotNow) => {}
        }
    }
}

impl Content {
    pub(super) fn length(&self) -> u64 {
        match self {
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::Zeros(length) => *length,
            Content::End | Content::NotNow => 0,
        }
    }

    /// Returns the cost to a turn's budget: a hole costs hardly anything.
    pub(super) fn cost(&self) -> usize {
        match self {
            Content::Bytes(bytes) => bytes.len(),
            _ => super::STEP_COST_BYTES,
        }
    }
}
