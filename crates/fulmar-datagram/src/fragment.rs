//! A piece of one compressed instruction.

use crate::limits::FRAGMENT_INDEX_MAX;

/// Bytes of a fragment header.
///
/// Source: docs/protocol.md §4.
const HEADER_BYTES: usize = 10;

/// The bit beside the index that marks the last fragment.
const FINAL_BIT: u16 = 0x8000;

/// The position of a fragment within its instruction: from 0, at most
/// [`FRAGMENT_INDEX_MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FragmentIndex(u16);

impl FragmentIndex {
    /// The first fragment.
    pub const ZERO: FragmentIndex = FragmentIndex(0);

    /// Returns the index, or `None` if it does not fit into 15 bits.
    pub const fn new(index: u16) -> Option<FragmentIndex> {
        if index <= FRAGMENT_INDEX_MAX {
            Some(FragmentIndex(index))
        } else {
            None
        }
    }

    /// Returns the number.
    pub const fn get(self) -> u16 {
        self.0
    }
}

/// The header of a fragment: its instruction and its place in it.
///
/// ```text
///  0                               8        10
///  ┌───────────────────────────────┬─┬───────┐
///  │ instruction id                │f│ index │   f = 1 on the last fragment
///  └───────────────────────────────┴─┴───────┘
/// ```
///
/// Source: docs/protocol.md §4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FragmentHeader {
    /// The instruction; stock Mosh numbers its instructions from 1.
    pub id: u64,
    /// The place of the content in the instruction.
    pub index: FragmentIndex,
    /// True for the instruction's last fragment, which tells how many there are.
    pub is_final: bool,
}

/// A fragment as it lies in a buffer.
///
/// `Fragment::decode(&encoded) == Some(fragment)` for all fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fragment<'a> {
    /// The header: its instruction and its place in it.
    pub header: FragmentHeader,
    /// The piece.
    pub content: &'a [u8],
}

impl<'a> Fragment<'a> {
    /// Decodes ten bytes of header and takes what follows as content; `None` if the bytes end
    /// before the header does.
    pub fn decode(bytes: &'a [u8]) -> Option<Fragment<'a>> {
        let (id, rest) = bytes.split_first_chunk()?;
        let (word, content) = rest.split_first_chunk()?;
        let word = u16::from_be_bytes(*word);
        let header = FragmentHeader {
            id: u64::from_be_bytes(*id),
            index: FragmentIndex(word & FRAGMENT_INDEX_MAX),
            is_final: word & FINAL_BIT != 0,
        };
        Some(Fragment { header, content })
    }

    /// Appends the wire form to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let final_bit = if self.header.is_final { FINAL_BIT } else { 0 };
        out.extend_from_slice(&self.header.id.to_be_bytes());
        out.extend_from_slice(&(final_bit | self.header.index.0).to_be_bytes());
        out.extend_from_slice(self.content);
    }

    /// Returns the bytes of the wire form.
    pub(crate) const fn encoded_bytes(&self) -> usize {
        HEADER_BYTES + self.content.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_form_is_id_then_final_bit_and_index_then_content() {
        for (index, is_final, word) in [
            (0, false, [0, 0]),
            (0, true, [0x80, 0]),
            (0x7FFE, false, [0x7F, 0xFE]),
        ] {
            let index = FragmentIndex::new(index).unwrap();
            let header = FragmentHeader {
                id: 0x0102_0304,
                index,
                is_final,
            };
            let fragment = Fragment {
                header,
                content: b"xy",
            };
            let mut wire = Vec::new();
            fragment.encode(&mut wire);
            assert_eq!(
                wire,
                [[0, 0, 0, 0, 1, 2, 3, 4].as_slice(), &word, b"xy"].concat()
            );
            assert_eq!(wire.len(), fragment.encoded_bytes());
            assert_eq!(Fragment::decode(&wire), Some(fragment));
        }
    }

    #[test]
    fn content_may_be_empty_but_the_header_must_be_whole() {
        assert_eq!(Fragment::decode(&[0; 10]).unwrap().content, b"");
        for bytes in 0..10 {
            assert_eq!(Fragment::decode(&vec![0; bytes]), None);
        }
    }

    #[test]
    fn an_index_has_15_bits() {
        assert_eq!(
            FragmentIndex::new(0x7FFF).map(FragmentIndex::get),
            Some(0x7FFF)
        );
        assert_eq!(FragmentIndex::new(0x8000), None);
    }
}
