//! The key that commands the client instead of going to the program.

use crate::compat_mode::CompatMode;
use crate::key_event::{KeyEvent, key_events};

/// `Ctrl-^`.
const DEFAULT_KEY: u8 = 0x1E;
/// Ctrl-C, Ctrl-D, LF, Ctrl-L and CR are typed too often to be taken away from the program.
const RESERVED: [u8; 5] = [0x03, 0x04, 0x0A, 0x0C, 0x0D];
const CTRL_L: u8 = 0x0C;
const CTRL_Z: u8 = 0x1A;
/// The amount by which the Ctrl key lowers a letter. Added to a control character, it gives the letter that names it.
const CONTROL_OFFSET: u8 = 0x40;

/// The escape key, if there is any.
///
/// Source: docs/protocol.md §9.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EscapeKey(Option<u8>);

impl EscapeKey {
    /// No escape key: everything is typed.
    pub const DISABLED: EscapeKey = EscapeKey(None);

    /// Returns the key that a setting (`MOSH_ESCAPE_KEY`) means: one byte from 1 to 127 is that
    /// key, nothing is no key at all, and everything else is the default, as are the keys that are
    /// typed too often: Ctrl-C, Ctrl-D, LF, Ctrl-L, CR.
    pub fn from_setting(setting: &[u8]) -> EscapeKey {
        match setting {
            [] => EscapeKey::DISABLED,
            [key @ 1..=127] if !RESERVED.contains(key) => EscapeKey(Some(*key)),
            _ => EscapeKey::default(),
        }
    }

    /// Returns how a person would name the key, such as `Ctrl-^`; `None` if there is none.
    pub fn label(self) -> Option<String> {
        self.0.map(|key| match key {
            0x7F => "Delete".to_owned(),
            b' ' => "Space".to_owned(),
            _ if key.is_ascii_control() => format!("Ctrl-{}", char::from(pass_character(key))),
            _ => char::from(key).to_string(),
        })
    }

    /// Returns true if the key counts only at the beginning of a line.
    pub(crate) fn needs_line_start(self) -> bool {
        self.0.is_some_and(|key| !key.is_ascii_control())
    }

    /// Returns how a person would name what, typed after the key, types the key itself.
    pub(crate) fn pass_label(self) -> Option<String> {
        self.0.map(|key| match pass_character(key) {
            b' ' => "Space".to_owned(),
            pass => char::from(pass).to_string(),
        })
    }
}

/// Returns what types the escape key itself when it follows it; of a letter either case does.
const fn pass_character(key: u8) -> u8 {
    if key.is_ascii_control() {
        key ^ CONTROL_OFFSET
    } else {
        key
    }
}

impl Default for EscapeKey {
    fn default() -> EscapeKey {
        EscapeKey(Some(DEFAULT_KEY))
    }
}

/// A command of the user to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// End the session.
    Quit,
    /// Give the terminal back to the shell that started the client.
    Suspend,
    /// Paint everything anew.
    Repaint,
    /// Leave the session, which goes on.
    Detach,
    /// Say what the escape key can do.
    Help,
    /// Tell about the link.
    LinkInfo,
    /// Have ssh carry the session, and ask what it has to ask.
    RunSsh,
    /// Show what has left the screen.
    OpenPager,
}

/// Sorts what is typed into bytes for the program and commands for the client.
///
/// ```text
///             escape key                          '.' Ctrl-Z (d i r [ ?)
///   typing ───────────────► armed ──────────────────────────────────► command
///     ▲    (a printable one  │  │ pass character: the escape byte is typed
///     │     at the start of  │  │ other: the escape byte and this one are typed
///     └─────a line only)─────┴──┘
/// ```
#[derive(Debug)]
pub(crate) struct EscapeReader {
    key: EscapeKey,
    compat: CompatMode,
    /// The escape key, if that was the last one pressed.
    armed: Option<Armed>,
    /// The numbers of keys that were pressed and are none for the program, and so are their releases.
    consumed: Vec<u32>,
    at_line_start: bool,
}

/// The escape key, held back.
#[derive(Debug)]
struct Armed {
    /// The bytes that were typed: the press, and the release if that came.
    text: Vec<u8>,
    /// Its number, as long as it is not let go.
    code: Option<u32>,
}

/// The most keys that are remembered to be held down: of more, the oldest go. Chosen by eye: a hand has some fingers.
const CONSUMED_MAX: usize = 8;

impl EscapeReader {
    pub(crate) fn new(key: EscapeKey, compat: CompatMode) -> EscapeReader {
        EscapeReader {
            key,
            compat,
            armed: None,
            consumed: Vec::new(),
            // To stock the first key of a session follows no line end.
            at_line_start: compat == CompatMode::Fulmar,
        }
    }

