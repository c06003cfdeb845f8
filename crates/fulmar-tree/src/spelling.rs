//! Refuses a name that is there in other letters: a file system that takes `README` and `readme` for one name
//! would silently put the second of them in the place of the first.

use std::os::fd::AsFd;

use rustix::fs::OFlags;

use crate::system::{self, Errno, Facts, Result};

/// Names looked at for another spelling. Chosen so that a large folder costs milliseconds; what lies behind is not told.
const NAMES: usize = 65_536;

/// Sees that what is known as `name` is spelled like that.
///
/// # Errors
///
/// `EXIST` if it is not.
pub(crate) fn check(folder: impl AsFd, name: &[u8], facts: &Facts) -> Result<()> {
    if answers_to_both(&folder, name, facts) && is_spelled_otherwise(name, &names(&folder)?) {
        return Err(Errno::EXIST);
    }
    Ok(())
}

/// Returns true if the same file answers to the name with small letters and capitals exchanged: both names
/// are there, or the file system does not tell them apart.
fn answers_to_both(folder: impl AsFd, name: &[u8], facts: &Facts) -> bool {
    let swapped: Vec<u8> = name.iter().map(swap).collect();
    swapped != name
        && system::facts_at(folder, &swapped).is_ok_and(|other| other.is_same_file(facts))
}

fn swap(byte: &u8) -> u8 {
    if byte.is_ascii_lowercase() {
        byte.to_ascii_uppercase()
    } else {
        byte.to_ascii_lowercase()
    }
}

fn names(folder: impl AsFd) -> Result<Vec<Vec<u8>>> {
    let folder = system::open(folder, b".", OFlags::RDONLY | OFlags::DIRECTORY, 0)?;
    let mut listing = system::list(folder)?;
    let mut names = Vec::new();
    while let Some(name) = system::next_name(&mut listing) {
        names.push(name?.0);
        if names.len() == NAMES {
            break;
        }
    }
    Ok(names)
}

/// Returns true if the name is there in other letters only.
fn is_spelled_otherwise(name: &[u8], names: &[Vec<u8>]) -> bool {
    let is_there = names.iter().any(|there| there == name);
    !is_there && names.iter().any(|there| there.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_spelling_is_found_unless_the_name_itself_is_there() {
        let names: Vec<Vec<u8>> = ["a", "README", "b"]
            .map(|name| name.as_bytes().to_vec())
            .into();
        assert!(is_spelled_otherwise(b"readme", &names));
        assert!(!is_spelled_otherwise(b"README", &names));
        assert!(!is_spelled_otherwise(b"other", &names));
    }

    /// Two names of one file, where case counts, are no trouble.
    #[test]
    fn names_that_are_told_apart_are_no_trouble() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("readme"), "").unwrap();
        std::fs::hard_link(folder.path().join("readme"), folder.path().join("README")).unwrap();
        let opened = std::fs::File::open(folder.path()).unwrap();
        let facts = system::facts_at(&opened, b"readme").unwrap();
        assert!(answers_to_both(&opened, b"readme", &facts));
        assert_eq!(check(&opened, b"readme", &facts), Ok(()));
    }
}
