//! The table of all that may reach the user's terminal, and the checker that reads it.
//!
//! The client renders, it never forwards (docs/threat-model.md §8). [`Checker`] is for tests: it
//! is deliberately not our parser, so that both cannot be wrong in the same way.

use std::fmt;

use crate::base64::is_base64;
use crate::clipboard::CLIPBOARD_BYTES_MAX;
use crate::colors::{digits, parse_color};
use crate::csi::PARAMETERS_MAX;
use crate::events::{NOTIFICATION_BODY_MAX, NOTIFICATION_TITLE_MAX};
use crate::hyperlink::LINK_URI_MAX;
use crate::osc::TITLE_MAX;
use crate::palette::{DYNAMIC, SPECIAL_COUNT};
use crate::probe::QUESTIONS;

/// Schemes that a hyperlink may have; a link of another is shown as plain text.
///
/// Source: docs/threat-model.md §8.
pub(crate) const LINK_SCHEMES: [&str; 5] = ["http", "https", "mailto", "ftp", "file"];

/// Controls that may stand between text.
const CONTROLS: [u8; 4] = [b'\r', b'\n', 0x08, 0x07];

/// Escapes of one letter: save and restore the cursor, in smcup and rmcup of rxvt.
const ESCAPES: [u8; 2] = *b"78";

/// A permitted control sequence.
struct Sequence {
    /// The private prefix, or 0.
    prefix: u8,
    /// The intermediate, or 0.
    intermediate: u8,
    finals: &'static [u8],
    parameters: Parameters,
}

/// The parameters that may stand before the final byte.
enum Parameters {
    /// At most this many numbers.
    Numbers(usize),
    /// Rendition: at most [`PARAMETERS_MAX`] numbers with `;` and `:`.
    Rendition,
    /// One of these, by itself.
    OneOf(&'static [u16]),
    /// Flags of five bits, which replace those before them.
    KeyboardFlags,
    /// Exactly one of these texts.
    Exactly(&'static [&'static str]),
}

const fn csi(prefix: u8, finals: &'static [u8], parameters: Parameters) -> Sequence {
    Sequence {
        prefix,
        intermediate: 0,
        finals,
        parameters,
    }
}

/// Every control sequence that a client may write: what frames are made of, and smcup and rmcup of
/// xterm, screen, tmux, rxvt and alacritty.
const SEQUENCES: [Sequence; 12] = [
    // Cursor movement; position and scrolling region; erasing cells, inserting and deleting lines.
    csi(0, b"ABCD", Parameters::Numbers(1)),
    csi(0, b"Hr", Parameters::Numbers(2)),
    csi(0, b"XLM", Parameters::Numbers(1)),
    // To the end of the row or screen; all of the screen in rmcup of rxvt; what is above it, where the program has cleared that.
    csi(0, b"K", Parameters::Exactly(&[""])),
    csi(0, b"J", Parameters::Exactly(&["", "2", "3"])),
    csi(0, b"m", Parameters::Rendition),
    // Cursor keys, reverse screen, autowrap, cursor; alternate screen (47: rxvt); mouse, focus,
    // mouse encodings, paste, synchronised output, grapheme clusters.
    csi(
        b'?',
        b"hl",
        Parameters::OneOf(&[
            1, 5, 7, 9, 25, 47, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 1049, 2004,
            2026, 2027,
        ]),
    ),
    // The forms of keys.
    csi(b'=', b"u", Parameters::KeyboardFlags),
    csi(b'>', b"u", Parameters::Exactly(&[""])),
    csi(b'<', b"u", Parameters::Exactly(&[""])),
    // The title stack.
    csi(0, b"t", Parameters::Exactly(&["22;0;0", "23;0;0"])),
    // The cursor's shape.
    Sequence {
        prefix: 0,
        intermediate: b' ',
        finals: b"q",
        parameters: Parameters::OneOf(&[0, 1, 2, 3, 4, 5, 6]),
    },
];

