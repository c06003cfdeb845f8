//! The end that has the files.

mod job;
mod large;
mod work;

use std::collections::{BTreeMap, VecDeque};

use self::job::{Job, Part};
use self::large::Large;
use crate::answer::Answer;
use crate::codec::Frame;
use crate::control::Control;
use crate::entry::{Entry, EntryId, EntryKind};
use crate::entry_error::EntryError;
use crate::event::{CopyEnd, CopyEvent, EntryVerdict, Occupant, Poll, Progress, Totals};
use crate::exchange::{Answerer, Requester};
use crate::limits::{HEAD_START_CHUNKS, STREAMS_MAX};
use crate::news::{News, add};
use crate::outbox::Outbox;
use crate::path::RelativePath;
use crate::protocol_error::ProtocolError;
use crate::request::Flags;
use crate::source::Source;
use crate::streams::{StreamId, Streams};

/// The cost to a turn's budget of a step without data, so that a turn with nothing but folders has an end.
///
/// Chosen by eye.
const STEP_COST_BYTES: usize = 512;

/// Sends what a [`Source`] has.
#[derive(Debug)]
pub struct Sender {
    control: Control,
    flags: Flags,
    stage: SenderStage,
    /// The data streams; known from the first turn on.
    streams: Vec<DataStream>,
    walk: Walk,
    unsettled: BTreeMap<EntryId, Unsettled>,
    /// Large files that are being sent.
    large: BTreeMap<EntryId, Large>,
    /// The number of chunks that the next large file sends before the receiver's word on it.
    head_start: u64,
    /// Large files that are not settled.
    large_unsettled: usize,
    news: News,
    totals: Option<Totals>,
}

/// The stage that the sender has reached with its peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SenderStage {
    /// The request has not been answered; what is sent may be in vain.
    Unanswered,
    Sending,
    /// The walk is over, and the receiver is told how many entries there are.
    Finished,
    /// The receiver has said that it is done, or that it will not begin.
    Done,
}

/// One data stream.
#[derive(Debug, Default)]
struct DataStream {
    outbox: Outbox,
    job: Option<Job>,
    is_finished: bool,
}

/// The walk through the source, as far as it has come.
#[derive(Debug, Default)]
struct Walk {
    next: u64,
    /// Found ahead of the streams, in order: they have no number yet, but their files are open.
    ahead: VecDeque<Entry>,
    /// It goes on by itself when it is asked again.
    is_paused: bool,
    is_over: bool,
}

/// An entry that the receiver has not settled.
#[derive(Debug)]
struct Unsettled {
    path: RelativePath,
    kind: EntryKind,
    /// Bytes that count as done.
    bytes: u64,
    is_sent: bool,
    /// True if it could not be read to its end.
    is_broken: bool,
    is_changed: bool,
    is_large: bool,
    /// The thing that a dry run has found at its place.
    occupant: Occupant,
}

impl Sender {
    /// For a requester's `Put`, with or without its answer: what was begun before it is thrown away by
    /// a remote end that refuses.
    pub fn new(requester: Requester) -> Self {
        let (control, flags, is_unanswered) = requester.into_parts();
        let stage = if is_unanswered {
            SenderStage::Unanswered
        } else {
            SenderStage::Sending
        };
        Self::with(control, flags, stage)
    }

    /// For the answerer of a `Get`, which has answered that it is ready.
    pub fn answering(answerer: Answerer) -> Self {
        let (control, flags) = answerer.into_parts();
        Self::with(control, flags, SenderStage::Sending)
    }

    fn with(control: Control, flags: Flags, stage: SenderStage) -> Self {
        Self {
            control,
            flags,
            stage,
            streams: Vec::new(),
            walk: Walk::default(),
            unsettled: BTreeMap::new(),
            large: BTreeMap::new(),
            head_start: HEAD_START_CHUNKS,
            large_unsettled: 0,
            news: News::default(),
            totals: None,
        }
    }

