//! Tells text from control sequences.
//!
//! The states are those of Paul Williams' well-known parser for DEC terminals, fed with code
//! points: bytes are decoded first, so the bytes 80-9F alone are bad UTF-8 and not controls, while
//! U+0080-U+009F are controls. Code points from U+00A0 on end a sequence as a letter would.
//!
//! Nothing here depends on how the input is cut, memory is bounded by [`Strings`]' caps, and each
//! byte is looked at a fixed number of times.
//!
//! Source: docs/protocol.md §8.1; caps: docs/threat-model.md §6.

use crate::csi::Csi;
use crate::scan::text_length;
use crate::strings::Strings;
use crate::utf8::{Decoded, Partial, decode};

/// Takes what the parser finds, in order.
pub(crate) trait Handler {
    /// Text to show: no controls, never empty. A run of text may come in several pieces.
    fn print(&mut self, text: &str);
    /// Takes whole lines at the start of `bytes`, as [`Handler::print`] and [`Handler::control`] would, and returns how many
    /// bytes they have: none if it wants them bit by bit.
    fn lines(&mut self, _bytes: &[u8]) -> usize {
        0
    }
    /// A control character: below U+0020, or U+0080-U+009F.
    fn control(&mut self, control: char);
    /// `ESC`, intermediates, `last`; never one that stands for a C1 control.
    fn escape(&mut self, intermediates: &[u8], last: char);
    /// `CSI`, parameters, intermediates, `last`.
    fn csi(&mut self, sequence: &Csi, last: char);
    /// The text of an OSC string, free of controls, which was not cancelled.
    fn osc(&mut self, text: &str, ending: Ending);
    /// The text of a DCS string, free of controls.
    fn dcs(&mut self, text: &str);
    /// Returns true if nothing more is to be handed over at present.
    fn is_exhausted(&self) -> bool {
        false
    }
}

/// The parser, and the sequence or string that it is in the middle of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parser {
    state: State,
    partial: Partial,
    sequence: Csi,
    strings: Strings,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// After `ESC`, with or without intermediates.
    Escape,
    /// After `CSI`, before anything else.
    CsiEntry,
    /// In the parameters.
    CsiParameters,
    /// In the intermediates.
    CsiIntermediates,
    /// In a sequence that breaks the grammar or a limit; it ends and nothing happens.
    CsiIgnored,
    /// In the text of an OSC.
    Osc,
    /// In the text of a DCS.
    Dcs,
    /// In the text of SOS, PM or APC, which nobody wants.
    IgnoredString,
}

impl Parser {
    /// Takes the next bytes of the stream until the handler is exhausted, and returns how many. A control
    /// function or a run of text is not interrupted.
    pub(crate) fn advance(&mut self, bytes: &[u8], handler: &mut impl Handler) -> usize {
        let mut rest = self.finish_partial(bytes, handler);
        while !rest.is_empty() && !handler.is_exhausted() {
            let used = match self.state {
                State::Ground => match handler.lines(rest) {
                    0 => self.text(rest, handler),
                    lines => lines,
                },
                State::Osc | State::Dcs | State::IgnoredString => self.string(rest, handler),
                _ => self.sequence(rest, handler),
            };
            rest = rest.get(used..).unwrap_or_default();
        }
        bytes.len() - rest.len()
    }

