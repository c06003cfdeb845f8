//! The screens of the user's terminal in a run.

use super::cell_history::CellHistory;
use super::glyph::{CellPosition, Glyph};
use super::observer::{Change, ScreenObserver, Stamp};
use crate::trace::{Event, Size, Trace};
use std::time::Duration;

/// Every frame of the user's terminal, in order of time.
///
/// Frames are counted: frame 0 is the blank terminal of the beginning, frame n is that after the nth
/// piece of output.
#[derive(Debug)]
pub(crate) struct DisplayHistory {
    history: CellHistory,
    frames: Vec<DisplayFrame>,
}

/// The terminal after one piece of output, without its cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DisplayFrame {
    pub(crate) at: Duration,
    /// The place where the cursor is to be seen.
    pub(crate) cursor: Option<CellPosition>,
    pub(crate) hash: u64,
    /// The newest stamp by then.
    pub(crate) stamp: Option<Stamp>,
}

impl DisplayHistory {
    /// Shows what a user's terminal got.
    pub(crate) fn of(trace: &Trace, largest: Size) -> Self {
        let mut observer = ScreenObserver::new(trace.size());
        let mut display = Self {
            history: CellHistory::new(largest),
            frames: vec![frame(&observer, trace.began())],
        };
        let mut changes = Vec::new();
        for record in trace.records() {
            match &record.event {
                Event::Host(bytes) => observer.show(bytes, &mut changes),
                Event::Size(size) if *size != observer.size() => {
                    observer.resize(*size, &mut changes)
                }
                Event::Size(_) | Event::User(_) => continue,
            }
            display.note(&observer, record.at, &mut changes);
        }
        display
    }

    fn note(&mut self, observer: &ScreenObserver, at: Duration, changes: &mut Vec<Change>) {
        let count = self.frames.len();
        for change in changes.drain(..) {
            self.history.add(count, change.place, change.glyph);
        }
        self.frames.push(frame(observer, at));
    }

    pub(crate) fn frames(&self) -> &[DisplayFrame] {
        &self.frames
    }

    /// Returns what a cell shows in a frame.
    pub(crate) fn glyph(&self, place: CellPosition, frame: usize) -> Glyph {
        self.history.at(place, frame)
    }

    /// Returns the cells that a frame changed.
    pub(crate) fn changed(&self, frame: usize) -> impl Iterator<Item = CellPosition> {
        self.history.changed(frame.saturating_sub(1), frame)
    }

    /// Returns the text of the top row, where peers put their notices.
    pub(crate) fn top_row(&self, frame: usize, columns: u16) -> String {
        (0..columns)
            .map(|column| self.glyph(CellPosition { row: 0, column }, frame))
            .map(|glyph| glyph.as_char().unwrap_or(' '))
            .collect()
    }

    /// True when a stamp was ever seen.
    pub(crate) fn is_stamped(&self) -> bool {
        self.frames.iter().any(|frame| frame.stamp.is_some())
    }
}

fn frame(observer: &ScreenObserver, at: Duration) -> DisplayFrame {
    DisplayFrame {
        at,
        cursor: observer.cursor().seen(),
        hash: observer.hash(),
        stamp: observer.stamp(),
    }
}
