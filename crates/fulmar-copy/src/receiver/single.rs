//! A file that comes whole on one stream.

use super::part::Part;
use crate::digest::{Digest, SequentialDigest};
use crate::entry::{Entry, EntryId};
use crate::limits::{CHUNK_BYTES_MIN, SIZE_MAX};
use crate::protocol_error::ProtocolError;

/// One that has begun and not ended.
#[derive(Debug)]
pub(super) struct Single {
    pub(super) id: EntryId,
    pub(super) entry: Entry,
    /// The next byte.
    pub(super) offset: u64,
    digest: SequentialDigest,
}

impl Single {
    pub(super) fn new(id: EntryId, entry: Entry) -> Self {
        Self {
            id,
            entry,
            offset: 0,
            digest: SequentialDigest::new(CHUNK_BYTES_MIN),
        }
    }

    /// Takes the next part into account.
    pub(super) fn take(&mut self, offset: u64, part: &Part) -> Result<(), ProtocolError> {
        if offset != self.offset {
            return Err(ProtocolError::OutOfOrder);
        }
        let left = self.entry.kind.known_size().unwrap_or(SIZE_MAX) - self.offset;
        // No part reaches over the end of a chunk (docs/copy-protocol.md §5).
        if part.length() > left.min(self.digest.room()) {
            return Err(ProtocolError::Overrun);
        }
        part.digest_in_order(&mut self.digest);
        self.offset += part.length();
        Ok(())
    }

    /// The digest of a file that ends after `size` bytes.
    pub(super) fn finish(&self, size: u64) -> Result<Digest, ProtocolError> {
        let announced = self.entry.kind.known_size().unwrap_or(size);
        if size != self.offset || announced != size {
            return Err(ProtocolError::Incomplete);
        }
        Ok(self.digest.clone().finish(size))
    }
}
