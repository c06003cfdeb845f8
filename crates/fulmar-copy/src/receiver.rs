//! The end that gets the files.

mod arrival;
mod check;
mod large;
mod part;
mod single;
mod window;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use self::check::{Check, ResumeOffer};
use self::large::Large;
use self::single::Single;
use self::window::Window;
use crate::codec::Frame;
use crate::control::Control;
use crate::entry::{Entry, EntryId, EntryKind};
use crate::entry_error::EntryError;
use crate::event::{CopyEnd, CopyEvent, EntryVerdict, Poll, Progress, Totals};
use crate::exchange::{Answerer, Requester};
use crate::inlet::Inlet;
use crate::limits::{
    CONTROL_WAITING_BYTES, SIZE_MAX, STREAM_SHARE_BYTES, STREAMS_MAX, WINDOW_ENTRIES,
};
use crate::news::News;
use crate::path::RelativePath;
use crate::protocol_error::ProtocolError;
use crate::request::Flags;
use crate::streams::{StreamId, Streams};
use crate::target::{PartialFile, Target};

/// A test whether an operand, by its index, may bring a root of that name. The requester decides: for `Get`
/// it is what the user named or what fits the user's pattern, for `Put` anything (the sender is the user's).
pub type Allowed = Box<dyn Fn(u32, &[u8]) -> bool>;

/// Receives into a [`Target`].
pub struct Receiver {
    control: Control,
    flags: Flags,
    allowed: Allowed,
    /// The data streams; known from the first turn on.
    inlets: Vec<Inlet>,
    /// The file that is whole on each stream.
    singles: Vec<Option<Single>>,
    /// The stream that has its turn first, the next time.
    first_stream: usize,
    large: BTreeMap<EntryId, Large>,
    /// Of files that have begun.
    paths: BTreeSet<RelativePath>,
    /// Folders that wait until everything before them is settled.
    leaves: BTreeMap<EntryId, Entry>,
    window: Window,
    /// Settled, and the sender does not know yet.
    unreported: BTreeSet<EntryId>,
    checks: VecDeque<Check>,
    haves: Option<ResumeOffer>,
    /// The number of chunks of each file that were looked for, where the sender does not know yet.
    checked: BTreeMap<EntryId, u64>,
    /// One more than the highest number that has come.
    known_end: u64,
    /// The number of entries, once it is known.
    finished: Option<u64>,
    stage: ReceiverStage,
    news: News,
    totals: Totals,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReceiverStage {
    Receiving,
    /// Everything is settled, and the sender is being told.
    Settled,
    Done,
}

impl Receiver {
    /// For a requester's `Get` that was answered with [`Answer::Ready`](crate::Answer).
    pub fn new(requester: Requester, allowed: Allowed) -> Self {
        let (control, flags, _) = requester.into_parts();
        Self::with(control, flags, allowed)
    }

    /// For the answerer of a `Put`, which has answered that it is ready.
    pub fn answering(answerer: Answerer, allowed: Allowed) -> Self {
        let (control, flags) = answerer.into_parts();
        Self::with(control, flags, allowed)
    }

    fn with(control: Control, flags: Flags, allowed: Allowed) -> Self {
        Self {
            control,
            flags,
            allowed,
            inlets: Vec::new(),
            singles: Vec::new(),
            first_stream: 0,
            large: BTreeMap::new(),
            paths: BTreeSet::new(),
            leaves: BTreeMap::new(),
            window: Window::new(),
            unreported: BTreeSet::new(),
            checks: VecDeque::new(),
            haves: None,
            checked: BTreeMap::new(),
            known_end: 0,
            finished: None,
            stage: ReceiverStage::Receiving,
            news: News::default(),
            totals: Totals::default(),
        }
    }

