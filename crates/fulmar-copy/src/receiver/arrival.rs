//! Obeys the sender's frames.

use super::check::Check;
use super::large::{Large, ResumeState, WholeEnding};
use super::part::Part;
use super::single::Single;
use super::{Receiver, failed};
use crate::chunks::Chunks;
use crate::codec::{Ending, Frame, Item};
use crate::entry::{Entry, EntryId, EntryKind};
use crate::entry_error::{EntryError, EntryErrorKind};
use crate::event::{CopyEnd, EntryVerdict, Occupant};
use crate::limits::LARGE_FILES_MAX;
use crate::news::add;
use crate::protocol_error::ProtocolError;
use crate::request::Flags;
use crate::target::{ExistingFile, PartialFile, Target};

impl Receiver {
    /// Takes one frame of a data stream.
    pub(super) fn take(
        &mut self,
        at: usize,
        item: Item,
        target: &mut impl Target,
    ) -> Result<(), ProtocolError> {
        if self.flags.contains(Flags::IN_ORDER) && at > 0 {
            return Err(ProtocolError::Misplaced(item.name()));
        }
        let is_settled = |id| self.window.is_settled(id);
        if item.entry().is_some_and(is_settled) {
            // Sent before the sender knew that it is.
            return Ok(());
        }
        match item {
            Item::Data { id, offset, bytes } => {
                self.on_part(at, id, offset, &Part::Bytes(bytes), target)
            }
            Item::Frame(Frame::Zeros { id, offset, length }) => {
                self.on_part(at, id, offset, &Part::Zeros(length), target)
            }
            Item::Frame(Frame::Entry(id, entry)) => self.on_entry(at, id, entry, target),
            Item::Frame(Frame::End { id, ending }) => self.on_end(at, id, ending, target),
            Item::Frame(other) => Err(ProtocolError::Misplaced(other.name())),
        }
    }

    fn on_entry(
        &mut self,
        at: usize,
        id: EntryId,
        entry: Entry,
        target: &mut impl Target,
    ) -> Result<(), ProtocolError> {
        // A large file is announced again on each stream that carries a part of it (docs/copy-protocol.md
        // §1).
        if let Some(large) = self.large.get(&id) {
            return if large.entry == entry {
                Ok(())
            } else {
                Err(ProtocolError::EntryTwice)
            };
        }
        let is_beyond = self.finished.is_some_and(|entries| id.0 >= entries);
        if is_beyond || !self.window.holds(id) {
            return Err(ProtocolError::BeyondWindow);
        }
        let mut singles = self.singles.iter().flatten();
        if self.leaves.contains_key(&id) || singles.any(|single| single.id == id) {
            return Err(ProtocolError::EntryTwice);
        }
        let is_in_order = self.flags.contains(Flags::IN_ORDER);
        // A file of one stream ends before anything else begins there (docs/copy-protocol.md §5).
        if self.single(at).is_some() || (is_in_order && !self.large.is_empty()) {
            return Err(ProtocolError::Unfinished);
        }
        self.known_end = self.known_end.max(id.0 + 1);
        self.news.found(&entry.kind);
        self.place(at, id, entry, target)
    }

    /// A new entry.
    fn place(
        &mut self,
        at: usize,
        id: EntryId,
        entry: Entry,
        target: &mut impl Target,
    ) -> Result<(), ProtocolError> {
        // Before the target learns of it: a hostile sender must not choose what comes into being
        // (docs/threat-model.md §11).
        if !self.is_asked(&entry) {
            self.settle_unless(
                id,
                entry,
                Err(EntryError::new(EntryErrorKind::NotAsked)),
                target,
            );
        } else if self.flags.contains(Flags::DRY_RUN) {
            self.look(id, entry, target);
        } else {
            match entry.kind {
                EntryKind::Folder => {
                    let made = target.folder(&entry);
                    self.settle_unless(id, entry, made, target);
                }
                EntryKind::Link { .. } => {
                    let made = target.link(&entry);
                    self.settle_unless(id, entry, made, target);
                }
                EntryKind::Leave => {
                    self.leaves.insert(id, entry);
                }
                EntryKind::File { size } => self.begin(at, id, entry, size, target)?,
            }
        }
        Ok(())
    }

    /// An entry of a dry run.
    fn look(&mut self, id: EntryId, entry: Entry, target: &mut impl Target) {
        if entry.kind == EntryKind::Leave {
            return self.settle_unless(id, entry, Ok(()), target);
        }
        match target.look(&entry) {
            Ok(occupant) => {
                if occupant != Occupant::Nothing {
                    self.control.outbox.push(&Frame::Found { id, occupant });
                }
                add(&mut self.news.progress.bytes, entry.kind.size());
                self.settle(id, entry, EntryVerdict::Looked(occupant));
            }
            Err(error) => self.settle_unless(id, entry, Err(error), target),
        }
    }

