//! A terminal: bytes in, screen and answers out.

use crate::csi::Csi;
use crate::parser::{Handler, Parser};
use crate::replies::Replies;
use crate::screen::Screen;
use crate::size::Size;
use crate::{esc, osc, sequences};

/// The work (see [`Screen::work`]) that a frame may do whatever its length: to draw the largest
/// screen several times, or to scroll all rows of the highest as often as it has rows.
///
/// Source: docs/threat-model.md §3, "cannot hang the client".
const FRAME_WORK_MAX: u64 = 16 * Size::CELLS_MAX as u64;

/// The work that each byte of a frame may do beyond that. Text does 1.
const FRAME_WORK_PER_BYTE: u64 = 16;

/// So many bytes of a frame are drawn before its work is looked at.
const FRAME_PIECE: usize = 256;

/// A terminal that a program writes to.
///
/// The screen is a function of the bytes and resizes in their order; how the bytes are cut into
/// calls makes no difference.
#[derive(Clone, Debug)]
pub struct Terminal {
    parser: Parser,
    screen: Screen,
    replies: Replies,
}

impl Terminal {
    /// Returns a terminal as after power on.
    pub fn new(size: Size) -> Terminal {
        Terminal {
            parser: Parser::default(),
            screen: Screen::new(size),
            replies: Replies::new(),
        }
    }

    /// Takes what the program writes.
    pub fn process(&mut self, bytes: &[u8]) {
        let Terminal {
            parser,
            screen,
            replies,
        } = self;
        parser.advance(bytes, &mut Emulator { screen, replies });
    }

    /// Returns the screen, and all that is remembered with it. A clone is a cheap snapshot.
    pub fn screen(&self) -> &Screen {
        &self.screen
    }

    /// Crops or extends the screen at its bottom and right.
    pub fn resize(&mut self, size: Size) {
        self.screen.resize(size);
    }

    /// Returns the answers to the program's questions since the last call: input for the program.
    /// They are few; what exceeds 64 KiB is dropped.
    pub fn take_replies(&mut self) -> Vec<u8> {
        self.replies.take()
    }

    /// The number of answers that were dropped because nobody took those before.
    pub fn replies_dropped(&self) -> u64 {
        self.replies.dropped()
    }
}

impl Screen {
    /// Does what `bytes` say, which must be whole: what they leave unfinished is forgotten, and
    /// nothing is answered. This is how the receiver of a frame draws it.
    ///
    /// The work is bounded: bytes that make far more of it than a frame does are not drawn to their
    /// end.
    pub fn apply(&mut self, bytes: &[u8]) {
        let work_max = self.work() + FRAME_WORK_MAX + FRAME_WORK_PER_BYTE * bytes.len() as u64;
        let mut parser = Parser::default();
        let mut replies = Replies::discarded();
        for piece in bytes.chunks(FRAME_PIECE) {
            if self.work() > work_max {
                return;
            }
            let mut emulator = Emulator {
                screen: self,
                replies: &mut replies,
            };
            parser.advance(piece, &mut emulator);
        }
    }
}

/// Gives what the parser finds to those who know what it means.
struct Emulator<'a> {
    screen: &'a mut Screen,
    replies: &'a mut Replies,
}

impl Handler for Emulator<'_> {
    fn print(&mut self, text: &str) {
        self.screen.print(text);
    }

    fn control(&mut self, control: char) {
        match control {
            // DECID, an old way to ask what the terminal is.
            '\u{9a}' => self.replies.identify(),
            _ => esc::control(self.screen, control),
        }
    }

    fn escape(&mut self, intermediates: &[u8], last: char) {
        esc::dispatch(self.screen, intermediates, last);
    }

    fn csi(&mut self, sequence: &Csi, last: char) {
        sequences::dispatch(self.screen, self.replies, sequence, last);
    }

    fn osc(&mut self, text: &str) {
        osc::dispatch(self.screen, text);
    }

    fn dcs(&mut self, text: &str) {
        self.replies.answer_string(self.screen, text);
    }
}
