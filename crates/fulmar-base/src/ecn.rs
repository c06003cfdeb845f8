//! The two congestion bits of an IP header.

/// Explicit congestion notification: what the sender allowed and what a router added.
///
/// Source: RFC 3168 section 5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ecn {
    /// The sender did not ask for marks, or the system did not tell.
    #[default]
    NotCapable,
    /// `ECT(0)`: marks are welcome. What both Mosh and we send over IPv4.
    Capable0,
    /// `ECT(1)`: marks are welcome.
    Capable1,
    /// A router on the path was congested.
    Congested,
}

impl Ecn {
    /// Reads the mark from a type-of-service or traffic-class byte; the other six bits are ignored.
    pub const fn from_traffic_class(byte: u8) -> Ecn {
        match byte & 0b11 {
            0b00 => Ecn::NotCapable,
            0b01 => Ecn::Capable1,
            0b10 => Ecn::Capable0,
            _ => Ecn::Congested,
        }
    }

    /// Returns the mark as the lowest two bits of a type-of-service or traffic-class byte.
    pub const fn bits(self) -> u8 {
        match self {
            Ecn::NotCapable => 0b00,
            Ecn::Capable1 => 0b01,
            Ecn::Capable0 => 0b10,
            Ecn::Congested => 0b11,
        }
    }

    /// Tells whether a queue may mark a datagram where it would drop one without a mark.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Ecn::NotCapable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_two_bits_are_the_mark() {
        use Ecn::{Capable0, Capable1, Congested, NotCapable};
        for (bits, ecn) in [
            (0, NotCapable),
            (1, Capable1),
            (2, Capable0),
            (3, Congested),
        ] {
            assert_eq!(Ecn::from_traffic_class(bits), ecn);
            assert_eq!(Ecn::from_traffic_class(0b1011_1000 | bits), ecn);
            assert_eq!(ecn.bits(), bits);
        }
    }
}
