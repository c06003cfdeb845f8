//! A copy without a protocol: entries from a source straight to a target.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use fulmar_copy::{
    Entry, EntryError, EntryId, EntryKind, ExistingFile, NextEntry, Occupant, PartialFile, Piece,
    Settled, Source, Target,
};

use crate::{OperandContext, SourceOptions, TargetOptions, TreeSource, TreeTarget};

/// Bytes read at once: small, so that small files have several pieces.
const PIECE: usize = 4096;

/// The outcome of a copy.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) troubles: Vec<EntryError>,
    /// Bytes of files that the target had already.
    pub(crate) held: u64,
    /// Bytes written.
    pub(crate) written: u64,
    /// Files that changed while they were read.
    pub(crate) changed: usize,
}

pub(crate) const TARGET: TargetOptions = TargetOptions {
    recursive: true,
    preserve: false,
    resume: true,
    dry_run: false,
    into_folder: false,
    in_order: false,
    umask: 0o022,
};

pub(crate) const PRESERVE: TargetOptions = TargetOptions {
    preserve: true,
    ..TARGET
};

pub(crate) const SOURCE: SourceOptions = SourceOptions {
    recursive: true,
    follow: true,
};

/// A folder for tests, in memory where there is one.
pub(crate) fn room() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        tempfile::tempdir_in(memory)
            .or_else(|_| tempfile::tempdir())
            .unwrap()
    } else {
        tempfile::tempdir().unwrap()
    }
}

/// Operands relative to `base`, read as at the remote end.
pub(crate) fn context(base: &Path) -> OperandContext {
    let base: OwnedFd = std::fs::File::open(base).unwrap().into();
    OperandContext {
        base: Some(base),
        patterns: true,
        home: Some(no_home),
    }
}

pub(crate) fn no_home(_: Option<&[u8]>) -> Option<Vec<u8>> {
    None
}

pub(crate) fn source(base: &Path, operands: &[&str]) -> TreeSource {
    let operands = operands
        .iter()
        .map(|operand| operand.as_bytes().to_vec())
        .collect();
    TreeSource::new(context(base), operands, SOURCE)
}

/// Copies operands below `base` to `target` below it.
pub(crate) fn copy(
    base: &Path,
    operands: &[&str],
    target: &str,
    options: TargetOptions,
) -> Outcome {
    let options = TargetOptions {
        into_folder: options.into_folder || operands.len() > 1,
        ..options
    };
    let mut outcome = Outcome::default();
    match TreeTarget::open(&context(base), target.as_bytes(), options) {
        Ok(mut target) => {
            let mut source = source(base, operands);
            match expect_room(&mut source, &target) {
                Ok(()) => carry(&mut source, &mut target, &mut outcome),
                Err(trouble) => outcome.troubles.push(trouble),
            }
        }
        Err(trouble) => outcome.troubles.push(trouble),
    }
    outcome
}

/// Makes a dry run, and returns the thing at the place of each entry.
pub(crate) fn looked(
    base: &Path,
    operands: &[&str],
    target: &str,
    options: TargetOptions,
) -> Vec<Result<Occupant, EntryError>> {
    let options = TargetOptions {
        dry_run: true,
        ..options
    };
    let mut source = source(base, operands);
    let mut target = TreeTarget::open(&context(base), target.as_bytes(), options).unwrap();
    let mut looked = Vec::new();
    loop {
        match source.next_entry(EntryId(0)) {
            NextEntry::Entry(entry) if entry.kind == EntryKind::Leave => {}
            NextEntry::Entry(entry) => looked.push(target.look(&entry)),
            NextEntry::End => return looked,
            _ => {}
        }
    }
}

/// Sees that the target is a folder if the source has several roots.
fn expect_room(source: &mut TreeSource, target: &TreeTarget) -> Result<(), EntryError> {
    loop {
        match source.poll_several() {
            Some(true) => return target.expect_folder(),
            Some(false) => return Ok(()),
            None => {}
        }
    }
}

/// Carries everything, in order.
pub(crate) fn carry(source: &mut impl Source, target: &mut impl Target, outcome: &mut Outcome) {
    let mut id = EntryId(0);
    loop {
        match source.next_entry(id) {
            NextEntry::Entry(entry) => {
                if let Err(trouble) = bring(source, target, id, &entry, outcome) {
                    outcome.troubles.push(trouble);
                }
                id.0 += 1;
            }
            NextEntry::EntryError(trouble) => outcome.troubles.push(trouble),
            NextEntry::NotNow => {}
            NextEntry::End => return,
        }
    }
}

