//! The extensions of the stock protocol that two ends can agree on.

use std::fmt;

/// An extension of the stock protocol that both ends of a session can agree to use.
///
/// Source: docs/protocol.md §13.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Capability {
    /// A session that stays without a client, and that another one can take.
    Attach,
    /// Validating a path by a random value.
    Challenge,
    /// Events that programs say once: notifications, progress, texts for selections.
    Events,
    /// The status of the program that ended.
    Exit,
    /// The server's hints about the program, for prediction.
    Hints,
    /// The lines that have left the screen at its top.
    History,
    /// Pauses that grow while nothing happens.
    Idle,
    /// Frames with the whole look of a screen, beyond what a stock peer knows.
    Rich,
    /// Lengths of datagrams that are found by probes.
    Sizes,
    /// Datagrams over the connection of an ssh.
    Ssh,
    /// Reports about the user's terminal, and frames whose cells hold clusters.
    Terminal,
}

impl Capability {
    /// All that there are, in the order of their names.
    pub const ALL: [Capability; 11] = [
        Capability::Attach,
        Capability::Challenge,
        Capability::Events,
        Capability::Exit,
        Capability::Hints,
        Capability::History,
        Capability::Idle,
        Capability::Rich,
        Capability::Sizes,
        Capability::Ssh,
        Capability::Terminal,
    ];

    /// Returns the name that offers and announcements have for it.
    pub const fn name(self) -> &'static str {
        match self {
            Capability::Attach => "attach",
            Capability::Challenge => "challenge",
            Capability::Events => "events",
            Capability::Exit => "exit",
            Capability::Hints => "hints",
            Capability::History => "history",
            Capability::Idle => "idle",
            Capability::Rich => "rich",
            Capability::Sizes => "sizes",
            Capability::Ssh => "ssh",
            Capability::Terminal => "terminal",
        }
    }

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// A set of capabilities.
///
/// As text it is the names in order with commas between them, or `-` if there are none.
///
/// ```
/// use fulmar_core::{Capabilities, Capability};
///
/// let offered = Capabilities::parse("exit,something-of-tomorrow");
/// let agreed = offered.and(Capabilities::ALL);
/// assert!(agreed.has(Capability::Exit));
/// assert_eq!(agreed.to_string(), "exit");
/// assert_eq!(Capabilities::NONE.to_string(), "-");
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Capabilities {
    bits: u32,
}

impl Capabilities {
    /// None.
    pub const NONE: Capabilities = Capabilities { bits: 0 };

    /// All that we have.
    pub const ALL: Capabilities = Capabilities {
        bits: (1 << Capability::ALL.len()) - 1,
    };

    /// All that a client offers whose user has no wish for [`Capability::History`].
    pub const OFFERED: Capabilities = Capabilities {
        bits: Capabilities::ALL.bits & !Capability::History.bit(),
    };

    /// Reads names with commas between them. A name that we do not know is one of a later version,
    /// or nonsense, and passed over; so is `-`.
    pub fn parse(text: &str) -> Capabilities {
        text.split(',').filter_map(named).collect()
    }

    /// Returns those that are in both sets.
    #[must_use]
    pub const fn and(self, other: Capabilities) -> Capabilities {
        Capabilities {
            bits: self.bits & other.bits,
        }
    }

    /// Tells whether that one is in the set.
    pub const fn has(self, capability: Capability) -> bool {
        self.bits & capability.bit() != 0
    }

    /// Tells whether there are none.
    pub const fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// Returns them in the order of their names.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL
            .into_iter()
            .filter(move |capability| self.has(*capability))
    }
}

impl FromIterator<Capability> for Capabilities {
    fn from_iter<I: IntoIterator<Item = Capability>>(capabilities: I) -> Capabilities {
        let bits = capabilities
            .into_iter()
            .fold(0, |bits, capability| bits | capability.bit());
        Capabilities { bits }
    }
}

impl fmt::Display for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("-");
        }
        for (place, capability) in self.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{}", capability.name())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn named(name: &str) -> Option<Capability> {
    Capability::ALL
        .into_iter()
        .find(|capability| capability.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_in_order_and_each_is_its_own() {
        let names = Capability::ALL.map(Capability::name);
        assert!(names.is_sorted_by(|one, next| one < next), "{names:?}");
        assert_eq!(Capability::ALL.into_iter().collect::<Capabilities>(), {
            Capabilities::ALL
        });
    }

    #[test]
    fn a_name_may_be_lost_among_others_unknown_ones_and_nonsense() {
        let exit = Capabilities::from_iter([Capability::Exit]);
        for text in ["exit", "exit,exit", "rekey,exit,zzz", ",exit,", "-,exit"] {
            assert_eq!(Capabilities::parse(text), exit, "{text}");
        }
        for text in ["", "-", ",", "EXIT", "exit ", "exits", "exit;", "\u{1b}[m"] {
            assert_eq!(Capabilities::parse(text), Capabilities::NONE, "{text}");
        }
    }

    #[test]
    fn what_is_written_can_be_read() {
        for set in [Capabilities::NONE, Capabilities::ALL] {
            assert_eq!(Capabilities::parse(&set.to_string()), set);
        }
        assert_eq!(Capabilities::NONE.to_string(), "-");
        assert_eq!(
            format!("{:?}", Capabilities::ALL),
            "attach,challenge,events,exit,hints,history,idle,rich,sizes,ssh,terminal"
        );
    }

    #[test]
    fn agreed_is_what_both_have() {
        let (all, none) = (Capabilities::ALL, Capabilities::NONE);
        assert_eq!(all.and(all), all);
        assert_eq!(all.and(none), none);
        assert!(none.is_empty() && !all.is_empty());
    }
}
