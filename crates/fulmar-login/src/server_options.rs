//! The options of a server.

use std::ffi::OsString;
use std::path::PathBuf;

use fulmar_terminal::{ScrollbackLimits, Size};

use crate::bootstrap::{BindAddress, Offer};
use crate::ports::PortRange;

/// The variables of a locale.
///
/// Source: docs/protocol.md §2.3.
pub const LOCALE_VARIABLES: [&str; 15] = [
    "LANG",
    "LANGUAGE",
    "LC_CTYPE",
    "LC_NUMERIC",
    "LC_TIME",
    "LC_COLLATE",
    "LC_MONETARY",
    "LC_MESSAGES",
    "LC_PAPER",
    "LC_NAME",
    "LC_ADDRESS",
    "LC_TELEPHONE",
    "LC_MEASUREMENT",
    "LC_IDENTIFICATION",
    "LC_ALL",
];

/// The options of a server, whichever way they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOptions {
    /// The address to listen on.
    pub bind: BindAddress,
    /// The ports to choose from.
    pub ports: PortRange,
    /// The terminal's colours, as the program is told.
    pub colors: TerminalColors,
    /// The window's size, if it is known before the client comes.
    pub size: Option<Size>,
    /// The most history that is kept, if a client wants it.
    pub history: ScrollbackLimits,
    /// Locale variables for a program whose environment has no UTF-8 locale, in the order given.
    pub locale: Vec<(OsString, OsString)>,
    /// The number of times that `-v` was given: with any, the standard streams stay open and get a log.
    pub verbosity: u8,
    /// The program and its arguments; empty for the user's shell.
    pub command: Vec<OsString>,
    /// The file for a line about each datagram.
    pub trace: Option<PathBuf>,
    /// The file for a log.
    pub log: Option<PathBuf>,
}

/// The options in a command line of a server, if a client may give the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartialServerOptions {
    /// As [`ServerOptions::bind`].
    pub bind: Option<BindAddress>,
    /// As [`ServerOptions::ports`].
    pub ports: Option<PortRange>,
    /// As [`ServerOptions::colors`].
    pub colors: Option<TerminalColors>,
    /// As [`ServerOptions::locale`].
    pub locale: Vec<(OsString, OsString)>,
    /// As [`ServerOptions::verbosity`].
    pub verbosity: u8,
    /// As [`ServerOptions::command`].
    pub command: Vec<OsString>,
    /// As [`ServerOptions::trace`].
    pub trace: Option<PathBuf>,
    /// As [`ServerOptions::log`].
    pub log: Option<PathBuf>,
}

impl PartialServerOptions {
    /// Returns the options of a server to which nobody else gives any.
    pub fn alone(self) -> ServerOptions {
        ServerOptions {
            bind: self.bind.unwrap_or(BindAddress::Any),
            ports: self.ports.unwrap_or(PortRange::DEFAULT),
            colors: self.colors.unwrap_or(TerminalColors::Palette),
            size: None,
            history: ScrollbackLimits::default(),
            locale: self.locale,
            verbosity: self.verbosity,
            command: self.command,
            trace: self.trace,
            log: self.log,
        }
    }

    /// Returns the options that follow from these and from what a client offers. Where both
    /// say something, the command line counts: a forced command is there to force.
    pub fn over(self, offer: Offer) -> ServerOptions {
        let is_known =
            |(name, _): &(OsString, OsString)| LOCALE_VARIABLES.iter().any(|known| name == known);
        let offered = PartialServerOptions {
            bind: offer.bind,
            ports: offer.ports,
            colors: offer.colors.map(TerminalColors::of_terminal),
            // Other variables could reach further than the program that was forced.
            locale: offer.locale.into_iter().filter(is_known).collect(),
            command: offer.command,
            ..PartialServerOptions::default()
        };
        let both = PartialServerOptions {
            bind: self.bind.or(offered.bind),
            ports: self.ports.or(offered.ports),
            colors: self.colors.or(offered.colors),
            locale: filled(self.locale, offered.locale),
            command: filled(self.command, offered.command),
            ..self
        };
        ServerOptions {
            size: offer.size,
            history: offer.history.unwrap_or_default(),
            ..both.alone()
        }
    }
}

