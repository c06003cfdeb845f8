//! The name and the open file of what has not arrived whole.
//!
//! A file arrives under a name of its own in its folder and gets the final one when it is whole. The
//! name follows from the final one alone, so that a later copy finds it, and so that a file has one
//! left-over at most, whatever version it is of. What is in it is not trusted: it is read back
//! and compared by digest.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::OFlags;
use sha2::{Digest as _, Sha256};

use crate::system::{self, Errno, Facts, Result};

/// How a partial file's name ends.
const ENDING: &[u8] = b".fulmar-part";

/// Bytes of the final name that the partial name shows. With dots, hash and ending it is 130 bytes long then,
/// which all file systems take.
const SHOWN: usize = 100;

/// Names tried, one after the other, when something that is not ours has the name.
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

/// The beginning of a name, cut between characters.
fn shown(name: &[u8]) -> &[u8] {
    if name.len() <= SHOWN {
        return name;
    }
    let is_start = |at: &usize| name.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
    let end = (SHOWN - 3..=SHOWN).rev().find(is_start).unwrap_or(SHOWN);
    name.get(..end).unwrap_or(name)
}

/// Whether `name` is one that [`name`] could have made. Such a file is neither sent nor received: in one folder with
/// the file that it belongs to, the two would be taken for each other.
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
/// Those of the system; `EXIST` if all names are taken by what is not ours.
pub(crate) fn open(folder: impl AsFd, final_name: &[u8], keep: bool) -> Result<Partial> {
    for attempt in 0..TRIES {
        match attempt_at(folder.as_fd(), name(final_name, attempt), keep) {
            Err(Errno::EXIST) => {}
            done => return done,
        }
    }
    Err(Errno::EXIST)
}

fn attempt_at(folder: std::os::fd::BorrowedFd<'_>, name: Vec<u8>, keep: bool) -> Result<Partial> {
    match create(folder, &name) {
        Err(Errno::EXIST) => {}
        Ok(file) => return partial(file, name, true),
        Err(error) => return Err(error),
    }
    let facts = system::facts_at(folder, &name)?;
    if !is_ours(&facts) {
        return Err(Errno::EXIST);
    }
    if keep && let Some(old) = take(folder, &name, &facts)? {
        return partial(old, name, false);
    }
    if !keep {
        // Somebody who is at it now keeps it.
        take(folder, &name, &facts)?;
    }
    system::remove(folder, &name)?;
    partial(create(folder, &name)?, name, true)
}

fn create(folder: impl AsFd, name: &[u8]) -> Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    system::open(folder, name, flags, MODE)
}

/// Opens and locks an old partial file. `None` if it cannot be opened for what it is.
fn take(folder: impl AsFd, name: &[u8], seen: &Facts) -> Result<Option<OwnedFd>> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = match system::open(folder, name, flags, 0) {
        Ok(file) => file,
        // One that had its final mode already, which forbids writing.
        Err(Errno::ACCESS) => return Ok(None),
        Err(Errno::LOOP) => return Err(Errno::EXIST),
        Err(error) => return Err(error),
    };
    let facts = system::facts(&file)?;
    if !facts.is_same_file(seen) || !is_ours(&facts) {
        return Err(Errno::EXIST);
    }
    lock(&file)?;
    system::set_mode(&file, MODE)?;
    Ok(Some(file))
}

fn partial(file: OwnedFd, name: Vec<u8>, is_new: bool) -> Result<Partial> {
    if is_new {
        lock(&file)?;
    }
    let facts = system::facts(&file)?;
    Ok(Partial {
        file,
        name,
        facts,
        is_new,
    })
}

/// A file system without locks is no reason not to copy to it.
fn lock(file: impl AsFd) -> Result<()> {
    match system::lock(file) {
        Err(Errno::WOULDBLOCK) => Err(Errno::EXIST),
        Err(Errno::NOTSUP | Errno::NOSYS | Errno::INVAL | Errno::NOLCK) | Ok(()) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether it is a partial file that this user left here. Another name for it somewhere, another owner or
/// special bits are signs that it is something else.
fn is_ours(facts: &Facts) -> bool {
    facts.is_regular()
        && facts.links == 1
        && facts.owner == system::user()
        && facts.mode & SPECIAL == 0
}
