//! Puts the system's errors into the words of the copy.

use fulmar_channel::{PathFault, Trouble, Why};

use crate::system::Errno;

/// Returns the kind of trouble that an error of the system is.
pub(crate) fn why(error: Errno) -> Why {
    match error {
        Errno::NOENT => Why::Missing,
        Errno::ACCESS | Errno::PERM => Why::Denied,
        Errno::NOSPC => Why::DiskFull,
        Errno::DQUOT => Why::Quota,
        Errno::ROFS => Why::ReadOnly,
        Errno::NAMETOOLONG | Errno::ILSEQ => Why::BadName,
        Errno::FBIG | Errno::OVERFLOW => Why::TooLarge,
        Errno::ISDIR => Why::IsFolder,
        Errno::NOTDIR => Why::NotFolder,
        Errno::LOOP | Errno::XDEV => Why::LinkInTheWay,
        Errno::EXIST | Errno::NOTEMPTY => Why::Taken,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::TOOBIG => Why::Exhausted,
        Errno::NOTSUP | Errno::NOSYS | Errno::SPIPE => Why::Unsupported,
        _ => Why::Io,
    }
}

/// A trouble with the entry that is being handled.
pub(crate) fn own(error: Errno) -> Trouble {
    noted(Trouble::new(why(error)), error)
}

/// The same, of a call that has made or looked for a name: what is invalid is that name then.
pub(crate) fn of_name(error: Errno) -> Trouble {
    match error {
        Errno::INVAL => Trouble::new(Why::BadName),
        error => own(error),
    }
}

/// A trouble with what lies at `place`.
pub(crate) fn at(place: &[u8], error: Errno) -> Trouble {
    noted(Trouble::at(place, why(error)), error)
}

/// The kind says it all but for the rare ones.
fn noted(trouble: Trouble, error: Errno) -> Trouble {
    match trouble.why {
        Why::Io if error == Errno::NXIO => {
            trouble.with_note("nobody reads from that pipe, or that device is not there")
        }
        Why::Io | Why::Exhausted | Why::Unsupported => trouble.with_note(&error.to_string()),
        _ => trouble,
    }
}

/// A trouble with a name that no path of a copy can have.
pub(crate) fn of_path(place: &[u8], fault: PathFault) -> Trouble {
    let why = match fault {
        PathFault::TooLong | PathFault::TooDeep => Why::TooDeep,
        _ => Why::BadName,
    };
    Trouble::at(place, why)
}