    /// Completes the code point that the last input was cut in; returns the bytes not used.
    fn finish_partial<'a>(&mut self, bytes: &'a [u8], handler: &mut impl Handler) -> &'a [u8] {
        match self.partial.complete(bytes) {
            None => bytes,
            Some((code_point, rest)) => {
                if let Some(code_point) = code_point {
                    self.code_point(code_point, handler);
                }
                rest
            }
        }
    }

    /// In the ground state: hands over text up to the next control, or that control.
    fn text(&mut self, bytes: &[u8], handler: &mut impl Handler) -> usize {
        match bytes.first() {
            // Those that are in every line, without further ado.
            Some(&byte @ b'\x07'..=b'\x0f') => {
                handler.control(char::from(byte));
                return 1;
            }
            Some(b'\x1b') => return self.begin_sequence(bytes),
            Some(..b' ') => return self.one(bytes, handler),
            _ => {}
        }
        let end = text_length(bytes);
        let (text, after) = bytes.split_at(end);
        if text.is_empty() {
            return self.one(bytes, handler);
        }
        if let Ok(text) = std::str::from_utf8(text) {
            handler.print(text);
            return end;
        }
        self.damaged_text(text, after.is_empty(), handler);
        end
    }

    /// In the ground state, at ESC: returns how many bytes begin the sequence.
    fn begin_sequence(&mut self, bytes: &[u8]) -> usize {
        self.sequence.clear();
        if bytes.get(1) == Some(&b'[') {
            self.state = State::CsiEntry;
            return 2;
        }
        self.state = State::Escape;
        1
    }

    /// Hands over text that is not all UTF-8. What is cut at the end of the input is kept.
    fn damaged_text(&mut self, text: &[u8], cut: bool, handler: &mut impl Handler) {
        let mut done = 0;
        for chunk in text.utf8_chunks() {
            done += chunk.valid().len() + chunk.invalid().len();
            if !chunk.valid().is_empty() {
                handler.print(chunk.valid());
            }
            let at_cut = cut && done == text.len();
            if !(chunk.invalid().is_empty() || at_cut && self.partial.keep(chunk.invalid())) {
                // One for each maximal part of a sequence that is ill-formed, as it is cut here
                // (docs/protocol.md §8.1).
                handler.print("\u{fffd}");
            }
        }
    }

    /// In a sequence: takes the ASCII that belongs to it, the bulk of it without decoding.
    fn sequence(&mut self, bytes: &[u8], handler: &mut impl Handler) -> usize {
        let mut used = 0;
        while let Some(&byte) = bytes.get(used) {
            match (self.state, byte) {
                (State::CsiEntry | State::CsiParameters, b'0'..=b';') => {
                    self.state = State::CsiParameters;
                    self.sequence.push_parameter(byte);
                }
                (State::Escape, b' '..=b'~') => self.escape(char::from(byte), handler),
                (State::Ground | State::Osc | State::Dcs | State::IgnoredString, _) => return used,
                (_, b' '..=b'~') => self.csi(char::from(byte), handler),
                _ => return used + self.one(&bytes[used..], handler),
            }
            used += 1;
        }
        used
    }

    /// In a string: takes the plain text at the start, or whatever else comes first.
    fn string(&mut self, bytes: &[u8], handler: &mut impl Handler) -> usize {
        let plain = bytes.iter().take_while(|byte| matches!(byte, b' '..=b'~'));
        let text = bytes.get(..plain.count()).unwrap_or_default();
        match std::str::from_utf8(text) {
            Ok("") | Err(_) => return self.one(bytes, handler),
            Ok(text) if self.state != State::IgnoredString => self.strings.push_str(text),
            Ok(_) => {}
        }
        text.len()
    }

    /// Takes a single code point; returns the number of bytes used.
    fn one(&mut self, bytes: &[u8], handler: &mut impl Handler) -> usize {
        match decode(bytes) {
            Decoded::Char(code_point, length) => {
                self.code_point(code_point, handler);
                length
            }
            Decoded::Invalid(length) => {
                self.code_point('\u{fffd}', handler);
                length
            }
            Decoded::Incomplete => {
                self.partial.keep(bytes);
                bytes.len()
            }
        }
    }

    fn code_point(&mut self, c: char, handler: &mut impl Handler) {
        match c {
            // Williams' "anywhere" transitions: ESC, CAN, SUB and C1 controls end whatever is under
            // way. A string that ESC ends is carried out, as ESC begins its terminator.
            '\x1b' => {
                self.leave(Ending::Regular, handler);
                self.sequence.clear();
                self.state = State::Escape;
            }
            '\x18' | '\x1a' => {
                self.leave(Ending::Cancelled, handler);
                handler.control(c);
            }
            '\u{80}'..='\u{9f}' => {
                self.leave(Ending::Regular, handler);
                self.c1(c, handler);
            }
            _ => match self.state {
                State::Ground => ground(c, handler),
                State::Osc | State::Dcs => self.in_string(c, handler),
                State::IgnoredString => {}
                // C0 controls within a sequence are carried out, and it goes on behind them.
                _ if c < ' ' => handler.control(c),
                State::Escape => self.escape(c, handler),
                _ => self.csi(c, handler),
            },
        }
    }

    /// Ends what is under way and goes back to the ground state.
    fn leave(&mut self, ending: Ending, handler: &mut impl Handler) {
        let state = std::mem::take(&mut self.state);
        if ending != Ending::Cancelled {
            match state {
                State::Osc => self.strings.with_text(|text| handler.osc(text, ending)),
                State::Dcs => self.strings.with_text(|text| handler.dcs(text)),
                _ => {}
            }
        }
    }

    fn c1(&mut self, control: char, handler: &mut impl Handler) {
        match control {
            '\u{90}' => self.start_string(State::Dcs),
            '\u{98}' | '\u{9e}' | '\u{9f}' => self.state = State::IgnoredString,
            '\u{9b}' => {
                self.sequence.clear();
                self.state = State::CsiEntry;
            }
            '\u{9d}' => self.start_string(State::Osc),
            _ => handler.control(control),
        }
    }

    fn start_string(&mut self, state: State) {
        self.strings.clear();
        self.state = state;
    }

    fn in_string(&mut self, c: char, handler: &mut impl Handler) {
        match (c, self.state) {
            // BEL ends an OSC, and no other string.
            ('\x07', State::Osc) => self.leave(Ending::Bell, handler),
            ('\0'..='\x1f' | '\x7f', _) => {}
            _ => self.strings.push(c),
        }
    }

    fn escape(&mut self, c: char, handler: &mut impl Handler) {
        match c {
            '\x7f' => {}
            ' '..='/' => self.sequence.push_intermediate(c),
            '@'..='_' if self.sequence.intermediates().is_empty() => {
                self.state = State::Ground;
                let c1 = char::from(c as u8 + 0x40);
                self.c1(c1, handler);
            }
            _ => {
                self.state = State::Ground;
                if !self.sequence.is_too_long() {
                    handler.escape(self.sequence.intermediates(), c);
                }
            }
        }
    }

    fn csi(&mut self, c: char, handler: &mut impl Handler) {
        self.state = match (c, self.state) {
            ('\x7f', state) => state,
            ('0'..=';', State::CsiEntry | State::CsiParameters) => {
                self.sequence.push_parameter(c as u8);
                State::CsiParameters
            }
            ('<'..='?', State::CsiEntry) => {
                self.sequence.set_marker(c);
                State::CsiParameters
            }
            // A marker that is not first, or a parameter behind intermediates (Williams' "csi
            // ignore").
            (' '..='/', State::CsiIgnored) | ('0'..='?', _) => State::CsiIgnored,
            (' '..='/', _) => {
                self.sequence.push_intermediate(c);
                State::CsiIntermediates
            }
            (_, state) => {
                if state != State::CsiIgnored && !self.sequence.is_too_long() {
                    handler.csi(&self.sequence, c);
                }
                State::Ground
            }
        };
    }
}

