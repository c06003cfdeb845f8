//! Questions to the user's terminal, and its answers among what is typed.
//!
//! The questions are one constant text, the only exception to the rule that nothing written makes the terminal
//! answer (docs/threat-model.md §8).

use data_encoding::HEXLOWER_PERMISSIVE;

use crate::colors::{ColorLevels, parse_color};

/// The most bytes of one answer. Chosen by eye: answers have some tens.
const ANSWER_BYTES_MAX: usize = 512;

/// The most bytes of a longer answer that are dropped with it; what follows is taken for keys. Chosen by eye.
const DROPPED_BYTES_MAX: usize = 4096;

/// The markers around a paste, in which nothing is an answer. Source: xterm's control sequences, bracketed paste.
const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// All that is asked: name and version (XTVERSION), the flags of kitty's keyboard protocol, synchronised output (2026) and
/// grapheme clusters (2027) by DECRQM, the colours of text, background and cursor, and what terminfo may not tell
/// (XTGETTCAP: RGB, Tc, Smulx, Su, smxx, Smol, Ss, Sync in hexadecimal). Every terminal answers the last one (DA1), and in order.
pub const QUESTIONS: &[u8] = b"\x1b[>q\x1b[?u\x1b[?2026$p\x1b[?2027$p\
    \x1b]10;?\x1b\\\x1b]11;?\x1b\\\x1b]12;?\x1b\\\
    \x1bP+q524742\x1b\\\x1bP+q5463\x1b\\\x1bP+q536d756c78\x1b\\\x1bP+q5375\x1b\\\
    \x1bP+q736d7878\x1b\\\x1bP+q536d6f6c\x1b\\\x1bP+q5373\x1b\\\x1bP+q53796e63\x1b\\\
    \x1b[c";

/// One answer of a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Its name and version, in printable ASCII.
    Version(String),
    /// It speaks kitty's keyboard protocol.
    KittyKeyboard,
    /// A private mode, and the status of it that DECRPM has: 0 unknown, 1 set, 2 reset, 3 and 4 the same for good.
    Mode(u16, u16),
    /// The colour that OSC 10 (text), 11 (background) or 12 (cursor) asks for.
    Color(u8, ColorLevels),
    /// A name of terminfo that it has.
    Capability(String),
    /// The answer to the last question: no other follows.
    Last,
}

/// Takes the answers out of what comes from a terminal, however it is cut; everything else is keys.
#[derive(Debug, Default)]
pub struct AnswerReader {
    /// The beginning of what may be an answer.
    held: Vec<u8>,
    /// The bytes that were dropped of an answer that is too long, if there is one.
    dropping: Option<usize>,
    is_pasting: bool,
}

/// The meaning of bytes from ESC on.
enum Judgement {
    /// Keys: no answer begins so.
    Keys,
    /// Keys behind which a paste begins or ends.
    Paste(bool),
    /// The beginning of an answer, or of a marker of pastes.
    Incomplete,
    /// An answer, perhaps one of no use.
    Answer(Option<Answer>),
}

impl AnswerReader {
    /// Reads the next bytes: appends the keys to `keys`, and returns the answers.
    pub fn read(&mut self, bytes: &[u8], keys: &mut Vec<u8>) -> Vec<Answer> {
        let mut answers = Vec::new();
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            if self.held.is_empty() && self.dropping.is_none() && byte != 0x1b {
                let plain = rest.iter().position(|&byte| byte == 0x1b);
                let (plain, others) = rest.split_at(plain.unwrap_or(rest.len()));
                keys.extend_from_slice(plain);
                rest = others;
            } else {
                self.read_byte(byte, keys, &mut answers);
                rest = after;
            }
        }
        answers
    }

    /// Returns the bytes that may be the beginning of an answer.
    pub fn held(&self) -> &[u8] {
        &self.held
    }

    /// Returns true while the rest of an answer is dropped that is too long.
    pub fn is_dropping(&self) -> bool {
        self.dropping.is_some()
    }

    /// Takes note that no more of it comes: what is held are keys.
    pub fn release(&mut self, keys: &mut Vec<u8>) {
        keys.append(&mut self.held);
        self.dropping = None;
    }

    fn read_byte(&mut self, byte: u8, keys: &mut Vec<u8>, answers: &mut Vec<Answer>) {
        // A control that no answer has is a key.
        let is_of_answer = matches!(byte, 0x07 | 0x1b | 0x20..0x7f);
        if let Some(dropped) = self.dropping.take().filter(|_| is_of_answer) {
            let dropped = dropped + 1;
            let is_over = matches!(byte, 0x07 | b'\\') || dropped == DROPPED_BYTES_MAX;
            self.dropping = Some(dropped).filter(|_| !is_over);
            return;
        }
        self.held.push(byte);
        match judge(&self.held, self.is_pasting) {
            Judgement::Incomplete if self.held.len() >= ANSWER_BYTES_MAX => {
                self.held.clear();
                self.dropping = Some(0);
            }
            Judgement::Incomplete => {}
            Judgement::Answer(answer) => {
                self.held.clear();
                answers.extend(answer);
            }
            Judgement::Paste(begins) => {
                self.is_pasting = begins;
                keys.append(&mut self.held);
            }
            // Another may begin where this one turned out to be none.
            Judgement::Keys if byte == 0x1b && self.held.len() > 1 => {
                self.held.pop();
                keys.append(&mut self.held);
                self.held.push(byte);
            }
            Judgement::Keys => keys.append(&mut self.held),
        }
    }
}