    /// Does what can be done now, but reads no more than about `budget` bytes of files.
    ///
    /// # Errors
    ///
    /// The receiver has broken the rules. The copy is over then.
    pub fn poll(
        &mut self,
        source: &mut impl Source,
        streams: &mut impl Streams,
        budget: usize,
    ) -> Result<Poll, ProtocolError> {
        // Nothing is done until what has happened was told, so that news has a bound
        // (docs/threat-model.md §6).
        if self.news.is_full() {
            return Ok(Poll::More);
        }
        if self.streams.is_empty() {
            self.streams
                .resize_with(streams.count().clamp(1, STREAMS_MAX), DataStream::default);
        }
        let has_read_all = self.hear(source, streams)?;
        if self.stage == SenderStage::Done {
            self.close_unfinished(source);
            return Ok(Poll::Done);
        }
        let mut budget = budget;
        self.walk.is_paused = false;
        self.work(source, streams, &mut budget);
        self.walk_ahead(source);
        self.finish(streams);
        self.control.flush(streams);
        let is_more = budget == 0 || !has_read_all || self.walk.is_paused || self.news.is_full();
        Ok(if is_more { Poll::More } else { Poll::Waiting })
    }

    /// The next piece of news.
    pub fn poll_event(&mut self) -> Option<CopyEvent> {
        self.news.poll()
    }

    /// Returns the progress of the copy.
    pub fn progress(&self) -> Progress {
        self.news.progress
    }

    /// Returns the file that is being sent; of several, the one that has begun last.
    pub fn current_file(&self) -> Option<&RelativePath> {
        let mut large = self.large.values();
        if let Some(large) = large.find(|large| large.has_begun() && large.has_untaken()) {
            return Some(&large.entry.path);
        }
        let is_file = |entry: &&Unsettled| matches!(entry.kind, EntryKind::File { .. });
        let entry = self.unsettled.values().rev().find(is_file)?;
        Some(&entry.path)
    }

    /// Returns the totals of the copy as the receiver reports them, once it is done.
    pub fn totals(&self) -> Option<Totals> {
        self.totals
    }

    /// Closes the files that streams have not sent to their end, since the receiver no longer wants them.
    fn close_unfinished(&mut self, source: &mut impl Source) {
        for stream in &mut self.streams {
            if let Some(job) = stream.job.take_if(|job| matches!(job.part, Part::Whole(_))) {
                source.close(job.id);
            }
        }
    }

    /// Takes what the receiver says; whether that was all.
    fn hear(
        &mut self,
        source: &mut impl Source,
        streams: &mut impl Streams,
    ) -> Result<bool, ProtocolError> {
        let mut budget = Control::budget();
        while self.stage != SenderStage::Done && !self.news.is_full() {
            let Some(frame) = self.control.next(streams, &mut budget)? else {
                break;
            };
            self.hear_one(frame, source)?;
        }
        if self.stage == SenderStage::Done {
            streams.finish(StreamId::CONTROL);
        } else if self.control.is_ended() {
            return Err(ProtocolError::EndedEarly);
        }
        Ok(budget > 0)
    }

    fn hear_one(&mut self, frame: Frame, source: &mut impl Source) -> Result<(), ProtocolError> {
        match (self.stage, frame) {
            (SenderStage::Unanswered, Frame::Ready { into_folder }) => {
                self.stage = SenderStage::Sending;
                self.news
                    .push(CopyEvent::Answered(Answer::Ready { into_folder }));
            }
            (SenderStage::Unanswered, Frame::Refused(trouble)) => {
                self.stage = SenderStage::Done;
                self.news
                    .push(CopyEvent::Answered(Answer::Refused(trouble)));
            }
            (SenderStage::Unanswered | SenderStage::Done, other) => {
                return Err(ProtocolError::Misplaced(other.name()));
            }
            (_, Frame::Have { id, first, digests }) => {
                self.on_word(id, |large| large.claim(first, &digests))?
            }
            (_, Frame::Checked { id, chunks }) => self.on_word(id, |large| large.check(chunks))?,
            (_, Frame::Found { id, occupant }) if self.flags.contains(Flags::DRY_RUN) => {
                let entry = self.unsettled.get_mut(&id);
                entry.ok_or(ProtocolError::NotSent)?.occupant = occupant;
            }
            (_, Frame::Settled { first, count }) => self.on_settled(first, count)?,
            (_, Frame::Failed { id, trouble }) => self.on_failed(id, trouble, source)?,
            (SenderStage::Finished, Frame::Done(totals)) => self.on_done(totals)?,
            (_, other) => return Err(ProtocolError::Misplaced(other.name())),
        }
        Ok(())
    }

