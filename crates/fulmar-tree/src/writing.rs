//! A file while it arrives.

use std::ops::Range;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use bytes::Bytes;
use fulmar_copy::{CHUNK_BYTES_MIN, CHUNKS_MAX, ExistingFile, PartialFile, Timestamp};
use rustix::fs::OFlags;

use crate::partial::{self, Partial};
use crate::spelling;
use crate::system::{self, Errno, Facts, Result};
use crate::written::Written;

/// The bytes that are written where a file system has no holes.
const ZEROS: &[u8] = &[0; 64 * 1024];

/// Bytes that are overwritten with zeros in one call at most, as signals and timers wait for its end. Chosen: the chunks
/// of a file of 256 GiB.
///
/// Chosen by eye.
const OVERWRITTEN_MAX: u64 = 64 << 20;

/// The plan for a file: its place, and what it is to become.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The folder that it goes to, and its name there.
    pub(crate) folder: Rc<OwnedFd>,
    pub(crate) name: Vec<u8>,
    /// Its mode in the end.
    pub(crate) mode: u32,
    /// The time at which it was changed, if that is kept.
    pub(crate) modified: Option<Timestamp>,
    /// Bytes; `None`: a pipe.
    pub(crate) size: Option<u64>,
    /// The file that has the name so far. Its owner and group are kept as far as they can be.
    pub(crate) replaced: Option<Facts>,
    /// True if the data that are there already are of use.
    pub(crate) resume: bool,
}

/// A file that has not got its name yet.
#[derive(Debug)]
pub(crate) struct Writing {
    plan: Plan,
    /// Not made before something is to be written, if a file that may be the same has the name.
    partial: Option<Partial>,
    present: Option<(OwnedFd, Facts)>,
    written: Written,
}

impl Writing {
    /// Begins a file.
    pub(crate) fn begin(plan: Plan) -> Result<(Self, ExistingFile)> {
        let mut writing = Self {
            plan,
            partial: None,
            present: None,
            written: Written::default(),
        };
        writing.present = writing.find_present();
        if writing.present.is_some() {
            return Ok((writing, ExistingFile::Present));
        }
        let begun = writing.begun()?;
        Ok((writing, begun))
    }

    /// A file of the same size that has the name already, unless there are parts of another one to go on with.
    fn find_present(&self) -> Option<(OwnedFd, Facts)> {
        let plan = &self.plan;
        let existing = plan.replaced.as_ref();
        let existing = existing.filter(|facts| plan.resume && Some(facts.size) == plan.size)?;
        if system::facts_at(&plan.folder, &partial::name(&plan.name, 0)).is_ok() {
            return None;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = system::open(&plan.folder, &plan.name, flags, 0).ok()?;
        let facts = system::facts(&file).ok()?;
        // What has other names keeps its mode and times: they may lie outside.
        let is_fine = facts.is_same_file(existing) && (facts.links == 1 || plan.modified.is_none());
        is_fine.then_some((file, facts))
    }

    fn begun(&mut self) -> Result<ExistingFile> {
        let size = self.plan.size.filter(|_| self.plan.resume);
        let partial = self.partial()?;
        let parts = match (size, partial.lender()) {
            (Some(size), Some(older)) => parts(&older.file, size.min(older.facts.size))?,
            (Some(size), None) if !partial.is_new => {
                if partial.facts.size > size {
                    system::set_size(&partial.file, size)?;
                }
                parts(&partial.file, size.min(partial.facts.size))?
            }
            _ => Vec::new(),
        };
        Ok(if parts.is_empty() {
            ExistingFile::New
        } else {
            ExistingFile::Parts(parts)
        })
    }

    fn partial(&mut self) -> Result<&Partial> {
        if self.partial.is_none() {
            let plan = &self.plan;
            let resume = plan.resume && plan.size.is_some();
            self.partial = Some(partial::open(&plan.folder, &plan.name, resume)?);
        }
        self.partial.as_ref().ok_or(Errno::IO)
    }

    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let end = offset.checked_add(bytes.len() as u64).ok_or(Errno::FBIG)?;
        system::write_at(&self.partial()?.file, bytes, offset)?;
        self.written.add(offset..end);
        Ok(())
    }

