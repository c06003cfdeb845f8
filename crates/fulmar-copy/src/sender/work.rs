//! Fills the sender's streams.

use super::job::{Content, Job, Part};
use super::large::{Large, Taken};
use super::{DataStream, STEP_COST_BYTES, Sender, Unsettled, data_stream};
use crate::chunks::Chunks;
use crate::codec::{Ending, Frame};
use crate::digest::{ChunkDigest, Digest};
use crate::entry::{Entry, EntryId, EntryKind};
use crate::entry_error::EntryError;
use crate::event::{CopyEvent, Occupant};
use crate::limits::{
    CONTROL_WAITING_BYTES, LARGE_FILES_MAX, STREAM_SHARE_BYTES, WALKED_AHEAD_MAX, WINDOW_ENTRIES,
};
use crate::news::add;
use crate::request::Flags;
use crate::source::{NextEntry, Settled, Source};
use crate::streams::Streams;

impl Sender {
    /// Gives every stream its share, round after round, until none takes more or the budget is used up.
    pub(super) fn work(
        &mut self,
        source: &mut impl Source,
        streams: &mut impl Streams,
        budget: &mut usize,
    ) {
        let count = if self.flags.contains(Flags::IN_ORDER) {
            1
        } else {
            self.streams.len()
        };
        let mut is_busy = true;
        while is_busy && *budget > 0 {
            is_busy = false;
            // The first streams before the others: so most chunks that were begun are whole if the copy is cut short.
            for at in 0..count {
                is_busy |= self.work_stream(at, source, streams, budget);
            }
        }
    }

    /// One stream's share; whether it did something.
    fn work_stream(
        &mut self,
        at: usize,
        source: &mut impl Source,
        streams: &mut impl Streams,
        budget: &mut usize,
    ) -> bool {
        let stream = data_stream(at);
        self.stream(at).outbox.flush(stream, streams);
        // No more is read than the stream takes, so that slow ones do not fill the memory.
        let room = streams.room(stream).min(STREAM_SHARE_BYTES);
        let mut share = STREAM_SHARE_BYTES.min(*budget);
        let before = share;
        while share > 0 && self.stream(at).outbox.waiting() < room {
            if !self.step(at, source, &mut share) {
                break;
            }
        }
        self.stream(at).outbox.flush(stream, streams);
        *budget -= before - share;
        share < before
    }

    fn stream(&mut self, at: usize) -> &mut DataStream {
        let stream = self.streams.get_mut(at);
        stream.expect("streams are counted, and none is ever taken away")
    }

    /// One frame's worth of work on a stream; false when there is none.
    fn step(&mut self, at: usize, source: &mut impl Source, share: &mut usize) -> bool {
        if let Some(job) = self.stream(at).job.take() {
            return self.advance(at, job, source, share);
        }
        let has_next = self.next(at, source);
        if has_next {
            *share = share.saturating_sub(STEP_COST_BYTES);
        }
        has_next
    }

    /// Finds the next thing for a stream without a job: a job, or an entry for its outbox. False when there is neither.
    fn next(&mut self, at: usize, source: &mut impl Source) -> bool {
        if let Some(job) = self.take_chunk() {
            self.stream(at).job = Some(job);
            return true;
        }
        let Some(entry) = self.next_entry(source) else {
            return false;
        };
        let is_dry = self.flags.contains(Flags::DRY_RUN);
        let is_large = !is_dry && !Chunks::is_on_one_stream(entry.kind.known_size());
        if is_large && self.large_unsettled >= LARGE_FILES_MAX {
            // A walk cannot go back, so the entry waits here.
            self.walk.ahead.push_front(entry);
            return false;
        }
        let is_file = matches!(entry.kind, EntryKind::File { .. });
        let id = self.number(&entry, is_file && !is_dry, is_large);
        let size = entry.kind.known_size();
        if is_large {
            let checked = if self.flags.is_resuming() {
                std::mem::take(&mut self.head_start)
            } else {
                u64::MAX
            };
            self.large.insert(id, Large::new(entry, checked));
            // At once: the receiver has to know of it before it can say what it has.
            self.tell(at, id);
            return true;
        }
        self.stream(at).outbox.push(&Frame::Entry(id, entry));
        // No data follow in a dry run (docs/copy-protocol.md §8).
        if is_file && is_dry {
            source.close(id);
        } else if is_file {
            self.stream(at).job = Some(Job::whole(id, size));
        }
        true
    }

