//! The predictors that can be tried on a session: anything that says what to show before the server does.

use std::collections::BTreeMap;
use std::time::Duration;

use fulmar_predict::Overlay;
use fulmar_terminal::Size;

use super::recorded_user::KeyboardRead;
use super::session::ServerFrame;
use super::snapshot::{ScreenSnapshot, cell_position};
use crate::judge::CellPosition;

/// A predictor on a session: told what is typed and what comes, it says what the user sees. One that does nothing
/// predicts nothing.
pub trait Predictor {
    /// Takes in what was typed, while `frame` is the newest.
    fn type_keys(&mut self, _now: Duration, _keys: &KeyboardRead, _frame: &ServerFrame) {}

    /// Takes in what came.
    fn take_frame(&mut self, _now: Duration, _frame: &ServerFrame) {}

    /// Takes note of another size of the window.
    fn resize(&mut self, _now: Duration, _size: Size) {}

    /// Draws over `frame`, which is the newest.
    fn draw(&mut self, _now: Duration, frame: &ServerFrame) -> DrawnScreen {
        DrawnScreen::plain(frame)
    }

    /// Returns when to ask again although nothing happens.
    fn poll_timeout(&self) -> Option<Duration> {
        None
    }

    /// Returns what it would say about its decisions since the last call, a line each.
    fn take_remarks(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// The snapshot that the user sees.
#[derive(Clone, Debug)]
pub struct DrawnScreen {
    /// The whole screen.
    pub snapshot: ScreenSnapshot,
    /// The first byte of the key because of which a cell was drawn, where that is known.
    pub causes: BTreeMap<CellPosition, u64>,
    /// The same for the cursor.
    pub cursor_cause: Option<u64>,
    /// The same for all other cells.
    pub scroll_cause: Option<u64>,
}

impl DrawnScreen {
    /// The server's own screen.
    pub fn plain(frame: &ServerFrame) -> DrawnScreen {
        DrawnScreen {
            snapshot: frame.snapshot.clone(),
            causes: BTreeMap::new(),
            cursor_cause: None,
            scroll_cause: None,
        }
    }

    /// The first byte of the key because of which a cell was drawn.
    pub(crate) fn cause_of(&self, at: CellPosition) -> Option<u64> {
        self.causes.get(&at).copied().or(self.scroll_cause)
    }

    /// The same, with the causes of what an overlay draws.
    pub fn because(overlay: &Overlay, frame: &ServerFrame) -> DrawnScreen {
        let cells = overlay.cells().iter();
        DrawnScreen {
            causes: cells
                .filter_map(|cell| Some((cell_position(cell.at), cell.key?)))
                .collect(),
            cursor_cause: overlay.cursor_key(),
            scroll_cause: overlay.scroll_key(),
            ..DrawnScreen::plain(frame)
        }
    }
}