fn filled<T>(own: Vec<T>, offered: Vec<T>) -> Vec<T> {
    if own.is_empty() { offered } else { own }
}

/// The terminal's colours, as the program is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalColors {
    /// Eight or so.
    Few,
    /// 256.
    Palette,
    /// Any, of 24 bits.
    Direct,
}

/// The number of colours of a terminal that takes any of 24 bits.
///
/// Source: docs/protocol.md §2.9.
pub const DIRECT_COLORS: u32 = 1 << 24;

impl TerminalColors {
    /// Returns what a number of colours means.
    pub fn of_count(count: i64) -> TerminalColors {
        match count {
            256 => TerminalColors::Palette,
            _ => TerminalColors::Few,
        }
    }

    /// Returns what the number of a terminal's colours means to us; stock knows none above 256.
    pub fn of_terminal(count: u32) -> TerminalColors {
        match count {
            DIRECT_COLORS.. => TerminalColors::Direct,
            256.. => TerminalColors::Palette,
            _ => TerminalColors::Few,
        }
    }

    /// Returns the `TERM` that goes with it: docs/protocol.md §2.6.
    pub fn term(self) -> &'static str {
        match self {
            TerminalColors::Few => "xterm",
            TerminalColors::Palette | TerminalColors::Direct => "xterm-256color",
        }
    }

    /// Returns the `COLORTERM` that goes with it, if any does: docs/protocol.md §2.9.
    pub fn colorterm(self) -> Option<&'static str> {
        (self == TerminalColors::Direct).then_some("truecolor")
    }
}

impl Default for ServerOptions {
    /// Returns the options of `mosh-server` without any arguments.
    fn default() -> ServerOptions {
        ServerOptions {
            bind: BindAddress::Any,
            ports: PortRange::DEFAULT,
            colors: TerminalColors::Few,
            size: None,
            history: ScrollbackLimits::default(),
            locale: Vec::new(),
            verbosity: 0,
            command: Vec::new(),
            trace: None,
            log: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulmar_core::Capabilities;

    #[test]
    fn a_command_line_outweighs_an_offer() {
        let history = ScrollbackLimits {
            lines: 100,
            bytes: 4096,
        };
        let offer = Offer {
            size: Size::new(30, 100),
            history: Some(history),
            colors: Some(8),
            bind: Some(BindAddress::SshConnection),
            ports: PortRange::parse("60500").ok(),
            locale: vec![
                ("LANG".into(), "C.UTF-8".into()),
                ("LD_PRELOAD".into(), "x".into()),
            ],
            command: vec!["vim".into()],
            ..Offer::of(Capabilities::NONE)
        };
        let asked = PartialServerOptions::default().over(offer.clone());
        let wanted = ServerOptions {
            bind: BindAddress::SshConnection,
            ports: PortRange::parse("60500").unwrap(),
            colors: TerminalColors::Few,
            size: Size::new(30, 100),
            history,
            locale: vec![("LANG".into(), "C.UTF-8".into())],
            command: vec!["vim".into()],
            ..ServerOptions::default()
        };
        assert_eq!(asked, wanted);
        let forced = PartialServerOptions {
            bind: Some(BindAddress::Any),
            ports: PortRange::parse("60010").ok(),
            colors: Some(TerminalColors::Palette),
            locale: vec![("LC_ALL".into(), "C".into())],
            verbosity: 1,
            command: vec!["rsync".into(), "--server".into()],
            trace: Some("t".into()),
            log: Some("l".into()),
        };
        let wanted = ServerOptions {
            size: Size::new(30, 100),
            history,
            ..forced.clone().alone()
        };
        assert_eq!(forced.over(offer), wanted);
    }

    #[test]
    fn a_terminal_of_many_colours_has_the_palette() {
        for (count, colors) in [
            (0, TerminalColors::Few),
            (255, TerminalColors::Few),
            (256, TerminalColors::Palette),
            (DIRECT_COLORS - 1, TerminalColors::Palette),
            (DIRECT_COLORS, TerminalColors::Direct),
        ] {
            let is_direct = colors == TerminalColors::Direct;
            assert_eq!(colors.colorterm().is_some(), is_direct, "{count}");
            assert_eq!(TerminalColors::of_terminal(count), colors, "{count}");
        }
    }
}
