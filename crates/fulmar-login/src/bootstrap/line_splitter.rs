//! Cutting what a server prints into lines, within bounds.
//!
//! Source: docs/protocol.md §2.9, docs/threat-model.md §6.

use zeroize::Zeroizing;

use super::LINE_BYTES_MAX;
use super::lines::{BootstrapLine, LINES_WITH_KEYS, MalformedLine, ReadKey};
use crate::text::escaped;

/// The most text that may come before a server can be reached.
///
/// Source: docs/threat-model.md §6.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// More text has come than a server says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {TEXT_BYTES_MAX} bytes of text came instead of a server's answer")]
pub(crate) struct TextLimitExceeded;

/// A line that has come, without its end.
///
/// It may hold a key, so it can be neither printed nor copied, and is overwritten when dropped.
pub(crate) struct OutputLine {
    bytes: Zeroizing<Vec<u8>>,
    is_cut: bool,
}

impl OutputLine {
    /// Returns its bytes, as many as a line may have.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the text in front of a word and the bytes from the word on, if it has the word behind some text and is whole.
    pub(crate) fn behind_text(&self, word: &[u8]) -> Option<(OutputLine, &[u8])> {
        let mut places = self.bytes.windows(word.len());
        let at = places.position(|place| place == word);
        let at = at.filter(|at| *at > 0 && !self.is_cut)?;
        let (text, rest) = self.bytes.split_at_checked(at)?;
        let text = OutputLine {
            bytes: Zeroizing::new(text.to_vec()),
            is_cut: false,
        };
        Some((text, rest))
    }

    /// Tells if it was longer than a line may be.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns it as it can be shown, when it is none of a server's. One that somebody has printed text in front of may
    /// have a key all the same, which is left out.
    pub(crate) fn shown(&self) -> String {
        let text = Zeroizing::new(String::from_utf8_lossy(&self.bytes).into_owned());
        let ends_of = |start: &&str| text.find(start).map(|at| at + start.len());
        let before_key = LINES_WITH_KEYS.iter().filter_map(ends_of).min();
        let shown = before_key.map_or(text.as_str(), |end| text.get(..end).unwrap_or_default());
        let is_whole = before_key.is_none() && !self.is_cut;
        escaped(shown) + if is_whole { "" } else { "…" }
    }

    /// Reads the line, and a key in it with `read_key`; `None` if it is none of a server's.
    ///
    /// # Errors
    ///
    /// When it begins as one of those, and is malformed or too long.
    pub(crate) fn parse(&self, read_key: ReadKey) -> Result<Option<BootstrapLine>, MalformedLine> {
        match BootstrapLine::parse(&self.bytes, read_key) {
            Ok(Some(_)) if self.is_cut => Err(MalformedLine),
            outcome => outcome,
        }
    }
}

/// A cutter of lines. It takes bytes as they come and owns no input.
pub(crate) struct LineSplitter {
    line: Zeroizing<Vec<u8>>,
    is_cut: bool,
    taken: usize,
}

impl Default for LineSplitter {
    fn default() -> LineSplitter {
        LineSplitter::new()
    }
}

impl LineSplitter {
    /// Returns one that has seen nothing yet.
    pub(crate) fn new() -> LineSplitter {
        LineSplitter {
            line: empty_line(),
            is_cut: false,
            taken: 0,
        }
    }

    /// Takes the first of `bytes` off, up to the end of a line, and returns the line if it is whole.
    /// To be called until `bytes` is empty.
    ///
    /// # Errors
    ///
    /// When there was too much text.
    pub(crate) fn take(
        &mut self,
        bytes: &mut &[u8],
    ) -> Result<Option<OutputLine>, TextLimitExceeded> {
        while let Some((&byte, rest)) = bytes.split_first() {
            *bytes = rest;
            self.taken = self.taken.saturating_add(1);
            if self.taken > TEXT_BYTES_MAX {
                return Err(TextLimitExceeded);
            }
            if byte == b'\n' {
                return Ok(Some(self.end_line()));
            }
            if self.line.len() < LINE_BYTES_MAX {
                self.line.push(byte)
            } else {
                self.is_cut = true
            }
        }
        Ok(None)
    }

    /// Returns what has come of a line whose end has not, if anything.
    pub(crate) fn rest(&mut self) -> Option<OutputLine> {
        (!self.line.is_empty()).then(|| self.end_line())
    }

