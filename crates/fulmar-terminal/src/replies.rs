//! The terminal's answers to a program's questions.
//!
//! Every answer is made from tables and the screen's state; no byte that a program chose is ever
//! repeated.
//!
//! Source: docs/protocol.md §8.3; docs/threat-model.md §8.

use std::fmt::Write;

use crate::colors::{ColorLevels, fixed_color};
use crate::csi::Csi;
use crate::event_queue::EventQueue;
use crate::events::TerminalEvent;
use crate::modes::ModeState;
use crate::palette::Slot;
use crate::parser::Ending;
use crate::rendition;
use crate::report::TerminalReport;
use crate::screen::Screen;
use crate::style::Attributes;
use crate::termcap::termcap_answer;
use crate::window_report::window_report;

/// The most bytes of answers that wait for the program; further ones are dropped and counted.
///
/// Source: docs/threat-model.md §6.
pub const REPLIES_MAX: usize = 64 * 1024;

/// The work of an answer, which is put together: some two hundred characters, measured for DECRQSS of
/// many attributes by the example `worst_input`.
const REPLY_WORK: u64 = 192;

/// A VT420 with selective erase, columns that scroll, colours and rectangles. It has neither 132 columns nor a printer, sets of
/// characters of a nation or of one's own, user-defined keys or windows: programs that want these look for their numbers.
const PRIMARY_ATTRIBUTES: &str = "\x1b[?64;6;21;22;28c";
/// The answer that stock gives, too: a VT220 of firmware 10. Editors take higher numbers for an xterm of that
/// patch level and ask for more.
const SECONDARY_ATTRIBUTES: &str = "\x1b[>1;10;0c";
/// No serial number.
const TERTIARY_ATTRIBUTES: &str = "\x1bP!|00000000\x1b\\";
/// Answers to `CSI ? n n`, DECDSR: no printer, keys not locked, a keyboard of North America that is ready, no locator (asked in
/// two ways) and of no type, no room for macros, no errors, one session.
///
/// Source: xterm's control sequences (DSR, DEC-specific).
const DEVICE_STATUS: [(u16, &str); 9] = [
    (15, "\x1b[?13n"),
    (25, "\x1b[?20n"),
    (26, "\x1b[?27;1;0;0n"),
    (53, "\x1b[?50n"),
    (55, "\x1b[?50n"),
    (56, "\x1b[?57;0n"),
    (62, "\x1b[0000*{"),
    (75, "\x1b[?70n"),
    (85, "\x1b[?83n"),
];
/// Ready.
const STATUS: &str = "\x1b[0n";
const VERSION: &str = concat!("\x1bP>|fulmar(", env!("CARGO_PKG_VERSION"), ")\x1b\\");

/// The work of noting an event, beside its text: it is looked at and copied. Chosen by eye.
const EVENT_WORK: u64 = 64;

/// The things that a terminal says and does not show: answers on their way to the program, and events.
#[derive(Clone, Debug)]
pub(crate) struct Replies {
    waiting: String,
    report: Report,
    max: usize,
    dropped: u64,
    events: EventQueue,
}

/// The report about the user's terminal.
#[derive(Clone, Debug)]
enum Report {
    /// Nothing is known of that terminal yet; these questions wait, with the number of bytes of answers before each.
    Awaited(Vec<(usize, Question)>),
    Known(TerminalReport),
}

/// A question about the user's terminal, which is answered between other answers.
#[derive(Clone, Copy, Debug)]
enum Question {
    /// A colour that no program has set; the flag is true if OSC 4 asks for it.
    Color(Slot, bool, Ending),
    /// The flags of kitty's keyboard protocol, which are these.
    KeyboardFlags(u8),
    /// Mode 2027.
    Clusters,
    /// The checksum of a rectangle, as it was when it was asked for, with the number of the question.
    Checksum(u16, u16),
}

/// The most questions that wait until something is known of the user's terminal; further ones are dropped and counted. Chosen by eye: a program
/// asks some five.
const QUESTIONS_MAX: usize = 32;

