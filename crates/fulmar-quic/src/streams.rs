//! Numbered streams of bytes, and where their bytes wait.

use std::collections::VecDeque;

use bytes::Bytes;
use quinn_proto::{Dir, Side, WriteError};

/// Bytes that a stream takes before QUIC does: a few turns' worth, so that writers need no events.
///
/// Chosen by eye.
const STAGED_MAX: usize = 64 << 10;

/// The number of a stream of a connection: 0 is the control stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(u8);

impl StreamId {
    /// The control stream.
    pub const CONTROL: StreamId = StreamId(0);

    /// Returns the stream of that number: 0 is control, data streams begin at 1.
    #[must_use]
    pub const fn new(number: u8) -> StreamId {
        StreamId(number)
    }

    /// Returns the number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns the id that QUIC has for the stream on which `writer` writes.
    ///
    /// Control is the client's first stream of both directions; data stream n is the n-th stream of one
    /// direction that the writer opens.
    fn of_quic(self, writer: Side) -> quinn_proto::StreamId {
        match self.0.checked_sub(1) {
            None => quinn_proto::StreamId::new(Side::Client, Dir::Bi, 0),
            Some(index) => quinn_proto::StreamId::new(writer, Dir::Uni, index.into()),
        }
    }
}

/// All streams of one end.
pub(crate) struct Streams {
    side: Side,
    streams: Vec<StreamState>,
    /// The number of one-way streams that this end has opened, and whether the control stream is open.
    opened: u8,
    control_opened: bool,
}

#[derive(Default)]
struct StreamState {
    staged: VecDeque<Bytes>,
    staged_bytes: usize,
    finishing: bool,
    finished: bool,
    /// The peer has all of it and its end.
    delivered: bool,
    /// The peer will write nothing more.
    ended: bool,
    /// QUIC took no more at the last try, and nothing has come since.
    blocked: bool,
    /// The peer no longer takes what is written here.
    refused: bool,
    /// There was nothing more to read at the last try, and nothing has come since.
    is_drained: bool,
}

impl Streams {
    /// Streams for one end: control and so many data streams.
    pub(crate) fn new(side: Side, data: u8) -> Streams {
        Streams {
            side,
            streams: (0..=data).map(|_| StreamState::default()).collect(),
            opened: 0,
            control_opened: false,
        }
    }

    /// Returns how many data streams there are.
    pub(crate) fn count(&self) -> usize {
        self.streams.len().saturating_sub(1)
    }

    /// Returns how many bytes the stream takes now.
    pub(crate) fn room(&self, stream: StreamId) -> usize {
        self.state(stream).map_or(0, StreamState::room)
    }

    /// Takes bytes off the front, as many as there is room for.
    pub(crate) fn write(&mut self, stream: StreamId, bytes: &mut Bytes) {
        let Some(state) = self.streams.get_mut(usize::from(stream.0)) else {
            return;
        };
        let taken = bytes.split_to(state.room().min(bytes.len()));
        if !taken.is_empty() {
            state.staged_bytes += taken.len();
            state.staged.push_back(taken);
        }
    }

    /// Writes nothing more after what is staged.
    pub(crate) fn finish(&mut self, stream: StreamId) {
        if let Some(state) = self.streams.get_mut(usize::from(stream.0)) {
            state.finishing = true;
        }
    }

    /// Returns true if the peer has all of the streams that were finished, and nothing waits on others.
    pub(crate) fn is_delivered(&self) -> bool {
        let is_delivered = |state: &StreamState| {
            state.refused || state.delivered || !state.finishing && state.staged.is_empty()
        };
        self.streams.iter().all(is_delivered)
    }

    /// The peer has acknowledged all of a finished stream of ours.
    pub(crate) fn delivered(&mut self, id: quinn_proto::StreamId) {
        if let Some(state) = self.state_of(id) {
            state.delivered = true;
        }
    }

    /// Returns true if the peer has finished the stream and all of it was read.
    pub(crate) fn is_ended(&self, stream: StreamId) -> bool {
        self.state(stream).is_some_and(|state| state.ended)
    }

    /// Something has come for a stream of the peer's.
    pub(crate) fn arrived(&mut self, id: quinn_proto::StreamId) {
        if let Some(state) = self.state_of(id) {
            state.is_drained = false;
        }
    }

    /// The peer has opened streams, perhaps with something in them.
    pub(crate) fn opened(&mut self) {
        for state in &mut self.streams {
            state.is_drained = false;
        }
    }

