//! Measures the cost of a copy beside files and network, in nanoseconds per byte, both ends together.
//!
//! ```text
//! cargo run --release -p fulmar-copy --example carry_cost
//! ```
//!
//! A source of random bytes, a target that throws them away, and streams in memory that deliver what was
//! written: whole, or in pieces as long as a datagram. Each figure is the best of [`ROUNDS`] rounds. `digest` is
//! BLAKE3 twice over the same bytes, measured by itself; `rest` is everything else.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use fulmar_copy::{
    Answer, Answerer, Arrived, Entry, EntryError, EntryId, EntryKind, ExistingFile, Flags,
    NextEntry, Occupant, PartialFile, Piece, Poll, Receiver, RelativePath, Request, Requester,
    Sender, Settled, Source, StreamId, Streams, Target, Timestamp,
};

const ROUNDS: usize = 3;
const DATA_STREAMS: usize = 8;
const ROOM_BYTES: usize = 1 << 20;
const BLOCK_BYTES: usize = 1 << 16;
const BUDGET_BYTES: usize = 1 << 20;
/// Content of one QUIC packet.
const PACKET_BYTES: usize = 1400;

fn main() {
    println!(
        "{:>16} {:>7} {:>7} {:>7} {:>7} {:>7}",
        "files", "pieces", "MB/s", "ns/byte", "digest", "rest"
    );
    for (count, size) in [(1, 300_000_000), (10_000, 4_000)] {
        for piece in [BLOCK_BYTES, PACKET_BYTES] {
            report(count, size, piece);
        }
    }
}

fn report(count: u64, size: u64, piece: usize) {
    let total = (count * size) as f64;
    let carried = best(|| carry(count, size, piece));
    let hashed = best(|| hash(count * size));
    let per_byte = |time: Duration| time.as_nanos() as f64 / total;
    println!(
        "{:>16} {:>7} {:>7.0} {:>7.2} {:>7.2} {:>7.2}",
        format!("{count} x {size}"),
        piece,
        total / carried.as_secs_f64() / 1e6,
        per_byte(carried),
        per_byte(hashed),
        per_byte(carried.saturating_sub(hashed)),
    );
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn best(mut work: impl FnMut()) -> Duration {
    let rounds = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    rounds.min().unwrap_or_default()
}

/// BLAKE3 of that many bytes, at both ends.
fn hash(total: u64) {
    let block = block();
    let mut hasher = blake3::Hasher::new();
    for _ in 0..2 * total.div_ceil(BLOCK_BYTES as u64) {
        hasher.update(&block);
    }
    std::hint::black_box(hasher.finalize());
}

/// One whole copy.
fn carry(count: u64, size: u64, piece: usize) {
    let pipes = Rc::new(RefCell::new(vec![VecDeque::new(); DATA_STREAMS + 2]));
    let mut near = Memory {
        pipes: pipes.clone(),
        piece,
        is_sender: true,
    };
    let mut far = Memory {
        pipes,
        piece,
        is_sender: false,
    };
    let flags = Flags::RECURSIVE;
    let request = Requester::new(Request::Put {
        target: b"there".to_vec(),
        flags,
    });
    let mut answerer = Answerer::new();
    let mut sender = Sender::new(request.expect("a request that fits"));
    let mut source = Blocks {
        count,
        size,
        block: block(),
    };
    let mut target = Nowhere::default();
    let mut turn = sender.poll(&mut source, &mut near, 1);
    assert!(matches!(answerer.poll(&mut far), Ok(Some(_))));
    answerer.answer(&Answer::Ready { into_folder: true });
    let mut receiver = Receiver::answering(answerer, Box::new(|_, _| true));
    while turn != Ok(Poll::Done) {
        receiver
            .poll(&mut target, &mut far, BUDGET_BYTES)
            .expect("a sender of ours");
        while receiver.poll_event().is_some() {}
        turn = sender.poll(&mut source, &mut near, BUDGET_BYTES);
        while sender.poll_event().is_some() {}
    }
    assert_eq!(target.bytes, count * size);
}

/// 64 KiB without a zero.
fn block() -> Bytes {
    (0..BLOCK_BYTES as u32)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8 | 1)
        .collect()
}