    /// Without carriage returns, which a server, and a terminal on the way, put before the line's end.
    fn end_line(&mut self) -> OutputLine {
        let mut bytes = std::mem::replace(&mut self.line, empty_line());
        while bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        OutputLine {
            bytes,
            is_cut: std::mem::take(&mut self.is_cut),
        }
    }
}

/// With all its room from the start: a longer buffer would leave the shorter one behind.
fn empty_line() -> Zeroizing<Vec<u8>> {
    Zeroizing::new(Vec::with_capacity(LINE_BYTES_MAX))
}

#[cfg(test)]
mod tests {
    use fulmar_datagram::Key;
    use proptest::prelude::*;

    use super::*;

    /// The lines of a text, and if it was too much.
    fn lines(pieces: &[&[u8]]) -> (Vec<(Vec<u8>, bool)>, bool) {
        let mut splitter = LineSplitter::new();
        let mut lines = Vec::new();
        let mut note = |line: OutputLine| lines.push((line.bytes().to_vec(), line.is_cut));
        for piece in pieces {
            let mut rest = *piece;
            while !rest.is_empty() {
                match splitter.take(&mut rest) {
                    Ok(line) => line.into_iter().for_each(&mut note),
                    Err(TextLimitExceeded) => return (lines, true),
                }
            }
        }
        splitter.rest().into_iter().for_each(note);
        (lines, false)
    }

    #[test]
    fn lines_are_cut_at_their_ends() {
        let line = |text: &str| (text.as_bytes().to_vec(), false);
        let (found, _) = lines(&[b"\r\n\none\r\ntw", b"o\rx\nrest"]);
        assert_eq!(
            found,
            [
                line(""),
                line(""),
                line("one"),
                line("two\rx"),
                line("rest")
            ]
        );
    }

    #[test]
    fn a_long_line_is_cut_and_the_next_one_is_whole() {
        let longest = "x".repeat(LINE_BYTES_MAX);
        let (found, _) = lines(&[format!("{longest}\n{longest}y\nz\n").as_bytes()]);
        let whole = (longest.clone().into_bytes(), false);
        let cut = (longest.into_bytes(), true);
        assert_eq!(found, [whole, cut, (b"z".to_vec(), false)]);
    }

    #[test]
    fn a_line_of_ours_that_is_too_long_is_malformed() {
        let start = "FULMAR WARNING ";
        let mut splitter = LineSplitter::new();
        for (length, is_fine) in [(LINE_BYTES_MAX, true), (LINE_BYTES_MAX + 1, false)] {
            let line = format!("{start}{}\n", "x".repeat(length - start.len()));
            let line = splitter.take(&mut line.as_bytes()).unwrap().unwrap();
            assert_eq!(line.parse(Key::from_base64).is_ok(), is_fine);
        }
        let noise = "x".repeat(LINE_BYTES_MAX + 1) + "\n";
        let noise = splitter.take(&mut noise.as_bytes()).unwrap().unwrap();
        assert!(
            noise
                .parse(Key::from_base64)
                .is_ok_and(|line| line.is_none())
        );
    }

    #[test]
    fn a_key_behind_the_text_of_others_is_not_shown() {
        for (line, shown) in [
            ("welcome", "welcome"),
            (
                "hiMOSH CONNECT 60001 c68K8iLyuCr1oEM7Hszyjg",
                "hiMOSH CONNECT …",
            ),
            (
                "é FULMAR COPY 2 60001 AAEC MOSH CONNECT x",
                "é FULMAR COPY …",
            ),
        ] {
            let mut splitter = LineSplitter::new();
            let mut bytes = line.as_bytes();
            assert!(matches!(splitter.take(&mut bytes), Ok(None)));
            let arrived = splitter.rest().expect("it has come");
            assert_eq!(arrived.shown(), shown);
        }
    }

    #[test]
    fn text_has_a_bound() {
        let text = "x\n".repeat(TEXT_BYTES_MAX / 2);
        assert_eq!(lines(&[text.as_bytes()]).0.len(), TEXT_BYTES_MAX / 2);
        let (_, too_much) = lines(&[text.as_bytes(), b"x"]);
        assert!(too_much);
    }

    proptest! {
        #[test]
        fn where_the_text_is_cut_makes_no_difference(
            text in "([a-z\r]{0,9}\n){0,5}[a-z\r]{0,9}",
            at in 0_usize..60,
        ) {
            let (one, other) = text.as_bytes().split_at(at.min(text.len()));
            prop_assert_eq!(lines(&[one, other]), lines(&[text.as_bytes()]));
        }
    }
}
