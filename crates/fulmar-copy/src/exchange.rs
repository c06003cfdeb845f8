//! The first frames on the control stream, which say who wants what (docs/copy-protocol.md §3).

use bytes::BytesMut;

use crate::answer::Answer;
use crate::codec::Frame;
use crate::control::Control;
use crate::entry_error::{EntryError, EntryErrorKind};
use crate::limits::{CONTROL_FRAME_BYTES_MAX, OPERANDS_MAX, PATH_BYTES_MAX};
use crate::protocol_error::ProtocolError;
use crate::request::{Flags, Request};
use crate::streams::{StreamId, Streams};

/// The end that the user sits at.
#[derive(Debug)]
pub struct Requester {
    request: Request,
    control: Control,
    answer: Option<Answer>,
}

impl Requester {
    /// Asks. Nothing is sent before the first `poll`.
    ///
    /// # Errors
    ///
    /// A trouble that names the operand, when the request breaks a limit of [`Request`] or does not fit
    /// into one frame.
    pub fn new(request: Request) -> Result<Self, EntryError> {
        check(&request)?;
        let mut control = Control::new();
        control.outbox.push(&Frame::Request(request.clone()));
        Ok(Self {
            request,
            control,
            answer: None,
        })
    }

    /// Returns the request.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Sends what is left to send and looks for the answer; `None` until it is there. A requester that
    /// sends need not wait for it: it may go on as [`Sender::new`](crate::Sender::new), which will
    /// report the answer as an event.
    ///
    /// # Errors
    ///
    /// The remote end speaks something else.
    pub fn poll(&mut self, streams: &mut impl Streams) -> Result<Option<Answer>, ProtocolError> {
        self.control.flush(streams);
        if self.answer.is_none() {
            self.answer = self.control.next_answer(streams)?;
        }
        Ok(self.answer.clone())
    }

    /// The stream, how it is to be done, and whether the answer is still to come.
    pub(crate) fn into_parts(self) -> (Control, Flags, bool) {
        (self.control, self.request.flags(), self.answer.is_none())
    }
}

/// Checks that the request keeps to what a frame can say.
fn check(request: &Request) -> Result<(), EntryError> {
    let operands = match request {
        Request::Put { target, .. } => std::slice::from_ref(target),
        Request::Get { operands, .. } => operands,
    };
    for operand in operands {
        if operand.len() > PATH_BYTES_MAX {
            return Err(EntryError::at(operand, EntryErrorKind::TooDeep));
        }
        if operand.contains(&0) {
            return Err(EntryError::at(operand, EntryErrorKind::BadName));
        }
    }
    let mut frame = BytesMut::new();
    if operands.is_empty() || operands.len() > OPERANDS_MAX {
        return Err(EntryError::new(EntryErrorKind::Unsupported).with_note("number of paths"));
    }
    // Far too much is not even encoded.
    if operands
        .iter()
        .map(|operand| operand.len() + 4)
        .sum::<usize>()
        < CONTROL_FRAME_BYTES_MAX
    {
        Frame::Request(request.clone()).encode(&mut frame);
    }
    if frame.is_empty() || frame.len() > CONTROL_FRAME_BYTES_MAX {
        return Err(
            EntryError::new(EntryErrorKind::Unsupported).with_note("too many paths in one request")
        );
    }
    Ok(())
}

/// The end that is asked.
#[derive(Debug)]
pub struct Answerer {
    control: Control,
    request: Option<Request>,
}

impl Default for Answerer {
    fn default() -> Self {
        Self::new()
    }
}

impl Answerer {
    /// Waits for a request.
    pub fn new() -> Self {
        Self {
            control: Control::new(),
            request: None,
        }
    }

    /// Looks for the request; `None` until it is there.
    ///
    /// # Errors
    ///
    /// The requester speaks something else.
    pub fn poll(&mut self, streams: &mut impl Streams) -> Result<Option<&Request>, ProtocolError> {
        self.control.flush(streams);
        if self.request.is_none() {
            self.request = self.control.next_request(streams)?;
        }
        Ok(self.request.as_ref())
    }

    /// Answers the request, once. What is queued goes out by the turns of the
    /// [`Sender`](crate::Sender) or [`Receiver`](crate::Receiver) made of this; after a refusal
    /// by [`flush`](Answerer::flush).
    pub fn answer(&mut self, answer: &Answer) {
        self.control.outbox.push(&match answer {
            Answer::Ready { into_folder } => Frame::Ready {
                into_folder: *into_folder,
            },
            Answer::Refused(trouble) => Frame::Refused(trouble.clone().fitted()),
        });
    }

    /// Sends what is queued and then finishes the control stream; whether all of it is in the stream. For the end
    /// after a refusal.
    pub fn flush(&mut self, streams: &mut impl Streams) -> bool {
        self.control.flush(streams);
        let is_sent = self.control.outbox.waiting() == 0;
        if is_sent {
            streams.finish(StreamId::CONTROL);
        }
        is_sent
    }

    /// The stream, and how it is to be done.
    pub(crate) fn into_parts(self) -> (Control, Flags) {
        let flags = self.request.as_ref().map_or(Flags::empty(), Request::flags);
        (self.control, flags)
    }
}