/// Returns true if a link with this id and URI may be written.
pub(crate) fn is_permitted_link(id: &str, uri: &str) -> bool {
    let plain = |text: &str| text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    let scheme = uri.split(':').next().unwrap_or_default();
    uri.len() <= LINK_URI_MAX
        && id.len() <= LINK_URI_MAX
        && plain(id)
        && plain(uri)
        && !id.contains([':', ';'])
        && uri.contains(':')
        && LINK_SCHEMES
            .iter()
            .any(|known| known.eq_ignore_ascii_case(scheme))
}

/// Returns true if `text` may be written to the clipboard: base64, and not too long.
pub(crate) fn is_permitted_clipboard(text: &str) -> bool {
    text.len() <= CLIPBOARD_BYTES_MAX && is_base64(text)
}

/// Returns true if a text may be written for these selections: the clipboard, or others, each once.
fn is_permitted_selection(targets: &str, text: &str) -> bool {
    let known = "pqs01234567";
    let mut at = 0;
    let are_in_order = targets.chars().all(|target| {
        let found = known.get(at..).and_then(|rest| rest.find(target));
        found.is_some_and(|found| {
            at += found + 1;
            true
        })
    });
    (targets == "c" || !targets.is_empty() && are_in_order) && is_permitted_clipboard(text)
}

/// Returns true for an event in a form in which it is written: a notification that is not too long and cannot be taken for a
/// command, a progress, a folder, the beginning or the end of a command.
fn is_permitted_event(text: &str) -> bool {
    /// Source: docs/threat-model.md §8, and what stands between the parts.
    const PARTS_MAX: usize = 2 * NOTIFICATION_TITLE_MAX + NOTIFICATION_BODY_MAX + 32;
    let number = |text: &str, most: u8| digits(text).is_some_and(|number: u8| number <= most);
    if let Some(progress) = text.strip_prefix("9;4;") {
        let parts = progress.split_once(';');
        return parts.is_some_and(|(state, percent)| number(state, 4) && number(percent, 100));
    }
    match text.split_once(';') {
        Some(("7", address)) => {
            address.starts_with("file://")
                && address.len() <= LINK_URI_MAX
                && address.bytes().all(|byte| matches!(byte, b'!'..=b'~'))
        }
        Some(("133", mark)) => {
            let status = mark.strip_prefix("D;");
            matches!(mark, "C" | "D") || status.is_some_and(|status| number(status, 255))
        }
        Some(("9", said)) => {
            let beginning = said.split(';').next().unwrap_or_default();
            let is_command = said.contains(';') && digits::<u8>(beginning).is_some();
            !said.is_empty() && !is_command && said.chars().count() <= PARTS_MAX
        }
        Some(("99", said)) => {
            let forms = [";", "i=fulmar:d=0;", "i=fulmar:p=body;"];
            let payload = forms.iter().find_map(|form| said.strip_prefix(form));
            payload.is_some_and(|payload| payload.chars().count() <= PARTS_MAX)
        }
        Some(("777", said)) => {
            let parts = said
                .strip_prefix("notify;")
                .and_then(|said| said.split_once(';'));
            parts.is_some() && said.chars().count() <= PARTS_MAX
        }
        _ => false,
    }
}

/// Returns true if `number` is that of a dynamic colour and `more`.
fn is_dynamic(number: &str, more: u8) -> bool {
    let number: Option<u8> = digits(number);
    number.is_some_and(|number| DYNAMIC.contains(&number.wrapping_sub(more)))
}

/// Returns true for a colour in the one form that is written.
fn is_permitted_color(text: &str) -> bool {
    let is_plain = text.len() == "rgb:ffff/ffff/ffff".len() && text.starts_with("rgb:");
    is_plain && parse_color(text).is_some()
}

/// Something that must never be written to a user's terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The forbidden thing, in words.
    pub what: &'static str,
    /// The bytes, from the beginning of the sequence to where it went wrong.
    pub bytes: Vec<u8>,
    /// The position of their end in everything that was checked.
    pub offset: u64,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = String::from_utf8_lossy(&self.bytes);
        write!(f, "{} at byte {}: {bytes:?}", self.what, self.offset)
    }
}

