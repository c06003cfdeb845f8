//! Puts the system's errors into the words of the copy.

use fulmar_copy::{EntryError, EntryErrorKind, PathFault};

use crate::operand::{OperandContext, OperandError};
use crate::system::{self, Errno};

/// Returns the kind of trouble that an error of the system is.
pub(crate) fn kind(error: Errno) -> EntryErrorKind {
    match error {
        Errno::NOENT => EntryErrorKind::Missing,
        Errno::ACCESS | Errno::PERM => EntryErrorKind::Denied,
        Errno::NOSPC => EntryErrorKind::DiskFull,
        Errno::DQUOT => EntryErrorKind::Quota,
        Errno::ROFS => EntryErrorKind::ReadOnly,
        Errno::NAMETOOLONG | Errno::ILSEQ => EntryErrorKind::BadName,
        Errno::FBIG | Errno::OVERFLOW => EntryErrorKind::TooLarge,
        Errno::ISDIR => EntryErrorKind::IsFolder,
        Errno::NOTDIR => EntryErrorKind::NotFolder,
        Errno::LOOP | Errno::XDEV => EntryErrorKind::LinkInTheWay,
        Errno::EXIST | Errno::NOTEMPTY => EntryErrorKind::Taken,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::TOOBIG => EntryErrorKind::Exhausted,
        Errno::NOTSUP | Errno::NOSYS | Errno::SPIPE => EntryErrorKind::Unsupported,
        _ => EntryErrorKind::Io,
    }
}

/// A trouble with the entry that is being handled.
pub(crate) fn own(error: Errno) -> EntryError {
    noted(EntryError::new(kind(error)), error)
}

/// The same, of a call that has made or looked for a name: what is invalid is that name then.
pub(crate) fn of_name(error: Errno) -> EntryError {
    match error {
        Errno::INVAL => EntryError::new(EntryErrorKind::BadName),
        error => own(error),
    }
}

/// A trouble with what lies at `place`.
pub(crate) fn at(place: &[u8], error: Errno) -> EntryError {
    noted(EntryError::at(place, kind(error)), error)
}

/// A trouble with an operand, which leads nowhere. If that is because a name within it is no folder, it is a trouble with
/// what has that name.
pub(crate) fn at_operand(
    context: &OperandContext,
    operand: &[u8],
    error: OperandError,
) -> EntryError {
    match error {
        OperandError::System(Errno::NOTDIR) => {
            let place = file_within(context, operand).unwrap_or(operand);
            at(place, Errno::NOTDIR)
        }
        OperandError::System(error) => at(operand, error),
        OperandError::OtherHome => at(operand, Errno::NOENT).with_note(
            "the homes of others are not looked up: write the whole path, or ./~name for a name",
        ),
    }
}

/// Returns the beginning of an operand that leads to something which is no folder, though the operand goes on behind it.
fn file_within<'a>(context: &OperandContext, operand: &'a [u8]) -> Option<&'a [u8]> {
    let slashes = operand
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'/');
    slashes
        .filter_map(|(at, _)| operand.get(..at))
        .find(|begin| {
            let path = context.path(begin);
            let facts = path.map(|path| system::facts_along(context.base(), &path));
            !begin.is_empty() && matches!(facts, Ok(Ok(facts)) if !facts.is_folder())
        })
}

/// The kind says it all but for the rare ones.
fn noted(trouble: EntryError, error: Errno) -> EntryError {
    match trouble.kind {
        EntryErrorKind::Io if error == Errno::NXIO => {
            trouble.with_note("nobody reads from that pipe, or that device is not there")
        }
        EntryErrorKind::Io | EntryErrorKind::Exhausted | EntryErrorKind::Unsupported => {
            trouble.with_note(&error.to_string())
        }
        _ => trouble,
    }
}

/// A trouble with a name that no path of a copy can have.
pub(crate) fn of_path(place: &[u8], fault: PathFault) -> EntryError {
    let why = match fault {
        PathFault::TooLong | PathFault::TooDeep => EntryErrorKind::TooDeep,
        _ => EntryErrorKind::BadName,
    };
    EntryError::at(place, why)
}
