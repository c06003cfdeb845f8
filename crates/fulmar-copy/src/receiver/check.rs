//! Looking at what is held already (docs/copy-protocol.md §7).

use super::Receiver;
use super::large::{Known, Large, ResumeState};
use crate::codec::Frame;
use crate::digest::{ChunkDigest, Digest};
use crate::entry::EntryId;
use crate::entry_error::{EntryError, EntryErrorKind};
use crate::event::CopyEnd;
use crate::news::add;
use crate::target::{PartialFile, Target};

/// The most bytes that are read back at once.
///
/// Chosen by eye: as long as the smallest chunk.
const READ_BACK_BYTES: usize = 256 * 1024;

/// Digests in one frame: 32 kB.
///
/// Chosen by eye: half of the longest frame (docs/copy-protocol.md §2).
const DIGESTS_MAX: usize = 1024;

/// The reading back of one file.
#[derive(Debug)]
pub(super) struct Check {
    id: EntryId,
    purpose: Purpose,
    /// The chunk that is next, or being read.
    chunk: u64,
    /// Bytes of it that have been read.
    done: u64,
    digest: ChunkDigest,
}

/// The purpose of reading a file back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To tell the sender what is there.
    Tell,
    /// Everything has come: is the file under the final name the same?
    Compare,
    /// It is not: what it shares with the new one goes into the temporary file.
    Fill,
}

/// The outcome of a step.
enum Step {
    /// There is more to read.
    More,
    /// The check is over.
    Over,
    /// The file cannot be completed.
    Failed(EntryError, PartialFile),
}

/// Digests that go to the sender together.
#[derive(Debug)]
pub(super) struct ResumeOffer {
    id: EntryId,
    first: u64,
    digests: Vec<Digest>,
}

impl Check {
    fn new(id: EntryId, purpose: Purpose) -> Self {
        Self {
            id,
            purpose,
            chunk: 0,
            done: 0,
            digest: ChunkDigest::default(),
        }
    }

    /// For a file that begins.
    pub(super) fn tell(id: EntryId) -> Self {
        Self::new(id, Purpose::Tell)
    }

    /// For a file that is complete while another is under its name.
    pub(super) fn compare(id: EntryId) -> Self {
        Self::new(id, Purpose::Compare)
    }

    /// Returns true if this check has something to read in a chunk.
    fn wants(&self, large: &Large, chunk: u64) -> bool {
        match self.purpose {
            Purpose::Tell => large.may_hold(chunk) && !large.is_sent(chunk),
            Purpose::Compare => match &large.holding {
                ResumeState::Present(present) => !present.contains_key(&chunk),
                _ => false,
            },
            Purpose::Fill => matches!(large.known(chunk), Some(Known::Held(_))),
        }
    }

    fn next_chunk(&mut self) {
        self.chunk += 1;
        self.done = 0;
        self.digest = ChunkDigest::default();
    }
}

impl Receiver {
    /// Reads back what it may in this turn; whether there is more to do at once.
    pub(super) fn check(&mut self, target: &mut impl Target, budget: usize) -> bool {
        let mut budget = budget;
        while budget > 0 && !self.is_full() {
            let Some(mut check) = self.checks.pop_front() else {
                break;
            };
            let before = check.chunk;
            let step = self.check_step(&mut check, target, &mut budget);
            if check.purpose == Purpose::Tell && check.chunk > before {
                self.checked.insert(check.id, check.chunk);
            }
            match step {
                // To the back, so that a very large file does not keep the digests of others
                // waiting.
                Step::More => self.checks.push_back(check),
                Step::Over => {}
                Step::Failed(trouble, parts) => {
                    self.fail_large(check.id, CopyEnd::Target, trouble, parts, target)
                }
            }
        }
        self.send_haves();
        self.send_checked();
        !self.checks.is_empty() && !self.is_full()
    }

    /// One piece of one file.
    fn check_step(
        &mut self,
        check: &mut Check,
        target: &mut impl Target,
        budget: &mut usize,
    ) -> Step {
        let Some(large) = self.large.get(&check.id) else {
            return Step::Over;
        };
        // All of it has come meanwhile, so that there is nothing left for the sender to compare.
        if check.purpose == Purpose::Tell && large.is_verified {
            return Step::Over;
        }
        let count = large.chunks.count();
        while check.chunk < count && !check.wants(large, check.chunk) {
            check.next_chunk();
        }
        if check.chunk == count {
            return self.end_check(check, target);
        }
        let left = large.chunks.length(check.chunk) - check.done;
        let offset = large.chunks.start(check.chunk) + check.done;
        let limit = usize::try_from(left)
            .unwrap_or(usize::MAX)
            .min(READ_BACK_BYTES);
        *budget = budget.saturating_sub(limit);
        let bytes = match target.read_back(check.id, offset, limit) {
            Ok(bytes) if !bytes.is_empty() && bytes.len() <= limit => bytes,
            // Somebody has made the file shorter since it was opened.
            Ok(_) => return self.unreadable(check, EntryError::new(EntryErrorKind::Io)),
            Err(trouble) => return self.unreadable(check, trouble),
        };
        if check.purpose == Purpose::Fill
            && let Err(trouble) = target.write(check.id, offset, &bytes)
        {
            let parts = PartialFile::after(&trouble);
            return Step::Failed(trouble, parts);
        }
        check.digest.update(&bytes);
        check.done += bytes.len() as u64;
        if (bytes.len() as u64) < left {
            return Step::More;
        }
        self.end_chunk(check, target)
    }