    /// Returns true if the requester asked for such an entry.
    fn is_asked(&self, entry: &Entry) -> bool {
        let is_single_file =
            entry.path.depth() == 1 && !matches!(entry.kind, EntryKind::Folder | EntryKind::Leave);
        (is_single_file || self.flags.contains(Flags::RECURSIVE))
            && (self.allowed)(entry.operand, entry.path.root())
    }

    fn begin(
        &mut self,
        at: usize,
        id: EntryId,
        entry: Entry,
        size: Option<u64>,
        target: &mut impl Target,
    ) -> Result<(), ProtocolError> {
        let is_large = !Chunks::is_on_one_stream(size);
        if is_large && self.large.len() >= LARGE_FILES_MAX {
            return Err(ProtocolError::TooManyFiles);
        }
        // Two that write to one file at the same time would make a mixture.
        if self.paths.contains(&entry.path) {
            let taken =
                EntryError::new(EntryErrorKind::Taken).with_note("two sources have the same name");
            self.settle_unless(id, entry, Err(taken), target);
            return Ok(());
        }
        let begun = match target.begin(id, &entry) {
            Ok(begun) if self.flags.is_resuming() => begun,
            Ok(_) => ExistingFile::New,
            Err(trouble) => {
                self.settle_unless(id, entry, Err(trouble), target);
                return Ok(());
            }
        };
        self.paths.insert(entry.path.clone());
        if !is_large {
            *self.single(at) = Some(Single::new(id, entry));
            return Ok(());
        }
        if self.flags.is_resuming() {
            self.checks.push_back(Check::tell(id));
        }
        self.large.insert(id, Large::new(entry, begun));
        Ok(())
    }

    /// Returns the file that arrives as one piece on the stream at that place.
    fn single(&mut self, at: usize) -> &mut Option<Single> {
        let single = self.singles.get_mut(at);
        single.expect("streams are counted, and none is ever taken away")
    }

    fn on_part(
        &mut self,
        at: usize,
        id: EntryId,
        offset: u64,
        part: &Part,
        target: &mut impl Target,
    ) -> Result<(), ProtocolError> {
        let single = self.single(at).as_mut();
        let done = match single.filter(|single| single.id == id) {
            Some(single) => {
                single.take(offset, part)?;
                if single.entry.kind.known_size().is_none() {
                    add(&mut self.news.progress.bytes_known, part.length());
                }
                part.length()
            }
            None => {
                let large = self.large.get_mut(&id).ok_or(ProtocolError::UnknownEntry)?;
                if large.is_verified {
                    // Sent before the sender knew that it is here.
                    return Ok(());
                }
                if self.flags.contains(Flags::IN_ORDER) && !large.is_next(offset) {
                    return Err(ProtocolError::OutOfOrder);
                }
                large.take(at, offset, part)?
            }
        };
        add(&mut self.news.progress.bytes, done);
        add(&mut self.news.progress.bytes_carried, part.length());
        // Place and length have been checked above: nothing is written that breaks the rules.
        match part.write(target, id, offset) {
            Err(trouble) => {
                let parts = PartialFile::after(&trouble);
                self.fail(at, id, CopyEnd::Target, trouble, parts, target);
            }
            Ok(()) if self.large.get(&id).is_some_and(Large::is_complete) => {
                self.verify(id, target)
            }
            Ok(()) => {}
        }
        Ok(())
    }

    fn on_end(
        &mut self,
        at: usize,
        id: EntryId,
        ending: Ending,
        target: &mut impl Target,
    ) -> Result<(), ProtocolError> {
        let single = self.single(at).as_ref();
        let is_single = single.is_some_and(|single| single.id == id);
        if !is_single && !self.large.contains_key(&id) {
            return Err(ProtocolError::UnknownEntry);
        }
        match ending {
            Ending::Broken(trouble) => {
                // A file that has become shorter is another one, and its parts would be compared in
                // vain.
                let parts = if trouble.kind == EntryErrorKind::Shrunk {
                    PartialFile::Drop
                } else {
                    PartialFile::Keep
                };
                self.fail(at, id, CopyEnd::Source, trouble, parts, target);
                Ok(())
            }
            Ending::Whole {
                size,
                digest,
                is_changed,
            } => {
                let ending = WholeEnding { digest, is_changed };
                if is_single {
                    self.end_single(at, size, ending, target)
                } else {
                    self.end_large(id, size, ending, target)
                }
            }
        }
    }