    /// Returns true if the escape key was the last one pressed.
    pub(crate) fn is_armed(&self) -> bool {
        self.armed.is_some()
    }

    /// Appends what is for the program to `typed` and returns the commands. What follows a
    /// [`Command::Quit`] or a [`Command::Detach`] is dropped. Keys may be in the form of kitty's keyboard protocol if `is_encoded`.
    pub(crate) fn read(
        &mut self,
        bytes: &[u8],
        is_encoded: bool,
        typed: &mut Vec<u8>,
    ) -> Vec<Command> {
        let mut commands = Vec::new();
        for event in key_events(bytes, is_encoded) {
            if self.withholds_release(event) {
                continue;
            }
            let command = match (self.key.0, self.armed.take()) {
                (Some(key), Some(armed)) => self.read_armed(key, armed, event, typed),
                (Some(key), None) if self.is_pressed(key, event) => {
                    self.armed = Some(Armed {
                        text: event.text.to_vec(),
                        code: event.code,
                    });
                    None
                }
                _ => self.type_key(event, typed),
            };
            commands.extend(command);
            if matches!(command, Some(Command::Quit | Command::Detach)) {
                break;
            }
        }
        commands
    }

    /// Takes note of a key that is none for the program: neither is its release.
    pub(crate) fn consume(&mut self, code: Option<u32>) {
        if self.consumed.len() == CONSUMED_MAX {
            self.consumed.remove(0);
        }
        self.consumed.extend(code);
    }

    /// Returns true for the release of a key of which the program has no press.
    fn withholds_release(&mut self, event: KeyEvent<'_>) -> bool {
        let Some(code) = event.code else { return false };
        let before = self.consumed.len();
        self.consumed.retain(|consumed| *consumed != code);
        if !event.is_release {
            return false;
        }
        let armed = self.armed.as_mut();
        if let Some(armed) = armed.filter(|armed| armed.code == Some(code)) {
            armed.code = None;
            armed.text.extend_from_slice(event.text);
            return true;
        }
        self.consumed.len() < before
    }

    /// A printable escape key is too useful elsewhere to be taken away in the middle of a line.
    fn works_here(&self, key: u8) -> bool {
        !EscapeKey(Some(key)).needs_line_start() || self.at_line_start
    }

    fn is_pressed(&self, key: u8, event: KeyEvent<'_>) -> bool {
        event.byte == Some(key) && !event.is_release && self.works_here(key)
    }

    fn read_armed(
        &mut self,
        key: u8,
        armed: Armed,
        event: KeyEvent<'_>,
        typed: &mut Vec<u8>,
    ) -> Option<Command> {
        let is_own = self.compat == CompatMode::Fulmar;
        let command = match event.byte {
            // One that was pressed before is let go.
            _ if event.is_release => {
                typed.extend_from_slice(event.text);
                self.armed = Some(armed);
                return None;
            }
            // For the key that comes, which says itself what is held with it.
            _ if event.is_modifier => {
                self.consume(event.code);
                self.armed = Some(armed);
                return None;
            }
            Some(b'.') => Command::Quit,
            Some(CTRL_Z) => Command::Suspend,
            Some(pass) if is_pass_character(key, pass) => {
                self.consume(event.code);
                return self.type_escape_key(key, &armed.text, typed);
            }
            Some(b'd') if is_own => Command::Detach,
            Some(b'?') if is_own => Command::Help,
            Some(b'i') if is_own => Command::LinkInfo,
            Some(b'r') if is_own => Command::RunSsh,
            Some(b'[') if is_own => Command::OpenPager,
            _ => {
                self.type_escape_key(key, &armed.text, typed);
                return self.type_key(event, typed);
            }
        };
        self.consume(armed.code);
        self.consume(event.code);
        Some(command)
    }

    fn type_escape_key(&mut self, key: u8, armed: &[u8], typed: &mut Vec<u8>) -> Option<Command> {
        let event = KeyEvent {
            text: armed,
            byte: Some(key),
            code: None,
            is_release: false,
            is_modifier: false,
        };
        self.type_key(event, typed)
    }

    fn type_key(&mut self, event: KeyEvent<'_>, typed: &mut Vec<u8>) -> Option<Command> {
        typed.extend_from_slice(event.text);
        if !event.is_release {
            self.at_line_start = matches!(event.byte, Some(b'\r' | b'\n'));
        }
        (event.byte == Some(CTRL_L) && !event.is_release).then_some(Command::Repaint)
    }
}

