//! Drawing on the main screen of the user's terminal, which keeps what leaves it at the top.

use std::iter::repeat_n;

use fulmar_terminal::{Row, Screen, SharedRow, Size, Vocabulary, cut_line};

use super::Place;
use crate::push_queue::PushQueue;

/// The main screen, while the session is drawn there, and the way to the alternate one and back.
#[derive(Debug)]
pub(super) struct MainScreen {
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
}

impl MainScreen {
    pub(super) fn new(enter: Vec<u8>, exit: Vec<u8>) -> MainScreen {
        MainScreen {
            queue: PushQueue::default(),
            enter,
            exit,
            is_hidden: false,
            hidden_keyboard: false,
            last: None,
        }
    }

    /// Returns the frame that has `screen` stand where `shown` does, below the lines that have arrived.
    pub(super) fn frame(
        &mut self,
        screen: &Screen,
        shown: Option<&Screen>,
        place: Place,
        vocabulary: &Vocabulary,
    ) -> Vec<u8> {
        let mut frame = Vec::new();
        let mut rows = Vec::new();
        if let Place::Main { history_end } = place {
            let pushed = self.queue.take(history_end, screen.size().columns());
            if pushed.clears {
                frame.extend_from_slice(b"\x1b[3J");
            }
            rows = pushed.rows;
        }
        let last = self.last.take();
        if shown.is_none()
            && let Some(last) = last.filter(|last| last.size() != screen.size())
        {
            return_what_came_down(&last, screen.size(), &mut frame);
        }
        frame.append(&mut screen.diff_pushing(&rows, shown, vocabulary));
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
        if pushed.rows.is_empty() {
            return Vec::new();
        }
        let shown = last.clone();
        let up = pushed.rows.len().min(usize::from(size.rows()));
        last.apply(format!("\x1b[r\x1b[m\x1b[{up}S\x1b[{up}A").as_bytes());
        last.diff_pushing(&pushed.rows, Some(&shown), vocabulary)
    }
}

/// Appends what erases a screen that was shown in a window of another size, and has what the terminal has brought down from
/// above it since go back there.
///
/// Where the screen is now is not known, but the cursor has stayed at its text. From the first row of the screen so many line
/// feeds lead to the bottom that exactly the rows above it are scrolled off.
fn return_what_came_down(last: &Screen, size: Size, out: &mut Vec<u8>) {
    out.push(b'\r');
    let up = rows_above_cursor(last, size);
    if up > 0 {
        out.extend_from_slice(format!("\x1b[{up}A").as_bytes());
    }
    // Some terminals keep a screen that is erased from its first cell on.
    out.extend_from_slice(b"\x1b[K");
    if size.rows() > 1 {
        out.extend_from_slice(b"\n\x1b[J");
        out.extend(repeat_n(b'\n', usize::from(size.rows()) - 2));
    }
}

/// Returns how many rows of a screen are above its cursor in a window of another size. A terminal that cuts its lines anew may
/// have more or fewer of them than one that does not; of what came from above, none is to be erased.
fn rows_above_cursor(screen: &Screen, size: Size) -> u16 {
    let cursor = screen.cursor().position;
    let row = usize::from(cursor.row.0);
    let rows: Vec<&SharedRow> = screen.rows().take(row).collect();
    let mut lines = rows.chunk_by(|upper, _| upper.is_wrapped()).peekable();
    let mut cut = 0;
    while let Some(line) = lines.next() {
        let goes_on = lines.peek().is_none() && line.last().is_some_and(|row| row.is_wrapped());
        cut += if goes_on {
            let cells = line.len() * usize::from(screen.size().columns());
            (cells + usize::from(cursor.column.0)) / usize::from(size.columns())
        } else {
            let line: Vec<SharedRow> = line.iter().map(|&row| row.clone()).collect();
            cut_line(&line, size.columns()).len()
        };
    }
    let is_taller = size.rows() > screen.size().rows();
    let rows = if is_taller { cut.min(row) } else { cut };
    u16::try_from(rows).unwrap_or(u16::MAX)
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