    /// An entry gets its number and is under way.
    fn number(&mut self, entry: &Entry, has_data: bool, is_large: bool) -> EntryId {
        let id = EntryId(self.walk.next);
        self.walk.next += 1;
        self.large_unsettled += usize::from(is_large);
        let unsettled = Unsettled {
            path: entry.path.clone(),
            kind: entry.kind.clone(),
            bytes: 0,
            is_sent: !has_data,
            is_broken: false,
            is_changed: false,
            is_large,
            occupant: Occupant::Nothing,
        };
        self.unsettled.insert(id, unsettled);
        id
    }

    /// The next chunk of the first file that has one for a stream.
    fn take_chunk(&mut self) -> Option<Job> {
        let mut files = self.large.iter_mut();
        let taken = files.find_map(|(id, large)| Some((*id, large.take()?, large.chunks)));
        let (id, Taken { chunk, claim }, chunks) = taken?;
        let digest = ChunkDigest::default();
        let part = match claim {
            Some(claim) => Part::Compared {
                chunk,
                digest,
                claim,
            },
            None => Part::Chunk { chunk, digest },
        };
        Some(Job {
            id,
            offset: chunks.start(chunk),
            end: Some(chunks.end(chunk)),
            part,
        })
    }

    /// The next entry of the walk, if it may be under way.
    fn next_entry(&mut self, source: &mut impl Source) -> Option<Entry> {
        // Both ends know the lowest number that is not settled, so there is no frame for credit
        // (docs/copy-protocol.md §6).
        let floor = self
            .unsettled
            .first_key_value()
            .map_or(self.walk.next, |(id, _)| id.0);
        let is_full = self.walk.next - floor >= WINDOW_ENTRIES || self.news.is_full();
        // Each stream would have the walk go on for a while.
        if is_full || self.walk.is_paused {
            return None;
        }
        self.walk.ahead.pop_front().or_else(|| self.walk_on(source))
    }

    /// Finds entries while a large file keeps the streams busy, so that the user learns early how much there is.
    pub(super) fn walk_ahead(&mut self, source: &mut impl Source) {
        while self.large.values().any(Large::has_untaken)
            && self.walk.ahead.len() < WALKED_AHEAD_MAX
            && !self.news.is_full()
            && let Some(entry) = self.walk_on(source)
        {
            self.walk.ahead.push_back(entry);
        }
    }

    /// Takes the walk to the next entry. `None` at its end, or if it or the control stream pauses.
    fn walk_on(&mut self, source: &mut impl Source) -> Option<Entry> {
        while !self.walk.is_over
            && !self.walk.is_paused
            && self.control.outbox.waiting() < CONTROL_WAITING_BYTES
        {
            let id = EntryId(self.walk.next + self.walk.ahead.len() as u64);
            let trouble = match source.next_entry(id) {
                NextEntry::Entry(entry) => match fitted(entry, id, source) {
                    Ok(entry) => {
                        self.news.found(&entry.kind);
                        return Some(entry);
                    }
                    Err(trouble) => trouble,
                },
                NextEntry::EntryError(trouble) => trouble.fitted(),
                NextEntry::NotNow => {
                    self.walk.is_paused = true;
                    return None;
                }
                NextEntry::End => {
                    self.walk.is_over = true;
                    self.news.progress.is_walked = true;
                    return None;
                }
            };
            self.control
                .outbox
                .push(&Frame::EntryError(trouble.clone()));
            self.news.push(CopyEvent::EntryError(trouble));
        }
        None
    }

    /// Goes on with a job; false when its source has nothing now.
    fn advance(
        &mut self,
        at: usize,
        mut job: Job,
        source: &mut impl Source,
        share: &mut usize,
    ) -> bool {
        if !self.is_wanted(&job, source) {
            return true;
        }
        if !job.is_at_end() {
            let offset = job.offset;
            let content = match job.read(source) {
                Ok(content) => content,
                Err(trouble) => {
                    self.give_up(at, job.id, trouble, source);
                    return true;
                }
            };
            *share = share.saturating_sub(content.cost());
            match &content {
                Content::NotNow => {
                    self.stream(at).job = Some(job);
                    return false;
                }
                // Only now is it known how long a stream is.
                Content::End => job.end = Some(offset),
                Content::Bytes(_) | Content::Zeros(_) => {}
            }
            // What is compared is only read, until its digest is known.
            if !matches!(job.part, Part::Compared { .. }) {
                self.send(at, job.id, offset, content);
            }
        }
        if job.is_at_end() {
            self.complete(at, job, source);
        } else {
            self.stream(at).job = Some(job);
        }
        true
    }

    /// Returns true if the job's file is still being sent. One that is not is closed, once.
    fn is_wanted(&self, job: &Job, source: &mut impl Source) -> bool {
        match job.part {
            Part::Whole(_) if !self.unsettled.contains_key(&job.id) => {
                source.close(job.id);
                false
            }
            Part::Whole(_) => true,
            // Without an entry here the receiver or another stream has given it up, and it is closed already.
            Part::Chunk { .. } | Part::Compared { .. } => self.large.contains_key(&job.id),
        }
    }

