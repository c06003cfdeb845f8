//! The older terminal that a program wants to talk to, DECSCL.
//!
//! Source: VT420 Programmer Reference Manual (DECSCL); what is left of it in use is measured with xterm 379.

/// A level of conformance: 1 is a VT100, 4 a VT420.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConformanceLevel(u8);

impl ConformanceLevel {
    /// Returns the level that a parameter of DECSCL asks for.
    pub(crate) const fn from_number(number: u16) -> Option<ConformanceLevel> {
        match number {
            61 => Some(ConformanceLevel(1)),
            62 => Some(ConformanceLevel(2)),
            63 => Some(ConformanceLevel(3)),
            64 => Some(ConformanceLevel(4)),
            _ => None,
        }
    }

    /// The parameter of DECSCL that asks for the level.
    pub(crate) const fn number(self) -> u16 {
        60 + self.0 as u16
    }

    /// True if there are margins at the sides.
    pub(crate) const fn has_side_margins(self) -> bool {
        self.0 >= 4
    }
}

impl Default for ConformanceLevel {
    fn default() -> ConformanceLevel {
        ConformanceLevel(4)
    }
}
