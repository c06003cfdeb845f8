//! Composes the overlay: the cells and the cursor that predicted keys change.
//!
//! Source: docs/prediction.md §8.

use std::collections::HashMap;

use fulmar_base::Time;
use fulmar_terminal::{Attributes, Position, Style, Underline};

use super::PredictionEngine;
use crate::canvas::Canvas;
use crate::caret::CaretKind;
use crate::config::PredictionMode;
use crate::display_policy::DisplayStyle;
use crate::effect::{CellChange, KeyEffect};
use crate::frame_match::all_match_frame;
use crate::overlay::{Overlay, OverlayCell};
use crate::pending::PendingKey;

impl PredictionEngine {
    /// Draws the pending keys, up to the first that may not be shown.
    pub(super) fn compose_overlay(&mut self, now: Time) -> Overlay {
        let oldest = self.queue.front().map(|key| key.typed_at);
        let Some(shown) = self.display.shown(self.config.mode, now, oldest) else {
            return Overlay::default();
        };
        let count = self.showable().count();
        // Neither a frame of another size nor hints whose frame is still to come say where keys
        // will stand.
        if count == 0 || self.frame.is_stale || self.hints_changed || self.is_contradicted() {
            return Overlay::default();
        }
        let mut drawn = self.frame.canvas.clone();
        let mut causes = CellCauses::default();
        for (key, effect) in self.showable() {
            causes.note(key.stroke.start, effect, drawn.caret());
            drawn.draw(effect);
        }
        let mut newly = 0;
        for key in self.queue.iter_mut().take(count) {
            newly += u64::from(key.shown_at.is_none());
            key.shown_at.get_or_insert(now);
        }
        self.score.shown += newly;
        overlay(&self.frame.canvas, &drawn, shown, &causes)
    }

    /// True if the server had the first key when it made the frame, and the frame is nothing that the pending keys lead
    /// to on their way: what they would be drawn into is another line, though the program may still have time to answer.
    fn is_contradicted(&self) -> bool {
        let frame = &self.frame;
        let is_elsewhere = |effect: &KeyEffect| effect.caret != frame.canvas.caret();
        let front = self
            .queue
            .front()
            .filter(|key| key.is_received(frame.received));
        front
            .and_then(PendingKey::known_effect)
            .is_some_and(|front| {
                let mut effects = self.queue.iter().map_while(PendingKey::known_effect);
                self.base.caret() != frame.canvas.caret()
                    && !all_match_frame(front, &frame.canvas)
                    && effects.all(is_elsewhere)
            })
    }

    /// True if the key at `index` of the pending ones is drawn.
    pub(super) fn is_shown(&self, now: Time, index: usize) -> bool {
        let oldest = self.queue.front().map(|key| key.typed_at);
        let shown = self.display.shown(self.config.mode, now, oldest);
        shown.is_some() && !self.frame.is_stale && self.showable().count() > index
    }

    /// The keys that may be shown, with what they do.
    fn showable(&self) -> impl Iterator<Item = (&PendingKey, &KeyEffect)> {
        let is_bold = self.config.mode == PredictionMode::Experimental;
        let is_silent = self.hints.is_some_and(|hints| hints.is_silent());
        self.queue.iter().map_while(move |key| {
            let effect = key.drawn_effect()?;
            let may = !is_silent
                && !key.is_hidden
                // S9: characters in a confirmed epoch only.
                && (self.epochs.is_confirmed(key.epoch) || effect.is_harmless)
                && (effect.is_confident || is_bold);
            may.then_some((key, effect))
        })
    }
}

/// The keys that cells are drawn for.
#[derive(Default)]
struct CellCauses {
    cells: HashMap<Position, CellCause>,
    /// The key that moved all rows.
    scroll: Option<u64>,
    caret: Option<u64>,
}

struct CellCause {
    key: u64,
    /// It leaves the text as it is.
    restyles: bool,
}

impl CellCauses {
    /// Takes note of what the key with that first byte does; the caret is at `caret` before.
    fn note(&mut self, key: u64, effect: &KeyEffect, caret: Position) {
        if effect.scrolls {
            self.cells.clear();
            self.scroll = Some(key);
        }
        for change in &effect.changes {
            let restyles = change.before.looks_like(&change.content.grapheme);
            self.cells.insert(change.at, CellCause { key, restyles });
        }
        if effect.caret != caret {
            self.caret = Some(key);
        }
    }

    fn key_of(&self, at: Position) -> Option<u64> {
        self.cells.get(&at).map(|cause| cause.key).or(self.scroll)
    }

    fn restyles(&self, at: Position) -> bool {
        self.cells.get(&at).is_some_and(|cause| cause.restyles)
    }
}

/// Returns what leads from the frame to what is drawn.
fn overlay(frame: &Canvas, drawn: &Canvas, shown: DisplayStyle, causes: &CellCauses) -> Overlay {
    let mut ground = frame.clone();
    if causes.scroll.is_some() {
        ground.scroll();
    }
    let is_drawn = |change: &CellChange| {
        // The same text in another colour is the frame's affair, unless a key does just that.
        !change.before.looks_like(&change.content.grapheme)
            || causes.restyles(change.at)
                && is_marked_otherwise(&ground.content(change.at).style, &change.content.style)
    };
    let changes = ground.changes(drawn).into_iter().filter(is_drawn);
    let mut cells: Vec<OverlayCell> = changes.map(|change| cell(change, shown, causes)).collect();
    let has_moved = frame.caret() != drawn.caret();
    if frame.caret_kind() == CaretKind::Software {
        mark_caret(&mut cells, &ground, drawn, causes.caret);
    }
    let cursor = has_moved && frame.caret_kind() == CaretKind::Hardware;
    Overlay {
        scroll_key: causes.scroll,
        cells,
        cursor: cursor.then(|| drawn.caret()),
        cursor_key: causes.caret.filter(|_| cursor),
    }
}

fn is_marked_otherwise(one: &Style, other: &Style) -> bool {
    let is_inverse = |style: &Style| style.attributes.contains(Attributes::INVERSE);
    one.background != other.background || is_inverse(one) != is_inverse(other)
}

fn cell(change: CellChange, shown: DisplayStyle, causes: &CellCauses) -> OverlayCell {
    let mut content = change.content;
    let is_new = !change.before.looks_like(&content.grapheme);
    if shown.underlined && is_new && !content.grapheme.is_blank() {
        content.style.attributes.set_underline(Underline::Single);
    }
    OverlayCell {
        at: change.at,
        content,
        key: causes.key_of(change.at),
    }
}

/// Moves the mark of a software cursor: the overlay is made of screens without it.
fn mark_caret(cells: &mut Vec<OverlayCell>, frame: &Canvas, drawn: &Canvas, key: Option<u64>) {
    let (from, to) = (frame.caret(), drawn.caret());
    if from != to && !cells.iter().any(|cell| cell.at == from) {
        cells.push(OverlayCell {
            at: from,
            content: drawn.content(from),
            key,
        });
    }
    if from == to && !cells.iter().any(|cell| cell.at == to) {
        return;
    }
    match cells.iter_mut().find(|cell| cell.at == to) {
        Some(cell) => frame.mark_caret(&mut cell.content.style),
        None => {
            let mut content = drawn.content(to);
            frame.mark_caret(&mut content.style);
            cells.push(OverlayCell {
                at: to,
                content,
                key,
            });
        }
    }
}