    /// Takes the receiver's word on what it has of a large file; `note` says whether there can be such.
    fn on_word(
        &mut self,
        id: EntryId,
        note: impl FnOnce(&mut Large) -> bool,
    ) -> Result<(), ProtocolError> {
        let is_right = match self.large.get_mut(&id) {
            Some(large) => note(large),
            // It is sent, or was given up.
            None => id.0 < self.walk.next,
        };
        if is_right {
            Ok(())
        } else {
            Err(ProtocolError::NotSent)
        }
    }

    fn on_settled(&mut self, first: EntryId, count: u64) -> Result<(), ProtocolError> {
        for id in (first.0..).take(usize::try_from(count).unwrap_or(usize::MAX)) {
            match self.unsettled.remove(&EntryId(id)) {
                Some(entry) if entry.is_sent => {
                    let verdict = self.good_verdict(&entry);
                    self.settle(entry, verdict);
                }
                _ => return Err(ProtocolError::NotSent),
            }
        }
        Ok(())
    }

    /// Returns the verdict on an entry that has not failed.
    fn good_verdict(&self, entry: &Unsettled) -> EntryVerdict {
        let is_looked_at = self.flags.contains(Flags::DRY_RUN) && entry.kind != EntryKind::Leave;
        match entry.occupant {
            occupant if is_looked_at => EntryVerdict::Looked(occupant),
            _ if entry.is_changed => EntryVerdict::Changed,
            _ => EntryVerdict::Whole,
        }
    }

    fn on_failed(
        &mut self,
        id: EntryId,
        trouble: EntryError,
        source: &mut impl Source,
    ) -> Result<(), ProtocolError> {
        let entry = self.unsettled.remove(&id).ok_or(ProtocolError::NotSent)?;
        // Jobs of it on other streams see that it is gone when they have their turn.
        if self.large.remove(&id).is_some() {
            source.close(id);
        }
        let end = if entry.is_broken {
            // The receiver only repeats what it was told.
            CopyEnd::Source
        } else {
            CopyEnd::Target
        };
        let error = trouble;
        self.settle(entry, EntryVerdict::Failed { end, error });
        Ok(())
    }

    fn settle(&mut self, entry: Unsettled, verdict: EntryVerdict) {
        self.large_unsettled -= usize::from(entry.is_large);
        add(
            &mut self.news.progress.bytes,
            // What was not sent counts as done as well: nothing more comes of it.
            entry.kind.size().saturating_sub(entry.bytes),
        );
        self.news.settled(entry.path, entry.kind, verdict);
    }

    fn on_done(&mut self, totals: Totals) -> Result<(), ProtocolError> {
        if !self.unsettled.is_empty() {
            return Err(ProtocolError::Incomplete);
        }
        // What failed here or was said to have failed there is not undone by another sum.
        let troubles = totals.troubles.max(self.news.troubles);
        self.totals = Some(Totals { troubles, ..totals });
        self.stage = SenderStage::Done;
        Ok(())
    }

    /// Tells how many entries there are once that is known, and ends the streams once everything is in them.
    fn finish(&mut self, streams: &mut impl Streams) {
        if self.stage == SenderStage::Sending && self.walk.is_over {
            let entries = self.walk.next + self.walk.ahead.len() as u64;
            self.control.outbox.push(&Frame::Finished { entries });
            self.stage = SenderStage::Finished;
        }
        let is_idle =
            self.streams.iter().all(|stream| stream.job.is_none()) && self.large.is_empty();
        if self.stage != SenderStage::Finished || !is_idle || !self.walk.ahead.is_empty() {
            return;
        }
        for (at, stream) in self.streams.iter_mut().enumerate() {
            if stream.outbox.waiting() == 0 && !stream.is_finished {
                streams.finish(data_stream(at));
                stream.is_finished = true;
            }
        }
    }
}

/// The stream of a place in the list of data streams.
fn data_stream(at: usize) -> StreamId {
    StreamId(u8::try_from(at + 1).expect("at most 64 streams"))
}

#[cfg(test)]
mod tests;
