//! The walk through what the user has named.
//!
//! Only that is read: inside a tree no link is followed, and nothing is opened that is neither folder nor regular file. Names come in
//! the order of the folders, so a folder with a million of them takes no more memory than one with ten.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use fulmar_copy::{
    Entry, EntryError, EntryErrorKind, EntryId, EntryKind, NextEntry, Piece, RelativePath, Settled,
    Source,
};
use rustix::fs::{Dir, FileType, OFlags};

use crate::entry_error;
use crate::expansion::Expansion;
use crate::operand::{self, OperandContext, Search};
use crate::partial::is_partial_name;
use crate::reading::Reading;
use crate::system::{self, Errno, Facts};

/// Never wait for the other end of a pipe that has come into the place of a file.
const READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK);

/// The options of reading a tree.
#[derive(Clone, Copy, Debug, Default)]
pub struct SourceOptions {
    /// Folders are read with all that is in them; otherwise they are a trouble.
    pub recursive: bool,
    /// Links that are named themselves are followed, as scp does. With `recursive`, those that a pattern matched are copied as
    /// links all the same.
    pub follow: bool,
}

/// Files, folders and links that the user has named.
#[derive(Debug)]
pub struct TreeSource {
    context: OperandContext,
    options: SourceOptions,
    /// Operands not looked at yet, with their numbers.
    operands: VecDeque<(u32, Vec<u8>)>,
    /// The present operand, if it is a pattern of which it is not known yet what it stands for.
    expansion: Option<Box<Expanding>>,
    /// The error of an operand that was looked at ahead of the walk.
    failed_ahead: Option<Box<EntryError>>,
    /// The things that the present operand names, not looked at yet.
    roots: VecDeque<operand::OperandMatch>,
    operand: u32,
    /// Names of the roots so far, if there can be two that are alike.
    names: Option<HashSet<Vec<u8>>>,
    /// The folder being read and those above it; at most as deep as a path may be.
    levels: Vec<Level>,
    files: BTreeMap<EntryId, (Vec<u8>, Reading)>,
}

/// A pattern of which it is not known yet what it stands for.
#[derive(Debug)]
struct Expanding {
    operand: Vec<u8>,
    expansion: Expansion,
    /// The error if it stands for nothing.
    otherwise: Errno,
}

/// A folder that is being read.
#[derive(Debug)]
struct Level {
    listing: Dir,
    facts: Facts,
    /// Its path at the other side; `None`: what is in it are roots.
    path: Option<RelativePath>,
    /// Its path as the user knows it.
    place: Vec<u8>,
}

impl TreeSource {
    /// Reads what `operands` name, each by its index in the list.
    #[must_use]
    pub fn new(context: OperandContext, operands: Vec<Vec<u8>>, options: SourceOptions) -> Self {
        let can_be_alike = operands.len() > 1;
        Self {
            context,
            options,
            operands: (0..).zip(operands).collect(),
            expansion: None,
            failed_ahead: None,
            roots: VecDeque::new(),
            operand: 0,
            names: can_be_alike.then(HashSet::new),
            levels: Vec::new(),
            files: BTreeMap::new(),
        }
    }

    /// Looks ahead of the walk, and returns whether the operands stand for several roots, so that the target has to be a
    /// folder. What is in a folder counts as one. `None` while it is not known: to be asked again, as a pattern may take a while.
    pub fn poll_several(&mut self) -> Option<bool> {
        let pending = self.operands.len() + usize::from(self.expansion.is_some());
        if pending + self.roots.len() > 1 {
            return Some(true);
        }
        if self.roots.is_empty() && self.failed_ahead.is_none() {
            let outcome = self.look_on();
            self.failed_ahead = outcome.err().map(Box::new);
        }
        self.expansion.is_none().then_some(self.roots.len() > 1)
    }

    fn next_root(&mut self, id: EntryId) -> NextEntry {
        if let Some(error) = self.failed_ahead.take() {
            return NextEntry::EntryError(*error);
        }
        if let Some(root) = self.roots.pop_front() {
            return self.root(id, &root).unwrap_or_else(NextEntry::EntryError);
        }
        self.look_on().unwrap_or_else(NextEntry::EntryError)
    }

    /// Goes on with the present operand, or with the next one.
    fn look_on(&mut self) -> Result<NextEntry, EntryError> {
        match self.expansion.take() {
            Some(expanding) => self.expand(expanding),
            None => self.next_operand(),
        }
    }

    fn next_operand(&mut self) -> Result<NextEntry, EntryError> {
        let Some((number, operand)) = self.operands.pop_front() else {
            return Ok(NextEntry::End);
        };
        self.operand = number;
        match operand::search(&self.context, &operand) {
            Ok(Search::Over(root)) => self.roots.push_back(root),
            Ok(Search::Pattern(expansion, otherwise)) => {
                self.expansion = Some(Box::new(Expanding {
                    operand,
                    expansion,
                    otherwise,
                }));
            }
            Err(error) => {
                return Err(entry_error::at_operand(&self.context, &operand, error));
            }
        }
        Ok(NextEntry::NotNow)
    }