    /// Something has come, or a window has grown: QUIC may take more.
    pub(crate) fn unblock(&mut self) {
        for state in &mut self.streams {
            state.blocked = false;
        }
    }

    /// Hands to QUIC what it takes.
    pub(crate) fn flush(&mut self, connection: &mut quinn_proto::Connection) {
        for number in 0..=u8::try_from(self.count()).unwrap_or(u8::MAX) {
            if self.has_work(number) && self.open(connection, number) {
                let id = StreamId(number).of_quic(self.side);
                if let Some(state) = self.streams.get_mut(usize::from(number)) {
                    state.flush(connection.send_stream(id));
                }
            }
        }
    }

    /// Reads the next bytes of a stream, at most `limit`.
    pub(crate) fn read(
        &mut self,
        connection: &mut quinn_proto::Connection,
        stream: StreamId,
        limit: usize,
    ) -> Option<Bytes> {
        let can_read =
            stream != StreamId::CONTROL || self.has_control(connection, self.side.is_server());
        let state = self.streams.get_mut(usize::from(stream.0))?;
        if state.ended || state.is_drained || !can_read || limit == 0 {
            return None;
        }
        let id = stream.of_quic(!self.side);
        let mut receiving = connection.recv_stream(id);
        let Ok(mut chunks) = receiving.read(true) else {
            state.ended = true;
            return None;
        };
        let read = chunks.next(limit);
        // Whether credit is to be given out now is found by the next `poll_transmit`.
        let _ = chunks.finalize();
        match read {
            Ok(Some(chunk)) => return Some(chunk.bytes),
            Err(quinn_proto::ReadError::Blocked) => state.is_drained = true,
            Ok(None) | Err(quinn_proto::ReadError::Reset(_)) => state.ended = true,
        }
        None
    }

    fn state_of(&mut self, id: quinn_proto::StreamId) -> Option<&mut StreamState> {
        let number = match id.dir() {
            Dir::Bi => 0,
            Dir::Uni => id.index().saturating_add(1),
        };
        self.streams.get_mut(usize::try_from(number).ok()?)
    }

    fn state(&self, stream: StreamId) -> Option<&StreamState> {
        self.streams.get(usize::from(stream.0))
    }

    fn has_work(&self, number: u8) -> bool {
        let state = self.state(StreamId(number));
        state.is_some_and(|state| {
            !state.refused
                && !state.blocked
                && (!state.staged.is_empty() || state.finishing && !state.finished)
        })
    }

    /// Returns true if there is a control stream. If there is none and one is wanted, a client opens it and a
    /// server takes the one that its client has opened.
    fn has_control(&mut self, connection: &mut quinn_proto::Connection, wanted: bool) -> bool {
        if !self.control_opened && wanted {
            let mut streams = connection.streams();
            let stream = match self.side {
                Side::Client => streams.open(Dir::Bi),
                Side::Server => streams.accept(Dir::Bi),
            };
            self.control_opened = stream.is_some();
        }
        self.control_opened
    }

    /// Opens the stream and those before it, unless they are; whether it is open now.
    fn open(&mut self, connection: &mut quinn_proto::Connection, number: u8) -> bool {
        if number == 0 {
            return self.has_control(connection, true);
        }
        while self.opened < number {
            let Some(id) = connection.streams().open(Dir::Uni) else {
                return false;
            };
            self.opened += 1;
            // The first streams before the others, and control before all: what is cut short has whole chunks then.
            let _ = connection
                .send_stream(id)
                .set_priority(-i32::from(self.opened));
        }
        true
    }
}

impl StreamState {
    fn room(&self) -> usize {
        if self.finishing || self.refused {
            return 0;
        }
        STAGED_MAX.saturating_sub(self.staged_bytes)
    }

    fn flush(&mut self, mut stream: quinn_proto::SendStream<'_>) {
        while let Some(front) = self.staged.front_mut() {
            let before = front.len();
            match stream.write_chunks(std::slice::from_mut(front)) {
                Ok(_) => self.staged_bytes = self.staged_bytes.saturating_sub(before - front.len()),
                Err(WriteError::Blocked) => {
                    self.blocked = true;
                    return;
                }
                Err(WriteError::Stopped(_) | WriteError::ClosedStream) => return self.refuse(),
            }
            if front.is_empty() {
                self.staged.pop_front();
            }
        }
        if self.finishing && !self.finished {
            self.finished = true;
            // A stream that was refused needs no end.
            let _ = stream.finish();
        }
    }

    fn refuse(&mut self) {
        self.refused = true;
        self.staged.clear();
        self.staged_bytes = 0;
    }
}
