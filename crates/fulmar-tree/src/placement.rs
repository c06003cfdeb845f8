//! The place that a copy goes to: a folder, a name, or a device or pipe that the user has named.

use std::os::fd::{BorrowedFd, OwnedFd};

use fulmar_copy::{EntryError, EntryErrorKind, RelativePath};
use rustix::fs::OFlags;

use crate::entry_error;
use crate::operand::{OperandContext, last_component};
use crate::system::{self, Errno, Facts};
use crate::target_options::TargetOptions;

/// Links followed from the name that the user gave, as the system does it.
const LINKS: usize = 40;

/// The note on a target that is no folder.
pub(crate) const NEEDS_FOLDER: &str = "several sources need a folder";

/// The note on a target that is not there.
pub(crate) const NEEDS_EXISTING_FOLDER: &str = "it has to be an existing folder";

/// The place that the entries of a copy go to.
#[derive(Debug)]
pub(crate) enum Placement {
    Below(Below),
    /// A device or pipe that the user has named: bytes are written to it.
    Pipe(OwnedFd),
}

/// A place in a folder.
#[derive(Debug)]
pub(crate) struct Below {
    /// The folder; nothing is ever done outside of it.
    pub(crate) folder: OwnedFd,
    /// The name of the copy in it, if the copy does not go into the folder under names of its own.
    pub(crate) name: Option<Vec<u8>>,
    /// The name stands for a folder that a dry run would have made.
    is_pretended: bool,
    /// The user has written a slash at the end, so no file can have the name.
    only_folders: bool,
    /// The root that has the name.
    root: Option<Vec<u8>>,
}

impl Placement {
    /// Makes sense of the target that the user has named.
    ///
    /// An existing folder: into it. A file: in its place, also if the name is a link to one. Nothing: under that name, in a
    /// folder that has to exist.
    ///
    /// If it has to be a folder and is not there, it is made when folders are copied at all.
    pub(crate) fn of(
        context: &OperandContext,
        target: &[u8],
        options: &TargetOptions,
    ) -> Result<Self, EntryError> {
        let (into_folder, makes) = (options.into_folder, options.recursive);
        let failed = |error| entry_error::at(target, error);
        let path = context.path(target);
        let path = path.map_err(|error| entry_error::at_operand(context, target, error))?;
        match system::facts_along(context.base(), &path) {
            Ok(facts) if facts.is_folder() => Self::into(context.base(), &path).map_err(failed),
            Ok(_) if into_folder => Err(failed(Errno::NOTDIR)),
            Ok(facts) if !facts.is_regular() => {
                open_pipe(context.base(), &path, &facts).map_err(failed)
            }
            Err(Errno::NOENT) if into_folder && makes && !options.dry_run => {
                system::make_folder(context.base(), &path, 0o777).map_err(failed)?;
                Self::into(context.base(), &path).map_err(failed)
            }
            Err(Errno::NOENT) if into_folder && !makes => {
                Err(failed(Errno::NOENT).with_note(NEEDS_EXISTING_FOLDER))
            }
            Ok(_) | Err(Errno::NOENT) => named(context.base(), path, into_folder).map_err(failed),
            Err(error) => Err(entry_error::at_operand(context, target, error.into())),
        }
    }

    fn into(base: BorrowedFd<'_>, path: &[u8]) -> Result<Self, Errno> {
        let folder = system::open(base, path, system::SEARCH | OFlags::DIRECTORY, 0)?;
        Ok(Self::Below(Below {
            folder,
            name: None,
            is_pretended: false,
            only_folders: false,
            root: None,
        }))
    }
}

impl Below {
    /// Returns true if entries go into a folder under their own names.
    pub(crate) fn is_folder(&self) -> bool {
        self.name.is_none() || self.is_pretended
    }

    /// Returns true if something has the name of the copy already.
    pub(crate) fn is_taken(&self) -> bool {
        let name = self.name.as_deref();
        name.is_some_and(|name| system::facts_at(&self.folder, name).is_ok())
    }

    /// The names that lead from the folder to an entry's place.
    pub(crate) fn names<'a>(
        &'a mut self,
        path: &'a RelativePath,
        is_folder: bool,
    ) -> Result<Vec<&'a [u8]>, EntryError> {
        let Some(name) = &self.name else {
            return Ok(path.names().collect());
        };
        let root = self.root.get_or_insert_with(|| path.root().to_vec());
        let skipped = usize::from(!self.is_pretended);
        if skipped == 1 && root.as_slice() != path.root() {
            return Err(EntryError::new(EntryErrorKind::NotFolder).with_note(NEEDS_FOLDER));
        }
        if self.only_folders && !is_folder && path.depth() == 1 {
            return Err(EntryError::new(EntryErrorKind::Missing)
                .with_note("the slash at its end asks for a folder"));
        }
        Ok(std::iter::once(name.as_slice())
            .chain(path.names().skip(skipped))
            .collect())
    }
}

/// Finds folder and name for a target that is a file or nothing yet, along the user's links.
fn named(base: BorrowedFd<'_>, mut path: Vec<u8>, is_pretended: bool) -> Result<Placement, Errno> {
    let only_folders = path.ends_with(b"/");
    for _ in 0..LINKS {
        let name = last_component(&path).to_vec();
        if matches!(name.as_slice(), b"" | b"." | b"..") {
            return Err(Errno::NOENT);
        }
        let above = folder_of(&path);
        let folder = system::open(base, &above, system::SEARCH | OFlags::DIRECTORY, 0)?;
        match system::facts_at(&folder, &name) {
            // The user's own link: the place is where it leads, and the link stays.
            Ok(facts) if facts.is_link() => {
                let text = system::read_link(&folder, &name)?;
                path = if text.starts_with(b"/") {
                    text
                } else {
                    [above.as_slice(), b"/", &text].concat()
                };
            }
            Ok(_) | Err(Errno::NOENT) => {
                return Ok(Placement::Below(Below {
                    folder,
                    name: Some(name),
                    is_pretended,
                    only_folders,
                    root: None,
                }));
            }
            Err(error) => return Err(error),
        }
    }
    Err(Errno::LOOP)
}

/// The path of the folder that a path's last component is in.
fn folder_of(path: &[u8]) -> Vec<u8> {
    let end = path
        .iter()
        .rposition(|byte| *byte != b'/')
        .map_or(0, |at| at + 1);
    let rest = path.get(..end).unwrap_or(path);
    match rest.iter().rposition(|byte| *byte == b'/') {
        Some(0) => b"/".to_vec(),
        Some(slash) => rest.get(..slash).unwrap_or(rest).to_vec(),
        None => b".".to_vec(),
    }
}

/// Opens what is no file and no folder. A pipe that nobody reads from is an error, not a wait.
fn open_pipe(base: BorrowedFd<'_>, path: &[u8], seen: &Facts) -> Result<Placement, Errno> {
    let pipe = system::open(base, path, OFlags::WRONLY | OFlags::NONBLOCK, 0)?;
    let facts = system::facts(&pipe)?;
    // It was looked at by its path. What is written to has to be the same thing.
    if !facts.is_same_file(seen) {
        return Err(Errno::AGAIN);
    }
    Ok(Placement::Pipe(pipe))
}