/// Reads all that a client writes to its terminal and finds what is not permitted.
///
/// ```
/// use fulmar_terminal::Checker;
///
/// let mut checker = Checker::default();
/// assert!(checker.check(b"\x1b[1;31mred\x1b[m\r\n").is_ok());
/// assert!(checker.check(b"\x1b[6n").is_err()); // the terminal would answer
/// ```
#[derive(Clone, Debug, Default)]
pub struct Checker {
    /// The bytes of the sequence or character that is not complete.
    pending: Vec<u8>,
    offset: u64,
    /// True once the terminal was asked, which is done once.
    has_asked: bool,
}

/// The status of a sequence of which the beginning is known.
enum SequenceStatus {
    Incomplete,
    Complete,
    Bad(&'static str),
}

impl Checker {
    /// Checks the next bytes.
    ///
    /// # Errors
    ///
    /// The first violation; what follows it is not looked at.
    pub fn check(&mut self, bytes: &[u8]) -> Result<(), Violation> {
        for &byte in bytes {
            self.offset += 1;
            self.pending.push(byte);
            match self.judge() {
                SequenceStatus::Incomplete => {}
                SequenceStatus::Complete => self.pending.clear(),
                SequenceStatus::Bad(what) => {
                    return Err(Violation {
                        what,
                        bytes: std::mem::take(&mut self.pending),
                        offset: self.offset,
                    });
                }
            }
        }
        Ok(())
    }

    fn judge(&mut self) -> SequenceStatus {
        if !self.has_asked && self.pending == QUESTIONS {
            self.has_asked = true;
            return SequenceStatus::Complete;
        }
        let judged = judge(&self.pending);
        match judged {
            SequenceStatus::Bad(_) if !self.has_asked && QUESTIONS.starts_with(&self.pending) => {
                SequenceStatus::Incomplete
            }
            _ => judged,
        }
    }

    /// Checks that no sequence is left open.
    ///
    /// # Errors
    ///
    /// What is open.
    pub fn finish(self) -> Result<(), Violation> {
        if self.pending.is_empty() {
            return Ok(());
        }
        Err(Violation {
            what: "left open",
            bytes: self.pending,
            offset: self.offset,
        })
    }
}

fn judge(bytes: &[u8]) -> SequenceStatus {
    match bytes {
        [] => SequenceStatus::Incomplete,
        [0x1b] | [0x1b, b'['] => SequenceStatus::Incomplete,
        [0x1b, b'[', sequence @ ..] => judge_csi(sequence),
        [0x1b, b']', text @ ..] => judge_osc(text),
        [0x1b, letter] if ESCAPES.contains(letter) => SequenceStatus::Complete,
        [0x1b, ..] => SequenceStatus::Bad("an escape that is not in the table"),
        [control] if CONTROLS.contains(control) => SequenceStatus::Complete,
        [0..0x20 | 0x7f, ..] => SequenceStatus::Bad("a control"),
        text => judge_text(text),
    }
}

fn judge_text(bytes: &[u8]) -> SequenceStatus {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.chars().any(char::is_control) => SequenceStatus::Bad("a C1 control"),
        Ok(_) => SequenceStatus::Complete,
        Err(error) if error.error_len().is_none() => SequenceStatus::Incomplete,
        Err(_) => SequenceStatus::Bad("invalid UTF-8"),
    }
}

fn judge_csi(sequence: &[u8]) -> SequenceStatus {
    let Some((&last, body)) = sequence.split_last() else {
        return SequenceStatus::Incomplete;
    };
    if matches!(last, 0x20..0x40) {
        return SequenceStatus::Incomplete;
    }
    let (prefix, body) = match body {
        [prefix @ 0x3c..0x40, rest @ ..] => (*prefix, rest),
        _ => (0, body),
    };
    let (intermediate, body) = match body {
        [rest @ .., intermediate @ 0x20..0x30] => (*intermediate, rest),
        _ => (0, body),
    };
    let Ok(text) = std::str::from_utf8(body) else {
        return SequenceStatus::Bad("not ASCII in a control sequence");
    };
    let permitted = SEQUENCES.iter().any(|known| {
        known.prefix == prefix
            && known.intermediate == intermediate
            && known.finals.contains(&last)
            && known.parameters.permit(text)
    });
    if permitted {
        SequenceStatus::Complete
    } else {
        SequenceStatus::Bad("a control sequence that is not in the table")
    }
}