/// The end of a string or sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By its terminator or the start of something else.
    Regular,
    /// By BEL, which ends an OSC string, too.
    Bell,
    /// By CAN or SUB.
    Cancelled,
}

fn ground(c: char, handler: &mut impl Handler) {
    match c {
        '\x7f' => {}
        '\0'..='\x1f' => handler.control(c),
        _ => handler.print(c.encode_utf8(&mut [0; 4])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes down what it is handed.
    #[derive(Default)]
    struct Log {
        events: Vec<String>,
        characters: usize,
    }

    impl Handler for Log {
        fn print(&mut self, text: &str) {
            self.characters += text.chars().count();
            self.events.push(format!("print {text}"));
        }

        fn control(&mut self, control: char) {
            self.events
                .push(format!("control {:02x}", u32::from(control)));
        }

        fn escape(&mut self, intermediates: &[u8], last: char) {
            let intermediates = String::from_utf8_lossy(intermediates);
            self.events.push(format!("escape {intermediates}{last}"));
        }

        fn csi(&mut self, sequence: &Csi, last: char) {
            let intermediates = String::from_utf8_lossy(sequence.intermediates());
            let event = format!("csi {:?} {intermediates}{last}", sequence.values());
            self.events.push(event);
        }

        fn osc(&mut self, text: &str, _: Ending) {
            self.events.push(format!("osc {text}"));
        }

        fn dcs(&mut self, text: &str) {
            self.events.push(format!("dcs {text}"));
        }
    }

    #[track_caller]
    fn parses(bytes: impl AsRef<[u8]>, events: &[&str]) {
        let mut log = Log::default();
        Parser::default().advance(bytes.as_ref(), &mut log);
        assert_eq!(log.events, events);
    }

    #[test]
    fn text_comes_in_runs() {
        parses(
            "hällo 漢字\nx",
            &["print hällo 漢字", "control 0a", "print x"],
        );
        parses(b"a\x7fb", &["print a", "print b"]);
        parses(b"a\xffb", &["print a", "print \u{fffd}", "print b"]);
    }

    #[test]
    fn a_long_run_stops_at_the_first_control_wherever_it_is() {
        for length in 0..100 {
            let text = "x".repeat(length);
            let bytes = format!("{text}\r{text}\u{a0}{text}\u{85}");
            let printed = [format!("print {text}"), format!("print {text}\u{a0}{text}")];
            let events = [&*printed[0], "control 0d", &*printed[1], "control 85"];
            parses(bytes, if length == 0 { &events[1..] } else { &events });
        }
    }

    #[test]
    fn sequences_come_whole() {
        parses("\x1b[1;22:3 qx", &["csi [1, 22, 3]  q", "print x"]);
        parses("\u{9b}?25h", &["csi [25] h"]);
        parses("\x1b(0\x1b7", &["escape (0", "escape 7"]);
        parses("\x1bD\x1bE", &["control 84", "control 85"]);
        parses(
            "\x1b]2;a\x07\x1bP$qm\x1b\\",
            &["osc 2;a", "dcs $qm", "control 9c"],
        );
    }

    #[test]
    fn controls_within_a_sequence_are_done_at_once() {
        parses("\x1b[1\r;2H", &["control 0d", "csi [1, 2] H"]);
        parses("\x1b[1\x18;2H", &["control 18", "print ;2H"]);
        parses("\x1b[1\x1b[2H", &["csi [2] H"]);
    }

    #[test]
    fn what_breaks_the_grammar_is_ignored_to_its_end() {
        parses("\x1b[1?2Hx", &["print x"]);
        parses("\x1b[ 1Hx", &["print x"]);
        parses("\x1b[   qx", &["print x"]);
    }

    proptest! {
        /// Time is linear: what is handed over is not more than what came in.
        #[test]
        fn no_byte_is_handed_over_twice(bytes: Vec<u8>) {
            let mut log = Log::default();
            let mut parser = Parser::default();
            parser.advance(&bytes, &mut log);
            prop_assert!(log.characters <= bytes.len());
            prop_assert!(log.events.len() <= bytes.len());
        }
    }
}
