//! One end of the control stream, from the first frame to the last.

use crate::answer::Answer;
use crate::codec::{Frame, Item};
use crate::inlet::Inlet;
use crate::limits::{STREAM_SHARE_BYTES, VERSION};
use crate::outbox::Outbox;
use crate::protocol_error::ProtocolError;
use crate::request::Request;
use crate::streams::{StreamId, Streams};

/// The control stream of one end.
#[derive(Debug)]
pub(crate) struct Control {
    inlet: Inlet,
    pub(crate) outbox: Outbox,
    /// True once the peer's `Hello` has come: nothing else may come first.
    is_greeted: bool,
}

impl Control {
    /// Both ends greet before they know of one another.
    pub(crate) fn new() -> Self {
        let mut outbox = Outbox::default();
        outbox.push(&Frame::Hello {
            version: VERSION,
            features: 0,
        });
        Self {
            inlet: Inlet::default(),
            outbox,
            is_greeted: false,
        }
    }

    /// Returns the number of bytes that may be read in one turn.
    pub(crate) fn budget() -> usize {
        STREAM_SHARE_BYTES
    }

    pub(crate) fn flush(&mut self, streams: &mut impl Streams) {
        self.outbox.flush(StreamId::CONTROL, streams);
    }

    /// The peer's next frame after its greeting.
    pub(crate) fn next(
        &mut self,
        streams: &mut impl Streams,
        budget: &mut usize,
    ) -> Result<Option<Frame>, ProtocolError> {
        while let Some(item) = self.inlet.next(StreamId::CONTROL, streams, budget)? {
            match item {
                Item::Frame(Frame::Hello { version, .. }) if !self.is_greeted => {
                    if version != VERSION {
                        return Err(ProtocolError::Version(version));
                    }
                    self.is_greeted = true;
                }
                Item::Frame(frame) if self.is_greeted => return Ok(Some(frame)),
                other => return Err(ProtocolError::Misplaced(other.name())),
            }
        }
        Ok(None)
    }

    /// The peer's answer to a request.
    pub(crate) fn next_answer(
        &mut self,
        streams: &mut impl Streams,
    ) -> Result<Option<Answer>, ProtocolError> {
        match self.next(streams, &mut Self::budget())? {
            None if self.is_ended() => Err(ProtocolError::EndedEarly),
            None => Ok(None),
            Some(Frame::Ready { into_folder }) => Ok(Some(Answer::Ready { into_folder })),
            Some(Frame::Refused(trouble)) => Ok(Some(Answer::Refused(trouble))),
            Some(other) => Err(ProtocolError::Misplaced(other.name())),
        }
    }

    /// The peer's request.
    pub(crate) fn next_request(
        &mut self,
        streams: &mut impl Streams,
    ) -> Result<Option<Request>, ProtocolError> {
        match self.next(streams, &mut Self::budget())? {
            None if self.is_ended() => Err(ProtocolError::EndedEarly),
            None => Ok(None),
            Some(Frame::Request(request)) => Ok(Some(request)),
            Some(other) => Err(ProtocolError::Misplaced(other.name())),
        }
    }

    /// Returns true if the peer has finished the stream.
    pub(crate) fn is_ended(&self) -> bool {
        self.inlet.is_ended()
    }
}