    fn end_single(
        &mut self,
        at: usize,
        size: u64,
        ending: WholeEnding,
        target: &mut impl Target,
    ) -> Result<(), ProtocolError> {
        let Some(single) = self.single(at) else {
            return Ok(());
        };
        let id = single.id;
        // Nothing that was not verified gets a name (docs/threat-model.md §11).
        if single.finish(size)? != ending.digest {
            self.fail(
                at,
                id,
                CopyEnd::Target,
                EntryError::new(EntryErrorKind::Digest),
                PartialFile::Drop,
                target,
            );
        } else if let Err(trouble) = target.commit(id, size) {
            self.fail(at, id, CopyEnd::Target, trouble, PartialFile::Keep, target);
        } else if let Some(mut single) = self.single(at).take() {
            self.paths.remove(&single.entry.path);
            single.entry.kind = EntryKind::File { size: Some(size) };
            self.settle(id, single.entry, verdict(ending.is_changed));
        }
        Ok(())
    }

    fn end_large(
        &mut self,
        id: EntryId,
        size: u64,
        ending: WholeEnding,
        target: &mut impl Target,
    ) -> Result<(), ProtocolError> {
        let Some(large) = self.large.get_mut(&id) else {
            return Ok(());
        };
        if size != large.entry.kind.size() {
            return Err(ProtocolError::Incomplete);
        }
        if large.ending.replace(ending).is_some() {
            return Err(ProtocolError::EntryTwice);
        }
        if large.is_complete() {
            self.verify(id, target);
        }
        Ok(())
    }

    /// Every chunk of a large file is known: is it what was sent?
    pub(super) fn verify(&mut self, id: EntryId, target: &mut impl Target) {
        let Some(large) = self.large.get_mut(&id) else {
            return;
        };
        let expected = large.ending.map(|ending| ending.digest);
        large.is_verified = expected == Some(large.digest());
        let is_all_got = large.is_all_got();
        // Some chunks are in no other place than the file under the final name. Is that the same
        // from end to end, so that it can stay?
        if large.is_verified && matches!(large.holding, ResumeState::Present(_)) && !is_all_got {
            self.checks.push_back(Check::compare(id));
        } else if large.is_verified {
            self.put_in_place(id, false, target);
        } else if is_all_got {
            // Where chunks are only held, one of them is wrong and the right one on its way
            // (docs/copy-protocol.md §7).
            self.fail_large(
                id,
                CopyEnd::Target,
                EntryError::new(EntryErrorKind::Digest),
                PartialFile::Drop,
                target,
            );
        }
    }

    /// A large file is verified: it gets its name, or the one that has it is the same.
    pub(super) fn put_in_place(&mut self, id: EntryId, is_same: bool, target: &mut impl Target) {
        let Some(large) = self.large.get(&id) else {
            return;
        };
        let done = if is_same {
            target.keep(id)
        } else {
            target.commit(id, large.entry.kind.size())
        };
        if let Err(trouble) = done {
            self.fail_large(id, CopyEnd::Target, trouble, PartialFile::Keep, target);
        } else if let Some(large) = self.large.remove(&id) {
            let is_changed = large.ending.is_some_and(|ending| ending.is_changed);
            self.paths.remove(&large.entry.path);
            self.settle(id, large.entry, verdict(is_changed));
        }
    }

    /// A file that has begun comes to nothing.
    fn fail(
        &mut self,
        at: usize,
        id: EntryId,
        end: CopyEnd,
        trouble: EntryError,
        parts: PartialFile,
        target: &mut impl Target,
    ) {
        let Some(single) = self.single(at).take_if(|single| single.id == id) else {
            return self.fail_large(id, end, trouble, parts, target);
        };
        target.abandon(id, parts);
        let verdict = failed(end, trouble, &single.entry, target);
        self.give_up(id, single.entry, single.offset, verdict);
    }

    /// As `fail`, for a large one.
    pub(super) fn fail_large(
        &mut self,
        id: EntryId,
        end: CopyEnd,
        trouble: EntryError,
        parts: PartialFile,
        target: &mut impl Target,
    ) {
        if let Some(large) = self.large.remove(&id) {
            target.abandon(id, parts);
            let verdict = failed(end, trouble, &large.entry, target);
            self.give_up(id, large.entry, large.bytes, verdict);
        }
    }

    /// The same, when `done` bytes of it count as done: now all of them do.
    fn give_up(&mut self, id: EntryId, entry: Entry, done: u64, verdict: EntryVerdict) {
        let left = entry.kind.size().saturating_sub(done);
        add(&mut self.news.progress.bytes, left);
        self.paths.remove(&entry.path);
        self.settle(id, entry, verdict);
    }

    /// An entry without data is done with, one way or the other.
    fn settle_unless(
        &mut self,
        id: EntryId,
        entry: Entry,
        done: Result<(), EntryError>,
        target: &impl Target,
    ) {
        add(&mut self.news.progress.bytes, entry.kind.size());
        let verdict = match done {
            Ok(()) => EntryVerdict::Whole,
            Err(error) => failed(CopyEnd::Target, error, &entry, target),
        };
        self.settle(id, entry, verdict);
    }
}

fn verdict(is_changed: bool) -> EntryVerdict {
    if is_changed {
        EntryVerdict::Changed
    } else {
        EntryVerdict::Whole
    }
}