impl Replies {
    pub(crate) fn new() -> Replies {
        Replies {
            waiting: String::new(),
            report: Report::Known(TerminalReport::default()),
            max: REPLIES_MAX,
            dropped: 0,
            events: EventQueue::default(),
        }
    }

    /// Returns a place where no answer is kept.
    pub(crate) fn discarded() -> Replies {
        let everything = TerminalReport {
            keyboard: true,
            ..TerminalReport::default()
        };
        Replies {
            report: Report::Known(everything),
            max: 0,
            ..Replies::new()
        }
    }

    /// Returns true if kitty's keyboard protocol is spoken, or may be.
    pub(crate) fn speaks_keyboard_protocol(&self) -> bool {
        match &self.report {
            Report::Awaited(_) => true,
            Report::Known(report) => report.keyboard,
        }
    }

    /// Returns true if checksums of the screen are answered, or may be.
    pub(crate) fn may_sum(&self) -> bool {
        match &self.report {
            _ if self.max == 0 => false,
            Report::Awaited(_) => true,
            Report::Known(report) => report.checksums,
        }
    }

    /// Answers DECRQCRA with the number that it had, if the user allows that.
    pub(crate) fn answer_checksum(&mut self, screen: &Screen, number: u16, sum: u16) {
        self.ask(screen, Question::Checksum(number, sum));
    }

