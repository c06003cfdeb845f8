//! Digests of chunks and files (docs/copy-protocol.md §5).

use blake3::Hasher;

/// Bytes of a digest.
pub(crate) const DIGEST_BYTES: usize = blake3::OUT_LEN;

/// The unit in which zeros are counted instead of hashed.
///
/// Source: docs/copy-protocol.md §5.
const BLOCK_BYTES: usize = 64 * 1024;

static ZEROS: [u8; BLOCK_BYTES] = [0; BLOCK_BYTES];

/// Returns so many zeros, at most a block of them.
fn zeros(count: usize) -> &'static [u8] {
    ZEROS.get(..count).unwrap_or(&ZEROS)
}

/// The digest of a chunk or a file, which stands for content that is not at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Digest(pub(crate) [u8; DIGEST_BYTES]);

/// The digest of a chunk whose bytes come one after the other.
///
/// The chunk is cut into blocks of 64 KiB. A block of zeros is counted; of any other, its own hash is hashed behind the number of
/// zero blocks before it. So it is a function of the content alone, and a hole costs nothing however long it is.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChunkDigest {
    blocks: Box<Hasher>,
    length: u64,
    /// Whole blocks of zeros since the last other block.
    zero_blocks: u64,
    /// The current block, as far as it came.
    block: Box<Hasher>,
    /// Bytes of the current block.
    within: usize,
    /// True if the current block has something else than zeros, and so has been hashed as far as it came.
    is_hashed: bool,
}

impl ChunkDigest {
    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (part, rest) = bytes.split_at(bytes.len().min(BLOCK_BYTES - self.within));
            if !self.is_hashed && !is_zero(part) {
                // Zeros at the front were only counted so far. In a block with other bytes they are
                // hashed.
                self.block.update(zeros(self.within));
                self.is_hashed = true;
            }
            if self.is_hashed {
                self.block.update(part);
            }
            self.advance(part.len());
            bytes = rest;
        }
    }

    /// As `update` with `count` zeros.
    pub(crate) fn zeros(&mut self, count: u64) {
        let to_block_end = if self.within == 0 {
            0
        } else {
            BLOCK_BYTES - self.within
        };
        let first = count.min(to_block_end as u64);
        self.update(zeros(first as usize));
        let blocks = (count - first) / BLOCK_BYTES as u64;
        self.zero_blocks += blocks;
        self.length += blocks * BLOCK_BYTES as u64;
        let last = (count - first) % BLOCK_BYTES as u64;
        self.update(zeros(last as usize));
    }

    fn advance(&mut self, count: usize) {
        self.length += count as u64;
        self.within += count;
        if self.within == BLOCK_BYTES {
            self.end_block();
        }
    }

    fn end_block(&mut self) {
        if self.is_hashed {
            self.blocks.update(&self.zero_blocks.to_be_bytes());
            self.blocks.update(self.block.finalize().as_bytes());
            self.block.reset();
            self.zero_blocks = 0;
        } else {
            self.zero_blocks += 1;
        }
        self.is_hashed = false;
        self.within = 0;
    }

    pub(crate) fn finish(mut self) -> Digest {
        // A last block of zeros that is not full is counted by the length alone (docs/copy-protocol.md §5).
        if self.is_hashed {
            self.end_block();
        }
        self.blocks.update(&self.zero_blocks.to_be_bytes());
        self.blocks.update(&self.length.to_be_bytes());
        Digest(self.blocks.finalize().into())
    }
}

/// Returns true if there is nothing but zeros. In steps without a branch, which compilers turn into wide instructions.
fn is_zero(bytes: &[u8]) -> bool {
    bytes
        .chunks(64)
        .all(|step| step.iter().fold(0, |any, byte| any | byte) == 0)
}

/// The digest of a file, of its chunks in order and its size.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileDigest {
    hasher: Box<Hasher>,
}

impl FileDigest {
    pub(crate) fn push(&mut self, chunk: Digest) {
        self.hasher.update(&chunk.0);
    }

    pub(crate) fn finish(mut self, size: u64) -> Digest {
        self.hasher.update(&size.to_be_bytes());
        Digest(self.hasher.finalize().into())
    }
}

/// The digest of a file that comes from its beginning to its end, with chunks of one size.
#[derive(Debug, Clone)]
pub(crate) struct SequentialDigest {
    file: FileDigest,
    chunk: ChunkDigest,
    chunk_bytes: u64,
}

impl SequentialDigest {
    pub(crate) fn new(chunk_bytes: u64) -> Self {
        Self {
            file: FileDigest::default(),
            chunk: ChunkDigest::default(),
            chunk_bytes,
        }
    }

    /// Returns the number of bytes that the current chunk can still take; never 0.
    pub(crate) fn room(&self) -> u64 {
        self.chunk_bytes - self.chunk.length
    }

    /// Bytes of this chunk, at most [`room`](Self::room).
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.chunk.update(bytes);
        self.turn_over();
    }

    /// Zeros of this chunk, at most [`room`](Self::room).
    pub(crate) fn zeros(&mut self, count: u64) {
        self.chunk.zeros(count);
        self.turn_over();
    }

    fn turn_over(&mut self) {
        if self.chunk.length == self.chunk_bytes {
            self.file.push(std::mem::take(&mut self.chunk).finish());
        }
    }

    pub(crate) fn finish(mut self, size: u64) -> Digest {
        if self.chunk.length > 0 {
            self.file.push(self.chunk.finish());
        }
        self.file.finish(size)
    }
}

#[cfg(test)]
mod tests;
