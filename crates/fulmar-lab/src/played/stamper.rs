//! Tells where a host's output may be cut.

use crate::judge::Stamp;

/// Follows a host's output, and says which stamp may stand behind it: one that is cut into no sequence.
///
/// It knows just enough of control functions for that: where they end. What it does not know it takes
/// for text, as terminals do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stamper {
    state: State,
    position: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// So many bytes of a character are missing.
    Character(u8),
    /// Behind `ESC`, or behind the intermediate bytes that follow it.
    Escape,
    /// Behind `ESC [`.
    Control,
    /// In the text of a string, such as a title.
    String,
    /// Behind an `ESC` in such a text.
    StringEscape,
}

impl Stamper {
    /// Goes on behind `bytes`, and returns the stamp of this position; `None` within a sequence.
    pub(crate) fn pass(&mut self, bytes: &[u8]) -> Option<Stamp> {
        self.state = bytes
            .iter()
            .fold(self.state, |state, byte| state.after(*byte));
        self.position += bytes.len();
        (self.state == State::Ground).then_some(Stamp(self.position))
    }
}

impl State {
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::String | Self::StringEscape, 0x07 | 0x18 | 0x1a) => Self::Ground,
            (Self::String, 0x1b) => Self::StringEscape,
            (Self::StringEscape, b'\\') => Self::Ground,
            (Self::String, _) => Self::String,
            (_, 0x1b) => Self::Escape,
            (_, 0x18 | 0x1a) => Self::Ground,
            (Self::Escape | Self::StringEscape, _) => Self::after_escape(byte),
            (Self::Control, b'@'..=b'~') => Self::Ground,
            (Self::Control, _) => Self::Control,
            (Self::Character(1), 0x80..=0xbf) => Self::Ground,
            (Self::Character(left), 0x80..=0xbf) => Self::Character(left - 1),
            (Self::Ground | Self::Character(_), _) => Self::of_text(byte),
        }
    }

    fn after_escape(byte: u8) -> Self {
        match byte {
            b'[' => Self::Control,
            b']' | b'P' | b'X' | b'^' | b'_' => Self::String,
            b' '..=b'/' => Self::Escape,
            0x00..=0x1f => Self::Escape,
            _ => Self::Ground,
        }
    }

    fn of_text(byte: u8) -> Self {
        match byte {
            0xc2..=0xdf => Self::Character(1),
            0xe0..=0xef => Self::Character(2),
            0xf0..=0xf4 => Self::Character(3),
            _ => Self::Ground,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each byte whether the output may be cut behind it.
    fn cuts(bytes: &[u8]) -> Vec<bool> {
        let mut stamper = Stamper::default();
        let stamps = bytes.iter().map(|byte| stamper.pass(&[*byte]));
        stamps.map(|stamp| stamp.is_some()).collect()
    }

    #[test]
    fn a_sequence_may_be_cut_nowhere_but_at_its_end() {
        for sequence in [
            &b"\x1b[1;31m"[..],
            b"\x1b[?25l",
            b"\x1b(B",
            b"\x1b7",
            b"\x1b]0;a title\x07",
            b"\x1b]0;a title\x1b\\",
            b"\x1bPq\x1b\\",
            "é".as_bytes(),
            "⏎".as_bytes(),
            "𝄞".as_bytes(),
            b"\x1b[3\x18",
            b"\x1b]0;a title\x18",
            b"\x1b]0;a title\x1a",
        ] {
            let mut expected = vec![false; sequence.len()];
            expected[sequence.len() - 1] = true;
            assert_eq!(cuts(sequence), expected, "{}", sequence.escape_ascii());
        }
    }

    #[test]
    fn a_stamp_counts_all_bytes_and_stands_in_no_sequence() {
        let mut stamper = Stamper::default();
        assert_eq!(stamper.pass(b"ab"), Some(Stamp(2)));
        assert_eq!(stamper.pass(b"\x1b["), None);
        assert_eq!(stamper.pass(b"m"), Some(Stamp(5)));
    }

    #[test]
    fn text_may_be_cut_anywhere() {
        assert!(cuts(b"ab\r\n\x07 \xff").iter().all(|may| *may));
    }

    #[test]
    fn a_sequence_within_another_begins_anew() {
        assert_eq!(cuts(b"\x1b[1\x1b[m").last(), Some(&true));
        assert_eq!(cuts(b"\x1b]0;x\x1b[m").last(), Some(&true));
        assert_eq!(cuts(b"\xe2\x8fa").last(), Some(&true));
    }
}