    /// Takes the answers, up to a question that waits.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let mut end = self.waiting.len();
        if let Report::Awaited(questions) = &mut self.report {
            end = questions.first().map_or(end, |(at, _)| *at);
            for (at, _) in questions {
                *at -= end;
            }
        }
        let rest = self.waiting.split_off(end);
        std::mem::replace(&mut self.waiting, rest).into_bytes()
    }

    /// Drops events and answers, those to questions that wait among them.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
        self.events.take();
        if let Report::Awaited(questions) = &mut self.report {
            questions.clear();
        }
    }

    pub(crate) fn await_report(&mut self) {
        if let Report::Known(_) = self.report {
            self.report = Report::Awaited(Vec::new());
        }
    }

    pub(crate) fn has_questions(&self) -> bool {
        matches!(&self.report, Report::Awaited(questions) if !questions.is_empty())
    }

    /// Answers all questions that wait.
    pub(crate) fn set_report(&mut self, screen: &Screen, report: TerminalReport) {
        let known = Report::Known(report);
        let Report::Awaited(questions) = std::mem::replace(&mut self.report, known) else {
            return;
        };
        let answers = std::mem::take(&mut self.waiting);
        let mut from = 0;
        for (at, question) in questions {
            self.waiting
                .push_str(answers.get(from..at).unwrap_or_default());
            from = at;
            self.answer_question(screen, &report, question);
        }
        self.waiting
            .push_str(answers.get(from..).unwrap_or_default());
    }

    /// Answers a question about the user's terminal, or has it wait.
    fn ask(&mut self, screen: &Screen, question: Question) {
        let at = self.waiting.len();
        match &mut self.report {
            Report::Known(report) => {
                let report = *report;
                self.answer_question(screen, &report, question);
            }
            Report::Awaited(questions) if questions.len() < QUESTIONS_MAX => {
                questions.push((at, question));
            }
            Report::Awaited(_) => self.dropped += 1,
        }
    }

    fn answer_question(&mut self, screen: &Screen, report: &TerminalReport, question: Question) {
        match question {
            Question::Color(slot, by_number, ending) => {
                self.answer_color(slot.color_in(&report.colors), slot, by_number, ending);
            }
            Question::KeyboardFlags(flags) if report.keyboard => {
                self.push(&format!("\x1b[?{flags}u"));
            }
            Question::KeyboardFlags(_) => {}
            Question::Clusters => self.report_mode("?", 2027, screen.private_mode(2027)),
            Question::Checksum(number, sum) if report.checksums => {
                self.push(&format!("\x1bP{number}!~{sum:04X}\x1b\\"));
            }
            Question::Checksum(..) => {}
        }
    }

    /// Answers an OSC that asks for a colour: one that a program has set, one of the 256 that are alike everywhere, or one of the
    /// user's terminal. `by_number` is true if it is OSC 4.
    pub(crate) fn answer_color_of(
        &mut self,
        screen: &Screen,
        slot: Slot,
        by_number: bool,
        ending: Ending,
    ) {
        if self.max == 0 {
            return;
        }
        let color = screen.palette.get(slot);
        match slot {
            Slot::Indexed(index) => {
                let color = color.or_else(|| fixed_color(index));
                self.answer_color(color, slot, by_number, ending);
            }
            _ if color.is_none() => self.ask(screen, Question::Color(slot, by_number, ending)),
            _ => self.answer_color(color, slot, by_number, ending),
        }
    }

    /// As xterm: all 16 bits, by the number that was asked for, and the end that the question had.
    fn answer_color(
        &mut self,
        color: Option<ColorLevels>,
        slot: Slot,
        by_number: bool,
        ending: Ending,
    ) {
        let Some([red, green, blue]) = color else {
            return;
        };
        let number = match slot {
            Slot::Indexed(index) => format!("4;{index}"),
            Slot::Special(index) if by_number => format!("4;{}", 256 + u16::from(index)),
            Slot::Special(index) => format!("5;{index}"),
            Slot::Dynamic(number) => number.to_string(),
        };
        let end = if ending == Ending::Bell {
            "\x07"
        } else {
            "\x1b\\"
        };
        self.push(&format!(
            "\x1b]{number};rgb:{red:04x}/{green:04x}/{blue:04x}{end}"
        ));
    }

    /// The number of answers that found no room.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    fn push(&mut self, reply: &str) {
        if self.waiting.len() + reply.len() <= self.max {
            self.waiting.push_str(reply);
        } else {
            self.dropped += 1;
        }
    }

    /// Notes an event, if the OSC of that number says one, and returns the work of it: none where nothing is kept.
    pub(crate) fn note_event(&mut self, number: &str, value: &str) -> u64 {
        if self.max == 0 {
            return 0;
        }
        self.events.note(number, value);
        EVENT_WORK + value.len() as u64
    }

    /// Takes the events, in their order.
    pub(crate) fn take_events(&mut self) -> Vec<TerminalEvent> {
        self.events.take()
    }

    /// The number of events that found no room.
    pub(crate) fn events_dropped(&self) -> u64 {
        self.events.dropped()
    }

    /// Returns the work that answering makes: none where nothing is kept.
    pub(crate) fn work(&self) -> u64 {
        match self.max {
            0 => 0,
            _ => REPLY_WORK,
        }
    }

    /// Answers the control sequences that are questions.
    pub(crate) fn answer(
        &mut self,
        screen: &Screen,
        marker: Option<char>,
        intermediates: &[u8],
        csi: &Csi,
        last: char,
    ) {
        if self.max == 0 {
            return;
        }
        let value = csi.value(0);
        match (marker, intermediates, last) {
            (None, [], 'c') if value == 0 => self.push(PRIMARY_ATTRIBUTES),
            (Some('>'), [], 'c') if value == 0 => self.push(SECONDARY_ATTRIBUTES),
            (Some('='), [], 'c') if value == 0 => self.push(TERTIARY_ATTRIBUTES),
            (Some('>'), [], 'q') if value == 0 => self.push(VERSION),
            (None, [], 'n') if value == 5 => self.push(STATUS),
            (None, [], 'n') if value == 6 => self.push(&format!("\x1b[{}R", position(screen))),
            (Some('?'), [], 'n') if value == 6 => {
                // There is one page.
                self.push(&format!("\x1b[?{};1R", position(screen)));
            }
            // DECCKSR: nobody can define macros, so their memory is empty.
            (Some('?'), [], 'n') if value == 63 => {
                self.push(&format!("\x1bP{}!~0000\x1b\\", csi.value(1)));
            }
            (Some('?'), [], 'n') => {
                let mut known = DEVICE_STATUS.iter();
                if let Some((_, status)) = known.find(|(number, _)| *number == value) {
                    self.push(status);
                }
            }
            (None, [], 't') => {
                if let Some(report) = window_report(value, screen.size()) {
                    self.push(&report);
                }
            }
            (Some('?'), [], 'u') => {
                self.ask(screen, Question::KeyboardFlags(screen.keyboard_flags()));
            }
            (Some('?'), b"$", 'p') if value == 2027 => self.ask(screen, Question::Clusters),
            (Some('?'), b"$", 'p') => self.report_mode("?", value, screen.private_mode(value)),
            (None, b"$", 'p') => self.report_mode("", value, screen.mode(value)),
            _ => {}
        }
    }

    /// Answers to `ESC Z`, which asks what `CSI c` asks.
    pub(crate) fn identify(&mut self) {
        self.push(PRIMARY_ATTRIBUTES);
    }

    /// Answers the device control strings that are questions we know: DECRQSS and XTGETTCAP.
    pub(crate) fn answer_string(&mut self, screen: &Screen, text: &str) {
        if self.max == 0 {
            return;
        }
        if let Some(names) = text.strip_prefix("+q") {
            return self.push(&termcap_answer(names));
        }
        let Some(setting) = text.strip_prefix("$q") else {
            return;
        };
        let value = match setting {
            "m" => rendition::parameters(screen.style()) + "m",
            "r" => {
                let margins = screen.margins.clone();
                format!("{};{}r", margins.start + 1, margins.end)
            }
            "s" => format!("{};{}s", screen.sides.start + 1, screen.sides.end),
            "\"p" => format!("{};1\"p", screen.conformance.number()),
            "\"q" => {
                let is_protected = screen.style().attributes.contains(Attributes::PROTECTED);
                format!("{}\"q", u8::from(is_protected))
            }
            "*x" => format!("{}*x", screen.attribute_extent as u8),
            "t" => format!("{}t", screen.size().rows()),
            "$|" => format!("{}$|", screen.size().columns()),
            "*|" => format!("{}*|", screen.size().rows()),
            " q" => format!("{} q", screen.cursor.shape as u8),
            // Without what was asked: no byte of a program comes back to it (docs/threat-model.md
            // §8).
            _ => return self.push("\x1bP0$r\x1b\\"),
        };
        self.push(&format!("\x1bP1$r{value}\x1b\\"));
    }

    /// DECRPM.
    fn report_mode(&mut self, marker: &str, number: u16, state: ModeState) {
        let state = state as u8;
        self.push(&format!("\x1b[{marker}{number};{state}$y"));
    }
}

