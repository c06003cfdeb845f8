//! A folder that is never left: every name below it is reached without following a link.
//!
//! Where the system can walk a whole path with that promise (`openat2` with `RESOLVE_BENEATH` and
//! `RESOLVE_NO_SYMLINKS`), it does. Elsewhere each name is opened by itself with `O_NOFOLLOW`
//! (docs/threat-model.md §11).

use std::collections::{HashSet, VecDeque};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use crate::system::{self, Errno, Result};

/// Opened folders that are kept for the next entry, which mostly lies in one of them. Chosen: one
/// for each lane and a few more.
const KEPT: usize = 16;

/// Folders remembered as made here until their end is announced. Chosen: an honest sender has as many open as a path is
/// deep; one that never announces an end costs a few megabytes.
const MADE: usize = 65_536;

/// Folders that nobody has described yet are for their owner only, since their entries may come before they do.
const UNKNOWN_MODE: u32 = 0o700;

/// A folder, and what is below it.
#[derive(Debug)]
pub(crate) struct Beneath {
    root: Rc<OwnedFd>,
    /// Folders opened lately and their paths, the newest last.
    kept: VecDeque<(Vec<u8>, Rc<OwnedFd>)>,
    made: HashSet<Vec<u8>>,
    /// Whether the system is asked for whole paths.
    whole: bool,
}

impl Beneath {
    pub(crate) fn new(root: OwnedFd) -> Self {
        Self {
            root: Rc::new(root),
            kept: VecDeque::new(),
            made: HashSet::new(),
            whole: true,
        }
    }

    /// As on a system that cannot walk whole paths.
    #[cfg(test)]
    pub(crate) fn by_steps(&mut self) {
        self.whole = false;
    }

    /// The folder at `names`, made if it is not there.
    ///
    /// # Errors
    ///
    /// `NOTDIR` if something that is no folder and no link has the name of one. A link in the way
    /// is replaced by a folder, not followed.
    pub(crate) fn folder(&mut self, names: &[&[u8]]) -> Result<Rc<OwnedFd>> {
        if names.is_empty() {
            return Ok(Rc::clone(&self.root));
        }
        let path = names.join(&b'/');
        if let Some((_, folder)) = self.kept.iter().find(|(kept, _)| *kept == path) {
            return Ok(Rc::clone(folder));
        }
        let folder = Rc::new(match self.open_whole(&path) {
            Some(folder) => folder,
            None => self.walk(names)?,
        });
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back((path, Rc::clone(&folder)));
        Ok(folder)
    }

    /// The folder at `names`, if it is there without a link on the way. Nothing is made.
    pub(crate) fn look(&self, names: &[&[u8]]) -> Result<Option<OwnedFd>> {
        let mut folder = self.root.try_clone().map_err(|_| Errno::MFILE)?;
        for name in names {
            folder = match system::open_folder(&folder, name, system::SEARCH) {
                Ok(below) => below,
                Err(Errno::NOENT) => return Ok(None),
                Err(Errno::LOOP | Errno::NOTDIR) if system::facts_at(&folder, name)?.is_link() => {
                    return Ok(None);
                }
                Err(error) => return Err(error),
            };
        }
        Ok(Some(folder))
    }

    /// Notes that the folder at `path` was made here.
    pub(crate) fn note_made(&mut self, path: Vec<u8>) {
        if self.made.len() < MADE {
            self.made.insert(path);
        }
    }

    pub(crate) fn was_made(&self, path: &[u8]) -> bool {
        self.made.contains(path)
    }

    /// Nothing more goes into the folder at `path`; whether it was made here.
    pub(crate) fn forget_made(&mut self, path: &[u8]) -> bool {
        self.made.remove(path)
    }

    fn open_whole(&mut self, path: &[u8]) -> Option<OwnedFd> {
        if !self.whole {
            return None;
        }
        match system::open_beneath(&self.root, path, system::SEARCH) {
            Ok(folder) => return Some(folder),
            // No such call, or a filter of system calls that does not know it.
            Err(Errno::NOSYS | Errno::PERM) => self.whole = false,
            // Not there, no folder, or moved meanwhile: step by step it becomes clear.
            Err(_) => {}
        }
        None
    }

    fn walk(&mut self, names: &[&[u8]]) -> Result<OwnedFd> {
        let mut folder: Option<OwnedFd> = None;
        for (depth, name) in (1..).zip(names) {
            let above = folder.as_ref().map_or(self.root.as_fd(), OwnedFd::as_fd);
            let (below, made) = enter(above, name)?;
            folder = Some(below);
            if made {
                self.note_made(
                    names
                        .iter()
                        .take(depth)
                        .copied()
                        .collect::<Vec<_>>()
                        .join(&b'/'),
                );
            }
        }
        folder.ok_or(Errno::INVAL)
    }
}

/// Opens the folder `name`, and makes it if need be.
fn enter(above: BorrowedFd<'_>, name: &[u8]) -> Result<(OwnedFd, bool)> {
    match system::open_folder(above, name, system::SEARCH) {
        Err(Errno::NOENT) => {}
        Err(Errno::LOOP | Errno::NOTDIR) => remove_link(above, name)?,
        opened => return opened.map(|folder| (folder, false)),
    }
    let made = match system::make_folder(above, name, UNKNOWN_MODE) {
        Err(Errno::EXIST) => false,
        made => made.map(|()| true)?,
    };
    Ok((system::open_folder(above, name, system::SEARCH)?, made))
}

/// Removes `name` if it is a link.
///
/// # Errors
///
/// `NOTDIR` if it is something else.
pub(crate) fn remove_link(folder: impl AsFd, name: &[u8]) -> Result<()> {
    let facts = system::facts_at(&folder, name)?;
    if !facts.is_link() {
        return Err(Errno::NOTDIR);
    }
    system::remove(folder, name)
}
