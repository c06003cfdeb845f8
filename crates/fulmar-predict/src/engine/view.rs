//! What of the pending keys is drawn.
//!
//! Source: docs/prediction.md §8.

use fulmar_datagram::Time;
use fulmar_terminal::{Attributes, Underline};

use super::Engine;
use crate::canvas::{Canvas, Patch};
use crate::caret::CaretKind;
use crate::config::Preference;
use crate::display::Shown;
use crate::overlay::{Overlay, OverlayCell};
use crate::pending::{Effect, Pending};

impl Engine {
    /// Draws the pending keys, up to the first that may not be shown.
    pub(super) fn view(&mut self, now: Time) -> Overlay {
        let oldest = self.queue.front().map(|key| key.typed_at);
        let Some(shown) = self.display.shown(self.config.preference, now, oldest) else {
            return Overlay::default();
        };
        let count = self.presentable().count();
        if count == 0 || self.frame.is_stale {
            return Overlay::default();
        }
        let mut drawn = self.frame.canvas.clone();
        for (_, effect) in self.presentable() {
            drawn.draw(effect);
        }
        let mut newly = 0;
        for key in self.queue.iter_mut().take(count) {
            newly += u64::from(key.shown_at.is_none());
            key.shown_at.get_or_insert(now);
        }
        self.score.shown += newly;
        overlay(&self.frame.canvas, &drawn, shown)
    }

    /// Whether the key at `index` of the pending ones is drawn.
    pub(super) fn is_shown(&self, now: Time, index: usize) -> bool {
        let oldest = self.queue.front().map(|key| key.typed_at);
        let shown = self.display.shown(self.config.preference, now, oldest);
        shown.is_some() && !self.frame.is_stale && self.presentable().count() > index
    }

    /// The keys that may be shown, with what they do.
    fn presentable(&self) -> impl Iterator<Item = (&Pending, &Effect)> {
        let is_bold = self.config.preference == Preference::Experimental;
        let is_silent = self.hints.is_some_and(|hints| hints.is_silent());
        self.queue.iter().map_while(move |key| {
            let effect = key.drawn()?;
            let may = !is_silent
                && !key.is_hidden
                && self.epochs.is_confirmed(key.epoch)
                && (effect.is_proven || is_bold);
            may.then_some((key, effect))
        })
    }
}

/// Returns what leads from the frame to what is drawn.
fn overlay(frame: &Canvas, drawn: &Canvas, shown: Shown) -> Overlay {
    let changes = frame.changes(drawn);
    let mut cells: Vec<OverlayCell> = changes
        .into_iter()
        // The same text in another colour is the frame's affair.
        .filter(|patch| !patch.before.looks_like(&patch.ink.symbol))
        .map(|patch| cell(patch, shown))
        .collect();
    let has_moved = frame.caret() != drawn.caret();
    if frame.caret_kind() == CaretKind::Soft {
        mark_caret(&mut cells, frame, drawn);
    }
    Overlay {
        cells,
        cursor: (has_moved && frame.caret_kind() == CaretKind::Hard).then(|| drawn.caret()),
    }
}

fn cell(patch: Patch, shown: Shown) -> OverlayCell {
    let mut ink = patch.ink;
    if shown.underlined && !ink.symbol.is_blank() {
        ink.style.attributes.set_underline(Underline::Single);
    }
    OverlayCell { at: patch.at, ink }
}

/// Moves the mark of a software cursor: the overlay is made of screens without it.
fn mark_caret(cells: &mut Vec<OverlayCell>, frame: &Canvas, drawn: &Canvas) {
    let (from, to) = (frame.caret(), drawn.caret());
    if from != to && !cells.iter().any(|cell| cell.at == from) {
        cells.push(OverlayCell {
            at: from,
            ink: drawn.ink(from),
        });
    }
    if from == to && !cells.iter().any(|cell| cell.at == to) {
        return;
    }
    match cells.iter_mut().find(|cell| cell.at == to) {
        Some(cell) => cell.ink.style.attributes.insert(Attributes::INVERSE),
        None => {
            let mut ink = drawn.ink(to);
            ink.style.attributes.insert(Attributes::INVERSE);
            cells.push(OverlayCell { at: to, ink });
        }
    }
}