/// Returns the cursor's place, 1-based, from the margins in origin mode.
fn position(screen: &Screen) -> String {
    let position = screen.cursor().position;
    let top = screen.addressable_rows().start;
    let left = screen.addressable_columns().start;
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "{};{}",
        position.row.0.saturating_sub(top) + 1,
        position.column.0.saturating_sub(left) + 1
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clustering, DefaultColors, Size, Terminal};

    const COLORS: DefaultColors = DefaultColors {
        text: Some([0xe5e5, 0xe5e5, 0]),
        background: Some([0, 0x1234, 0xffff]),
        cursor: None,
    };

    fn report(keyboard: bool) -> TerminalReport {
        TerminalReport {
            colors: COLORS,
            clustering: Clustering::Switchable,
            keyboard,
            crops: false,
            checksums: false,
        }
    }

    fn answers(terminal: &mut Terminal, asked: &str) -> String {
        terminal.process(asked.as_bytes());
        String::from_utf8(terminal.take_replies()).unwrap()
    }

    #[test]
    fn colours_are_answered_as_far_as_they_are_known() {
        let mut terminal = Terminal::new(Size::default());
        assert_eq!(answers(&mut terminal, "\x1b]10;?\x07"), "");
        terminal.set_report(report(false));
        for (asked, answer) in [
            ("\x1b]10;?\x07", "\x1b]10;rgb:e5e5/e5e5/0000\x07"),
            ("\x1b]11;?\x1b\\", "\x1b]11;rgb:0000/1234/ffff\x1b\\"),
            (
                "\x1b]12;?\x07\x1b]18;?\x07\x1b]20;?\x07\x1b]10;nosuch\x07",
                "",
            ),
            (
                "\x1b]16;?;?\x07\x1b]5;4;?\x07\x1b]4;256;?\x07",
                "\x1b]16;rgb:0000/1234/ffff\x07\x1b]17;rgb:e5e5/e5e5/0000\x07\x1b]5;4;rgb:e5e5/e5e5/0000\x07\x1b]4;256;rgb:e5e5/e5e5/0000\x07",
            ),
            (
                "\x1b]4;15;?;16;?;21;?;214;?;231;?;232;?;255;?\x07",
                "\x1b]4;16;rgb:0000/0000/0000\x07\x1b]4;21;rgb:0000/0000/ffff\x07\x1b]4;214;rgb:ffff/afaf/0000\x07\x1b]4;231;rgb:ffff/ffff/ffff\x07\x1b]4;232;rgb:0808/0808/0808\x07\x1b]4;255;rgb:eeee/eeee/eeee\x07",
            ),
            (
                "\x1b]10;?;?;?\x07",
                "\x1b]10;rgb:e5e5/e5e5/0000\x07\x1b]11;rgb:0000/1234/ffff\x07",
            ),
            ("\x1b]11;x;?\x07", ""),
        ] {
            assert_eq!(answers(&mut terminal, asked), answer, "{asked:?}");
        }
    }

    #[test]
    fn a_question_that_waits_is_answered_before_what_was_asked_after_it() {
        let mut terminal = Terminal::new(Size::default());
        terminal.await_report();
        let asked = "\x1b[5n\x1b]11;?\x07\x1b[5n\x1b]12;?\x07\x1b[5n";
        assert_eq!(answers(&mut terminal, asked), "\x1b[0n");
        assert!(terminal.has_questions());
        assert_eq!(answers(&mut terminal, "\x1b]10;?\x07"), "");
        terminal.set_report(report(false));
        assert!(!terminal.has_questions());
        let answer = "\x1b]11;rgb:0000/1234/ffff\x07\x1b[0n\x1b[0n\x1b]10;rgb:e5e5/e5e5/0000\x07";
        assert_eq!(answers(&mut terminal, ""), answer);
        assert_eq!(answers(&mut terminal, "\x1b[5n"), "\x1b[0n");
    }

    #[test]
    fn what_a_program_asks_before_the_terminal_is_known_is_answered_when_it_is() {
        for (is_spoken, answer) in [
            (true, "\x1b[?5u\x1b[?2027;2$y\x1b[0n"),
            (false, "\x1b[?2027;2$y\x1b[0n"),
        ] {
            let mut terminal = Terminal::new(Size::default());
            terminal.await_report();
            let asked = "\x1b[>5u\x1b[?u\x1b[>3u\x1b[?2027$p\x1b[5n";
            assert_eq!(answers(&mut terminal, asked), "");
            terminal.set_report(report(is_spoken));
            assert_eq!(answers(&mut terminal, ""), answer);
            assert_eq!(
                terminal.screen().keyboard_flags(),
                if is_spoken { 3 } else { 0 }
            );
        }
    }

    #[test]
    fn no_more_than_some_questions_wait() {
        let mut terminal = Terminal::new(Size::default());
        terminal.await_report();
        let asked = "\x1b]11;?\x07".repeat(QUESTIONS_MAX + 1);
        assert_eq!(answers(&mut terminal, &asked), "");
        assert_eq!(terminal.replies_dropped(), 1);
        terminal.set_report(report(false));
        let answer = "\x1b]11;rgb:0000/1234/ffff\x07".repeat(QUESTIONS_MAX);
        assert_eq!(answers(&mut terminal, ""), answer);
    }

    #[test]
    fn what_nobody_has_asked_is_not_answered_later_either() {
        let mut terminal = Terminal::new(Size::default());
        terminal.await_report();
        terminal.process(b"\x1b]11;?\x07\x1b[?u\x1b[?2027$p\x1b[c");
        terminal.drop_replies();
        assert!(!terminal.has_questions());
        terminal.set_report(report(true));
        assert_eq!(answers(&mut terminal, "\x1b[5n"), "\x1b[0n");
    }
}
