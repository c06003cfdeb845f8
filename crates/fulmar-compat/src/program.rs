//! The names under which the program can be started.

use std::ffi::OsStr;
use std::path::Path;

use fulmar_core::CompatMode;

/// The text after the first line of `--version` under a stock name, which scripts read.
pub(crate) const STAND_IN_TEXT: &str = concat!(
    "This is Fulmar ",
    env!("CARGO_PKG_VERSION"),
    ", which stands in for it and shares none of its code.\n",
    "License: MIT or Apache-2.0. There is no warranty.\n"
);

/// The program to be, by the last part of the path that it was started as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// All of it, under its own name or any that is not listed here.
    Fulmar,
    /// A stand-in for stock's `mosh`: docs/protocol.md §2.2.
    Mosh,
    /// A stand-in for stock `mosh-server`: docs/protocol.md §2.6.
    MoshServer,
    /// A stand-in for stock `mosh-client`: docs/protocol.md §2.8.
    MoshClient,
}

impl Program {
    /// Tells by the first word of the command line.
    pub fn of_argv0(argv0: &OsStr) -> Program {
        match Path::new(argv0).file_name().and_then(OsStr::to_str) {
            Some("mosh") => Program::Mosh,
            Some("mosh-server") => Program::MoshServer,
            Some("mosh-client") => Program::MoshClient,
            _ => Program::Fulmar,
        }
    }

    /// Returns what it calls itself in messages.
    pub fn name(self) -> &'static str {
        match self {
            Program::Fulmar => "fulmar",
            Program::Mosh => "mosh",
            Program::MoshServer => "mosh-server",
            Program::MoshClient => "mosh-client",
        }
    }

    /// Returns whether it behaves as Fulmar or as Mosh.
    pub fn compat_mode(self) -> CompatMode {
        match self {
            Program::Fulmar => CompatMode::Fulmar,
            Program::Mosh | Program::MoshServer | Program::MoshClient => CompatMode::Mosh,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_makes_the_program_a_stand_in() {
        for (argv0, program) in [
            ("mosh-server", Program::MoshServer),
            ("/usr/local/bin/mosh-server", Program::MoshServer),
            ("./mosh-client", Program::MoshClient),
            ("mosh", Program::Mosh),
            ("fulmar", Program::Fulmar),
            ("mosh-server-old", Program::Fulmar),
            ("", Program::Fulmar),
        ] {
            assert_eq!(Program::of_argv0(OsStr::new(argv0)), program, "{argv0}");
        }
    }
}
