//! The operands of a user: `path`, `folder/`, `folder/.`, `~/path`, patterns. (A host before it is the edge's affair.)
//!
//! Nothing is quoted: spaces, quotes and dollar signs mean themselves, no shell sees them. A name that exists as it is written
//! wins over its meaning as a pattern.

use std::fmt;
use std::os::fd::{AsFd as _, OwnedFd};

use crate::expansion::Expansion;
use crate::pattern::Pattern;
use crate::system::{self, Errno};

/// Says where a user's home folder is; `None` asks for this process's own.
pub type Homes = fn(Option<&[u8]>) -> Option<Vec<u8>>;

/// The folder where operands begin, and the rules by which they are read.
pub struct OperandContext {
    /// The folder that relative operands start at; `None` is the working folder.
    pub base: Option<OwnedFd>,
    /// True if patterns are expanded. At the local end a shell has done it already.
    pub patterns: bool,
    /// Finds home folders for operands that begin with `~`, of a user or (`None`) of this one. Without it
    /// a `~` is a character.
    pub home: Option<Homes>,
}

impl OperandContext {
    /// Returns the context of the local end, where a shell has read the operands.
    #[must_use]
    pub fn local() -> Self {
        Self {
            base: None,
            patterns: false,
            home: None,
        }
    }

    /// Returns the context of the remote end, whose operands no shell has seen.
    #[must_use]
    pub fn remote(home: Homes) -> Self {
        Self {
            base: None,
            patterns: true,
            home: Some(home),
        }
    }

    pub(crate) fn base(&self) -> std::os::fd::BorrowedFd<'_> {
        match &self.base {
            Some(base) => base.as_fd(),
            None => system::here(),
        }
    }

    /// The operand as a path of this system: `~` is replaced, and nothing is the folder that one starts at.
    ///
    /// # Errors
    ///
    /// A path with a NUL in it is `INVAL`, one in a home of one's own that is not known `NOENT`.
    pub(crate) fn path(&self, operand: &[u8]) -> Result<Vec<u8>, OperandError> {
        if operand.contains(&0) {
            return Err(Errno::INVAL.into());
        }
        if operand.is_empty() {
            return Ok(b".".to_vec());
        }
        let (Some(home), Some(after)) = (self.home, operand.strip_prefix(b"~")) else {
            return Ok(operand.to_vec());
        };
        let end = after
            .iter()
            .position(|byte| *byte == b'/')
            .unwrap_or(after.len());
        let (user, rest) = after.split_at(end);
        let user = (!user.is_empty()).then_some(user);
        let mut path = home(user).ok_or(match user {
            Some(_) => OperandError::OtherHome,
            None => OperandError::System(Errno::NOENT),
        })?;
        path.extend_from_slice(rest);
        Ok(path)
    }
}

/// The reason why an operand leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperandError {
    /// The system says why.
    System(Errno),
    /// It is in the home of another user, which is not looked up.
    OtherHome,
}

impl From<Errno> for OperandError {
    fn from(error: Errno) -> OperandError {
        OperandError::System(error)
    }
}

impl fmt::Debug for OperandContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperandContext")
            .field("patterns", &self.patterns)
            .finish_non_exhaustive()
    }
}

/// The name that an operand gives to the thing that it leads to.
#[derive(Clone, Debug)]
pub enum Named {
    /// This name.
    As(Vec<u8>),
    /// Any name that the pattern matches.
    Like(Pattern),
    /// No name (`/`, `.`, `..`, `folder/.`, nothing): what is *in* it is meant.
    Contents,
}

impl Named {
    /// Returns the name that `operand` gives to its thing, as far as its text tells.
    ///
    /// This is what the requester holds the names against that the other side sends
    /// (docs/threat-model.md §11).
    #[must_use]
    pub fn by(operand: &[u8]) -> Self {
        match last_component(operand) {
            b"" | b"." | b".." => Self::Contents,
            // A home folder by the name of its user.
            name if name.first() == Some(&b'~') && operand.starts_with(name) => Self::Contents,
            name => {
                let pattern = Pattern::parse(name);
                if pattern.is_wild() || pattern.unescaped() != name {
                    Self::Like(pattern)
                } else {
                    Self::As(name.to_vec())
                }
            }
        }
    }

    /// Returns true if the content of a folder is meant, and not the folder by its name. Its target has to be a folder.
    #[must_use]
    pub fn is_contents(&self) -> bool {
        matches!(self, Self::Contents)
    }

    /// Returns true if the other side may call a root that it sends for this operand `name`.
    #[must_use]
    pub fn allows(&self, operand: &[u8], name: &[u8]) -> bool {
        if matches!(name, b"" | b"." | b"..") || name.contains(&b'/') {
            return false;
        }
        match self {
            Self::As(own) => own == name,
            // It may exist as it is written, too.
            Self::Like(pattern) => pattern.matches(name) || last_component(operand) == name,
            Self::Contents => true,
        }
    }
}

/// The last component of a path, without the slashes after it. Empty for `/` and for nothing.
pub(crate) fn last_component(path: &[u8]) -> &[u8] {
    let end = path
        .iter()
        .rposition(|byte| *byte != b'/')
        .map_or(0, |at| at + 1);
    let path = path.get(..end).unwrap_or(path);
    let start = path
        .iter()
        .rposition(|byte| *byte == b'/')
        .map_or(0, |at| at + 1);
    path.get(start..).unwrap_or(path)
}

/// One thing that an operand names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OperandMatch {
    /// The path to open it by.
    pub(crate) path: Vec<u8>,
    /// The name for the other side; empty: the content of a folder is meant.
    pub(crate) name: Vec<u8>,
    /// A pattern matched it; its name was not written out.
    pub(crate) by_pattern: bool,
}

impl OperandMatch {
    /// One that a pattern stands for, whose last component a pattern has matched or not.
    pub(crate) fn of_pattern(path: Vec<u8>, by_pattern: bool) -> Self {
        Self {
            name: name_of(&path).to_vec(),
            path,
            by_pattern,
        }
    }
}

/// The search for the things that an operand names.
pub(crate) enum Search {
    /// This.
    Over(OperandMatch),
    /// The names that a pattern stands for; the error is for a pattern that stands for none.
    Pattern(Expansion, Errno),
}

/// Begins to look for what `operand` names. Names that a pattern matches come sorted.
///
/// # Errors
///
/// `NOENT` if there is nothing; others of the system, or of the operand.
pub(crate) fn search(context: &OperandContext, operand: &[u8]) -> Result<Search, OperandError> {
    let path = context.path(operand)?;
    match system::facts_at(context.base(), &path) {
        Err(error @ (Errno::NOENT | Errno::NOTDIR)) if context.patterns => {
            Ok(Search::Pattern(Expansion::new(&path), error))
        }
        Err(error) => Err(error.into()),
        Ok(_) => Ok(Search::Over(OperandMatch {
            // A home folder is not called by its name, which only this end knows.
            name: if is_home(context, operand) {
                Vec::new()
            } else {
                name_of(&path).to_vec()
            },
            path,
            by_pattern: false,
        })),
    }
}

fn is_home(context: &OperandContext, operand: &[u8]) -> bool {
    context.home.is_some()
        && operand.starts_with(b"~")
        && operand.starts_with(last_component(operand))
}

fn name_of(path: &[u8]) -> &[u8] {
    match last_component(path) {
        b"." | b".." => b"",
        name => name,
    }
}
