//! Writes entries below one folder, under temporary names until they are whole.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use bytes::Bytes;
use fulmar_copy::{
    Entry, EntryError, EntryErrorKind, EntryId, EntryKind, ExistingFile, Occupant, PartialFile,
    RelativePath, Target,
};
use rustix::fs::OFlags;

use crate::beneath::{Beneath, remove_link};
use crate::entry_error::{of_name, own};
use crate::operand::OperandContext;
use crate::partial::{self, is_partial_name};
use crate::pipe::PipeTarget;
use crate::placement::{Below, NEEDS_EXISTING_FOLDER, NEEDS_FOLDER, Placement};
use crate::spelling;
use crate::system::{self, Errno, Facts};
use crate::target_options::TargetOptions;
use crate::writing::{Plan, Writing};

/// The bits of a mode that are taken over: no set-id, no sticky (docs/threat-model.md §11).
const PERMISSIONS: u32 = 0o777;

/// Writes what a copy brings below the folder that the user has named, or to the file, device or pipe.
#[derive(Debug)]
pub struct TreeTarget {
    options: TargetOptions,
    /// The target as the user has named it.
    named: Vec<u8>,
    output: Output,
    files: BTreeMap<EntryId, Writing>,
}

#[derive(Debug)]
enum Output {
    Tree { beneath: Beneath, below: Below },
    Pipe(PipeTarget),
}

impl TreeTarget {
    /// Makes sense of the target that the user has named.
    ///
    /// # Errors
    ///
    /// A trouble that says why nothing can be copied there.
    pub fn open(
        context: &OperandContext,
        target: &[u8],
        options: TargetOptions,
    ) -> Result<Self, EntryError> {
        let placement = Placement::of(context, target, &options)?;
        let output = match placement {
            Placement::Below(below) => {
                let folder = below.folder.try_clone().map_err(|_| own(Errno::MFILE))?;
                Output::Tree {
                    beneath: Beneath::new(folder),
                    below,
                }
            }
            Placement::Pipe(pipe) => Output::Pipe(PipeTarget::one(pipe, options.in_order)),
        };
        Ok(Self {
            options,
            named: target.to_vec(),
            output,
            files: BTreeMap::new(),
        })
    }

