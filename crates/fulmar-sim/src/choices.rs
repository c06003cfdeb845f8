//! Bytes as choices, for fuzzers.

/// The choices that some bytes make. The same bytes choose the same, and behind their end everything is 0.
///
/// ```
/// use fulmar_sim::Choices;
///
/// let mut choices = Choices::new(b"\x07\x02abc");
/// assert_eq!(choices.below(5), 2);
/// assert_eq!(choices.bytes(), b"ab");
/// assert!(!choices.is_over());
/// ```
#[derive(Clone, Debug)]
pub struct Choices<'a> {
    rest: &'a [u8],
}

impl<'a> Choices<'a> {
    /// Returns what these bytes choose.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Choices<'a> {
        Choices { rest: bytes }
    }

    /// Tells whether nothing more is chosen.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.rest.is_empty()
    }

    /// Takes a byte.
    pub fn byte(&mut self) -> u8 {
        let Some((&byte, rest)) = self.rest.split_first() else {
            return 0;
        };
        self.rest = rest;
        byte
    }

    /// Takes a byte, and makes a number below `end` of it; 0 where `end` is 0.
    pub fn below(&mut self, end: u8) -> u8 {
        self.byte().checked_rem(end).unwrap_or(0)
    }

    /// Takes a number: most are small, and some are near where 64 bits end or at a power of two.
    pub fn number(&mut self) -> u64 {
        match self.byte() {
            small @ 0..=0xDF => u64::from(small),
            power @ 0xE0..=0xEF => 1 << (u32::from(power - 0xE0) * 4),
            0xF0..=0xF7 => u64::MAX - u64::from(self.byte()),
            _ => self.fold(8),
        }
    }

    fn fold(&mut self, bytes: usize) -> u64 {
        (0..bytes).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    /// Takes a length, of one byte, and so many bytes, as far as there are any.
    pub fn bytes(&mut self) -> &'a [u8] {
        let length = usize::from(self.byte());
        self.take(length)
    }

    /// Takes so many bytes, as far as there are any.
    pub fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    /// Takes all that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        self.take(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behind_the_end_everything_is_nothing() {
        let mut choices = Choices::new(b"");
        assert_eq!(
            (choices.byte(), choices.below(0), choices.number()),
            (0, 0, 0)
        );
        assert!(choices.bytes().is_empty() && choices.rest().is_empty());
    }

    #[test]
    fn numbers_reach_both_ends() {
        let number = |bytes: &[u8]| Choices::new(bytes).number();
        assert_eq!((number(&[5]), number(&[0xE8])), (5, 1 << 32));
        assert_eq!(
            (number(&[0xF0, 1]), number(&[0xFF; 9])),
            (u64::MAX - 1, u64::MAX)
        );
    }
}
