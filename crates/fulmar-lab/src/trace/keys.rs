//! Cuts what a keyboard's side sends into keys.

/// A piece of what the keyboard's side sent: one key, or something that counts as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keystroke<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// The kind of input.
    pub kind: KeystrokeKind,
}

/// The kind of a piece of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeystrokeKind {
    /// One press of a key: a character, a control, or an escape sequence, also with Alt.
    Key,
    /// A report of the mouse.
    Mouse,
    /// A paste between the marks that programs ask for (mode 2004).
    Paste,
    /// The words of the terminal itself: the answer to a question about cursor, attributes, modes, colours or
    /// size, or that the window was entered or left. Nobody typed it.
    Answer,
}

impl KeystrokeKind {
    /// True for what a person did.
    pub fn is_typed(self) -> bool {
        self != Self::Answer
    }
}

/// Cuts the bytes of one write by the keyboard's side into keys.
///
/// Every byte belongs to exactly one of them. An escape character that nothing follows is the
/// Escape key, one before another key is that key with Alt. What is cut off by the end counts
/// as it is. Invalid UTF-8 is one key per byte.
pub fn keystrokes(mut bytes: &[u8]) -> impl Iterator<Item = Keystroke<'_>> {
    std::iter::from_fn(move || {
        let (length, kind) = (!bytes.is_empty()).then(|| first(bytes))?;
        let keystroke = bytes.split_off(..length)?;
        Some(Keystroke {
            bytes: keystroke,
            kind,
        })
    })
}

/// Returns the bytes of each key that a person typed, without what the terminal answered.
pub(crate) fn typed_keys(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let typed = keystrokes(bytes).filter(|keystroke| keystroke.kind.is_typed());
    typed.map(|keystroke| keystroke.bytes)
}

const ESCAPE: u8 = 0x1b;

/// Returns length and kind of what `bytes`, which are not empty, begin with.
fn first(bytes: &[u8]) -> (usize, KeystrokeKind) {
    match bytes {
        [ESCAPE, b'[', rest @ ..] => control_sequence(rest),
        [ESCAPE, b'O', rest @ ..] => (2 + single_shift(rest), KeystrokeKind::Key),
        [ESCAPE, b']', b'0'..=b'9', ..] | [ESCAPE, b'P' | b'_', _, ..] => string(bytes),
        // Some terminals send Alt with an arrow this way.
        [ESCAPE, ESCAPE, b'[' | b'O', ..] => {
            let (length, _) = first(&bytes[1..]);
            (1 + length, KeystrokeKind::Key)
        }
        [ESCAPE, ESCAPE, ..] | [ESCAPE] => (1, KeystrokeKind::Key),
        [ESCAPE, rest @ ..] => (1 + character(rest), KeystrokeKind::Key),
        _ => (character(bytes), KeystrokeKind::Key),
    }
}

/// The one character of `ESC O x`; without it that was Alt-O.
fn single_shift(rest: &[u8]) -> usize {
    usize::from(matches!(rest.first(), Some(b' '..=b'~')))
}

/// Returns the length of the character that `bytes`, which are not empty, begin with.
fn character(bytes: &[u8]) -> usize {
    let length = match bytes.first() {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => return 1,
    };
    let is_whole = bytes
        .get(..length)
        .is_some_and(|character| std::str::from_utf8(character).is_ok());
    if is_whole { length } else { 1 }
}

/// Returns length and kind of a control sequence, of which `rest` is what follows `ESC [`.
fn control_sequence(rest: &[u8]) -> (usize, KeystrokeKind) {
    // The function keys of the Linux console: `ESC [ [ A`.
    if let [b'[', b'A'..=b'E', ..] = rest {
        return (4, KeystrokeKind::Key);
    }
    let body = rest.iter().take_while(|byte| matches!(byte, b' '..=b'?'));
    let body = body.count();
    let Some(last @ b'@'..=b'~') = rest.get(body).copied() else {
        return (2 + body, KeystrokeKind::Key);
    };
    let body_bytes = &rest[..body];
    let length = 2 + body + 1;
    match (body_bytes, last) {
        // The old report of the mouse: button, column, row, a byte each.
        ([], b'M') if rest.len() >= 4 => (length + 3, KeystrokeKind::Mouse),
        ([b'<', ..], b'M' | b'm') => (length, KeystrokeKind::Mouse),
        (b"200", b'~') => (2 + paste(rest), KeystrokeKind::Paste),
        _ if is_answer(body_bytes, last) => (length, KeystrokeKind::Answer),
        _ => (length, KeystrokeKind::Key),
    }
}