impl Parameters {
    fn permit(&self, text: &str) -> bool {
        match self {
            Parameters::Numbers(most) => are_numbers(text.split(';'), *most),
            Parameters::Rendition => are_numbers(text.split([';', ':']), PARAMETERS_MAX),
            Parameters::OneOf(numbers) => digits(text).is_some_and(|n| numbers.contains(&n)),
            Parameters::KeyboardFlags => {
                let flags: Option<u8> = text.strip_suffix(";1").and_then(digits);
                flags.is_some_and(|flags| flags < 32)
            }
            Parameters::Exactly(texts) => texts.contains(&text),
        }
    }
}

/// Returns true if there are at most so many, and each is left out or at most 65 535.
fn are_numbers<'a>(texts: impl Iterator<Item = &'a str> + Clone, most: usize) -> bool {
    let is_number = |text: &str| text.is_empty() || digits::<u16>(text).is_some();
    texts.clone().count() <= most && texts.into_iter().all(is_number)
}

fn judge_osc(bytes: &[u8]) -> SequenceStatus {
    let text = match bytes {
        [text @ .., 0x07] | [text @ .., 0x1b, b'\\'] => text,
        [.., 0x1b] => return SequenceStatus::Incomplete,
        [.., last] if *last < 0x20 || *last == 0x7f => {
            return SequenceStatus::Bad("a control in a string");
        }
        _ => return SequenceStatus::Incomplete,
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return SequenceStatus::Bad("invalid UTF-8 in a string");
    };
    if text.chars().any(char::is_control) {
        return SequenceStatus::Bad("a control in a string");
    }
    let permitted = match text.split_once(';') {
        Some(("0" | "1" | "2", title)) => title.chars().count() <= TITLE_MAX,
        Some(("4", rest)) => rest.split_once(';').is_some_and(|(index, color)| {
            digits::<u8>(index).is_some() && is_permitted_color(color)
        }),
        Some(("5", rest)) => rest.split_once(';').is_some_and(|(index, color)| {
            digits(index).is_some_and(|index: u8| index < SPECIAL_COUNT)
                && is_permitted_color(color)
        }),
        Some(("104", index)) => digits::<u8>(index).is_some(),
        Some(("105", index)) => digits(index).is_some_and(|index: u8| index < SPECIAL_COUNT),
        Some(("52", rest)) => rest
            .split_once(';')
            .is_some_and(|(targets, text)| is_permitted_selection(targets, text)),
        Some(("7" | "9" | "99" | "133" | "777", _)) => is_permitted_event(text),
        Some(("8", rest)) => rest.split_once(';').is_some_and(|(parameters, uri)| {
            let id = parameters.strip_prefix("id=");
            let id_is_fine = parameters.is_empty() || id.is_some_and(|id| !id.is_empty());
            let ends = parameters.is_empty() && uri.is_empty();
            ends || id_is_fine && is_permitted_link(id.unwrap_or_default(), uri)
        }),
        Some((number, color)) => is_dynamic(number, 0) && is_permitted_color(color),
        None => is_dynamic(text, 100),
    };
    if permitted {
        SequenceStatus::Complete
    } else {
        SequenceStatus::Bad("a string that is not in the table")
    }
}

#[cfg(test)]
mod tests {
    use data_encoding::BASE64;

    use super::*;
    use proptest::prelude::*;

    fn is_permitted(text: &str) -> bool {
        let mut checker = Checker::default();
        checker.check(text.as_bytes()).is_ok() && checker.finish().is_ok()
    }

