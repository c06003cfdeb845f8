//! A terminal: bytes in, screen and answers out.

use crate::clustering::Clustering;
use crate::csi::Csi;
use crate::events::TerminalEvent;
use crate::history::History;
use crate::parser::{Ending, Handler, Parser};
use crate::reflow::Reflow;
use crate::replies::Replies;
use crate::report::TerminalReport;
use crate::row::SharedRow;
use crate::rows_above::RowsAbove;
use crate::screen::Screen;
use crate::scrollback::{Scrollback, ScrollbackLimits};
use crate::size::Size;
use crate::{esc, osc, sequences};

/// The work (see [`Screen::work`]) of any control function beside the cells that it touches: about as
/// long as it takes to print so many characters. Chosen by eye.
const FUNCTION_WORK: u64 = 8;

/// Text is printed in pieces of at most so many bytes; between two of them the work is looked at.
/// Chosen by eye: in insert mode each of them may move a row.
const PIECE_BYTES: usize = 512;

/// A terminal that a program writes to.
///
/// The screen is a function of the bytes and resizes in their order; how the bytes are cut into
/// calls makes no difference.
#[derive(Clone, Debug)]
pub struct Terminal {
    parser: Parser,
    screen: Screen,
    /// No part of the screen, of which there are snapshots: lent to it while it changes.
    above: RowsAbove,
    /// The screen and the rows above it before the first of the resizes behind which nothing was drawn yet.
    before_resizes: Option<Box<(Screen, RowsAbove)>>,
    replies: Replies,
}

impl Terminal {
    /// Returns a terminal as after power on.
    pub fn new(size: Size) -> Terminal {
        Terminal {
            parser: Parser::default(),
            screen: Screen::new(size),
            above: RowsAbove::default(),
            before_resizes: None,
            replies: Replies::new(),
        }
    }

    /// Takes what the program writes.
    pub fn process(&mut self, bytes: &[u8]) {
        self.process_within(bytes, u64::MAX);
    }

    /// Takes what the program writes until that has made `work_max` of [work](Screen::work), and
    /// returns how many bytes that were; the others are to come again. At least one is taken, and the
    /// last control function is done whole, so the work may be more by what one of them makes.
    pub fn process_within(&mut self, bytes: &[u8], work_max: u64) -> usize {
        let Terminal {
            parser,
            screen,
            above,
            before_resizes,
            replies,
        } = self;
        if !bytes.is_empty() {
            *before_resizes = None;
        }
        screen.swap_above(above);
        let taken = advance_within(parser, screen, replies, bytes, work_max);
        screen.swap_above(above);
        taken
    }

    /// Returns the screen, and all that is remembered with it. A clone is a cheap snapshot.
    pub fn screen(&self) -> &Screen {
        &self.screen
    }

    /// Gives the screen the size of a window. The text of the main screen stays around its cursor: where the window gets shorter,
    /// rows leave at the top, and a taller one brings them back, as far as they are kept. If the width changes, lines are cut
    /// anew into rows, and the cursor stays at its character.
    pub fn resize(&mut self, size: Size) {
        self.resize_with(size, Reflow::All);
    }

    /// Gives the screen the size of a window; if the width changes, these lines are cut anew.
    ///
    /// Of several resizes with nothing drawn in between only the last counts: each begins from the screen before the first, so a
    /// window that was small for a moment has cost nothing.
    pub fn resize_with(&mut self, size: Size, reflow: Reflow) {
        if size == self.screen.size() {
            return;
        }
        let mut before = match self.before_resizes.take() {
            Some(before) => {
                self.screen.go_back_to(&before.0);
                self.above.go_back_to(&before.1);
                before
            }
            None => Box::new((self.screen.clone(), self.above.kept())),
        };
        self.screen.swap_above(&mut self.above);
        let told = self.screen.fit(size, reflow);
        self.screen.swap_above(&mut self.above);
        self.before_resizes = told.map(|told| {
            // What has entered the history stays there.
            let (screen, above) = &mut *before;
            above.note_told(screen.main_grid_mut().shown(), told);
            before
        });
    }

    /// The rows right above the main screen, uppermost first, that a window of another size brings back.
    pub fn rows_above(&self) -> impl ExactSizeIterator<Item = &SharedRow> {
        self.above.rows()
    }

    /// Begins to keep the lines that leave the main screen at its top, unless that is none.
    pub fn keep_history(&mut self, limits: ScrollbackLimits) {
        if !limits.is_none() {
            self.above.keep(Scrollback::new(limits));
        }
    }