    pub(crate) fn zeros(&mut self, offset: u64, length: u64) -> Result<()> {
        let end = offset.checked_add(length).ok_or(Errno::FBIG)?;
        let mut left = OVERWRITTEN_MAX;
        for held in self.held(offset..end)? {
            clear(&self.partial()?.file, held, &mut left)?;
        }
        Ok(())
    }

    /// Returns the ranges of a stretch in which there may be something but zeros.
    fn held(&mut self, stretch: Range<u64>) -> Result<Vec<Range<u64>>> {
        let partial = self.partial()?;
        // In a new file there is nothing but what was written here.
        if partial.is_new {
            return Ok(self.written.within(&stretch));
        }
        let held = stretch.start..stretch.end.min(system::facts(&partial.file)?.size);
        Ok(if held.is_empty() {
            Vec::new()
        } else {
            vec![held]
        })
    }

    /// Reads back what is there. Bytes of an older partial file are written to the own one as they are read,
    /// so that what is compared is what is there.
    pub(crate) fn read_back(&mut self, offset: u64, limit: usize) -> Result<Bytes> {
        if let Some((file, _)) = &self.present {
            return some(system::read_at(file, limit, offset)?);
        }
        let partial = self.partial()?;
        let lender = partial.lender();
        let is_lent = lender.is_some();
        let file = lender.map_or(&partial.file, |older| &older.file);
        let bytes = some(system::read_at(file, limit, offset)?)?;
        if is_lent {
            self.write(offset, &bytes)?;
        }
        Ok(bytes)
    }

    /// Gives the file its name; whether also the mode and time that were asked for.
    pub(crate) fn commit(&mut self, size: u64) -> Result<bool> {
        let is_long_enough = self.written.end() == size;
        self.partial()?;
        let partial = self.partial.as_ref().ok_or(Errno::IO)?;
        if !(partial.is_new && is_long_enough) {
            system::set_size(&partial.file, size)?;
        }
        // Before it has its name, so that nobody meets it with other rights.
        let is_as_asked = match self.set_mode_and_time(partial) {
            Err(Errno::PERM) => false,
            done => done.map(|()| true)?,
        };
        // Somebody may have put something else under the partial name, which must not get the final
        // one.
        self.check_name(&partial.name, &partial.facts)?;
        self.remove_older(partial);
        self.keep_owner(partial);
        self.rename(&partial.name)?;
        self.partial = None;
        Ok(is_as_asked)
    }

    fn set_mode_and_time(&self, partial: &Partial) -> Result<()> {
        // The group first: the mode may have rights for it.
        let is_group_kept = self.keep_group(partial);
        let Plan { mode, modified, .. } = self.plan;
        let mode = if is_group_kept || modified.is_some() {
            mode
        } else {
            for_another_group(mode)
        };
        let is_set = mode == partial.facts.mode || system::set_mode_if_own(&partial.file, mode)?;
        let Some(modified) = modified else {
            return Ok(());
        };
        system::set_modified(&partial.file, modified)?;
        if is_set { Ok(()) } else { Err(Errno::PERM) }
    }

    /// Gives the file the group of the one that it replaces, and returns false if that cannot be.
    fn keep_group(&self, partial: &Partial) -> bool {
        let group = self.plan.replaced.map(|replaced| replaced.group);
        group.is_none_or(|group| {
            group == partial.facts.group || system::set_group(&partial.file, group).is_ok()
        })
    }

    /// Gives the file the owner of the one that it replaces, if this user may. Done last: a partial file of somebody else's
    /// is not taken up again. Its mode has no set-id bit, which would mean something else now.
    fn keep_owner(&self, partial: &Partial) {
        let owner = self.plan.replaced.map(|replaced| replaced.owner);
        if let Some(owner) = owner.filter(|owner| *owner != partial.facts.owner) {
            // Who may not give files away becomes its owner, as with rsync (docs/copy.md).
            let _ = system::set_owner(&partial.file, owner);
        }
    }

    /// Copies that began before and are at it yet come to nothing. Done first, so that none of them gets there last.
    fn remove_older(&self, partial: &Partial) {
        for older in &partial.older {
            if self.check_name(&older.name, &older.facts).is_ok() {
                // Left over at worst; a later copy takes it up.
                let _ = system::remove(&self.plan.folder, &older.name);
            }
        }
    }