fn bring(
    source: &mut impl Source,
    target: &mut impl Target,
    id: EntryId,
    entry: &Entry,
    outcome: &mut Outcome,
) -> Result<(), EntryError> {
    match entry.kind {
        EntryKind::Folder => target.folder(entry),
        EntryKind::Link { .. } => target.link(entry),
        EntryKind::Leave => target.leave(entry),
        EntryKind::File { .. } => {
            let brought = bring_file(source, target, id, entry, outcome);
            outcome.changed += usize::from(source.close(id) == Settled::Changed);
            brought
        }
    }
}

fn bring_file(
    source: &mut impl Source,
    target: &mut impl Target,
    id: EntryId,
    entry: &Entry,
    outcome: &mut Outcome,
) -> Result<(), EntryError> {
    let begun = target.begin(id, entry)?;
    let size = entry.kind.size();
    let brought = match begun {
        ExistingFile::Present if is_equal(source, target, id, 0, size)? => {
            outcome.held += size;
            return target.keep(id);
        }
        ExistingFile::Present | ExistingFile::New => bring_data(source, target, id, &[], outcome),
        ExistingFile::Parts(parts) => bring_data(source, target, id, &parts, outcome),
    };
    let brought = brought.and_then(|size| target.commit(id, size));
    if brought.is_err() {
        target.abandon(id, PartialFile::Keep);
    }
    brought
}

/// Returns true if the target has the bytes that the source has.
fn is_equal(
    source: &mut impl Source,
    target: &mut impl Target,
    id: EntryId,
    mut offset: u64,
    end: u64,
) -> Result<bool, EntryError> {
    while offset < end {
        let limit = PIECE.min(usize::try_from(end - offset).unwrap());
        let held = target.read_back(id, offset, limit)?;
        let sent = match source.read(id, offset, held.len())? {
            Piece::Bytes(bytes) => bytes,
            Piece::Hole(length) => vec![0; held.len().min(usize::try_from(length).unwrap())].into(),
            Piece::End | Piece::NotNow => return Ok(false),
        };
        if sent != held.slice(..sent.len()) {
            return Ok(false);
        }
        offset += sent.len() as u64;
    }
    Ok(true)
}

fn bring_data(
    source: &mut impl Source,
    target: &mut impl Target,
    id: EntryId,
    parts: &[std::ops::Range<u64>],
    outcome: &mut Outcome,
) -> Result<u64, EntryError> {
    let mut offset = 0;
    loop {
        match source.read(id, offset, PIECE)? {
            Piece::Bytes(bytes) => {
                let end = offset + bytes.len() as u64;
                let is_held = parts
                    .iter()
                    .any(|part| part.start <= offset && end <= part.end);
                if is_held && is_equal(source, target, id, offset, end)? {
                    outcome.held += bytes.len() as u64;
                } else {
                    target.write(id, offset, &bytes)?;
                    outcome.written += bytes.len() as u64;
                }
                offset = end;
            }
            Piece::Hole(length) => {
                target.zeros(id, offset, length)?;
                offset += length;
            }
            Piece::End => return Ok(offset),
            Piece::NotNow => {}
        }
    }
}

/// The facts about one name in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) kind: char,
    pub(crate) mode: u32,
    pub(crate) content: Vec<u8>,
    pub(crate) modified: (i64, i64),
}

/// All of a tree but the folder itself, by path.
pub(crate) fn snapshot(root: &Path) -> BTreeMap<PathBuf, Seen> {
    let mut seen = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let facts = path.symlink_metadata().unwrap();
            let (kind, content) = if facts.is_dir() {
                folders.push(path.clone());
                ('d', Vec::new())
            } else if facts.is_symlink() {
                (
                    'l',
                    path.read_link()
                        .unwrap()
                        .into_os_string()
                        .into_encoded_bytes(),
                )
            } else if facts.is_file() {
                ('f', std::fs::read(&path).unwrap())
            } else {
                ('?', Vec::new())
            };
            let mode = facts.permissions().mode() & 0o7777;
            let modified = (facts.mtime(), facts.mtime_nsec());
            seen.insert(
                path.strip_prefix(root).unwrap().to_path_buf(),
                Seen {
                    kind,
                    mode,
                    content,
                    modified,
                },
            );
        }
    }
    seen
}

/// A small generator, so that a seed gives the same trees everywhere (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }
}