    /// Returns true if entries go into a folder under their own names.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        matches!(&self.output, Output::Tree { below, .. } if below.is_folder())
    }

    /// Sees that several roots can come: they need a folder.
    ///
    /// # Errors
    ///
    /// A trouble that says that the target is none.
    pub fn expect_folder(&self) -> Result<(), EntryError> {
        let trouble = match &self.output {
            Output::Tree { below, .. } if below.is_folder() => return Ok(()),
            Output::Tree { below, .. } if !below.is_taken() => {
                EntryError::at(&self.named, EntryErrorKind::Missing)
                    .with_note(NEEDS_EXISTING_FOLDER)
            }
            _ => EntryError::at(&self.named, EntryErrorKind::NotFolder).with_note(NEEDS_FOLDER),
        };
        Err(trouble)
    }

    /// Returns true if it is a device or pipe, for which data is best asked for in order.
    #[must_use]
    pub fn is_pipe(&self) -> bool {
        matches!(self.output, Output::Pipe(_))
    }

    /// The pipe that is written to, if the target is one: to wait for when the target is not ready.
    #[must_use]
    pub fn pipe(&self) -> Option<BorrowedFd<'_>> {
        match &self.output {
            Output::Tree { .. } => None,
            Output::Pipe(pipe) => Some(pipe.pipe()),
        }
    }

    /// As on a system that cannot walk whole paths.
    #[cfg(test)]
    pub(crate) fn by_steps(&mut self) {
        if let Output::Tree { beneath, .. } = &mut self.output {
            beneath.by_steps();
        }
    }

    /// The folder that an entry lies in, its name there, and its path.
    fn locate(&mut self, entry: &Entry, is_folder: bool) -> Result<Located, EntryError> {
        // A peer that could name a partial file could write into that of another copy.
        if entry.path.names().any(is_partial_name) {
            return Err(EntryError::new(EntryErrorKind::BadName));
        }
        let Output::Tree { beneath, below } = &mut self.output else {
            return Err(EntryError::new(EntryErrorKind::NotFolder));
        };
        let names = below.names(&entry.path, is_folder)?;
        let (name, above) = names.split_last().ok_or_else(|| own(Errno::INVAL))?;
        // From here on there is a descriptor of the folder and one name in it: no path is walked again.
        let folder = beneath.folder(above).map_err(of_name)?;
        Ok(Located {
            folder,
            name: name.to_vec(),
            path: names.join(&b'/'),
        })
    }

    fn beneath(&mut self) -> Result<&mut Beneath, EntryError> {
        match &mut self.output {
            Output::Tree { beneath, .. } => Ok(beneath),
            Output::Pipe(_) => Err(EntryError::new(EntryErrorKind::NotFolder)),
        }
    }

    fn mode(&self, mode: u32, existing: Option<&Facts>) -> u32 {
        match existing {
            _ if self.options.preserve => mode & PERMISSIONS,
            // A file that is replaced keeps its mode (docs/decisions/023-tree.md).
            Some(existing) => existing.mode & PERMISSIONS,
            None => mode & PERMISSIONS & !self.options.umask,
        }
    }

    fn begin_file(&mut self, entry: &Entry) -> Result<(Writing, ExistingFile), EntryError> {
        if entry.kind == (EntryKind::File { size: None }) && self.is_folder() {
            return Err(EntryError::new(EntryErrorKind::IsFolder)
                .with_note("standard input has no name of its own"));
        }
        let located = self.locate(entry, false)?;
        let existing = existing_file(&located)?;
        let plan = Plan {
            mode: self.mode(entry.mode, existing.as_ref()),
            modified: self.options.preserve.then_some(entry.modified),
            size: match entry.kind {
                EntryKind::File { size } => size,
                _ => None,
            },
            replaced: existing,
            resume: self.options.resume,
            folder: located.folder,
            name: located.name,
        };
        Writing::begin(plan).map_err(of_part)
    }

    fn file(&mut self, id: EntryId) -> Result<&mut Writing, EntryError> {
        self.files.get_mut(&id).ok_or_else(|| own(Errno::BADF))
    }

    /// A folder is there already: fine, if that is what it is and its owner can write to it.
    fn meet_folder(&mut self, located: &Located, mode: u32) -> Result<(), EntryError> {
        let facts = system::facts_at(&located.folder, &located.name).map_err(own)?;
        if !facts.is_folder() {
            return Err(EntryError::new(EntryErrorKind::NotFolder));
        }
        let was_made = self.beneath()?.was_made(&located.path);
        // Of a folder of ours the spelling is right. One that was there may be another, where case is ignored.
        if !was_made {
            spelling::check(&located.folder, &located.name, &facts).map_err(own)?;
        }
        // The mode of somebody's folder stays, unless it is the user's own and keeps its entries out.
        let is_closed =
            self.options.preserve && facts.owner == system::user() && facts.mode & 0o700 != 0o700;
        if was_made || is_closed {
            let folder =
                system::open_folder(&located.folder, &located.name, OFlags::RDONLY).map_err(own)?;
            self.set_mode(&folder, mode)?;
        }
        Ok(())
    }

    fn set_mode(&self, folder: &OwnedFd, mode: u32) -> Result<(), EntryError> {
        let is_set = system::set_mode_if_own(folder, mode).map_err(own)?;
        if !is_set && self.options.preserve {
            return Err(own(Errno::PERM));
        }
        Ok(())
    }

    fn look_at(&mut self, entry: &Entry) -> Result<Occupant, EntryError> {
        let is_folder = matches!(entry.kind, EntryKind::Folder | EntryKind::Leave);
        let (beneath, below) = match &mut self.output {
            Output::Tree { beneath, below } => (beneath, below),
            Output::Pipe(pipe) => return pipe.look(entry),
        };
        let names = below.names(&entry.path, is_folder)?;
        let (name, above) = names.split_last().ok_or_else(|| own(Errno::INVAL))?;
        let (folder, depth) = beneath.look_far(above).map_err(own)?;
        if depth < above.len() {
            // Folders would be made here first.
            system::may_write(&folder, b".").map_err(own)?;
            return Ok(Occupant::Nothing);
        }
        let may_resume = self.options.resume && matches!(entry.kind, EntryKind::File { .. });
        let or_partial = |occupant| {
            let is_there =
                may_resume && occupant != Occupant::Same && partial::is_there(&folder, name);
            if is_there {
                Occupant::Partial
            } else {
                occupant
            }
        };
        let facts = match system::facts_at(&folder, name) {
            Err(Errno::NOENT) => {
                system::may_write(&folder, b".").map_err(own)?;
                return Ok(or_partial(Occupant::Nothing));
            }
            facts => facts.map_err(own)?,
        };
        match (&entry.kind, facts) {
            (EntryKind::Folder | EntryKind::Leave, facts)
                if facts.is_folder() || facts.is_link() =>
            {
                Ok(Occupant::Same)
            }
            (EntryKind::Folder | EntryKind::Leave, _) => {
                Err(EntryError::new(EntryErrorKind::NotFolder))
            }
            (_, facts) if facts.is_folder() => Err(EntryError::new(EntryErrorKind::IsFolder)),
            (kind, facts) if facts.is_link() => Ok(link_occupant(kind, &folder, name)),
            (_, facts) if !facts.is_regular() => Err(EntryError::new(EntryErrorKind::Special)),
            (_, facts) => {
                system::may_write(&folder, name).map_err(own)?;
                system::may_write(&folder, b".").map_err(of_part)?;
                Ok(or_partial(file_occupant(entry, &facts)))
            }
        }
    }
}