    #[test]
    fn what_a_frame_is_made_of_is_permitted() {
        for text in [
            "text, 你 and e\u{301}",
            "\r\n\x08\x07",
            "\x1b[H\x1b[2;3H\x1b[A\x1b[K\x1b[5X\x1b[2;20r\x1b[r\x1b[3L",
            "\x1b[0;1;38;5;200;48;2;1;2;3m\x1b[4:3;58:2::1:2:3m\x1b[m",
            "\x1b[?25l\x1b[?2004h\x1b[?1000h\x1b[?1006h\x1b[?1049h\x1b[22;0;0t",
            "\x1b7\x1b[?47h\x1b[2J\x1b[?47l\x1b8",
            "\x1b[4 q",
            "\x1b[>u\x1b[=31;1u\x1b[<u",
            "\x1b]0;title\x07\x1b]2;title\x1b\\",
            "\x1b]4;255;rgb:0000/ffff/1234\x1b\\\x1b]104;255\x1b\\",
            "\x1b]11;rgb:0000/ffff/1234\x1b\\\x1b]111\x1b\\",
            "\x1b]5;4;rgb:0000/ffff/1234\x1b\\\x1b]105;4\x1b\\",
            "\x1b]19;rgb:0000/ffff/1234\x1b\\\x1b]119\x1b\\",
            "\x1b]52;c;aGk=\x07\x1b]52;pqs07;aGk=\x07",
            "\x1b]9;host: done; at last\x1b\\\x1b]777;notify;host;done; at last\x1b\\",
            "\x1b]99;;host\x1b\\\x1b]99;i=fulmar:d=0;host\x1b\\\x1b]99;i=fulmar:p=body;done\x1b\\",
            "\x1b]9;4;1;100\x1b\\\x1b]7;file://h/a%20b\x1b\\\x1b]133;C\x1b\\\x1b]133;D;255\x1b\\",
            "\x1b]8;id=1;https://example.org/\x1b\\\x1b]8;;\x1b\\",
        ] {
            assert!(is_permitted(text), "{text:?}");
        }
    }

    #[test]
    fn what_makes_a_terminal_answer_or_act_is_found() {
        for text in [
            "\x1b[c",
            "\x1b[>c",
            "\x1b[5n",
            "\x1b[6n",
            "\x1b[?6n",
            "\x1b[?2026$p",
            "\x1b[>q",
            "\x1b[?u",
            "\x1b[=32;1u",
            "\x1b[=1u",
            "\x1b[>1u",
            "\x1b[18t",
            "\x1b[21t",
            "\x1b[8;50;100t",
            "\x1b[4J",
            "\x1b[1J",
            "\x1b[1K",
            "\x1b[4l",
            "\x1b[?12h",
            "\x1b[?1047h",
            "\x1b[?1048h",
            "\x1b[?1000;1006h",
            "\x1b[+1A",
            "\x1b[?+25h",
            "\x1b[+1 q",
            "\x1b[=+1;1u",
            "\x1b]4;+1;rgb:0000/ffff/1234\x1b\\",
            "\x1b]104;+1\x1b\\",
            "\x1b]11;rgb:+000/ffff/1234\x1b\\",
            "\x1b[65536A",
            "\x1b[65536m",
            "\x1b[?3h",
            "\x1b[20h",
            "\x1bc",
            "\x1bZ",
            "\x05",
            "\x7f",
            "\u{9b}6n",
            "\x1bP$qm\x1b\\",
            "\x1b_G\x1b\\",
            "\x1b]4;1;?\x07",
            "\x1b]4;256;rgb:0000/ffff/1234\x07",
            "\x1b]4;1;rgb:0000/ffff/1234;2;?\x07",
            "\x1b]11;red\x07",
            "\x1b]11;mediumspring green\x07",
            "\x1b]104\x07",
            "\x1b]120\x07",
            "\x1b]5;5;rgb:0000/ffff/1234\x07",
            "\x1b]20;rgb:0000/ffff/1234\x07",
            "\x1b]105\x07",
            "\x1b]10;?\x07",
            "\x1b]52;c;?\x07",
            "\x1b]8;;javascript:alert(1)\x1b\\",
            "\x1b]777;other;a;b\x07",
            "\x1b]777;notify;a\x07",
            "\x1b]9;\x07",
            "\x1b]9;9;/tmp\x07",
            "\x1b]9;4;5;0\x07",
            "\x1b]9;4;1;101\x07",
            "\x1b]99;i=1;a\x07",
            "\x1b]99;i=fulmar:p=?;a\x07",
            "\x1b]7;http://a/\x07",
            "\x1b]133;A\x07",
            "\x1b]133;D;256\x07",
            "\x1b]52;cp;aGk=\x07",
            "\x1b]52;pp;aGk=\x07",
            "\x1b]52;p;?\x07",
            "\x1b]0;a\u{9c}b\x07",
            "\x1b[1;2;3H",
            "\x1b[31",
        ] {
            assert!(!is_permitted(text), "{text:?}");
        }
        let mut checker = Checker::default();
        assert!(checker.check(b"\xff").is_err());
    }

