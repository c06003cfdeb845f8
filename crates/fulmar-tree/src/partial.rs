//! The name and the open file of what has not arrived whole.
//!
//! A file arrives under a name of its own in its folder and gets the final one when it is whole. The
//! name follows from the final one alone, so that a later copy finds it, and so that a file has one
//! left-over as a rule, whatever version it is of. What is in it is not trusted: it is read back
//! and compared by digest.
//!
//! A copy that has vanished holds its partial file until it is given up. One that begins meanwhile takes the next
//! name, reads what the older one has, and removes it when its own file is whole: the newer one wins, and no
//! two ever write to the same file.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use crate::system::{self, Errno, Facts, Result};

/// The ending of a partial file's name.
const ENDING: &[u8] = b".fulmar-part";

/// Bytes of the final name that the partial name shows. With dots, hash and ending it is 130 bytes long then,
/// which all file systems take.
const SHOWN: usize = 100;

/// Names tried, one after the other, when something that is not ours has the name.
///
/// Chosen by eye.
const TRIES: u8 = 8;

/// Mode of a file that has not arrived whole (docs/threat-model.md §9.5).
pub(crate) const MODE: u32 = 0o600;

/// Set-id and sticky bits.
const SPECIAL: u32 = 0o7000;

/// An open partial file, locked against other copies to the same name.
#[derive(Debug)]
pub(crate) struct Partial {
    pub(crate) file: OwnedFd,
    pub(crate) name: Vec<u8>,
    pub(crate) facts: Facts,
    /// Nothing was in it.
    pub(crate) is_new: bool,
    /// Those that copies which began before are at, or have left besides.
    pub(crate) older: Vec<Older>,
}

/// A partial file that another copy holds the lock of: it is read at most.
#[derive(Debug)]
pub(crate) struct Older {
    pub(crate) file: OwnedFd,
    pub(crate) name: Vec<u8>,
    pub(crate) facts: Facts,
}

/// The thing that has one of the names.
enum NameHolder {
    Ours(Partial),
    Held(Older),
    /// Something else, or somebody is about to change it.
    Other,
}

impl Partial {
    /// The largest of those that others are at, if there is nothing in this one.
    pub(crate) fn lender(&self) -> Option<&Older> {
        let older = self.older.iter().filter(|_| self.is_new);
        older.max_by_key(|older| older.facts.stored)
    }

    /// Removes the file, unless another has its name by now.
    pub(crate) fn remove(&self, folder: impl AsFd) -> Result<()> {
        if system::facts_at(&folder, &self.name)?.is_same_file(&self.facts) {
            system::remove(folder, &self.name)?;
        }
        Ok(())
    }
}

/// The partial name for `name`. `attempt` is 0 unless that one was taken.
pub(crate) fn name(name: &[u8], attempt: u8) -> Vec<u8> {
    let digest = Sha256::new()
        .chain_update(name)
        .chain_update([0, attempt])
        .finalize();
    let mut partial = b".".to_vec();
    partial.extend_from_slice(shown(name));
    partial.push(b'.');
    for byte in digest.iter().take(8) {
        partial.extend_from_slice(format!("{byte:02x}").as_bytes());
    }
    partial.extend_from_slice(ENDING);
    partial
}

/// All partial names for `name`, in the order in which they are tried.
pub(crate) fn names(final_name: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..TRIES).map(move |attempt| name(final_name, attempt))
}

/// The beginning of a name, cut between characters.
fn shown(name: &[u8]) -> &[u8] {
    if name.len() <= SHOWN {
        return name;
    }
    let is_start = |at: &usize| name.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
    let end = (SHOWN - 3..=SHOWN).rev().find(is_start).unwrap_or(SHOWN);
    name.get(..end).unwrap_or(name)
}

/// Returns true if `name` is one that [`name`] could have made. Such a file is neither sent nor received: in
/// one folder with the file that it belongs to, the two would be taken for each other.
pub(crate) fn is_partial_name(name: &[u8]) -> bool {
    let Some(rest) = name
        .strip_prefix(b".")
        .and_then(|rest| rest.strip_suffix(ENDING))
    else {
        return false;
    };
    let Some((shown, hash)) = rest.len().checked_sub(17).map(|at| rest.split_at(at)) else {
        return false;
    };
    let is_hash = hash
        .iter()
        .skip(1)
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    !shown.is_empty() && hash.first() == Some(&b'.') && is_hash
}

/// Opens the partial file for `name`, an old one if there is one that is ours and `keep` says so.
///
/// # Errors
///
/// Those of the system; `EXIST` if all names are taken by what is not ours, or by copies that are at it.
pub(crate) fn open(folder: impl AsFd, final_name: &[u8], keep: bool) -> Result<Partial> {
    let folder = folder.as_fd();
    let found = search(folder, final_name, keep, system::user())?;
    let owner = found.facts.owner;
    let is_first = found.name == name(final_name, 0);
    if !found.is_new || is_first || owner == system::user() {
        return Ok(found);
    }
    // Made by us and another's: the file system maps owners, and what was passed over may be ours.
    found.remove(folder)?;
    search(folder, final_name, keep, owner)
}

/// Tells if there is something to go on with of a file that did not arrive whole.
pub(crate) fn is_there(folder: impl AsFd, final_name: &[u8]) -> bool {
    let is_ours = |name: Vec<u8>| {
        let facts = system::facts_at(&folder, &name);
        facts.is_ok_and(|facts| is_of(system::user(), &facts) && facts.size > 0)
    };
    names(final_name).any(is_ours)
}

