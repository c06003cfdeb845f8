//! Files as a copy sees them: what a user has named is read, and what comes is written below one folder.
//!
//! ```text
//!   operands ─► operand, pattern ─► TreeSource ─► entries, bytes, holes ─► fulmar-copy's Sender
//!                                    (walk)
//!   fulmar-copy's Receiver ─► TreeTarget ─► placement: where      the user's target, along the user's links
//!                                             ─► beneath: folders    never along a link
//!                                             ─► writing, partial    a name of its own until it is whole
//! ```
//!
//! The peer is not trusted and neither is whoever else writes to these folders (docs/threat-model.md §11):
//! [`TreeSource`] reads only what its own user, or the requester's, has named; [`TreeTarget`] does nothing outside of the folder
//! that it has opened. Why it is done so is in docs/decisions/023-tree.md.
//!
//! Standard input and output are [`PipeSource`] and [`PipeTarget`]; they do not wait, and say what to wait for.
//!
//! ```
//! use fulmar_copy::{EntryId, NextEntry, EntryKind, Source as _};
//! use fulmar_tree::{OperandContext, SourceOptions, TreeSource};
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("hello"), "Hello")?;
//! let operand = folder.path().join("hello").into_os_string().into_encoded_bytes();
//!
//! let mut source = TreeSource::new(OperandContext::local(), vec![operand], SourceOptions::default());
//! // The operand is looked at, and then what it names is found.
//! assert_eq!(source.next_entry(EntryId(0)), NextEntry::NotNow);
//! let NextEntry::Entry(entry) = source.next_entry(EntryId(0)) else { unreachable!() };
//! assert_eq!(entry.path.as_bytes(), b"hello");
//! assert_eq!(entry.kind, EntryKind::File { size: Some(5) });
//! # Ok::<(), std::io::Error>(())
//! ```

#![forbid(unsafe_code)]

mod beneath;
#[cfg(test)]
mod contested;
mod entry_error;
mod expansion;
#[cfg(test)]
mod holes;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod hostile;
#[cfg(test)]
mod killed;
mod operand;
mod partial;
mod pattern;
mod pipe;
mod placement;
#[cfg(test)]
mod placing;
mod reading;
#[cfg(test)]
mod rights;
#[cfg(test)]
mod round_trip;
mod source;
mod spelling;
mod system;
mod target;
mod target_options;
#[cfg(test)]
mod testing;
mod writing;
mod written;

pub use operand::{Homes, Named, OperandContext};
pub use pattern::Pattern;
pub use pipe::{PipeSource, PipeTarget};
pub use source::{SourceOptions, TreeSource};
pub use system::umask;
pub use target::TreeTarget;
pub use target_options::TargetOptions;
