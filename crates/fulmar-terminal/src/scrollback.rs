//! The lines that have left the top of the main screen.

use std::collections::VecDeque;

use crate::packing::{LINE_BYTES_MAX, Packer};
use crate::row::SharedRow;

/// Lines lie together in pieces of so many bytes, with the places where they end. Chosen by eye: what is lost where a piece ends is little, and what goes with the
/// oldest one when the bytes have a limit, too.
const CHUNK_BYTES: usize = 64 << 10;

/// No line begins in the last bytes of a piece: most are shorter, so that it need not grow. Chosen by eye.
const CHUNK_SLACK: usize = 1024;

/// The most history that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScrollbackLimits {
    /// The most lines.
    pub lines: usize,
    /// The most bytes, as they are packed. The newest lines are kept in any case, some 64 KiB of them.
    pub bytes: usize,
}

impl Default for ScrollbackLimits {
    /// Source: docs/threat-model.md §6.
    fn default() -> ScrollbackLimits {
        ScrollbackLimits {
            lines: 10_000,
            bytes: 64 << 20,
        }
    }
}

impl ScrollbackLimits {
    /// Nothing.
    pub const NONE: ScrollbackLimits = ScrollbackLimits { lines: 0, bytes: 0 };

    /// Returns true if nothing is to be kept.
    pub const fn is_none(&self) -> bool {
        self.lines == 0 || self.bytes == 0
    }
}

/// Lines of text with their look, packed, which are numbered for ever. The oldest go when there are too many.
#[derive(Clone, Debug)]
pub struct Scrollback {
    limits: ScrollbackLimits,
    /// Oldest first, none of them without a line, but for the last.
    chunks: VecDeque<Chunk>,
    first: u64,
    end: u64,
    clears: u64,
    cleared_at: u64,
    held_bytes: usize,
    /// The line that is open.
    packer: Packer,
    /// One that is empty, to be used again.
    spare: Option<Chunk>,
}

#[derive(Clone, Debug, Default)]
struct Chunk {
    /// The number of its first line.
    first: u64,
    /// Its lines, and behind them the one that is open if this is the last chunk.
    bytes: Vec<u8>,
    /// The end of each line.
    ends: Vec<u32>,
    /// The memory that was counted for it.
    counted: usize,
}

impl Chunk {
    fn held_bytes(&self) -> usize {
        size_of::<Chunk>() + self.bytes.capacity() + self.ends.capacity() * size_of::<u32>()
    }

    fn open_start(&self) -> usize {
        self.ends.last().map_or(0, |&end| end as usize)
    }

    fn end(&self) -> u64 {
        self.first + self.ends.len() as u64
    }

    fn line(&self, number: u64) -> Option<&[u8]> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let end = *self.ends.get(index)? as usize;
        let start = index
            .checked_sub(1)
            .and_then(|before| self.ends.get(before));
        self.bytes
            .get(start.map_or(0, |&start| start as usize)..end)
    }
}

impl Scrollback {
    /// Returns an empty one, the first line of which will have the number 0.
    pub fn new(limits: ScrollbackLimits) -> Scrollback {
        Scrollback {
            limits,
            chunks: VecDeque::new(),
            first: 0,
            end: 0,
            clears: 0,
            cleared_at: 0,
            held_bytes: 0,
            packer: Packer::default(),
            spare: None,
        }
    }

    /// The number of the oldest line that is kept, or of the next one if none is.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The number that the next line will have.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The number of times that everything was cleared.
    pub fn clears(&self) -> u64 {
        self.clears
    }

    /// The number of the first line since everything was cleared.
    pub fn cleared_at(&self) -> u64 {
        self.cleared_at
    }

    /// The memory that all lines take.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Returns a line, packed: [`unpack_line`](crate::unpack_line) makes rows of it.
    pub fn line(&self, number: u64) -> Option<&[u8]> {
        if number < self.first {
            return None;
        }
        let index = self
            .chunks
            .partition_point(|chunk| chunk.first <= number)
            .checked_sub(1)?;
        self.chunks.get(index)?.line(number)
    }

    /// Takes a packed line in behind all others, cut to the length that one may have.
    pub fn push_line(&mut self, line: &[u8]) {
        let line = line.get(..LINE_BYTES_MAX).unwrap_or(line);
        if self.chunks.is_empty() {
            self.begin_chunk();
        }
        if let Some(chunk) = self.chunks.back_mut() {
            let start = chunk.open_start();
            chunk.bytes.truncate(start);
            chunk.bytes.extend_from_slice(line);
        }
        self.packer = Packer::default();
        self.end_line();
    }

    /// Lets numbers go on at `next`, if that is higher. Nothing before is kept.
    pub fn skip_to(&mut self, next: u64) {
        if next > self.end {
            self.forget();
            self.first = next;
            self.end = next;
        }
    }

    /// Takes in a row that has left. Its line ends with it unless its text runs on in the next one.
    pub(crate) fn push_row(&mut self, row: &SharedRow) {
        if self.chunks.is_empty() {
            self.begin_chunk();
        }
        if let Some(chunk) = self.chunks.back_mut() {
            let start = chunk.open_start();
            if self.packer.push_row(row, &mut chunk.bytes, start) {
                self.end_line();
            }
        }
    }

    /// Drops everything, as the program wants it. The numbers go on.
    pub(crate) fn clear(&mut self) {
        self.forget();
        self.first = self.end;
        self.cleared_at = self.end;
        self.clears += 1;
    }

    fn forget(&mut self) {
        self.chunks.clear();
        self.spare = None;
        self.packer = Packer::default();
        self.held_bytes = 0;
    }

    #[inline]
    fn end_line(&mut self) {
        let Some(last) = self.chunks.back_mut() else {
            return;
        };
        last.ends.push(last.bytes.len() as u32);
        // An empty line takes memory, too.
        let taken = last.bytes.len() + last.ends.len() * size_of::<u32>();
        let is_full = taken > CHUNK_BYTES - CHUNK_SLACK;
        let held = last.held_bytes();
        self.held_bytes += held - last.counted;
        last.counted = held;
        self.end += 1;
        if is_full {
            self.begin_chunk();
        }
        if self.end - self.first > self.limits.lines as u64 {
            self.first += 1;
            self.drop_chunks();
        }
    }

    fn begin_chunk(&mut self) {
        let mut chunk = self.spare.take().unwrap_or_default();
        chunk.first = self.end;
        chunk.bytes.reserve_exact(CHUNK_BYTES);
        chunk.counted = chunk.held_bytes();
        self.held_bytes += chunk.counted;
        self.chunks.push_back(chunk);
        while self.held_bytes > self.limits.bytes && self.chunks.len() > 2 {
            self.first = self.chunks.front().map_or(self.first, Chunk::end);
            self.drop_chunks();
        }
    }

    /// Drops what has only lines that are not kept any more.
    fn drop_chunks(&mut self) {
        while self.chunks.len() > 1
            && self
                .chunks
                .front()
                .is_some_and(|chunk| chunk.end() <= self.first)
            && let Some(mut chunk) = self.chunks.pop_front()
        {
            self.held_bytes -= chunk.counted;
            if chunk.bytes.capacity() <= CHUNK_BYTES {
                chunk.bytes.clear();
                chunk.ends.clear();
                self.spare = Some(chunk);
            }
        }
    }
}