    fn expand(&mut self, mut expanding: Box<Expanding>) -> Result<NextEntry, EntryError> {
        match expanding.expansion.step(self.context.base()) {
            Ok(None) => self.expansion = Some(expanding),
            Ok(Some(paths)) if paths.is_empty() => {
                let error = expanding.otherwise.into();
                return Err(entry_error::at_operand(
                    &self.context,
                    &expanding.operand,
                    error,
                ));
            }
            Ok(Some(paths)) => {
                // Only names of several can be alike: what is in one folder is not remembered.
                if paths.len() > 1 && self.names.is_none() {
                    self.names = Some(HashSet::new());
                }
                let is_wild = expanding.expansion.is_wild_at_the_end();
                let root = |path| operand::OperandMatch::of_pattern(path, is_wild);
                self.roots = paths.into_iter().map(root).collect();
            }
            Err(Errno::TOOBIG) => {
                let trouble = EntryError::at(&expanding.operand, EntryErrorKind::Exhausted);
                return Err(trouble.with_note("the pattern stands for too many names"));
            }
            Err(error) => return Err(entry_error::at(&expanding.operand, error)),
        }
        Ok(NextEntry::NotNow)
    }

    fn root(&mut self, id: EntryId, root: &operand::OperandMatch) -> Result<NextEntry, EntryError> {
        let failed = |error| entry_error::at(&root.path, error);
        let follows = self.options.follow && !(root.by_pattern && self.options.recursive);
        let facts = if follows {
            system::facts_along
        } else {
            system::facts_at
        };
        let facts = facts(self.context.base(), &root.path).map_err(failed)?;
        let path = match root.name.as_slice() {
            b"" => None,
            name => Some(self.new_root(name, &root.path)?),
        };
        // Between the look and the opening a link may have come into its place.
        let how = if follows {
            READ
        } else {
            READ | OFlags::NOFOLLOW
        };
        let place = root.path.clone();
        if facts.is_folder() {
            if !self.options.recursive {
                return Err(EntryError::at(&root.path, EntryErrorKind::IsFolder)
                    .with_note("use -r to copy folders"));
            }
            let base = self.context.base();
            let folder =
                system::open(base, &root.path, how | OFlags::DIRECTORY, 0).map_err(failed)?;
            return self.enter(folder, path, place);
        }
        let path = path.ok_or_else(|| failed(Errno::NOTDIR))?;
        let name = root.path.clone();
        let found = open_other(self.context.base(), &name, how, facts).map_err(failed)?;
        self.found(id, path, place, found)
    }

    fn new_root(&mut self, name: &[u8], place: &[u8]) -> Result<RelativePath, EntryError> {
        if is_partial_name(name) {
            return Err(EntryError::at(place, EntryErrorKind::BadName));
        }
        let path = RelativePath::new(name).map_err(|fault| entry_error::of_path(place, fault))?;
        let is_new = self
            .names
            .as_mut()
            .is_none_or(|names| names.insert(name.to_vec()));
        if !is_new {
            return Err(EntryError::at(place, EntryErrorKind::Taken)
                .with_note("two sources are called alike"));
        }
        Ok(path)
    }

    /// Begins to read a folder.
    fn enter(
        &mut self,
        folder: OwnedFd,
        path: Option<RelativePath>,
        place: Vec<u8>,
    ) -> Result<NextEntry, EntryError> {
        let failed = |error| entry_error::at(&place, error);
        let facts = system::facts(&folder).map_err(failed)?;
        // A folder that is mounted below itself would have no end.
        if self
            .levels
            .iter()
            .any(|level| level.facts.is_same_file(&facts))
        {
            let trouble = EntryError::at(&place, EntryErrorKind::TooDeep);
            return Err(trouble.with_note("the folder contains itself"));
        }
        let listing = system::list(folder).map_err(failed)?;
        let found = match &path {
            Some(path) => NextEntry::Entry(self.entry(path.clone(), EntryKind::Folder, &facts)),
            None => NextEntry::NotNow,
        };
        self.levels.push(Level {
            listing,
            facts,
            path,
            place,
        });
        Ok(found)
    }

    /// The next name in the folder that is being read, or the end of the folder.
    fn next_below(&mut self, id: EntryId) -> Option<NextEntry> {
        let level = self.levels.last_mut()?;
        match system::next_name(&mut level.listing) {
            // What an interrupted copy has left is no file of the user's
            // (docs/decisions/023-tree.md).
            Some(Ok((name, _))) if is_partial_name(&name) => Some(NextEntry::NotNow),
            Some(Ok((name, kind))) => Some(
                self.below(id, &name, kind)
                    .unwrap_or_else(NextEntry::EntryError),
            ),
            Some(Err(error)) => Some(NextEntry::EntryError(entry_error::at(&level.place, error))),
            None => Some(self.leave()),
        }
    }

