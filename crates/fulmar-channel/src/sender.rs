//! The end that has the files.

use crate::event::{Event, Progress, Totals, Turn};
use crate::exchange::{Answerer, Requester};
use crate::lanes::Lanes;
use crate::request::Flags;
use crate::source::Source;
use crate::wrong::Wrong;

/// Sends what a [`Source`] has.
#[derive(Debug)]
pub struct Sender {
    flags: Flags,
}

impl Sender {
    /// For a requester's `Put`, with or without its answer: what was begun before it is thrown away by a far end that refuses.
    pub fn new(requester: Requester) -> Self {
        Self {
            flags: requester.request().flags(),
        }
    }

    /// For the answerer of a `Get`, which has answered that it is ready.
    pub fn answering(answerer: Answerer) -> Self {
        let _ = answerer;
        Self {
            flags: Flags::empty(),
        }
    }

    /// Does what can be done now, but reads no more than about `budget` bytes of files.
    ///
    /// # Errors
    ///
    /// The receiver has broken the rules. The copy is over then.
    pub fn turn(
        &mut self,
        source: &mut impl Source,
        lanes: &mut impl Lanes,
        budget: usize,
    ) -> Result<Turn, Wrong> {
        let _ = (
            source.close(crate::EntryId(0)),
            lanes.count(),
            budget,
            self.flags,
        );
        Ok(Turn::Waiting)
    }

    /// The next piece of news.
    pub fn poll_event(&mut self) -> Option<Event> {
        None
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        Progress::default()
    }

    /// What the receiver says the copy came to, once it is done.
    pub fn totals(&self) -> Option<Totals> {
        None
    }
}
