//! Drawing on the main screen of the user's terminal, which keeps what leaves it at the top.

use std::iter::repeat_n;

use fulmar_terminal::{Reflow, Row, Screen, SharedRow, Size, Vocabulary};

use super::Place;
use super::kept_lines::KeptLines;
use crate::outer_terminal::OuterTerminal;
use crate::push_queue::{PushQueue, RowsAbove};

/// The main screen, while the session is drawn there, and the way to the alternate one and back.
#[derive(Debug)]
pub(super) struct MainScreen {
    /// The lines that stand above it, or soon will.
    pub(super) kept: KeptLines,
    /// The lines that are to stand above it.
    pub(super) queue: PushQueue,
    /// The bytes that lead to the alternate screen, and back; empty if it is not to be used.
    pub(super) enter: Vec<u8>,
    pub(super) exit: Vec<u8>,
    /// True while the terminal shows its alternate screen, for a program that has asked for that.
    pub(super) is_hidden: bool,
    /// True if the keyboard of the main screen was changed, while that is hidden.
    pub(super) hidden_keyboard: bool,
    /// The screen that it showed last, if it is not known what it shows now.
    pub(super) last: Option<Box<Screen>>,
    /// The number of the line with which that began.
    top: u64,
}

impl MainScreen {
    pub(super) fn new(enter: Vec<u8>, exit: Vec<u8>) -> MainScreen {
        MainScreen {
            kept: KeptLines::default(),
            queue: PushQueue::default(),
            enter,
            exit,
            is_hidden: false,
            hidden_keyboard: false,
            last: None,
            top: 0,
        }
    }

    /// Gives the program's screen the size of the window as the terminal would do it, with what is above. Returns the number of the
    /// line with which it begins then.
    pub(super) fn crop(&self, screen: &mut Screen, end: u64, size: Size, reflow: Reflow) -> u64 {
        let columns = screen.size().columns();
        let above = self.queue.rows_above(end, columns);
        let first = above.as_ref().map_or(end, |above| above.first);
        let rows = above.map_or(Vec::new(), |above| above.rows);
        let rows = screen.fit_below(rows, size, reflow);
        RowsAbove { first, rows }.end()
    }

    /// Returns the frame that has `screen`, which begins with the line `top`, stand where `shown` does, below the lines that have arrived.
    pub(super) fn frame(
        &mut self,
        screen: &Screen,
        top: u64,
        shown: Option<&Screen>,
        place: Place,
        outer: &OuterTerminal,
    ) -> Vec<u8> {
        let mut frame = Vec::new();
        let mut rows = Vec::new();
        let last = self.last.take();
        if shown.is_none()
            && let Some(last) = last.filter(|last| last.size() != screen.size())
        {
            let above_cursor = self.follow_terminal(last.trimmed(), screen.size(), outer.reflows);
            return_what_came_down(above_cursor, screen.size(), &mut frame);
        }
        if let Place::Main { history_end } = place {
            let pushed = self
                .queue
                .take(history_end.min(top), screen.size().columns());
            if pushed.clears {
                frame.extend_from_slice(b"\x1b[3J");
            }
            rows = pushed.rows;
            self.top = top;
        }
        frame.append(&mut screen.diff_pushing(&rows, shown, &outer.vocabulary));
        frame
    }

    /// Returns the frame that has the lines that have arrived stand above the screen that it showed last. Its rows go up as they
    /// leave; what has entered below them while another screen was shown is not known.
    pub(super) fn push_last(
        &mut self,
        place: Place,
        size: Size,
        vocabulary: &Vocabulary,
    ) -> Vec<u8> {
        let Place::Main { history_end } = place else {
            return Vec::new();
        };
        let Some(last) = self.last.as_mut().filter(|last| last.size() == size) else {
            return Vec::new();
        };
        let pushed = self.queue.take(history_end, size.columns());
        self.top = history_end;
        if pushed.rows.is_empty() {
            return Vec::new();
        }
        let shown = last.clone();
        let up = pushed.rows.len().min(usize::from(size.rows()));
        last.apply(format!("\x1b[r\x1b[m\x1b[{up}S\x1b[{up}A").as_bytes());
        last.diff_pushing(&pushed.rows, Some(&shown), vocabulary)
    }

    /// Takes note of what the terminal has made by itself of the screen that it showed last, in a window that has this size now. Returns
    /// the number of rows between the first of that screen, or of what has come down above it, and the cursor.
    fn follow_terminal(&mut self, mut last: Screen, size: Size, reflows: bool) -> u16 {
        let columns = last.size().columns();
        let (size, reflow) = if reflows {
            (size, Reflow::All)
        } else {
            // What is cropped at the right is the same line.
            (Size::new(size.rows(), columns).unwrap_or(size), Reflow::Off)
        };
        match self.queue.rows_above_shown(self.top, columns) {
            Some(RowsAbove { first, rows }) => {
                let rows = last.fit_below(rows, size, reflow);
                self.queue.set_above(RowsAbove { first, rows });
            }
            None => {
                last.fit_below(Vec::new(), size, reflow);
            }
        }
        last.cursor().position.row.0
    }

    /// Takes note that the terminal, given back, has `screen` above what it shows next.
    pub(super) fn note_left_behind(&mut self, screen: &Screen) {
        let cursor = usize::from(screen.cursor().position.row.0);
        let text: Vec<SharedRow> = screen.rows().take(cursor).cloned().collect();
        // The line of the cursor is about to change.
        let end = text.iter().rposition(|row| !row.is_wrapped());
        let above = end.map_or(0, |end| end + 1);
        self.queue.note_scrolled(self.top, &text[..above]);
    }
}

/// Appends what erases a screen that was shown in a window of another size, and has what the terminal has brought down from
/// above it beyond that go back there. The screen begins `above_cursor` rows above the cursor.
///
/// Where the screen is now is not known, but the cursor has stayed at its text. From the first row of the screen so many line
/// feeds lead to the bottom that exactly the rows above it are scrolled off.
fn return_what_came_down(above_cursor: u16, size: Size, out: &mut Vec<u8>) {
    out.push(b'\r');
    if above_cursor > 0 {
        out.extend_from_slice(format!("\x1b[{above_cursor}A").as_bytes());
    }
    // Some terminals keep a screen that is erased from its first cell on.
    out.extend_from_slice(b"\x1b[K");
    if size.rows() > 1 {
        out.extend_from_slice(b"\n\x1b[J");
        out.extend(repeat_n(b'\n', usize::from(size.rows()) - 2));
    }
}

/// Appends what leads from anywhere to the first column of the row below everything that `screen` shows.
pub(super) fn lead_below(screen: &Screen, out: &mut Vec<u8>) {
    let cursor = screen.cursor().position;
    let below_cursor = cursor.row.0 + u16::from(cursor.column.0 > 0);
    let row = below_cursor.max(screen.filled_rows());
    let Row(last_row) = screen.size().last_row();
    out.extend_from_slice(format!("\x1b[{};1H", row.min(last_row) + 1).as_bytes());
    if row > last_row {
        out.extend_from_slice(b"\r\n");
    }
}
