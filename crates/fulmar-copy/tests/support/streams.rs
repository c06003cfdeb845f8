//! Streams in memory, which deliver when and in what pieces a test wants.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use bytes::Bytes;
use fulmar_copy::{Arrived, StreamId, Streams};
use fulmar_sim::Random;

/// One direction of one stream.
#[derive(Debug, Default)]
struct Pipe {
    /// Written, and on its way.
    moving: VecDeque<Bytes>,
    moving_bytes: usize,
    /// There, and not read.
    arrived: VecDeque<Bytes>,
    capacity: usize,
    is_finished: bool,
}

impl Pipe {
    fn deliver(&mut self, count: usize) -> usize {
        let mut left = count;
        while left > 0 {
            let Some(front) = self.moving.front_mut() else {
                break;
            };
            let piece = front.split_to(front.len().min(left));
            if front.is_empty() {
                self.moving.pop_front();
            }
            left -= piece.len();
            self.moving_bytes -= piece.len();
            self.arrived.push_back(piece);
        }
        count - left
    }
}

/// All streams between two ends: a pipe each way for control, then those for data.
#[derive(Debug)]
pub(crate) struct Link {
    pipes: Rc<RefCell<Vec<Pipe>>>,
    /// Bytes written to data streams.
    pub(crate) carried: Rc<RefCell<u64>>,
}

/// One end of them.
#[derive(Debug)]
pub(crate) struct End {
    pipes: Rc<RefCell<Vec<Pipe>>>,
    carried: Rc<RefCell<u64>>,
    is_sender: bool,
}

const TO_RECEIVER: usize = 0;
const TO_SENDER: usize = 1;

impl Link {
    pub(crate) fn new(capacities: &[usize]) -> Self {
        let control = [1 << 16, 1 << 16];
        let pipe = |capacity: &usize| Pipe {
            capacity: *capacity,
            ..Pipe::default()
        };
        let pipes = control.iter().chain(capacities).map(pipe).collect();
        Self {
            pipes: Rc::new(RefCell::new(pipes)),
            carried: Rc::default(),
        }
    }

    pub(crate) fn sender(&self) -> End {
        self.end(true)
    }

    pub(crate) fn receiver(&self) -> End {
        self.end(false)
    }

    fn end(&self, is_sender: bool) -> End {
        End {
            pipes: self.pipes.clone(),
            carried: self.carried.clone(),
            is_sender,
        }
    }

    /// Moves some bytes of some stream.
    pub(crate) fn deliver_some(&self, random: &mut Random) {
        let mut pipes = self.pipes.borrow_mut();
        let at = random.below(pipes.len() as u64) as usize;
        let most = [3, 200, 5_000, 200_000][random.below(4) as usize];
        let count = random.below(most) as usize + 1;
        pipes[at].deliver(count);
    }

    /// Moves everything; how much that was.
    pub(crate) fn deliver_all(&self) -> usize {
        let mut pipes = self.pipes.borrow_mut();
        pipes.iter_mut().map(|pipe| pipe.deliver(usize::MAX)).sum()
    }
}

impl End {
    fn pipe(&self, stream: StreamId, is_out: bool) -> usize {
        match stream {
            StreamId::CONTROL if is_out == self.is_sender => TO_RECEIVER,
            StreamId::CONTROL => TO_SENDER,
            StreamId(number) => usize::from(number) + 1,
        }
    }
}

impl Streams for End {
    fn count(&self) -> usize {
        self.pipes.borrow().len() - 2
    }

    fn room(&mut self, stream: StreamId) -> usize {
        let pipe = &self.pipes.borrow()[self.pipe(stream, true)];
        pipe.capacity.saturating_sub(pipe.moving_bytes)
    }

    fn write(&mut self, stream: StreamId, bytes: &mut Bytes) {
        assert!(
            self.is_sender || stream == StreamId::CONTROL,
            "data goes one way"
        );
        let room = self.room(stream);
        let at = self.pipe(stream, true);
        let pipe = &mut self.pipes.borrow_mut()[at];
        assert!(
            !pipe.is_finished,
            "nothing is written behind the end of {stream:?}"
        );
        let taken = bytes.split_to(bytes.len().min(room));
        pipe.moving_bytes += taken.len();
        if stream != StreamId::CONTROL {
            *self.carried.borrow_mut() += taken.len() as u64;
        }
        if !taken.is_empty() {
            pipe.moving.push_back(taken);
        }
    }

    fn read(&mut self, stream: StreamId, limit: usize) -> Arrived {
        assert!(limit > 0, "something can be read");
        let pipe = &mut self.pipes.borrow_mut()[self.pipe(stream, false)];
        let Some(front) = pipe.arrived.front_mut() else {
            let is_over = pipe.is_finished && pipe.moving.is_empty();
            return if is_over {
                Arrived::Ended
            } else {
                Arrived::Nothing
            };
        };
        let piece = front.split_to(front.len().min(limit));
        if front.is_empty() {
            pipe.arrived.pop_front();
        }
        Arrived::Bytes(piece)
    }

    fn finish(&mut self, stream: StreamId) {
        let at = self.pipe(stream, true);
        self.pipes.borrow_mut()[at].is_finished = true;
    }
}

/// The actions of a peer without rules on a stream.
impl End {
    /// Writes any bytes and delivers them.
    pub(crate) fn inject(&self, stream: StreamId, bytes: impl Into<Bytes>) {
        let at = self.pipe(stream, true);
        let bytes = bytes.into();
        if !bytes.is_empty() {
            self.pipes.borrow_mut()[at].arrived.push_back(bytes);
        }
    }
}