/// Files that are all alike.
struct Blocks {
    count: u64,
    size: u64,
    block: Bytes,
}

impl Source for Blocks {
    fn next_entry(&mut self, id: EntryId) -> NextEntry {
        if id.0 == self.count {
            return NextEntry::End;
        }
        let path = RelativePath::new(format!("file-{:06}", id.0).as_bytes()).expect("a name");
        let kind = EntryKind::File {
            size: Some(self.size),
        };
        NextEntry::Entry(Entry {
            operand: 0,
            path,
            kind,
            mode: 0o644,
            modified: Timestamp::default(),
        })
    }

    fn read(&mut self, _: EntryId, offset: u64, limit: usize) -> Result<Piece, EntryError> {
        let start = offset as usize % BLOCK_BYTES;
        let end = BLOCK_BYTES.min(start + limit);
        Ok(Piece::Bytes(self.block.slice(start..end)))
    }

    fn close(&mut self, _: EntryId) -> Settled {
        Settled::Same
    }
}

/// Counts what it gets.
#[derive(Default)]
struct Nowhere {
    bytes: u64,
}

impl Target for Nowhere {
    fn begin(&mut self, _: EntryId, _: &Entry) -> Result<ExistingFile, EntryError> {
        Ok(ExistingFile::New)
    }

    fn write(&mut self, _: EntryId, _: u64, bytes: &[u8]) -> Result<(), EntryError> {
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    fn zeros(&mut self, _: EntryId, _: u64, _: u64) -> Result<(), EntryError> {
        Ok(())
    }

    fn read_back(&mut self, _: EntryId, _: u64, _: usize) -> Result<Bytes, EntryError> {
        Ok(Bytes::new())
    }

    fn commit(&mut self, _: EntryId, _: u64) -> Result<(), EntryError> {
        Ok(())
    }

    fn keep(&mut self, _: EntryId) -> Result<(), EntryError> {
        Ok(())
    }

    fn abandon(&mut self, _: EntryId, _: PartialFile) {}

    fn folder(&mut self, _: &Entry) -> Result<(), EntryError> {
        Ok(())
    }

    fn link(&mut self, _: &Entry) -> Result<(), EntryError> {
        Ok(())
    }

    fn leave(&mut self, _: &Entry) -> Result<(), EntryError> {
        Ok(())
    }

    fn look(&mut self, _: &Entry) -> Result<Occupant, EntryError> {
        Ok(Occupant::Nothing)
    }
}

/// Streams in memory: the bytes that one end writes the other can read at once.
struct Memory {
    pipes: Rc<RefCell<Vec<VecDeque<Bytes>>>>,
    piece: usize,
    is_sender: bool,
}

impl Memory {
    fn at(&self, stream: StreamId, is_out: bool) -> usize {
        match stream {
            StreamId::CONTROL => usize::from(is_out == self.is_sender),
            StreamId(number) => usize::from(number) + 1,
        }
    }
}

impl Streams for Memory {
    fn count(&self) -> usize {
        DATA_STREAMS
    }

    fn room(&mut self, stream: StreamId) -> usize {
        let waiting: usize = self.pipes.borrow()[self.at(stream, true)]
            .iter()
            .map(Bytes::len)
            .sum();
        ROOM_BYTES.saturating_sub(waiting)
    }

    fn write(&mut self, stream: StreamId, bytes: &mut Bytes) {
        let at = self.at(stream, true);
        let pipe = &mut self.pipes.borrow_mut()[at];
        while !bytes.is_empty() {
            let length = bytes.len().min(self.piece);
            pipe.push_back(bytes.split_to(length));
        }
    }

    fn read(&mut self, stream: StreamId, limit: usize) -> Arrived {
        let at = self.at(stream, false);
        let pipe = &mut self.pipes.borrow_mut()[at];
        let Some(front) = pipe.front_mut() else {
            return Arrived::Nothing;
        };
        let piece = front.split_to(front.len().min(limit));
        if front.is_empty() {
            pipe.pop_front();
        }
        Arrived::Bytes(piece)
    }

    fn finish(&mut self, _: StreamId) {}
}