/// Tries one name after the other; an old file is taken if it is `owner`'s.
fn search(folder: BorrowedFd<'_>, final_name: &[u8], keep: bool, owner: u32) -> Result<Partial> {
    let mut older = Vec::new();
    for attempt in 0..TRIES {
        match attempt_at(folder, name(final_name, attempt), keep, owner)? {
            NameHolder::Ours(partial) => {
                if !partial.is_new {
                    older.extend(left_over(folder, final_name, attempt + 1, owner));
                }
                return Ok(Partial { older, ..partial });
            }
            NameHolder::Held(held) => older.push(held),
            NameHolder::Other => {}
        }
    }
    Err(Errno::EXIST)
}

/// Returns the partial files of copies that were broken off while another held the first name.
fn left_over(folder: BorrowedFd<'_>, final_name: &[u8], from: u8, owner: u32) -> Vec<Older> {
    let names = (from..TRIES).map(|attempt| name(final_name, attempt));
    let found = names.map_while(|name| existing(folder, &name, owner).ok());
    let ours = found.filter_map(|found| match found {
        Some(NameHolder::Ours(partial)) => Some(Older {
            file: partial.file,
            name: partial.name,
            facts: partial.facts,
        }),
        _ => None,
    });
    ours.collect()
}

/// Removes what copies have left of a file whose name has something else now. What another copy is at stays.
pub(crate) fn remove_left_over(folder: impl AsFd, final_name: &[u8]) -> Result<()> {
    let folder = folder.as_fd();
    for older in left_over(folder, final_name, 0, system::user()) {
        if system::facts_at(folder, &older.name)?.is_same_file(&older.facts) {
            system::remove(folder, &older.name)?;
        }
    }
    Ok(())
}

fn attempt_at(folder: BorrowedFd<'_>, name: Vec<u8>, keep: bool, owner: u32) -> Result<NameHolder> {
    match create(folder, &name) {
        Err(Errno::EXIST) => {}
        file => return take(folder, file?, &name, None),
    }
    let old = match existing(folder, &name, owner) {
        Err(Errno::NOENT) => return Ok(NameHolder::Other),
        old => match old? {
            Some(NameHolder::Ours(old)) if !keep => Some(old),
            Some(found) => return Ok(found),
            None => None,
        },
    };
    system::remove(folder, &name)?;
    let file = create(folder, &name)?;
    // The old one is locked until here.
    drop(old);
    take(folder, file, &name, None)
}

/// Returns the thing that has the name; `None`: a partial file that had its final mode already, which forbids writing.
fn existing(folder: BorrowedFd<'_>, name: &[u8], owner: u32) -> Result<Option<NameHolder>> {
    let seen = system::facts_at(folder, name)?;
    if !is_of(owner, &seen) {
        return Ok(Some(NameHolder::Other));
    }
    // Since it was looked at, a pipe may have come into its place, and opening that would wait.
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    match system::open(folder, name, flags, 0) {
        Ok(file) => take(folder, file, name, Some(owner)).map(Some),
        Err(Errno::ACCESS) => Ok(None),
        Err(Errno::LOOP) => Ok(Some(NameHolder::Other)),
        Err(error) => Err(error),
    }
}

fn create(folder: impl AsFd, name: &[u8]) -> Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    system::open(folder, name, flags, MODE)
}

/// Locks an open file, and sees that it is what the name leads to: before it was locked, another copy may have
/// given it its final name. One that was there has to be `owner`'s; one that was made just now is ours, whatever
/// the file system says.
fn take(folder: impl AsFd, file: OwnedFd, name: &[u8], owner: Option<u32>) -> Result<NameHolder> {
    let is_locked = lock(&file)?;
    let mut facts = system::facts(&file)?;
    let is_there = match system::facts_at(folder, name) {
        Err(Errno::NOENT) => false,
        there => there?.is_same_file(&facts),
    };
    let is_new = owner.is_none();
    let is_ours = owner.is_none_or(|owner| is_of(owner, &facts));
    // A copy that found the new file before it was locked here has it now.
    if !is_there || !is_ours || (is_new && !is_locked) {
        return Ok(NameHolder::Other);
    }
    let name = name.to_vec();
    if !is_locked {
        return Ok(NameHolder::Held(Older { file, name, facts }));
    }
    if !is_new && facts.mode != MODE && system::set_mode_if_own(&file, MODE)? {
        facts.mode = MODE;
    }
    Ok(NameHolder::Ours(Partial {
        file,
        name,
        facts,
        is_new,
        older: Vec::new(),
    }))
}

/// Locks the file, and returns true unless somebody else has. A file system without locks is no reason not to
/// copy to it.
fn lock(file: impl AsFd) -> Result<bool> {
    match system::lock(file) {
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(Errno::NOTSUP | Errno::NOSYS | Errno::INVAL | Errno::NOLCK) | Ok(()) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Returns true if it is a partial file that `owner` left here. Another name for it somewhere, another owner
/// or special bits are signs that it is something else.
fn is_of(owner: u32, facts: &Facts) -> bool {
    facts.is_regular() && facts.links == 1 && facts.owner == owner && facts.mode & SPECIAL == 0
}