    /// The lines above the main screen, if they are kept.
    pub fn history(&self) -> Option<History<'_>> {
        History::new(&self.above)
    }

    /// Sets the say that programs have in mode 2027.
    pub fn set_clustering(&mut self, clustering: Clustering) {
        self.before_resizes = None;
        self.screen.set_clustering(clustering);
    }

    /// Has questions about the user's terminal wait for the report about it.
    pub fn await_report(&mut self) {
        self.replies.await_report();
    }

    /// Tells what the user's terminal is like, and answers the questions about it that wait.
    pub fn set_report(&mut self, report: TerminalReport) {
        self.before_resizes = None;
        self.screen.set_clustering(report.clustering);
        if !report.keyboard {
            self.screen.forget_keyboard();
        }
        self.replies.set_report(&self.screen, report);
    }

    /// Returns true if an answer waits until something is known of the user's terminal, and so do those behind it.
    pub fn has_questions(&self) -> bool {
        self.replies.has_questions()
    }

    /// Returns the answers to the program's questions since the last call: input for the program.
    /// They are few; what exceeds 64 KiB is dropped.
    pub fn take_replies(&mut self) -> Vec<u8> {
        self.replies.take()
    }

    /// Drops events, and the answers to all questions so far, which were nobody's.
    pub fn drop_replies(&mut self) {
        self.replies.clear();
    }

    /// Returns what programs have said once since the last call, in order. Readers of frames are not told by frames.
    pub fn take_events(&mut self) -> Vec<TerminalEvent> {
        self.replies.take_events()
    }

    /// The number of events that were dropped because nobody took those before.
    pub fn events_dropped(&self) -> u64 {
        self.replies.events_dropped()
    }

    /// The number of answers that were dropped because nobody took those before.
    pub fn replies_dropped(&self) -> u64 {
        self.replies.dropped()
    }
}

impl Screen {
    /// Does what `bytes` say, which must be whole: what they leave unfinished is forgotten, and
    /// nothing is answered. This is how the receiver of a frame draws it.
    pub fn apply(&mut self, bytes: &[u8]) {
        self.apply_within(bytes, u64::MAX);
    }

    /// Does what `bytes` say until that has made `work_max` of [work](Screen::work), and returns how
    /// many bytes that were. The last control function is done whole.
    pub fn apply_within(&mut self, bytes: &[u8], work_max: u64) -> usize {
        self.links.count_one_screen();
        let mut parser = Parser::default();
        let mut replies = Replies::discarded();
        advance_within(&mut parser, self, &mut replies, bytes, work_max)
    }
}

fn advance_within(
    parser: &mut Parser,
    screen: &mut Screen,
    replies: &mut Replies,
    bytes: &[u8],
    work_max: u64,
) -> usize {
    let work_end = screen.work().saturating_add(work_max);
    let mut taken = 0;
    for piece in bytes.chunks(PIECE_BYTES) {
        let mut emulator = Emulator {
            screen,
            replies,
            work_end,
        };
        let used = parser.advance(piece, &mut emulator);
        screen.charge(used as u64);
        taken += used;
        if used < piece.len() || screen.work() >= work_end {
            break;
        }
    }
    taken
}

/// Gives what the parser finds to those who know what it means.
struct Emulator<'a> {
    screen: &'a mut Screen,
    replies: &'a mut Replies,
    /// The work of the screen at which nothing more is begun.
    work_end: u64,
}

impl Handler for Emulator<'_> {
    fn print(&mut self, text: &str) {
        self.screen.print(text);
    }

    #[inline]
    fn lines(&mut self, bytes: &[u8]) -> usize {
        if self.screen.has_sides() {
            self.screen.line_feeds(bytes, FUNCTION_WORK)
        } else if self.screen.begins_last_row() {
            self.screen.print_lines(bytes, 2 * FUNCTION_WORK)
        } else {
            0
        }
    }

    fn control(&mut self, control: char) {
        self.screen.charge(FUNCTION_WORK);
        match control {
            // DECID, an old way to ask what the terminal is.
            '\u{9a}' => self.replies.identify(),
            _ => esc::control(self.screen, control),
        }
    }

    fn escape(&mut self, intermediates: &[u8], last: char) {
        self.screen.charge(FUNCTION_WORK);
        esc::dispatch(self.screen, intermediates, last);
    }

    fn csi(&mut self, sequence: &Csi, last: char) {
        self.screen.charge(FUNCTION_WORK);
        sequences::dispatch(self.screen, self.replies, sequence, last);
    }

    fn osc(&mut self, text: &str, ending: Ending) {
        self.screen.charge(FUNCTION_WORK);
        osc::dispatch(self.screen, self.replies, text, ending);
    }

    fn dcs(&mut self, text: &str) {
        self.screen.charge(FUNCTION_WORK);
        self.screen.charge(self.replies.work());
        self.replies.answer_string(self.screen, text);
    }

    fn is_exhausted(&self) -> bool {
        self.screen.work() >= self.work_end
    }
}