    #[test]
    fn the_terminal_is_asked_once_and_nothing_else() {
        let questions = std::str::from_utf8(QUESTIONS).unwrap();
        let text = format!("a{questions}b");
        assert!(is_permitted(&text));
        assert!(!is_permitted(&text.repeat(2)));
        for end in 1..questions.len() {
            assert!(!is_permitted(&format!("{}x", &questions[..end])), "{end}");
            assert!(!is_permitted(&questions[..end]), "{end}");
        }
    }

    #[test]
    fn a_clipboard_is_whole_base64_or_not_permitted() {
        let clipboard = |text: &str| is_permitted(&format!("\x1b]52;c;{text}\x07"));
        for text in ["", "Zg==", "Zm8=", "Zm9v", "+/+/"] {
            assert!(clipboard(text), "{text:?}");
        }
        for text in [
            "m", "ab", "abc", "a===", "=", "====", "Zg==Zg==", "Zh==", "-_-_",
        ] {
            assert!(!clipboard(text), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn base64_is_what_an_encoder_writes(text in "[ABQgwf/=]{0,9}") {
            let bytes = BASE64.decode(text.as_bytes());
            let is_written = bytes.is_ok_and(|bytes| BASE64.encode(&bytes) == text);
            prop_assert_eq!(is_base64(&text), is_written);
        }
    }

    #[test]
    fn what_has_a_cap_is_permitted_up_to_it() {
        let title = |length: usize| format!("\x1b]0;{}\x07", "x".repeat(length));
        assert!(is_permitted(&title(TITLE_MAX)));
        assert!(!is_permitted(&title(TITLE_MAX + 1)));
        let clipboard = |length: usize| format!("\x1b]52;c;{}\x07", "A".repeat(length));
        assert!(is_permitted(&clipboard(CLIPBOARD_BYTES_MAX)));
        assert!(!is_permitted(&clipboard(CLIPBOARD_BYTES_MAX + 4)));
        let link = |length: usize| {
            let target = format!("http://{}", "x".repeat(length - "http://".len()));
            format!("\x1b]8;;{target}\x1b\\")
        };
        assert!(is_permitted(&link(LINK_URI_MAX)));
        assert!(!is_permitted(&link(LINK_URI_MAX + 1)));
        let rendition = |count: usize| format!("\x1b[{}m", vec!["1"; count].join(";"));
        assert!(is_permitted(&rendition(PARAMETERS_MAX)));
        assert!(!is_permitted(&rendition(PARAMETERS_MAX + 1)));
    }

    #[test]
    fn the_first_violation_is_told_with_its_place() {
        let mut checker = Checker::default();
        let violation = checker.check(b"ab\x1b[6ncd").unwrap_err();
        assert_eq!(violation.bytes, b"\x1b[6n");
        assert_eq!(violation.offset, 6);
    }
}