    /// Goes on after a chunk that cannot be read: it has to be sent, if there is time for it.
    fn unreadable(&mut self, check: &mut Check, trouble: EntryError) -> Step {
        match check.purpose {
            Purpose::Tell => check.next_chunk(),
            Purpose::Compare => *check = Check::new(check.id, Purpose::Fill),
            Purpose::Fill => return Step::Failed(trouble, PartialFile::Keep),
        }
        Step::More
    }

    /// A chunk has been read back.
    fn end_chunk(&mut self, check: &mut Check, target: &mut impl Target) -> Step {
        let Some(large) = self.large.get_mut(&check.id) else {
            return Step::Over;
        };
        let chunk = check.chunk;
        let digest = std::mem::take(&mut check.digest).finish();
        check.next_chunk();
        if let ResumeState::Present(present) = &mut large.holding {
            present.insert(chunk, digest);
        }
        let known = large.known(chunk).map(Known::digest);
        match check.purpose {
            // The sender may have begun this chunk while it was read back.
            Purpose::Tell if !large.is_sent(chunk) => {
                let bytes = large.hold(chunk, digest);
                add(&mut self.news.progress.bytes, bytes);
                add(&mut self.news.progress.bytes_held, bytes);
                let is_complete = large.is_complete();
                self.have(check.id, chunk, digest);
                if is_complete {
                    self.verify(check.id, target);
                }
            }
            Purpose::Tell => {}
            // One chunk that differs is enough: a file under its final name is never changed, so
            // the temporary one is filled instead (docs/copy-protocol.md §7).
            Purpose::Compare if known != Some(digest) => {
                *check = Check::new(check.id, Purpose::Fill)
            }
            Purpose::Compare => {}
            Purpose::Fill if known == Some(digest) => large.filled(chunk, digest),
            Purpose::Fill => {
                // Somebody has changed the file since its digests were told.
                return Step::Failed(EntryError::new(EntryErrorKind::Digest), PartialFile::Drop);
            }
        }
        Step::More
    }

    /// All chunks have been looked at.
    fn end_check(&mut self, check: &mut Check, target: &mut impl Target) -> Step {
        match check.purpose {
            Purpose::Tell => return Step::Over,
            Purpose::Compare if !self.is_present_same(check.id) => {
                *check = Check::new(check.id, Purpose::Fill);
                return Step::More;
            }
            Purpose::Compare => self.put_in_place(check.id, true, target),
            Purpose::Fill => self.put_in_place(check.id, false, target),
        }
        Step::Over
    }

    /// Returns true if the file under the final name is what was sent, chunk by chunk.
    fn is_present_same(&self, id: EntryId) -> bool {
        let Some(large) = self.large.get(&id) else {
            return false;
        };
        let ResumeState::Present(present) = &large.holding else {
            return false;
        };
        (0..large.chunks.count()).all(|chunk| {
            let known = large.known(chunk).map(Known::digest);
            known.is_some() && known.as_ref() == present.get(&chunk)
        })
    }

    /// One more digest for the sender.
    fn have(&mut self, id: EntryId, chunk: u64, digest: Digest) {
        let follows = |haves: &ResumeOffer| {
            haves.id == id
                && haves.first + haves.digests.len() as u64 == chunk
                && haves.digests.len() < DIGESTS_MAX
        };
        if !self.haves.as_ref().is_some_and(follows) {
            self.send_haves();
        }
        let haves = self.haves.get_or_insert(ResumeOffer {
            id,
            first: chunk,
            digests: Vec::new(),
        });
        haves.digests.push(digest);
    }

    /// Tells the sender how far this turn has come with each file, after the digests of what is there.
    fn send_checked(&mut self) {
        while let Some((id, chunks)) = self.checked.pop_first() {
            self.control.outbox.push(&Frame::Checked { id, chunks });
        }
    }

    fn send_haves(&mut self) {
        if let Some(ResumeOffer { id, first, digests }) = self.haves.take() {
            self.control
                .outbox
                .push(&Frame::Have { id, first, digests });
        }
    }
}
