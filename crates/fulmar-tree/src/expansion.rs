//! Finds the names that a pattern stands for, component by component and a few names at a time: the loop that
//! carries a copy has signals and timers to serve, and `/*/*/*/*` is a walk through a whole machine.

use std::collections::VecDeque;
use std::os::fd::BorrowedFd;

use rustix::fs::{Dir, OFlags};

use crate::pattern::{MAX_MATCHES, Pattern};
use crate::system::{self, Errno};

/// Names looked at in one step. Chosen: some hundred microseconds where nothing is cached.
const NAMES_AT_A_TIME: usize = 256;

/// A pattern on its way to the names that it stands for.
#[derive(Debug)]
pub(crate) struct Expansion {
    /// The component at hand and those after it.
    components: VecDeque<Pattern>,
    /// True if the last one stands for folders only.
    ends_in_folder: bool,
    last_is_wild: bool,
    /// The paths that the components before stand for, as far as they were not looked at with the one at hand.
    paths: VecDeque<Vec<u8>>,
    /// The paths that they stand for with the one at hand.
    longer: Vec<Vec<u8>>,
    /// The folder that is being read.
    reading: Option<Reading>,
}

/// A folder that is being read.
#[derive(Debug)]
struct Reading {
    path: Vec<u8>,
    listing: Dir,
    /// The place of its first name among those found.
    first: usize,
}

impl Expansion {
    /// Begins with a pattern for a whole path.
    pub(crate) fn new(pattern: &[u8]) -> Self {
        let start = match pattern.first() {
            Some(b'/') => b"/".to_vec(),
            _ => Vec::new(),
        };
        let components: VecDeque<Pattern> = pattern
            .split(|byte| *byte == b'/')
            .filter(|component| !component.is_empty())
            .map(Pattern::parse)
            .collect();
        Self {
            last_is_wild: components.back().is_some_and(Pattern::is_wild),
            components,
            ends_in_folder: pattern.ends_with(b"/"),
            paths: VecDeque::from([start]),
            longer: Vec::new(),
            reading: None,
        }
    }

    /// Returns true if the last component was not written out.
    pub(crate) fn is_wild_at_the_end(&self) -> bool {
        self.last_is_wild
    }

    /// Goes on for a while, from `base` for a relative one; the paths that the pattern stands for once they are known, which
    /// may be none. Not to be called after that.
    ///
    /// # Errors
    ///
    /// `TOOBIG` if there are more than 65 536 names; those of the system but for folders that cannot be opened, which have no
    /// matches.
    pub(crate) fn step(&mut self, base: BorrowedFd<'_>) -> Result<Option<Vec<Vec<u8>>>, Errno> {
        let mut left = NAMES_AT_A_TIME;
        while left > 0 {
            left -= 1;
            if let Some(reading) = self.reading.take() {
                self.read_on(base, reading)?;
            } else if let Some(path) = self.paths.pop_front() {
                self.look_at(base, path)?;
            } else if self.components.pop_front().is_some() {
                self.paths = std::mem::take(&mut self.longer).into();
            } else {
                return Ok(Some(std::mem::take(&mut self.longer)));
            }
        }
        Ok(None)
    }

    fn look_at(&mut self, base: BorrowedFd<'_>, path: Vec<u8>) -> Result<(), Errno> {
        match self.components.front() {
            None => {
                if system::facts_at(base, &path).is_ok() {
                    self.longer.push(path);
                }
            }
            Some(component) if !component.is_wild() => {
                self.longer.push(join(&path, &component.unescaped()));
            }
            Some(_) => {
                let name = match path.as_slice() {
                    b"" => b".",
                    path => path,
                };
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
                if let Ok(folder) = system::open(base, name, flags, 0) {
                    self.reading = Some(Reading {
                        path,
                        listing: system::list(folder)?,
                        first: self.longer.len(),
                    });
                }
            }
        }
        Ok(())
    }

    /// Looks at the next name of a folder.
    fn read_on(&mut self, base: BorrowedFd<'_>, mut reading: Reading) -> Result<(), Errno> {
        let Some(Ok((name, _))) = system::next_name(&mut reading.listing) else {
            if let Some(new) = self.longer.get_mut(reading.first..) {
                new.sort_unstable();
            }
            return Ok(());
        };
        let only_folders = self.ends_in_folder || self.components.len() > 1;
        let path = join(&reading.path, &name);
        let matches = |component: &Pattern| component.matches(&name);
        let is_match = self.components.front().is_some_and(matches)
            && (!only_folders || is_folder(base, &path));
        if is_match {
            self.longer.push(path);
        }
        self.reading = Some(reading);
        if self.longer.len() > MAX_MATCHES {
            Err(Errno::TOOBIG)
        } else {
            Ok(())
        }
    }
}

fn is_folder(base: BorrowedFd<'_>, path: &[u8]) -> bool {
    system::facts_along(base, path).is_ok_and(|facts| facts.is_folder())
}

fn join(path: &[u8], name: &[u8]) -> Vec<u8> {
    let mut joined = path.to_vec();
    if !matches!(path.last(), None | Some(b'/')) {
        joined.push(b'/');
    }
    joined.extend_from_slice(name);
    joined
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn a_long_walk_is_many_short_ones() {
        let tree = tempfile::tempdir().unwrap();
        for folder in 0..10 {
            let folder = tree.path().join(folder.to_string());
            fs::create_dir(&folder).unwrap();
            for file in 0..2 * NAMES_AT_A_TIME {
                fs::write(folder.join(file.to_string()), "").unwrap();
            }
        }
        let base = fs::File::open(tree.path()).unwrap();
        let mut expansion = Expansion::new(b"*/[0-9]*");
        let mut steps = 0;
        let found = loop {
            steps += 1;
            if let Some(found) = expansion.step(base.as_fd()).unwrap() {
                break found;
            }
        };
        assert_eq!(found.len(), 20 * NAMES_AT_A_TIME);
        assert!(found.is_sorted());
        assert!(steps > 40, "{steps}");
    }

    #[test]
    fn as_many_names_as_are_allowed_and_one_more() {
        let tree = tempfile::tempdir().unwrap();
        for name in 0..256 {
            fs::create_dir_all(tree.path().join(format!("first/{name}"))).unwrap();
        }
        for name in 1..256 {
            let link = tree.path().join(format!("link{name}"));
            std::os::unix::fs::symlink("first", link).unwrap();
        }
        let base = fs::File::open(tree.path()).unwrap();
        let count = || {
            let mut expansion = Expansion::new(b"*/*");
            loop {
                match expansion.step(base.as_fd()) {
                    Ok(None) => {}
                    Ok(Some(found)) => return Ok(found.len()),
                    Err(error) => return Err(error),
                }
            }
        };
        assert_eq!(count(), Ok(MAX_MATCHES));
        fs::create_dir_all(tree.path().join("one/more")).unwrap();
        assert_eq!(count(), Err(Errno::TOOBIG));
    }
}