/// The length of a paste up to its end mark, or to the end if that is missing.
fn paste(rest: &[u8]) -> usize {
    const END: &[u8] = b"\x1b[201~";
    let end = rest.windows(END.len()).position(|window| window == END);
    end.map_or(rest.len(), |end| end + END.len())
}

/// True for the control sequences that terminals send by themselves.
///
/// Source: xterm's control sequences (ctlseqs): device attributes (`c`), status (`n`), cursor
/// position (`R`), modes (`$y`), window (`t`), terminal parameters (`x`), keyboard flags (`?u`),
/// focus (`I`, `O`). F3 with Shift is `ESC [ 1 ; 2 R` and cannot be told from a position; it
/// counts as an answer.
fn is_answer(body: &[u8], last: u8) -> bool {
    match last {
        b'c' | b'n' | b't' | b'x' => true,
        b'R' => body.contains(&b';'),
        b'y' => body.ends_with(b"$"),
        b'u' => body.starts_with(b"?"),
        b'I' | b'O' => body.is_empty(),
        _ => false,
    }
}

/// Returns length and kind of a string sequence (OSC, DCS, APC); only terminals send them, and
/// without its end it is a key with Alt.
fn string(bytes: &[u8]) -> (usize, KeystrokeKind) {
    let body = &bytes[2..];
    let end = body.iter().enumerate().find_map(|(at, byte)| match byte {
        0x07 => Some(at + 1),
        &ESCAPE if body.get(at + 1) == Some(&b'\\') => Some(at + 2),
        _ => None,
    });
    match end {
        Some(end) => (2 + end, KeystrokeKind::Answer),
        None => (2, KeystrokeKind::Key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(bytes: &[u8]) -> Vec<(&[u8], KeystrokeKind)> {
        keystrokes(bytes)
            .map(|keystroke| (keystroke.bytes, keystroke.kind))
            .collect()
    }

    fn keys(bytes: &[u8]) -> Vec<&[u8]> {
        let keystrokes = cut(bytes);
        assert!(
            keystrokes
                .iter()
                .all(|(_, kind)| *kind == KeystrokeKind::Key),
            "{keystrokes:?}"
        );
        keystrokes.into_iter().map(|(bytes, _)| bytes).collect()
    }

    #[test]
    fn characters_are_keys_whatever_their_length() {
        assert_eq!(
            keys("aé⏎𝄞\r".as_bytes()),
            [
                "a".as_bytes(),
                "é".as_bytes(),
                "⏎".as_bytes(),
                "𝄞".as_bytes(),
                b"\r"
            ]
        );
    }

    #[test]
    fn bytes_that_are_no_character_are_keys_each() {
        assert_eq!(keys(b"\xc3(\xff"), [&b"\xc3"[..], b"(", b"\xff"]);
        assert_eq!(keys(b"\xe2\x8f"), [&b"\xe2"[..], b"\x8f"]);
    }

    #[test]
    fn escape_sequences_are_one_key() {
        for sequence in [
            &b"\x1b[A"[..],
            b"\x1bOA",
            b"\x1b[3~",
            b"\x1b[1;5C",
            b"\x1b[[A",
            b"\x1b[Z",
            b"\x1bOP",
            b"\x1b[27;5;13~",
            b"\x1b[97;5u",
            // Keys of other terminals that end as answers do.
            b"\x1b[R",
            b"\x1b[5y",
            b"\x1b[1I",
            b"\x1b[2O",
        ] {
            let twice = [sequence, sequence].concat();
            assert_eq!(keys(&twice), [sequence, sequence]);
        }
    }

    #[test]
    fn alt_belongs_to_its_key_and_escape_alone_is_a_key() {
        assert_eq!(keys(b"\x1bf"), [b"\x1bf"]);
        assert_eq!(keys("\x1bé".as_bytes()), ["\x1bé".as_bytes()]);
        assert_eq!(keys(b"\x1b\x1b[A"), [b"\x1b\x1b[A"]);
        assert_eq!(keys(b"\x1b\x7f"), [b"\x1b\x7f"]);
        assert_eq!(keys(b"\x1b\x1b"), [b"\x1b", b"\x1b"]);
        assert_eq!(keys(b"\x1b"), [b"\x1b"]);
        assert_eq!(keys(b"\x1bO"), [b"\x1bO"]);
        assert_eq!(keys(b"\x1b]"), [b"\x1b]"]);
        assert_eq!(keys(b"\x1bP"), [b"\x1bP"]);
    }

    #[test]
    fn answers_of_the_terminal_are_not_typed() {
        for answer in [
            &b"\x1b[12;40R"[..],
            b"\x1b[?1;2c",
            b"\x1b[>41;354;0c",
            b"\x1b[0n",
            b"\x1b[?2026;2$y",
            b"\x1b[8;24;80t",
            b"\x1b]11;rgb:0000/0000/0000\x07",
            b"\x1b]11;rgb:ff/ff/ff\x1b\\",
            b"\x1bP>|XTerm(370)\x1b\\",
            b"\x1b[I",
            b"\x1b[O",
            b"\x1b[?1u",
            b"\x1bP1$r0m\x1b\\",
        ] {
            let between = [b"a", answer, b"b"].concat();
            let expected = [
                (&b"a"[..], KeystrokeKind::Key),
                (answer, KeystrokeKind::Answer),
                (b"b", KeystrokeKind::Key),
            ];
            assert_eq!(cut(&between), expected);
        }
    }

    #[test]
    fn mouse_and_paste_are_one_each() {
        for (bytes, kind) in [
            (&b"\x1b[M !!"[..], KeystrokeKind::Mouse),
            (b"\x1b[<0;12;5M", KeystrokeKind::Mouse),
            (b"\x1b[<0;12;5m", KeystrokeKind::Mouse),
            (b"\x1b[200~ls\r\x1b[A\x1b[201~", KeystrokeKind::Paste),
        ] {
            let followed = [bytes, b"x"].concat();
            assert_eq!(cut(&followed), [(bytes, kind), (b"x", KeystrokeKind::Key)]);
        }
    }

    #[test]
    fn a_sequence_without_end_counts_as_it_is() {
        assert_eq!(keys(b"\x1b[1;"), [b"\x1b[1;"]);
        assert_eq!(keys(b"\x1b[1\x1b[A"), [&b"\x1b[1"[..], b"\x1b[A"]);
        assert_eq!(
            cut(b"\x1b[200~ls"),
            [(&b"\x1b[200~ls"[..], KeystrokeKind::Paste)]
        );
    }

    proptest! {
        #[test]
        fn every_byte_belongs_to_one_key(bytes in prop::collection::vec(
            prop_oneof![any::<u8>(), Just(ESCAPE), Just(b'['), Just(b'M')], 0..60)) {
            let joined = keystrokes(&bytes).map(|keystroke| keystroke.bytes).collect::<Vec<_>>().concat();
            prop_assert_eq!(joined, bytes.clone());
            prop_assert!(keystrokes(&bytes).all(|keystroke| !keystroke.bytes.is_empty()));
        }
    }

    #[test]
    fn a_report_of_the_mouse_has_three_bytes_behind_its_letter() {
        let whole = b"\x1b[M !!";
        assert_eq!(cut(whole), [(&whole[..], KeystrokeKind::Mouse)]);
        assert_eq!(keys(b"\x1b[M !"), [&b"\x1b[M"[..], b" ", b"!"]);
    }

    #[test]
    fn only_what_a_person_did_is_typed() {
        let typed: Vec<&[u8]> = typed_keys(b"a\x1b[1;1R\x1b[Ab").collect();
        assert_eq!(typed, [&b"a"[..], b"\x1b[A", b"b"]);
    }
}