    /// Does what can be done now, but takes no more than about `budget` bytes off the streams, and reads back
    /// no more than that of what is held.
    ///
    /// # Errors
    ///
    /// The sender has broken the rules, or a stream has ended too early. The copy is over then: call
    /// [`interrupt`](Receiver::interrupt).
    pub fn poll(
        &mut self,
        target: &mut impl Target,
        streams: &mut impl Streams,
        budget: usize,
    ) -> Result<Poll, ProtocolError> {
        // Nothing is done until what has happened was told, so that news has a bound
        // (docs/threat-model.md §6).
        if self.news.is_full() {
            return Ok(Poll::More);
        }
        if self.inlets.is_empty() {
            let count = streams.count().clamp(1, STREAMS_MAX);
            self.inlets.resize_with(count, Inlet::default);
            self.singles.resize_with(count, || None);
        }
        let mut is_more = false;
        if self.stage == ReceiverStage::Receiving {
            is_more |= self.hear(streams)?;
            is_more |= self.receive(target, streams, budget)?;
            is_more |= self.check(target, budget);
            // These come last, so that they see all that this turn has settled.
            self.settle_leaves(target);
            self.report();
            self.look_for_the_end()?;
        }
        self.control.flush(streams);
        // What waits here has not reached the stream, and would be lost behind its end.
        if self.stage == ReceiverStage::Settled && self.control.outbox.waiting() == 0 {
            streams.finish(StreamId::CONTROL);
            self.stage = ReceiverStage::Done;
        }
        Ok(match self.stage {
            ReceiverStage::Done => Poll::Done,
            _ if is_more || self.news.is_full() => Poll::More,
            _ => Poll::Waiting,
        })
    }

    /// The copy ends here, done or not: abandons every file that is begun, and keeps its parts. No `poll` may
    /// follow.
    pub fn interrupt(&mut self, target: &mut impl Target) {
        for single in self.singles.iter_mut().filter_map(Option::take) {
            target.abandon(single.id, PartialFile::Keep);
        }
        while let Some((id, _)) = self.large.pop_first() {
            target.abandon(id, PartialFile::Keep);
        }
    }

    /// The next piece of news.
    pub fn poll_event(&mut self) -> Option<CopyEvent> {
        self.news.poll()
    }

    /// Returns the progress of the copy. `is_walked` and what is known come with what has arrived.
    pub fn progress(&self) -> Progress {
        self.news.progress
    }

    /// Returns the file that is being received; of several, the one that has begun last.
    pub fn current_file(&self) -> Option<&RelativePath> {
        let large = self.large.last_key_value();
        let large = large.map(|(id, large)| (*id, &large.entry));
        let singles = self.singles.iter().flatten();
        let singles = singles.map(|single| (single.id, &single.entry));
        let (_, entry) = large.into_iter().chain(singles).max_by_key(|(id, _)| *id)?;
        Some(&entry.path)
    }

    /// Returns the totals of the copy, once it is done.
    pub fn totals(&self) -> Option<Totals> {
        (self.stage != ReceiverStage::Receiving).then_some(self.totals)
    }

    /// Takes what the sender says on the control stream; whether there may be more.
    fn hear(&mut self, streams: &mut impl Streams) -> Result<bool, ProtocolError> {
        let mut budget = Control::budget();
        while !self.news.is_full() {
            match self.control.next(streams, &mut budget)? {
                Some(Frame::EntryError(trouble)) if self.finished.is_none() => {
                    self.totals.troubles += 1;
                    self.news.push(CopyEvent::EntryError(trouble));
                }
                Some(Frame::Finished { entries }) if self.finished.is_none() => {
                    // An entry with a higher number has come already.
                    if entries < self.known_end {
                        return Err(ProtocolError::BeyondWindow);
                    }
                    self.finished = Some(entries);
                    self.news.progress.is_walked = true;
                }
                Some(other) => return Err(ProtocolError::Misplaced(other.name())),
                None => break,
            }
        }
        Ok(budget == 0)
    }

    /// Takes what has come on the data streams, each its share in turn; whether there may be more.
    fn receive(
        &mut self,
        target: &mut impl Target,
        streams: &mut impl Streams,
        budget: usize,
    ) -> Result<bool, ProtocolError> {
        let mut budget = budget;
        let count = self.inlets.len();
        let mut is_busy = true;
        while is_busy && budget > 0 {
            is_busy = false;
            for round in 0..count {
                let at = (self.first_stream + round) % count;
                is_busy |= self.receive_stream(at, target, streams, &mut budget)?;
            }
            // Another is first next time, so that none is preferred when the budget runs out.
            self.first_stream = (self.first_stream + 1) % count;
        }
        Ok(budget == 0)
    }