    /// Content of a file goes into a stream.
    fn send(&mut self, at: usize, id: EntryId, offset: u64, content: Content) {
        self.account(id, content.length(), 0);
        self.tell(at, id);
        let outbox = &mut self.stream(at).outbox;
        match content {
            Content::Bytes(bytes) => outbox.push_data(id, offset, bytes),
            Content::Zeros(length) => outbox.push(&Frame::Zeros { id, offset, length }),
            Content::End | Content::NotNow => {}
        }
    }

    /// A part of a file is over.
    fn complete(&mut self, at: usize, job: Job, source: &mut impl Source) {
        let Job {
            id, offset, part, ..
        } = job;
        match part {
            Part::Whole(digest) => self.end(at, id, offset, digest.finish(offset), source),
            Part::Chunk { chunk, digest } => {
                self.complete_chunk(at, id, chunk, digest.finish(), source)
            }
            Part::Compared {
                chunk,
                digest,
                claim,
            } => {
                let Some(chunks) = self.large.get(&id).map(|large| large.chunks) else {
                    return;
                };
                let digest = digest.finish();
                if digest == claim {
                    self.account(id, chunks.length(chunk), chunks.length(chunk));
                    self.complete_chunk(at, id, chunk, digest, source);
                } else {
                    // Read once more, and sent this time: a chunk may be too long to be kept in
                    // memory.
                    let part = Part::Chunk {
                        chunk,
                        digest: ChunkDigest::default(),
                    };
                    let offset = chunks.start(chunk);
                    self.stream(at).job = Some(Job {
                        id,
                        offset,
                        end: Some(chunks.end(chunk)),
                        part,
                    });
                }
            }
        }
    }

    fn complete_chunk(
        &mut self,
        at: usize,
        id: EntryId,
        chunk: u64,
        digest: Digest,
        source: &mut impl Source,
    ) {
        let large = self.large.get_mut(&id);
        let Some(digest) = large.and_then(|large| large.complete(chunk, digest)) else {
            return;
        };
        // Where all chunks were compared and none was sent, this stream has not announced the file
        // yet.
        self.tell(at, id);
        let size = self
            .large
            .remove(&id)
            .map_or(0, |large| large.entry.kind.size());
        self.end(at, id, size, digest, source);
    }

    /// All of a file has been sent.
    fn end(&mut self, at: usize, id: EntryId, size: u64, digest: Digest, source: &mut impl Source) {
        let is_changed = source.close(id) == Settled::Changed;
        if let Some(entry) = self.unsettled.get_mut(&id) {
            entry.is_sent = true;
            entry.is_changed = is_changed;
            entry.kind = EntryKind::File { size: Some(size) };
        }
        let ending = Ending::Whole {
            size,
            digest,
            is_changed,
        };
        self.stream(at).outbox.push(&Frame::End { id, ending });
    }

    /// A file cannot be read any further.
    fn give_up(&mut self, at: usize, id: EntryId, trouble: EntryError, source: &mut impl Source) {
        source.close(id);
        self.tell(at, id);
        self.large.remove(&id);
        if let Some(entry) = self.unsettled.get_mut(&id) {
            entry.is_sent = true;
            entry.is_broken = true;
        }
        let ending = Ending::Broken(trouble.fitted());
        self.stream(at).outbox.push(&Frame::End { id, ending });
    }

    /// Announces a large file on a stream that does not know of it.
    fn tell(&mut self, at: usize, id: EntryId) {
        if let Some(large) = self.large.get_mut(&id)
            && large.tell(at)
        {
            let entry = large.entry.clone();
            self.stream(at).outbox.push(&Frame::Entry(id, entry));
        }
    }

    /// Bytes of a file are done with, of which `held` were there.
    fn account(&mut self, id: EntryId, bytes: u64, held: u64) {
        let Some(entry) = self.unsettled.get_mut(&id) else {
            return;
        };
        entry.bytes += bytes;
        let progress = &mut self.news.progress;
        if entry.kind.known_size().is_none() {
            add(&mut progress.bytes_known, bytes);
        }
        add(&mut progress.bytes, bytes);
        add(&mut progress.bytes_held, held);
        add(&mut progress.bytes_carried, bytes - held);
    }
}

/// The entry within what the wire can say; a file that is not is closed.
fn fitted(entry: Entry, id: EntryId, source: &mut impl Source) -> Result<Entry, EntryError> {
    let is_file = matches!(entry.kind, EntryKind::File { .. });
    let entry = entry.fitted();
    if is_file && entry.is_err() {
        source.close(id);
    }
    entry
}
