//! The terminal before the typist.

use crate::trace::Size;
use alacritty_terminal::event::{Event, EventListener, WindowSize};
use alacritty_terminal::term::{Config, Term, TermMode};
use alacritty_terminal::vte::ansi::{Processor, Rgb};
use std::cell::RefCell;
use std::rc::Rc;

/// A terminal that answers what programs ask of one, and knows which keys they asked for.
pub struct AnsweringTerminal {
    terminal: Term<Answers>,
    parser: Processor,
    answers: Answers,
    size: Size,
}

/// Collects what the terminal has to say.
#[derive(Clone, Default)]
struct Answers(Rc<RefCell<Vec<Event>>>);

impl AnsweringTerminal {
    /// Returns a blank terminal.
    pub fn new(size: Size) -> Self {
        let config = Config {
            scrolling_history: 0,
            ..Config::default()
        };
        let answers = Answers::default();
        Self {
            terminal: Term::new(config, &size, answers.clone()),
            parser: Processor::new(),
            answers,
            size,
        }
    }

    /// Shows what programs wrote, and returns the answers to what they asked.
    pub fn show(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.parser.advance(&mut self.terminal, bytes);
        let events = std::mem::take(&mut *self.answers.0.borrow_mut());
        let answers = events.into_iter().filter_map(|event| self.answer(event));
        answers.map(String::into_bytes).collect()
    }

    /// Gives it another size.
    pub fn resize(&mut self, size: Size) {
        self.size = size;
        self.terminal.resize(size);
    }

    /// True while arrows, Home and End are to send `ESC O`.
    pub(crate) fn has_application_cursor(&self) -> bool {
        self.terminal.mode().contains(TermMode::APP_CURSOR)
    }

    /// True while pastes are to come in brackets.
    pub(crate) fn has_bracketed_paste(&self) -> bool {
        self.terminal.mode().contains(TermMode::BRACKETED_PASTE)
    }

    fn answer(&self, event: Event) -> Option<String> {
        /// Light grey on black.
        const COLOURS: [(usize, u8); 2] = [(256, 0xd0), (257, 0x10)];
        match event {
            Event::PtyWrite(text) => Some(text),
            Event::ColorRequest(index, format) => {
                let (_, level) = COLOURS.iter().find(|(known, _)| *known == index)?;
                Some(format(Rgb {
                    r: *level,
                    g: *level,
                    b: *level,
                }))
            }
            Event::TextAreaSizeRequest(format) => Some(format(WindowSize {
                num_lines: self.size.rows,
                num_cols: self.size.columns,
                cell_width: 9,
                cell_height: 18,
            })),
            _ => None,
        }
    }
}

impl EventListener for Answers {
    fn send_event(&self, event: Event) {
        self.0.borrow_mut().push(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Size = Size {
        columns: 10,
        rows: 3,
    };

    #[test]
    fn questions_are_answered() {
        let mut terminal = AnsweringTerminal::new(SMALL);
        assert_eq!(terminal.show(b"ab\x1b[6n"), [b"\x1b[1;3R".to_vec()]);
        assert_eq!(terminal.show(b"\x1b[c").len(), 1);
        let colours = terminal.show(b"\x1b]11;?\x07");
        assert_eq!(colours, [b"\x1b]11;rgb:1010/1010/1010\x07".to_vec()]);
        assert_eq!(
            terminal.show(b"plain \x1b]2;title\x07"),
            Vec::<Vec<u8>>::new()
        );
    }

    #[test]
    fn keys_that_programs_ask_for_are_known() {
        let mut terminal = AnsweringTerminal::new(SMALL);
        assert!(!terminal.has_application_cursor() && !terminal.has_bracketed_paste());
        terminal.show(b"\x1b[?1h\x1b[?2004h");
        assert!(terminal.has_application_cursor() && terminal.has_bracketed_paste());
    }
}