fn link_occupant(kind: &EntryKind, folder: &OwnedFd, name: &[u8]) -> Occupant {
    match (kind, system::read_link(folder, name)) {
        (EntryKind::Link { target }, Ok(text)) if *target == text => Occupant::Same,
        _ => Occupant::Another,
    }
}

/// Compares a file by size and time alone, the time to the second: some file systems keep no more of it.
fn file_occupant(entry: &Entry, facts: &Facts) -> Occupant {
    let is_same_time = entry.modified.seconds == facts.modified.seconds;
    match entry.kind {
        EntryKind::File { size: Some(size) } if size == facts.size && is_same_time => {
            Occupant::Same
        }
        _ => Occupant::Another,
    }
}

/// The place of an entry.
struct Located {
    folder: Rc<OwnedFd>,
    name: Vec<u8>,
    /// Below the target's folder.
    path: Vec<u8>,
}

/// The file in whose place a file or link comes. A link there is no obstacle: the name is given anew.
fn existing_file(located: &Located) -> Result<Option<Facts>, EntryError> {
    let facts = match system::facts_at(&located.folder, &located.name) {
        Err(Errno::NOENT) => return Ok(None),
        facts => facts.map_err(of_name)?,
    };
    if facts.is_folder() {
        return Err(EntryError::new(EntryErrorKind::IsFolder));
    }
    if facts.is_link() {
        return Ok(None);
    }
    if !facts.is_regular() {
        return Err(EntryError::new(EntryErrorKind::Special));
    }
    // A new name could be given to a file that may not be written to. scp cannot, and nobody expects it.
    system::may_write(&located.folder, &located.name).map_err(own)?;
    spelling::check(&located.folder, &located.name, &facts).map_err(own)?;
    Ok(Some(facts))
}

/// A partial file that cannot be made. The file itself was looked at before, and may be writable.
fn of_part(error: Errno) -> EntryError {
    match error {
        Errno::ACCESS => own(error).with_note("no file can be made in its folder"),
        error => of_name(error),
    }
}

/// A partial file that nobody finds any more: the rest goes on as ever.
fn of_commit(error: Errno) -> EntryError {
    match error {
        Errno::NOENT => EntryError::new(EntryErrorKind::Taken)
            .with_note("a newer copy has brought it, or its partial file was removed"),
        error => own(error),
    }
}

/// Makes a link, under another name first if there is something to replace: one of those that partial files have, and that
/// nothing but a link has.
fn put_link(located: &Located, text: &[u8]) -> Result<(), Errno> {
    match system::make_link(text, &located.folder, &located.name) {
        Err(Errno::EXIST) => {}
        done => return done,
    }
    for temporary in partial::names(&located.name) {
        match remove_link(&located.folder, &temporary) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(Errno::NOTDIR) => continue,
            Err(error) => return Err(error),
        }
        match system::make_link(text, &located.folder, &temporary) {
            Err(Errno::EXIST) => continue,
            made => made?,
        }
        system::rename(&located.folder, &temporary, &located.name)?;
        // The link is there; somebody may have been quicker with the rest.
        let _ = partial::remove_left_over(&located.folder, &located.name);
        return Ok(());
    }
    Err(Errno::EXIST)
}

impl Target for TreeTarget {
    fn place(&self, path: &RelativePath) -> Vec<u8> {
        // A copy under another name has that instead of its first name.
        let skipped = usize::from(!self.is_folder());
        let named = Some(self.named.as_slice()).filter(|named| !named.is_empty());
        let names: Vec<&[u8]> = named
            .into_iter()
            .chain(path.names().skip(skipped))
            .collect();
        let mut place = Vec::new();
        for name in names {
            if !place.is_empty() && !place.ends_with(b"/") {
                place.push(b'/');
            }
            place.extend_from_slice(name);
        }
        place
    }

    fn is_ready(&mut self) -> bool {
        match &mut self.output {
            Output::Tree { .. } => true,
            Output::Pipe(pipe) => pipe.is_ready(),
        }
    }

