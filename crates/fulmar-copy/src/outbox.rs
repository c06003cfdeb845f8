//! The bytes that wait to go out on one stream.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use crate::codec::{Frame, data_head};
use crate::entry::EntryId;
use crate::streams::{StreamId, Streams};

/// Data up to this size is copied behind the frames before it, so that small files do not become a crowd of tiny pieces.
///
/// Chosen by eye.
const COPIED_BYTES_MAX: usize = 8 * 1024;

/// Frames in order, as bytes.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    pieces: VecDeque<Bytes>,
    /// The bytes that come behind the pieces.
    tail: BytesMut,
    waiting: usize,
}

impl Outbox {
    /// Bytes that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    pub(crate) fn push(&mut self, frame: &Frame) {
        let before = self.tail.len();
        frame.encode(&mut self.tail);
        self.waiting += self.tail.len() - before;
    }

    /// A frame of data, 1 byte to 64 KiB.
    pub(crate) fn push_data(&mut self, id: EntryId, offset: u64, bytes: Bytes) {
        let before = self.tail.len();
        data_head(&mut self.tail, id.0, offset, bytes.len());
        self.waiting += self.tail.len() - before + bytes.len();
        if bytes.len() <= COPIED_BYTES_MAX {
            self.tail.extend_from_slice(&bytes);
            return;
        }
        self.close_tail();
        self.pieces.push_back(bytes);
    }

    fn close_tail(&mut self) {
        if !self.tail.is_empty() {
            self.pieces.push_back(self.tail.split().freeze());
        }
    }

    /// Hands over as much as the stream takes.
    pub(crate) fn flush(&mut self, stream: StreamId, streams: &mut impl Streams) {
        self.close_tail();
        while let Some(piece) = self.pieces.front_mut() {
            let before = piece.len();
            streams.write(stream, piece);
            self.waiting -= before - piece.len();
            if !piece.is_empty() {
                return;
            }
            self.pieces.pop_front();
        }
    }
}
