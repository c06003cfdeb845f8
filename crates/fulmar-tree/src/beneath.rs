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
/// for each stream and a few more.
const KEPT: usize = 16;

/// Folders remembered as made here until their end is announced, and the bytes of their paths. Chosen: an honest sender
/// has no more of them open than a path is deep and entries are under way, some 4000 with paths of a kilobyte; one that
/// never announces an end costs less than 16 MiB. What is beyond keeps the mode that it was made with.
const MADE: usize = 65_536;
const MADE_BYTES: usize = 4 << 20;

/// Folders that nobody has described yet are for their owner only, since their entries may come before they do.
const UNKNOWN_MODE: u32 = 0o700;

/// A folder, and what is below it.
#[derive(Debug)]
pub(crate) struct Beneath {
    root: Rc<OwnedFd>,
    /// Folders opened lately and their paths, the newest last.
    kept: VecDeque<(Vec<u8>, Rc<OwnedFd>)>,
    made: HashSet<Vec<u8>>,
    /// Of the paths in `made`.
    made_bytes: usize,
    /// True if the system is asked for whole paths.
    whole: bool,
}

impl Beneath {
    pub(crate) fn new(root: OwnedFd) -> Self {
        Self {
            root: Rc::new(root),
            kept: VecDeque::new(),
            made: HashSet::new(),
            made_bytes: 0,
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
        // The same folder as before, wherever its name leads by now.
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
        let (folder, depth) = self.look_far(names)?;
        Ok((depth == names.len()).then_some(folder))
    }

    /// The deepest folder on the way to `names` that is there without a link on the way, and how many of the
    /// names lead to it. Nothing is made.
    pub(crate) fn look_far(&self, names: &[&[u8]]) -> Result<(OwnedFd, usize)> {
        let mut folder = self.root.try_clone().map_err(|_| Errno::MFILE)?;
        // Name by name from a descriptor that is held: what is renamed meanwhile cannot lead elsewhere.
        for (depth, name) in names.iter().enumerate() {
            folder = match system::open_folder(&folder, name, system::SEARCH) {
                Ok(below) => below,
                Err(Errno::NOENT) => return Ok((folder, depth)),
                Err(Errno::LOOP | Errno::NOTDIR) if system::facts_at(&folder, name)?.is_link() => {
                    return Ok((folder, depth));
                }
                Err(error) => return Err(error),
            };
        }
        Ok((folder, names.len()))
    }

    /// Notes that the folder at `path` was made here.
    pub(crate) fn note_made(&mut self, path: Vec<u8>) {
        let bytes = self.made_bytes + path.len();
        if self.made.len() < MADE && bytes <= MADE_BYTES && self.made.insert(path) {
            self.made_bytes = bytes;
        }
    }

    pub(crate) fn was_made(&self, path: &[u8]) -> bool {
        self.made.contains(path)
    }

    /// Nothing more goes into the folder at `path`; whether it was made here.
    pub(crate) fn forget_made(&mut self, path: &[u8]) -> bool {
        let was_made = self.made.remove(path);
        if was_made {
            self.made_bytes -= path.len();
        }
        was_made
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
    // Opened before it is made: whoever has put a link there is found out by the opening, which follows none.
    match system::open_folder(above, name, system::SEARCH) {
        Err(Errno::NOENT) => {}
        Err(Errno::LOOP | Errno::NOTDIR) => remove_link(above, name)?,
        opened => return opened.map(|folder| (folder, false)),
    }
    let made = match system::make_folder(above, name, UNKNOWN_MODE) {
        Err(Errno::EXIST) => false,
        made => made.map(|()| true)?,
    };
    // Opened like any other: between making and opening somebody may have put a link in its place.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn path(number: usize) -> Vec<u8> {
        format!("{number:04096}").into_bytes()
    }

    #[test]
    fn there_is_an_end_to_the_folders_that_are_remembered() {
        let mut beneath = Beneath::new(std::fs::File::open("/").unwrap().into());
        for number in 0..2000 {
            beneath.note_made(path(number));
            beneath.note_made(path(0));
        }
        let count = (0..2000)
            .filter(|number| beneath.was_made(&path(*number)))
            .count();
        assert_eq!(count, 1024, "of 4096 bytes each");
        assert!(beneath.forget_made(&path(7)));
        assert!(!beneath.forget_made(&path(7)));
        for number in [5000, 5001] {
            beneath.note_made(path(number));
        }
        assert!(beneath.was_made(&path(5000)));
        assert!(!beneath.was_made(&path(5001)));
    }
}