    /// One stream's share; whether something came.
    fn receive_stream(
        &mut self,
        at: usize,
        target: &mut impl Target,
        streams: &mut impl Streams,
        budget: &mut usize,
    ) -> Result<bool, ProtocolError> {
        let stream = StreamId(u8::try_from(at + 1).unwrap_or(u8::MAX));
        let mut share = STREAM_SHARE_BYTES.min(*budget);
        let before = share;
        let mut is_busy = false;
        while target.is_ready()
            && !self.is_full()
            && let Some(inlet) = self.inlets.get_mut(at)
        {
            let Some(item) = inlet.next(stream, streams, &mut share)? else {
                break;
            };
            is_busy = true;
            self.take(at, item, target)?;
        }
        *budget -= before - share;
        Ok(is_busy || share < before)
    }

    /// Returns true if what is done already has to be told, here or there, before more can be.
    fn is_full(&self) -> bool {
        self.news.is_full() || self.control.outbox.waiting() >= CONTROL_WAITING_BYTES
    }

    /// Leaves the folders of which everything is settled.
    fn settle_leaves(&mut self, target: &mut impl Target) {
        while let Some(entry) = self.leaves.remove(&EntryId(self.window.floor())) {
            let id = EntryId(self.window.floor());
            let verdict = match target.leave(&entry) {
                Ok(()) => EntryVerdict::Whole,
                Err(error) => failed(CopyEnd::Target, error, &entry, target),
            };
            self.settle(id, entry, verdict);
        }
    }

    /// An entry is over and done with.
    fn settle(&mut self, id: EntryId, entry: Entry, verdict: EntryVerdict) {
        self.window.settle(id);
        self.totals.troubles += u64::from(verdict.is_trouble());
        if let EntryVerdict::Failed { error, .. } = &verdict {
            let trouble = error.clone();
            self.control.outbox.push(&Frame::Failed { id, trouble });
        } else {
            self.unreported.insert(id);
            match &entry.kind {
                EntryKind::File { size } => {
                    self.totals.files += 1;
                    // A sender may announce sizes whose sum no frame can hold.
                    self.totals.bytes = self
                        .totals
                        .bytes
                        .saturating_add(size.unwrap_or(0))
                        .min(SIZE_MAX);
                }
                EntryKind::Folder => self.totals.folders += 1,
                EntryKind::Link { .. } => self.totals.links += 1,
                EntryKind::Leave => {}
            }
        }
        self.news.settled(entry.path, entry.kind, verdict);
    }

    /// Tells the sender what has been settled in this turn, neighbours together.
    fn report(&mut self) {
        while let Some(first) = self.unreported.pop_first() {
            let mut count = 1;
            while count < WINDOW_ENTRIES && self.unreported.remove(&EntryId(first.0 + count)) {
                count += 1;
            }
            self.control.outbox.push(&Frame::Settled { first, count });
        }
    }

    /// Ends the copy if all is done, or if nothing more can come.
    fn look_for_the_end(&mut self) -> Result<(), ProtocolError> {
        if self.finished == Some(self.window.floor()) {
            self.control.outbox.push(&Frame::Done(self.totals));
            self.stage = ReceiverStage::Settled;
            return Ok(());
        }
        if self.finished.is_none() && self.control.is_ended() {
            return Err(ProtocolError::EndedEarly);
        }
        let is_over = self.inlets.iter().all(Inlet::is_ended);
        // What is still being read back may yet complete a file.
        if self.finished.is_some() && is_over && self.checks.is_empty() {
            return Err(ProtocolError::Incomplete);
        }
        Ok(())
    }
}

/// Returns the verdict on an entry that one end could not read or write.
fn failed(
    end: CopyEnd,
    mut error: EntryError,
    entry: &Entry,
    target: &impl Target,
) -> EntryVerdict {
    // The source has told its own path already.
    if end == CopyEnd::Target && error.place.is_empty() {
        error.place = target.place(&entry.path);
    }
    let error = error.fitted();
    EntryVerdict::Failed { end, error }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("flags", &self.flags)
            .field("stage", &self.stage)
            .field("progress", &self.news.progress)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
