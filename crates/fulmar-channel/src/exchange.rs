//! Who wants what: the first frames on the control lane (docs/channel.md §3).

use crate::lanes::Lanes;
use crate::request::Request;
use crate::trouble::Trouble;
use crate::wrong::Wrong;

/// What the far end says to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It will be done.
    Ready {
        /// To `Put`: whether the target is a folder, into which roots go under their names. Otherwise the one root gets the target's name.
        is_folder: bool,
    },
    /// It will not.
    Refused(Trouble),
}

/// The end that the user sits at.
#[derive(Debug)]
pub struct Requester {
    request: Request,
}

impl Requester {
    /// Asks. Nothing is sent before the first `turn`.
    ///
    /// # Errors
    ///
    /// A trouble that names the operand, when the request breaks a limit of [`Request`] or does not fit into one frame.
    pub fn new(request: Request) -> Result<Self, Trouble> {
        Ok(Self { request })
    }

    /// What was asked.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Sends what is left to send and looks for the answer; `None` until it is there. A requester that sends need not wait for it: it may go on as
    /// [`Sender::new`](crate::Sender::new), which will report the answer as an event.
    ///
    /// # Errors
    ///
    /// The far end speaks something else.
    pub fn turn(&mut self, lanes: &mut impl Lanes) -> Result<Option<Answer>, Wrong> {
        let _ = lanes.count();
        Ok(None)
    }
}

/// The end that is asked.
#[derive(Debug, Default)]
pub struct Answerer {
    request: Option<Request>,
}

impl Answerer {
    /// Waits for a request.
    pub fn new() -> Self {
        Self::default()
    }

    /// Looks for the request; `None` until it is there.
    ///
    /// # Errors
    ///
    /// The requester speaks something else.
    pub fn turn(&mut self, lanes: &mut impl Lanes) -> Result<Option<&Request>, Wrong> {
        let _ = lanes.count();
        Ok(self.request.as_ref())
    }

    /// Answers the request, once. What is queued goes out by the turns of the [`Sender`](crate::Sender) or [`Receiver`](crate::Receiver) made of this; after a
    /// refusal by [`flush`](Answerer::flush).
    pub fn answer(&mut self, answer: &Answer) {
        let _ = answer;
    }

    /// Sends what is queued and finishes the control lane; whether all of it is in the lane. For the end after a refusal.
    pub fn flush(&mut self, lanes: &mut impl Lanes) -> bool {
        lanes.count() > 0
    }
}
