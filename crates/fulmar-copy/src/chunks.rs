//! Cuts files into chunks (docs/copy-protocol.md §5).

use crate::limits::{CHUNK_BYTES_MIN, CHUNKS_MAX};

/// The chunks of a file of a known size: all of one length, but for the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunks {
    size: u64,
    chunk_bytes: u64,
}

impl Chunks {
    /// 256 KiB each, or the lowest power of two with which there are at most 4096.
    pub(crate) fn new(size: u64) -> Self {
        let least = size.div_ceil(CHUNKS_MAX).next_power_of_two();
        Self {
            size,
            chunk_bytes: least.max(CHUNK_BYTES_MIN),
        }
    }

    /// Returns true if a file of that size goes over one stream: one of one chunk, or a pipe.
    pub(crate) fn is_on_one_stream(size: Option<u64>) -> bool {
        size.is_none_or(|size| size <= CHUNK_BYTES_MIN)
    }

    pub(crate) fn count(self) -> u64 {
        self.size.div_ceil(self.chunk_bytes)
    }

    pub(crate) fn start(self, index: u64) -> u64 {
        index * self.chunk_bytes
    }

    pub(crate) fn end(self, index: u64) -> u64 {
        (self.start(index) + self.chunk_bytes).min(self.size)
    }

    pub(crate) fn length(self, index: u64) -> u64 {
        self.end(index) - self.start(index)
    }

    /// The chunk that begins at `offset`, if one does.
    pub(crate) fn beginning_at(self, offset: u64) -> Option<u64> {
        let is_beginning = offset < self.size && offset.is_multiple_of(self.chunk_bytes);
        is_beginning.then_some(offset / self.chunk_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::SIZE_MAX;

    #[test]
    fn chunks_cover_a_file_and_are_never_more_than_the_cap() {
        const CHUNK: u64 = CHUNK_BYTES_MIN;
        let sizes = [
            1,
            CHUNK,
            CHUNK + 1,
            4096 * CHUNK,
            4096 * CHUNK + 1,
            1 << 40,
            SIZE_MAX,
        ];
        for size in sizes {
            let chunks = Chunks::new(size);
            let count = chunks.count();
            assert!((1..=CHUNKS_MAX).contains(&count), "{size}: {count}");
            assert_eq!(chunks.end(count - 1), size);
            assert_eq!(
                chunks.beginning_at(chunks.start(count - 1)),
                Some(count - 1)
            );
            assert_eq!(chunks.beginning_at(size), None);
        }
        assert_eq!(Chunks::new(4096 * CHUNK).length(0), CHUNK);
        assert_eq!(Chunks::new(4096 * CHUNK + 1).length(0), 2 * CHUNK);
        assert_eq!(Chunks::new(0).count(), 0);
    }
}
