//! Paths below the folder that a copy goes to.

use std::fmt;

use thiserror::Error;

use crate::limits::{DEPTH_MAX, NAME_BYTES_MAX, PATH_BYTES_MAX};

/// A path that names something below a folder and nothing else: one to 256 names of 1 to 255 bytes with `/` between
/// them, 4096 bytes at most, no name is `.` or `..`, and no byte is NUL.
///
/// The first name is the *root*: what the user named, or what one of the user's patterns stands for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelativePath(Box<[u8]>);

/// The reason why bytes are no [`RelativePath`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PathFault {
    /// No name at all, or none between two slashes: also an absolute path, and one that ends in a slash.
    #[error("a name in the path is empty")]
    EmptyName,
    /// `.` or `..`.
    #[error("the path contains `.` or `..`")]
    Dots,
    /// A NUL byte.
    #[error("the path contains a NUL byte")]
    Nul,
    /// A name of more than 255 bytes.
    #[error("a name in the path is longer than {NAME_BYTES_MAX} bytes")]
    NameTooLong,
    /// More than 4096 bytes.
    #[error("the path is longer than {PATH_BYTES_MAX} bytes")]
    TooLong,
    /// More than 256 names.
    #[error("the path has more than {DEPTH_MAX} names")]
    TooDeep,
}

impl RelativePath {
    /// Checks bytes.
    ///
    /// # Errors
    ///
    /// What is wrong with them, the first fault from the left.
    pub fn new(bytes: &[u8]) -> Result<Self, PathFault> {
        if bytes.len() > PATH_BYTES_MAX {
            return Err(PathFault::TooLong);
        }
        for (depth, name) in bytes.split(|byte| *byte == b'/').enumerate() {
            check_name(name)?;
            if depth >= DEPTH_MAX {
                return Err(PathFault::TooDeep);
            }
        }
        Ok(Self(bytes.into()))
    }

    /// This path with one name more.
    ///
    /// # Errors
    ///
    /// When the name is none, or makes the path too long.
    pub fn join(&self, name: &[u8]) -> Result<Self, PathFault> {
        if name.contains(&b'/') {
            return Err(PathFault::EmptyName);
        }
        Self::new(&[&self.0, b"/".as_slice(), name].concat())
    }

    /// All of it, with slashes between the names.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The names, from the root down; at least one.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'/')
    }

    /// The first name.
    pub fn root(&self) -> &[u8] {
        self.names().next().unwrap_or_default()
    }

    /// The last name.
    pub fn name(&self) -> &[u8] {
        self.names().next_back().unwrap_or_default()
    }

    /// All but the last name; `None` for a root.
    pub fn parent(&self) -> Option<Self> {
        let slash = self.0.iter().rposition(|byte| *byte == b'/')?;
        self.0.get(..slash).map(|above| Self(above.into()))
    }

    /// Returns the number of names that it has, from 1.
    pub fn depth(&self) -> usize {
        self.names().count()
    }
}

fn check_name(name: &[u8]) -> Result<(), PathFault> {
    match name {
        [] => Err(PathFault::EmptyName),
        b"." | b".." => Err(PathFault::Dots),
        name if name.len() > NAME_BYTES_MAX => Err(PathFault::NameTooLong),
        name if name.contains(&0) => Err(PathFault::Nul),
        _ => Ok(()),
    }
}

/// For people: what is no text, and control characters, become U+FFFD (docs/threat-model.md §8).
impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.0))
    }
}

impl fmt::Debug for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

/// Bytes as text that is safe on a terminal: what is no UTF-8, and control characters, become U+FFFD.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars()
        .map(|c| {
            if c.is_control() {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_names_and_depth_are_accepted_up_to_their_caps() {
        let named = |bytes| vec![b'a'; bytes];
        assert!(RelativePath::new(&named(NAME_BYTES_MAX)).is_ok());
        let too_long = RelativePath::new(&named(NAME_BYTES_MAX + 1));
        assert_eq!(too_long, Err(PathFault::NameTooLong));

        let deep = |names| vec!["a"; names].join("/").into_bytes();
        assert!(RelativePath::new(&deep(DEPTH_MAX)).is_ok());
        assert_eq!(
            RelativePath::new(&deep(DEPTH_MAX + 1)),
            Err(PathFault::TooDeep)
        );

        // Names of 204 bytes, and a last one that fills it.
        let long = |bytes: usize| {
            let mut path = [named(204), b"/".to_vec()].concat().repeat(19);
            path.resize(bytes, b'b');
            path
        };
        assert!(RelativePath::new(&long(PATH_BYTES_MAX)).is_ok());
        assert_eq!(
            RelativePath::new(&long(PATH_BYTES_MAX + 1)),
            Err(PathFault::TooLong)
        );
    }

    #[test]
    fn no_path_leads_out_of_its_folder() {
        for (path, fault) in [
            ("..", PathFault::Dots),
            ("a/../b", PathFault::Dots),
            ("./a", PathFault::Dots),
            ("/a", PathFault::EmptyName),
            ("a//b", PathFault::EmptyName),
            ("a\0b", PathFault::Nul),
        ] {
            assert_eq!(RelativePath::new(path.as_bytes()), Err(fault), "{path:?}");
        }
        assert!(RelativePath::new(b"..a/b..").is_ok());
    }
}