fn judge(bytes: &[u8], is_pasting: bool) -> Judgement {
    let marker = if is_pasting { PASTE_ENDS } else { PASTE_BEGINS };
    match bytes {
        _ if bytes == marker => Judgement::Paste(!is_pasting),
        _ if marker.starts_with(bytes) => Judgement::Incomplete,
        _ if is_pasting => Judgement::Keys,
        [0x1b, b'P' | b']'] => Judgement::Incomplete,
        [0x1b, b'[', b'?', body @ ..] => judge_csi(body),
        [0x1b, b'P', body @ ..] => judge_string(body, &["0+r", "1+r", ">|"], device_answer),
        [0x1b, b']', body @ ..] => judge_string(body, &["10;", "11;", "12;"], color_answer),
        _ => Judgement::Keys,
    }
}

/// Judges what follows `CSI ?`.
fn judge_csi(body: &[u8]) -> Judgement {
    let Some((&last, before)) = body.split_last() else {
        return Judgement::Incomplete;
    };
    let text = std::str::from_utf8(before).unwrap_or_default();
    let is_of_numbers = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b';'));
    match last {
        b'0'..=b'9' | b';' if is_of_numbers => Judgement::Incomplete,
        b'$' if is_of_numbers => Judgement::Incomplete,
        b'c' if is_of_numbers => Judgement::Answer(Some(Answer::Last)),
        b'u' if is_of_numbers => Judgement::Answer(Some(Answer::KittyKeyboard)),
        b'y' if text.ends_with('$') => Judgement::Answer(mode_answer(text)),
        _ => Judgement::Keys,
    }
}

fn mode_answer(text: &str) -> Option<Answer> {
    let (mode, status) = text.strip_suffix('$')?.split_once(';')?;
    Some(Answer::Mode(mode.parse().ok()?, status.parse().ok()?))
}

/// Judges the content of a string that begins with one of these.
fn judge_string(body: &[u8], beginnings: &[&str], answer: fn(&str) -> Option<Answer>) -> Judgement {
    let is_begun = |begin: &&str| body.starts_with(begin.as_bytes());
    if !beginnings.iter().any(is_begun) {
        let may_begin = |begin: &&str| begin.as_bytes().starts_with(body);
        return if beginnings.iter().any(may_begin) {
            Judgement::Incomplete
        } else {
            Judgement::Keys
        };
    }
    let text = match body {
        [text @ .., 0x07] | [text @ .., 0x1b, b'\\'] => text,
        [.., 0x1b] => return Judgement::Incomplete,
        [.., 0x1b, _] => return Judgement::Keys,
        [.., 0x20..0x7f] => return Judgement::Incomplete,
        _ => return Judgement::Keys,
    };
    Judgement::Answer(std::str::from_utf8(text).ok().and_then(answer))
}

/// Reads what XTVERSION and XTGETTCAP are answered.
fn device_answer(text: &str) -> Option<Answer> {
    if let Some(version) = text.strip_prefix(">|") {
        return Some(Answer::Version(version.to_owned()));
    }
    let name = text.strip_prefix("1+r")?.split('=').next()?;
    let name = HEXLOWER_PERMISSIVE.decode(name.as_bytes()).ok()?;
    Some(Answer::Capability(String::from_utf8(name).ok()?))
}