    fn begin(&mut self, id: EntryId, entry: &Entry) -> Result<ExistingFile, EntryError> {
        if let Output::Pipe(pipe) = &mut self.output {
            return pipe.begin(id, entry);
        }
        let (writing, begun) = self.begin_file(entry)?;
        self.files.insert(id, writing);
        Ok(begun)
    }

    fn write(&mut self, id: EntryId, offset: u64, bytes: &[u8]) -> Result<(), EntryError> {
        if let Output::Pipe(pipe) = &mut self.output {
            return pipe.write(id, offset, bytes);
        }
        self.file(id)?.write(offset, bytes).map_err(own)
    }

    fn zeros(&mut self, id: EntryId, offset: u64, length: u64) -> Result<(), EntryError> {
        if let Output::Pipe(pipe) = &mut self.output {
            return pipe.zeros(id, offset, length);
        }
        self.file(id)?.zeros(offset, length).map_err(own)
    }

    fn read_back(&mut self, id: EntryId, offset: u64, limit: usize) -> Result<Bytes, EntryError> {
        self.file(id)?.read_back(offset, limit).map_err(own)
    }

    fn commit(&mut self, id: EntryId, size: u64) -> Result<(), EntryError> {
        if let Output::Pipe(pipe) = &mut self.output {
            return pipe.commit(id, size);
        }
        let is_as_asked = self.file(id)?.commit(size).map_err(of_commit)?;
        self.files.remove(&id);
        if !is_as_asked {
            // Whole and under its name, which a trouble does not change.
            return Err(EntryError::new(EntryErrorKind::Denied)
                .with_note("it is there, but its mode or time cannot be set"));
        }
        Ok(())
    }

    fn keep(&mut self, id: EntryId) -> Result<(), EntryError> {
        self.file(id)?.keep().map_err(own)?;
        self.files.remove(&id);
        Ok(())
    }

    fn abandon(&mut self, id: EntryId, parts: PartialFile) {
        match (&mut self.output, self.files.remove(&id)) {
            (Output::Pipe(pipe), _) => pipe.abandon(id, parts),
            (_, Some(writing)) => writing.abandon(parts),
            (_, None) => {}
        }
    }

    fn folder(&mut self, entry: &Entry) -> Result<(), EntryError> {
        let located = self.locate(entry, true)?;
        // Its owner has to write to it until it is left.
        let mode = self.mode(entry.mode, None) | 0o700;
        let make = || system::make_folder(&located.folder, &located.name, mode);
        match make() {
            // A link in the way is replaced, and not followed (docs/threat-model.md §11).
            Err(Errno::EXIST) => match remove_link(&located.folder, &located.name) {
                Ok(()) => make().map_err(own)?,
                Err(Errno::NOTDIR) => return self.meet_folder(&located, mode),
                Err(error) => return Err(own(error)),
            },
            made => made.map_err(of_name)?,
        }
        self.beneath()?.note_made(located.path);
        Ok(())
    }

    fn link(&mut self, entry: &Entry) -> Result<(), EntryError> {
        let EntryKind::Link { target } = &entry.kind else {
            return Err(own(Errno::INVAL));
        };
        let located = self.locate(entry, false)?;
        existing_file(&located)?;
        put_link(&located, target).map_err(of_name)?;
        if self.options.preserve {
            system::set_modified_of_link(&located.folder, &located.name, entry.modified)
                .map_err(own)?;
        }
        Ok(())
    }

    fn leave(&mut self, entry: &Entry) -> Result<(), EntryError> {
        let mode = self.mode(entry.mode, None);
        let Output::Tree { beneath, below } = &mut self.output else {
            return Err(EntryError::new(EntryErrorKind::NotFolder));
        };
        let names = below.names(&entry.path, true)?;
        let was_made = beneath.forget_made(&names.join(&b'/'));
        if !was_made && !self.options.preserve {
            return Ok(());
        }
        let (name, above) = names.split_last().ok_or_else(|| own(Errno::INVAL))?;
        // One that is not there was a trouble before.
        let Some(above) = beneath.look(above).map_err(own)? else {
            return Ok(());
        };
        let folder = match system::open_folder(&above, name, OFlags::RDONLY) {
            Err(Errno::NOENT) => return Ok(()),
            folder => folder.map_err(own)?,
        };
        self.set_mode(&folder, mode)?;
        if self.options.preserve {
            system::set_modified(&folder, entry.modified).map_err(own)?;
        }
        Ok(())
    }

    fn look(&mut self, entry: &Entry) -> Result<Occupant, EntryError> {
        self.look_at(entry)
    }
}