    fn leave(&mut self) -> NextEntry {
        let left = self.levels.pop();
        match left.and_then(|level| Some((level.path?, level.facts))) {
            Some((path, facts)) => NextEntry::Entry(self.entry(path, EntryKind::Leave, &facts)),
            None => NextEntry::NotNow,
        }
    }

    fn below(&mut self, id: EntryId, name: &[u8], kind: FileType) -> Result<NextEntry, EntryError> {
        let Some(level) = self.levels.last() else {
            return Ok(NextEntry::NotNow);
        };
        let place = [level.place.as_slice(), b"/", name].concat();
        let failed = |error| entry_error::at(&place, error);
        let path = match &level.path {
            Some(path) => path
                .join(name)
                .map_err(|fault| entry_error::of_path(&place, fault))?,
            None => self.new_root(name, &place)?,
        };
        let level = self.levels.last().ok_or_else(|| failed(Errno::NOENT))?;
        let folder = level.listing.fd().map_err(failed)?;
        let kind = match kind {
            // Some file systems do not give the kind in a listing.
            FileType::Unknown => system::facts_at(folder, name).map_err(failed)?.kind,
            kind => kind,
        };
        if kind == FileType::Directory {
            let folder = system::open_folder(folder, name, READ).map_err(failed)?;
            return self.enter(folder, Some(path), place);
        }
        let found = open_at(folder, name, kind).map_err(failed)?;
        self.found(id, path, place, found)
    }

    fn found(
        &mut self,
        id: EntryId,
        path: RelativePath,
        place: Vec<u8>,
        other: Other,
    ) -> Result<NextEntry, EntryError> {
        let entry = match other {
            Other::File(file, facts) => {
                let reading =
                    Reading::new(file, facts).map_err(|error| unreadable(&place, error))?;
                let size = Some(reading.size());
                let entry = self.entry(path, EntryKind::File { size }, &facts);
                self.files.insert(id, (place, reading));
                entry
            }
            Other::Link(target, facts) => self.entry(path, EntryKind::Link { target }, &facts),
            Other::Special => return Err(EntryError::at(&place, EntryErrorKind::Special)),
        };
        Ok(NextEntry::Entry(entry))
    }

    fn entry(&self, path: RelativePath, kind: EntryKind, facts: &Facts) -> Entry {
        Entry {
            operand: self.operand,
            path,
            kind,
            mode: facts.mode,
            modified: facts.modified,
        }
    }
}

/// A thing that is no folder.
enum Other {
    File(OwnedFd, Facts),
    Link(Vec<u8>, Facts),
    Special,
}

/// The trouble with a file that cannot be read when it is found.
fn unreadable(place: &[u8], error: Errno) -> EntryError {
    if error == Errno::FBIG {
        return EntryError::at(place, EntryErrorKind::Exhausted)
            .with_note("its size is not known, and it has more than 16 MiB");
    }
    entry_error::at(place, error)
}

/// Opens the thing that has the name `name` in a folder, where it was seen as `kind`.
fn open_at(folder: BorrowedFd<'_>, name: &[u8], kind: FileType) -> Result<Other, Errno> {
    match kind {
        FileType::RegularFile => open_file(folder, name, READ | OFlags::NOFOLLOW),
        FileType::Symlink => {
            let facts = system::facts_at(folder, name)?;
            open_other(folder, name, READ | OFlags::NOFOLLOW, facts)
        }
        _ => Ok(Other::Special),
    }
}

fn open_other(
    folder: BorrowedFd<'_>,
    name: &[u8],
    how: OFlags,
    facts: Facts,
) -> Result<Other, Errno> {
    if facts.is_regular() {
        open_file(folder, name, how)
    } else if facts.is_link() {
        Ok(Other::Link(system::read_link(folder, name)?, facts))
    } else {
        Ok(Other::Special)
    }
}

/// Opens a file. What has come into its place since it was seen is not read.
fn open_file(folder: impl AsFd, name: &[u8], how: OFlags) -> Result<Other, Errno> {
    let file = system::open(folder, name, how, 0)?;
    let facts = system::facts(&file)?;
    Ok(if facts.is_regular() {
        Other::File(file, facts)
    } else {
        Other::Special
    })
}

impl Source for TreeSource {
    fn next_entry(&mut self, id: EntryId) -> NextEntry {
        match self.next_below(id) {
            Some(found) => found,
            None => self.next_root(id),
        }
    }

    fn read(&mut self, id: EntryId, offset: u64, limit: usize) -> Result<Piece, EntryError> {
        let (place, reading) = self
            .files
            .get_mut(&id)
            .ok_or_else(|| entry_error::own(Errno::BADF))?;
        reading
            .read(offset, limit)
            .map_err(|error| entry_error::at(place, error))
    }

    fn close(&mut self, id: EntryId) -> Settled {
        match self
            .files
            .remove(&id)
            .map(|(_, reading)| reading.has_changed())
        {
            Some(Ok(true) | Err(_)) => Settled::Changed,
            Some(Ok(false)) | None => Settled::Same,
        }
    }
}
