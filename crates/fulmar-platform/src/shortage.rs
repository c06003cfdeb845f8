//! Errors of the system that say that there is too little of something.

use std::io;

use rustix::io::Errno;

/// Something that there is too little of, for this process or for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// Descriptors of this process.
    Descriptors,
    /// Open files of the whole system.
    Files,
    /// Processes and threads of the user, or of the whole system.
    Processes,
    /// Memory.
    Memory,
    /// Space on a disk, or the user's share of it. Linux says the same where there are no terminals left.
    Space,
}

impl Shortage {
    /// Returns what an error of the system says there is too little of.
    pub fn of(error: &io::Error) -> Option<Shortage> {
        Some(match Errno::from_io_error(error)? {
            Errno::MFILE => Shortage::Descriptors,
            Errno::NFILE => Shortage::Files,
            Errno::AGAIN => Shortage::Processes,
            Errno::NOMEM => Shortage::Memory,
            Errno::NOSPC | Errno::DQUOT => Shortage::Space,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_say_what_is_short() {
        let of = |errno: Errno| Shortage::of(&errno.into());
        assert_eq!(of(Errno::MFILE), Some(Shortage::Descriptors));
        assert_eq!(of(Errno::AGAIN), Some(Shortage::Processes));
        assert_eq!(of(Errno::DQUOT), Some(Shortage::Space));
        assert_eq!(of(Errno::NOENT), None);
        assert_eq!(Shortage::of(&io::Error::other("no number")), None);
    }
}
