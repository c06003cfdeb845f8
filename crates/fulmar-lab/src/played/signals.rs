//! The words between the played host and whoever drives it.

/// The text that the played host shows when it can begin.
pub const READY: &str = "fulmar-lab is ready";

/// The byte that it waits for then: the Enter key.
pub const START: u8 = b'\r';

/// The bytes with which it clears the screen, before [`READY`] and again when it begins: plain rendition, no
/// margins, a visible cursor at the top left of a blank screen.
pub const CLEAR: &str = "\x1b[m\x1b[r\x1b[?25h\x1b[2J\x1b[H";

/// The bytes that end it. No recording has them; they are not noted as keys.
pub const END: &[u8] = b"\x1dfulmar-lab end\r";

/// Takes [`END`] out of what is received, however it is cut.
#[derive(Clone, Debug, Default)]
pub(crate) struct EndReader {
    /// So many bytes of it have come.
    matched: usize,
}

impl EndReader {
    /// Returns the bytes that do not belong to it, and whether it is complete.
    ///
    /// What may still become it is held back until it does or does not.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> (Vec<u8>, bool) {
        let mut others = Vec::new();
        for byte in bytes {
            if *byte != END[self.matched] {
                others.extend_from_slice(&END[..self.matched]);
                self.matched = 0;
            }
            // Its first byte occurs in it only once, so nothing else can begin within it.
            if *byte == END[self.matched] {
                self.matched += 1;
            } else {
                others.push(*byte);
            }
            if self.matched == END.len() {
                return (others, true);
            }
        }
        (others, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_found_however_it_is_cut() {
        for cut in 0..END.len() {
            let mut reader = EndReader::default();
            let (first, second) = END.split_at(cut);
            let (others, is_over) = reader.read(&[b"ab", first].concat());
            assert_eq!((others.as_slice(), is_over), (&b"ab"[..], false));
            assert_eq!(reader.read(second), (vec![], true));
        }
    }

    #[test]
    fn what_only_begins_like_the_end_is_passed_on() {
        let mut reader = EndReader::default();
        let (others, is_over) = reader.read(b"a\x1dful\x1d\x1dx");
        assert_eq!(
            (others.as_slice(), is_over),
            (&b"a\x1dful\x1d\x1dx"[..], false)
        );
        let (others, is_over) = reader.read(&[b"\x1d", END, b"late"].concat());
        assert_eq!((others.as_slice(), is_over), (&b"\x1d"[..], true));
    }
}