/// Returns true if `byte` after the escape key `key` means the escape key itself.
fn is_pass_character(key: u8, byte: u8) -> bool {
    let byte = if key.is_ascii_control() {
        byte.to_ascii_uppercase()
    } else {
        byte
    };
    byte == pass_character(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(setting: &[u8], compat: CompatMode, input: &[u8]) -> (Vec<u8>, Vec<Command>) {
        let mut reader = EscapeReader::new(EscapeKey::from_setting(setting), compat);
        let mut typed = Vec::new();
        let commands = reader.read(input, false, &mut typed);
        (typed, commands)
    }

    fn own(input: &[u8]) -> (Vec<u8>, Vec<Command>) {
        read(b"\x1e", CompatMode::Fulmar, input)
    }

    fn stock(input: &[u8]) -> (Vec<u8>, Vec<Command>) {
        read(b"\x1e", CompatMode::Mosh, input)
    }

    #[test]
    fn a_setting_of_one_plain_byte_is_that_key() {
        assert_eq!(EscapeKey::from_setting(b"~"), EscapeKey(Some(b'~')));
        assert_eq!(EscapeKey::from_setting(b"\x01"), EscapeKey(Some(1)));
        assert_eq!(EscapeKey::from_setting(b""), EscapeKey::DISABLED);
        for odd in [b"ab".as_slice(), b"\x80", b"\xff", b"\0"] {
            assert_eq!(EscapeKey::from_setting(odd), EscapeKey::default());
        }
        for reserved in RESERVED {
            assert_eq!(EscapeKey::from_setting(&[reserved]), EscapeKey::default());
        }
    }

    #[test]
    fn keys_have_names() {
        assert_eq!(EscapeKey::default().label().as_deref(), Some("Ctrl-^"));
        assert_eq!(EscapeKey(Some(1)).label().as_deref(), Some("Ctrl-A"));
        assert_eq!(EscapeKey(Some(b'~')).label().as_deref(), Some("~"));
        assert_eq!(EscapeKey::DISABLED.label(), None);
    }

    #[test]
    fn dot_quits_and_drops_the_rest() {
        assert_eq!(own(b"ls\x1e.rm"), (b"ls".to_vec(), vec![Command::Quit]));
        assert_eq!(stock(b"\x1e."), (vec![], vec![Command::Quit]));
    }

    #[test]
    fn control_z_suspends_and_typing_goes_on() {
        assert_eq!(own(b"a\x1e\x1ab"), (b"ab".to_vec(), vec![Command::Suspend]));
    }

    #[test]
    fn the_pass_character_types_the_escape_byte_once() {
        assert_eq!(own(b"\x1e^x"), (b"\x1ex".to_vec(), vec![]));
        for pass in [b"a", b"A"] {
            let input = [b"\x01".as_slice(), pass].concat();
            assert_eq!(
                read(b"\x01", CompatMode::Fulmar, &input),
                (b"\x01".to_vec(), vec![])
            );
        }
        assert_eq!(
            read(b"~", CompatMode::Fulmar, b"\r~~"),
            (b"\r~".to_vec(), vec![])
        );
    }

    #[test]
    fn another_key_is_typed_together_with_the_escape_byte() {
        assert_eq!(own(b"\x1ex"), (b"\x1ex".to_vec(), vec![]));
        assert_eq!(own(b"\x1e\x1e"), (b"\x1e\x1e".to_vec(), vec![]));
    }

    #[test]
    fn d_detaches_under_our_own_name_and_drops_the_rest() {
        assert_eq!(own(b"ls\x1edrm"), (b"ls".to_vec(), vec![Command::Detach]));
        assert_eq!(stock(b"\x1ed"), (b"\x1ed".to_vec(), vec![]));
    }

    #[test]
    fn help_and_link_information_exist_only_under_our_own_name() {
        assert_eq!(own(b"\x1e?"), (vec![], vec![Command::Help]));
        assert_eq!(own(b"\x1ei"), (vec![], vec![Command::LinkInfo]));
        assert_eq!(stock(b"\x1e?"), (b"\x1e?".to_vec(), vec![]));
        assert_eq!(stock(b"\x1ei"), (b"\x1ei".to_vec(), vec![]));
    }

    #[test]
    fn to_stock_the_first_key_is_no_beginning_of_a_line() {
        let (typed, commands) = read(b"~", CompatMode::Fulmar, b"~.");
        assert_eq!((typed, commands), (vec![], vec![Command::Quit]));
        let (typed, commands) = read(b"~", CompatMode::Mosh, b"~.");
        assert_eq!((typed, commands), (b"~.".to_vec(), vec![]));
    }

    #[test]
    fn a_printable_key_works_only_at_the_beginning_of_a_line() {
        assert_eq!(
            read(b"~", CompatMode::Fulmar, b"a~."),
            (b"a~.".to_vec(), vec![])
        );
        for end in [b'\r', b'\n'] {
            assert_eq!(
                read(b"~", CompatMode::Fulmar, &[end, b'~', b'.']),
                (vec![end], vec![Command::Quit])
            );
        }
        assert_eq!(
            read(b"~", CompatMode::Fulmar, b"\ra~."),
            (b"\ra~.".to_vec(), vec![])
        );
    }

    #[test]
    fn without_an_escape_key_everything_is_typed() {
        let all: Vec<u8> = (0..=255).filter(|&byte| byte != CTRL_L).collect();
        assert_eq!(read(b"", CompatMode::Fulmar, &all), (all, vec![]));
    }

    #[test]
    fn control_l_is_typed_and_repaints() {
        assert_eq!(own(b"\x0c"), (b"\x0c".to_vec(), vec![Command::Repaint]));
    }

    #[test]
    fn input_may_be_cut_anywhere() {
        let mut reader = EscapeReader::new(EscapeKey::default(), CompatMode::Fulmar);
        let mut typed = Vec::new();
        assert!(reader.read(b"\x1e", false, &mut typed).is_empty());
        assert!(reader.is_armed());
        assert_eq!(reader.read(b".", false, &mut typed), vec![Command::Quit]);
        assert!(!reader.is_armed());
        assert!(typed.is_empty());
    }

    #[test]
    fn keys_in_another_form_are_the_same_keys() {
        let read = |input: &[u8]| {
            let mut reader = EscapeReader::new(EscapeKey::default(), CompatMode::Fulmar);
            let mut typed = Vec::new();
            let commands = reader.read(input, true, &mut typed);
            (typed, commands)
        };
        // The key is pressed and let go, then another one with a modifier.
        let quit = b"a\x1b[94;5u\x1b[94;5:3u.";
        assert_eq!(read(quit), (b"a".to_vec(), vec![Command::Quit]));
        let help = b"\x1b[54;6u\x1b[57441;2u\x1b[47:63;2u";
        assert_eq!(read(help), (vec![], vec![Command::Help]));
        let suspend = b"\x1b[94;5u\x1b[122;5u";
        assert_eq!(read(suspend), (vec![], vec![Command::Suspend]));
        // As they were typed, if they are for the program.
        for keys in [
            &b"\x1b[94;5ux"[..],
            b"\x1b[94;5u\x1b[120;3u",
            b"\x1b[97;5u\x1b[120;3u\x1b[27u",
        ] {
            assert_eq!(read(keys), (keys.to_vec(), vec![]));
        }
        // What Shift makes of a key is not guessed.
        let unknown = b"\x1b[94;5u\x1b[46;2u";
        assert_eq!(read(unknown), (unknown.to_vec(), vec![]));
        let pass = b"\x1b[94;5u^";
        assert_eq!(read(pass), (b"\x1b[94;5u".to_vec(), vec![]));
        let repaint = b"\x1b[108;5u";
        assert_eq!(read(repaint), (repaint.to_vec(), vec![Command::Repaint]));
    }

    #[test]
    fn a_key_is_let_go_for_whom_it_was_pressed() {
        let typed = |pieces: &[&[u8]]| {
            let mut reader = EscapeReader::new(EscapeKey::default(), CompatMode::Fulmar);
            let mut typed = Vec::new();
            for piece in pieces {
                reader.read(piece, true, &mut typed);
            }
            String::from_utf8(typed).unwrap()
        };
        const PRESSED: &[u8] = b"\x1b[94;5u";
        // With Control still held, and without.
        const RELEASES: [&[u8]; 2] = [b"\x1b[94;5:3u", b"\x1b[94;1:3u"];
        for release in RELEASES {
            // A command: the program hears nothing of the three keys, whenever they are let go.
            let help: [&[u8]; 2] = [
                b"\x1b[57441;2u\x1b[47:63;2u",
                b"\x1b[47;1:3u\x1b[57441;1:3u",
            ];
            assert_eq!(typed(&[PRESSED, release, help[0], help[1]]), "");
            assert_eq!(typed(&[PRESSED, help[0], release, help[1]]), "");
            // Then they are keys as any other.
            let again = typed(&[PRESSED, help[0], help[1], b"\x1b[47;1:1u\x1b[47;1:3u"]);
            assert_eq!(again, "\x1b[47;1:1u\x1b[47;1:3u");
            // A key for the program, with the escape key before it.
            for order in [[PRESSED, release, b"x"], [PRESSED, b"x", release]] {
                assert_eq!(typed(&order).into_bytes(), order.concat());
            }
        }
        // Of the keys that were held before, arrows too.
        let up = b"\x1b[1;1:3A";
        assert_eq!(typed(&[PRESSED, up, b"i"]).as_bytes(), up);
    }
}
