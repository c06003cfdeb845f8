//! A hash that is the same on every machine and in every release of Rust.

/// The 64-bit hash of Fowler, Noll and Vo, variant 1a: against accidents, not against attackers.
///
/// Source: draft-eastlake-fnv, "The FNV Non-Cryptographic Hash Algorithm".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fnv(u64);

impl Fnv {
    pub(crate) const START: Self = Self(0xcbf2_9ce4_8422_2325);

    pub(crate) fn of(bytes: &[u8]) -> u64 {
        let mut hash = Self::START;
        hash.add(bytes);
        hash.value()
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        assert_eq!(Fnv::of(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(Fnv::of(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(Fnv::of(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