fn color_answer(text: &str) -> Option<Answer> {
    let (number, color) = text.split_once(';')?;
    Some(Answer::Color(number.parse().ok()?, parse_color(color)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Answers of terminals, and their meanings.
    const ANSWERS: [(&[u8], Option<Answer>); 9] = [
        (b"\x1bP0+r5375\x1b\\", None),
        (b"\x1b[?0u", Some(Answer::KittyKeyboard)),
        (b"\x1b[?2026;2$y", Some(Answer::Mode(2026, 2))),
        (b"\x1b[?2027;0$y", Some(Answer::Mode(2027, 0))),
        (
            b"\x1b]11;rgb:ffff/00/8\x07",
            Some(Answer::Color(11, [0xffff, 0, 0x8888])),
        ),
        (
            b"\x1b]10;rgb:0000/8080/ffff\x1b\\",
            Some(Answer::Color(10, [0, 0x8080, 0xffff])),
        ),
        (b"\x1b]12;none\x1b\\", None),
        (b"\x1b[?62;22c", Some(Answer::Last)),
        (b"\x1b[?c", Some(Answer::Last)),
    ];

    /// Keys that look like the beginnings of answers.
    const KEYS: [&[u8]; 11] = [
        b"ls\r",
        b"\x1b",
        b"\x1b\x1b[A",
        b"\x1bP",
        b"\x1b]x",
        b"\x1b[20~",
        b"\x1b[?1;2x",
        b"\x1b]10;\r",
        b"\x1b[<0;1;2M",
        b"\x1b[200~\x1b[?62c \x1b]11;rgb:1/2/3\x07\x1b[201~",
        b"\x1bP>q",
    ];

    fn read_pieces(bytes: &[u8], cuts: &[usize]) -> (Vec<Answer>, Vec<u8>) {
        let mut reader = AnswerReader::default();
        let (mut answers, mut keys, mut from) = (Vec::new(), Vec::new(), 0);
        for &cut in cuts.iter().chain([&bytes.len()]) {
            let cut = cut.clamp(from, bytes.len());
            answers.extend(reader.read(&bytes[from..cut], &mut keys));
            from = cut;
        }
        reader.release(&mut keys);
        (answers, keys)
    }

    #[test]
    fn names_and_versions_are_read() {
        let (answers, keys) =
            read_pieces(b"a\x1bP>|kitty(0.36)\x1b\\b\x1bP1+r524742=38\x1b\\", &[]);
        let wanted = [
            Answer::Version("kitty(0.36)".to_owned()),
            Answer::Capability("RGB".to_owned()),
        ];
        assert_eq!(
            (answers.as_slice(), keys.as_slice()),
            (&wanted[..], &b"ab"[..])
        );
    }

    #[test]
    fn an_answer_without_end_is_dropped_up_to_a_cap_and_then_keys_come_again() {
        let mut reader = AnswerReader::default();
        let mut keys = Vec::new();
        let endless = [b"\x1bP>|".to_vec(), vec![b'x'; 1 << 20]].concat();
        assert_eq!(reader.read(&endless, &mut keys), []);
        assert!(reader.held().is_empty());
        let dropped = endless.len() - keys.len();
        assert_eq!(dropped, ANSWER_BYTES_MAX + DROPPED_BYTES_MAX);
        for (end, typed) in [
            (&b"\x1b\\ok"[..], &b"ok"[..]),
            (b"\x03", b"\x03"),
            (b"\rx", b"\rx"),
        ] {
            let long = [b"\x1bP>|".to_vec(), vec![b'x'; 1000], end.to_vec()].concat();
            keys.clear();
            assert_eq!(reader.read(&long, &mut keys), []);
            assert_eq!(keys, typed);
        }
    }

    #[test]
    fn every_question_is_one_that_is_answered_before_the_last() {
        let text = String::from_utf8(QUESTIONS.to_vec()).unwrap();
        assert!(text.ends_with("\x1b[c") && text.matches("\x1b[c").count() == 1);
        for name in ["RGB", "Tc", "Smulx", "Su", "smxx", "Smol", "Ss", "Sync"] {
            let asked = format!(
                "\x1bP+q{}\x1b\\",
                HEXLOWER_PERMISSIVE.encode(name.as_bytes())
            );
            assert!(text.contains(&asked), "{name}");
        }
    }

    proptest! {
        #[test]
        fn nothing_typed_is_lost_and_every_answer_is_found(
            parts in prop::collection::vec((any::<bool>(), 0..99_usize), 0..12),
            cuts in prop::collection::vec(0..300_usize, 0..6),
        ) {
            let (mut bytes, mut wanted, mut typed) = (Vec::new(), Vec::new(), Vec::new());
            for (is_answer, which) in parts {
                if is_answer {
                    let (text, answer) = &ANSWERS[which % ANSWERS.len()];
                    bytes.extend_from_slice(text);
                    wanted.extend(answer.clone());
                } else {
                    let key = KEYS[which % KEYS.len()];
                    bytes.extend_from_slice(key);
                    typed.extend_from_slice(key);
                }
            }
            let mut cuts = cuts;
            cuts.sort_unstable();
            prop_assert_eq!(read_pieces(&bytes, &cuts), (wanted, typed));
        }

        #[test]
        fn whatever_comes_it_does_not_matter_how_it_is_cut(
            bytes in "[\x1b\\[\\]P?0-9;+r>|=$ycu\x07\\\\~a/:gb]{0,60}",
            cuts in prop::collection::vec(0..60_usize, 0..6),
        ) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            prop_assert_eq!(read_pieces(bytes.as_bytes(), &cuts), read_pieces(bytes.as_bytes(), &[]));
        }
    }
}
