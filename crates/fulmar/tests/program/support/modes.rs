//! The modes of a terminal that a program has changed and not put back.

use std::collections::BTreeMap;

/// Reads all that a program writes and keeps what it switches.
///
/// It knows more than the judge does, such as focus reporting, and nothing of screens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Modes {
    /// The sequence that is not complete.
    pending: Vec<u8>,
    /// By number: whether it was last set.
    private: BTreeMap<u16, bool>,
    /// A rendition other than the default is in force.
    has_rendition: bool,
    /// Rows do not all scroll.
    has_margins: bool,
    /// Titles pushed and not popped.
    titles: i32,
}

impl Modes {
    /// Takes the next bytes.
    pub(crate) fn follow(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match self.pending.as_slice() {
                [] if byte != 0x1b => {}
                [] => self.pending.push(byte),
                [0x1b] if byte != b'[' => self.pending.clear(),
                [0x1b, ..] if (0x40..0x7f).contains(&byte) && self.pending.len() > 1 => {
                    let body = String::from_utf8_lossy(&self.pending[2..]).into_owned();
                    self.switch(&body, byte);
                    self.pending.clear();
                }
                _ => self.pending.push(byte),
            }
        }
    }

    fn switch(&mut self, body: &str, last: u8) {
        match (last, body.strip_prefix('?')) {
            (b'h' | b'l', Some(numbers)) => {
                let numbers = numbers.split(';').filter_map(|number| number.parse().ok());
                self.private
                    .extend(numbers.map(|number| (number, last == b'h')));
            }
            (b'm', None) => self.has_rendition = !matches!(body, "" | "0"),
            (b'r', None) => self.has_margins = !body.is_empty(),
            (b't', None) if body.starts_with("22") => self.titles += 1,
            (b't', None) if body.starts_with("23") => self.titles -= 1,
            _ => {}
        }
    }

    /// Returns what a user's shell would find changed, in words; empty is as it should be.
    ///
    /// Wrapping and the cursor are on in a terminal that nobody has touched, all else is off.
    pub(crate) fn left_behind(&self) -> Vec<String> {
        let is_on_by_default = |mode: u16| matches!(mode, 7 | 25);
        let mut left: Vec<String> = self
            .private
            .iter()
            .filter(|(mode, is_set)| **is_set != is_on_by_default(**mode))
            .map(|(mode, is_set)| format!("mode {mode} is {}", if *is_set { "on" } else { "off" }))
            .collect();
        if self.has_rendition {
            left.push("text has a rendition".to_owned());
        }
        if self.has_margins {
            left.push("there are scroll margins".to_owned());
        }
        if self.titles != 0 {
            left.push(format!("{} titles are on the stack", self.titles));
        }
        if !self.pending.is_empty() {
            left.push("a sequence is open".to_owned());
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_behind(text: &str) -> Vec<String> {
        let mut modes = Modes::default();
        modes.follow(text.as_bytes());
        modes.left_behind()
    }

    #[test]
    fn what_was_put_back_is_not_left_behind() {
        let text = "\x1b[22;0;0t\x1b[?1049h\x1b[?1;2004h\x1b[?25l\x1b[1;31mred\x1b[2;5r\
                    \x1b[r\x1b[0m\x1b[?2004;1l\x1b[?25h\x1b[?1049l\x1b[23;0;0t";
        assert_eq!(left_behind(text), [""; 0]);
    }

    #[test]
    fn what_was_not_put_back_is_named() {
        for (text, expected) in [
            ("\x1b[?1004h", "mode 1004 is on"),
            ("\x1b[?25l", "mode 25 is off"),
            ("\x1b[7m", "text has a rendition"),
            ("\x1b[2;5r", "there are scroll margins"),
            ("\x1b[22;0;0t", "1 titles are on the stack"),
            ("\x1b[3", "a sequence is open"),
        ] {
            assert_eq!(left_behind(text), [expected], "{text:?}");
        }
    }
}
