//! The nonce, which makes each use of the key different from every other.

use crate::limits::SEQUENCE_MAX;

/// Bytes of a nonce on the wire.
///
/// Source: docs/protocol.md §3.1.
pub(crate) const NONCE_BYTES: usize = 8;

/// The bit that tells the directions apart.
const DIRECTION_BIT: u64 = 1 << 63;

/// The direction in which a datagram travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

impl Direction {
    /// Returns the other direction.
    pub const fn reversed(self) -> Direction {
        match self {
            Direction::ToServer => Direction::ToClient,
            Direction::ToClient => Direction::ToServer,
        }
    }
}

/// The number of a datagram within its direction: 63 bits, higher for each datagram than for the one
/// before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sequence(u64);

impl Sequence {
    /// The lowest number, of a server's first datagram.
    pub const ZERO: Sequence = Sequence(0);

    /// Returns the sequence number, or `None` if it does not fit into 63 bits.
    pub const fn new(number: u64) -> Option<Sequence> {
        if number <= SEQUENCE_MAX {
            Some(Sequence(number))
        } else {
            None
        }
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the number after this one, or `None` at the end of the 63 bits.
    pub const fn next(self) -> Option<Sequence> {
        Sequence::new(self.0 + 1)
    }
}

/// The first eight bytes of a datagram: never the same twice under one key.
///
/// ```text
///  bit 63      62                                                   0
///  ┌─────────┬──────────────────────────────────────────────────────┐
///  │direction│ sequence                                             │  big-endian
///  └─────────┴──────────────────────────────────────────────────────┘
///   0 = to the server, 1 = to the client
/// ```
///
/// The cipher's nonce has twelve bytes: four zeros, then these eight.
///
/// Source: docs/protocol.md §3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nonce {
    /// The direction in which the datagram travels.
    pub direction: Direction,
    /// Its number in that direction.
    pub sequence: Sequence,
}

impl Nonce {
    /// Reads the nonce of a datagram without knowing the key, so without knowing whether it is
    /// genuine; `None` if there are not even eight bytes.
    pub fn of(datagram: &[u8]) -> Option<Nonce> {
        datagram.first_chunk().copied().map(Nonce::from_wire)
    }

    /// Decodes the wire form; every value of the eight bytes is a nonce.
    pub const fn from_wire(bytes: [u8; NONCE_BYTES]) -> Nonce {
        let word = u64::from_be_bytes(bytes);
        let direction = if word & DIRECTION_BIT == 0 {
            Direction::ToServer
        } else {
            Direction::ToClient
        };
        Nonce {
            direction,
            sequence: Sequence(word & SEQUENCE_MAX),
        }
    }

    /// Returns the wire form.
    pub const fn to_wire(self) -> [u8; NONCE_BYTES] {
        let bit = match self.direction {
            Direction::ToServer => 0,
            Direction::ToClient => DIRECTION_BIT,
        };
        (bit | self.sequence.0).to_be_bytes()
    }

    /// Returns the cipher's nonce: four zero bytes, then the wire form.
    pub(crate) const fn to_cipher(self) -> [u8; 12] {
        let [a, b, c, d, e, f, g, h] = self.to_wire();
        [0, 0, 0, 0, a, b, c, d, e, f, g, h]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_bit_is_the_direction() {
        for (wire, direction, number) in [
            ([0, 0, 0, 0, 0, 0, 0, 0], Direction::ToServer, 0),
            ([0x80, 0, 0, 0, 0, 0, 0, 0], Direction::ToClient, 0),
            ([0, 0, 0, 0, 0, 0, 1, 2], Direction::ToServer, 0x102),
            (
                [0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
                Direction::ToServer,
                SEQUENCE_MAX,
            ),
            ([0xFF; 8], Direction::ToClient, SEQUENCE_MAX),
        ] {
            let nonce = Nonce {
                direction,
                sequence: Sequence::new(number).unwrap(),
            };
            assert_eq!(Nonce::from_wire(wire), nonce);
            assert_eq!(nonce.to_wire(), wire);
            assert_eq!(nonce.to_cipher()[..4], [0; 4]);
            assert_eq!(nonce.to_cipher()[4..], wire);
        }
    }

    #[test]
    fn a_sequence_number_has_63_bits() {
        let last = Sequence::new(SEQUENCE_MAX).unwrap();
        assert_eq!(Sequence::new(SEQUENCE_MAX + 1), None);
        assert_eq!(last.next(), None);
        assert_eq!(Sequence::ZERO.next(), Sequence::new(1));
    }

    #[test]
    fn fewer_than_eight_bytes_have_no_nonce() {
        assert_eq!(Nonce::of(&[0; 7]), None);
        assert_eq!(Nonce::of(&[0x80; 9]), Some(Nonce::from_wire([0x80; 8])));
    }

    #[test]
    fn directions_reverse_into_each_other() {
        assert_eq!(Direction::ToServer.reversed(), Direction::ToClient);
        assert_eq!(Direction::ToClient.reversed(), Direction::ToServer);
    }
}