    /// Gives the file its final name. If nothing was there when the file began, nothing is expected now, but
    /// for what the user of the target has put there.
    fn rename(&self, from: &[u8]) -> Result<()> {
        let (folder, name) = (&self.plan.folder, self.plan.name.as_slice());
        if self.plan.replaced.is_none() {
            match system::rename_unless_taken(folder, from, name) {
                Err(Errno::EXIST) => {
                    spelling::check(folder, name, &system::facts_at(folder, name)?)?
                }
                Err(Errno::NOSYS) => {}
                done => return done,
            }
        }
        system::rename(folder, from, name)
    }

    /// Leaves the file that has the name already.
    pub(crate) fn keep(&mut self) -> Result<()> {
        self.drop_partial();
        let (file, facts) = self.present.as_ref().ok_or(Errno::INVAL)?;
        self.check_name(&self.plan.name, facts)?;
        let Some(modified) = self.plan.modified else {
            return Ok(());
        };
        if facts.mode != self.plan.mode {
            system::set_mode(file, self.plan.mode)?;
        }
        if facts.modified != modified {
            system::set_modified(file, modified)?;
        }
        Ok(())
    }

    pub(crate) fn abandon(mut self, parts: PartialFile) {
        let is_old = self.partial.as_ref().is_some_and(|partial| !partial.is_new);
        let has_parts = is_old || self.written.end() > 0;
        if parts == PartialFile::Drop || self.plan.size.is_none() || !has_parts {
            self.drop_partial();
        }
    }

    fn drop_partial(&mut self) {
        let Some(partial) = self.partial.take() else {
            return;
        };
        // Left over at worst; a later copy takes it up.
        let _ = partial.remove(&self.plan.folder);
    }

    /// Sees that a name still leads to the file that is open.
    fn check_name(&self, name: &[u8], file: &Facts) -> Result<()> {
        let facts = system::facts_at(&self.plan.folder, name)?;
        if facts.is_same_file(file) {
            Ok(())
        } else {
            Err(Errno::EXIST)
        }
    }
}

/// Returns a mode for a group that the rights were not meant for: it gets those that everybody has.
fn for_another_group(mode: u32) -> u32 {
    mode & (!0o070 | (mode & 0o007) << 3)
}

/// Nothing is there where something was.
fn some(bytes: Vec<u8>) -> Result<Bytes> {
    if bytes.is_empty() {
        Err(Errno::IO)
    } else {
        Ok(bytes.into())
    }
}

/// Makes zeros of a stretch that lies within a file: a hole, or where that cannot be done, of the data in it.
fn clear(file: &OwnedFd, stretch: Range<u64>, left: &mut u64) -> Result<()> {
    if system::punch(file, stretch.start, stretch.end - stretch.start)? {
        return Ok(());
    }
    let mut offset = stretch.start;
    while let Some((start, end)) = system::next_data(file, offset, stretch.end)? {
        *left = left.checked_sub(end - start).ok_or(Errno::NOTSUP)?;
        write_zeros(file, start, end)?;
        offset = end;
    }
    Ok(())
}

fn write_zeros(file: &OwnedFd, mut offset: u64, end: u64) -> Result<()> {
    while offset < end {
        let left = usize::try_from(end - offset).unwrap_or(usize::MAX);
        let zeros = ZEROS.get(..left).unwrap_or(ZEROS);
        system::write_at(file, zeros, offset)?;
        offset += zeros.len() as u64;
    }
    Ok(())
}

/// Returns the ranges before `end` in which a file has data. Gaps that are shorter than a chunk are not worth telling.
fn parts(file: &OwnedFd, end: u64) -> Result<Vec<Range<u64>>> {
    let mut parts: Vec<Range<u64>> = Vec::new();
    let mut offset = 0;
    while let Some((start, stop)) = system::next_data(file, offset, end)? {
        let is_full = parts.len() as u64 >= CHUNKS_MAX;
        match parts.last_mut() {
            Some(last) if is_full || start - last.end < CHUNK_BYTES_MIN => last.end = stop,
            _ => parts.push(start..stop),
        }
        offset = stop;
    }
    Ok(parts)
}
