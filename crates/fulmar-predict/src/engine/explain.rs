//! Looks for another explanation of a frame that contradicts a prediction.
//!
//! Source: docs/prediction.md §7.

use super::PredictionEngine;
use crate::canvas::Canvas;
use crate::decision::KeyClass;
use crate::frame_match::is_telling_character;
use crate::input_line::InputLine;
use crate::key::Key;
use crate::pending::PendingKey;
use crate::rules::{self, EditState};
use crate::text::reads_alike;

impl PredictionEngine {
    /// Returns the text at the margin, if its going away explains the frame, and whether that is evidence.
    pub(super) fn placeholder(&self) -> Option<(Box<str>, bool)> {
        let (mut canvas, mut line) = self.base_line()?;
        let (text, _) = line.text_at_margin(&canvas)?;
        line.known_placeholder = Some(text.clone());
        let mut typed = Vec::new();
        for (key, _) in self.queue.received_predictions(self.frame.received) {
            let mut edit = EditState {
                canvas: &mut canvas,
                line: &mut line,
                overwrite: self.config.overwrite,
            };
            // Only characters make a placeholder go away.
            matches!(key.stroke.key, Key::Text(_)).then_some(())?;
            rules::apply_rule(key.stroke.key, 0, &mut edit)?;
            typed.push(key.stroke.key);
            if self.looks_like_frame(&canvas) {
                return Some((text, typed.iter().any(is_telling_character)));
            }
        }
        None
    }

    pub(super) fn learn_placeholder(&mut self, text: Box<str>, is_evidence: bool) {
        if let Some(history) = self.history_mut() {
            history.placeholder = Some(text);
        }
        if is_evidence {
            self.note_echo();
        }
    }

    /// Returns another variant in which the first key, if it is the only one that the server has, explains
    /// the frame.
    pub(super) fn alternative(&self) -> Option<(Key, u8)> {
        let mut received = self.queue.received_predictions(self.frame.received);
        let (key, wrong) = received.next()?;
        // Of two keys too many pairs of variants explain a frame by chance.
        if received.next().is_some() {
            return None;
        }
        let ways = rules::variants(KeyClass::of(key.stroke.key));
        let other =
            (0..ways).find(|&variant| variant != wrong.variant && self.explains(key, variant));
        other.map(|variant| (key.stroke.key, variant))
    }

    fn explains(&self, key: &PendingKey, variant: u8) -> bool {
        let Some((mut canvas, mut line)) = self.base_line() else {
            return false;
        };
        let mut edit = EditState {
            canvas: &mut canvas,
            line: &mut line,
            overwrite: self.config.overwrite,
        };
        rules::apply_rule(key.stroke.key, variant, &mut edit).is_some()
            && self.looks_like_frame(&canvas)
    }

    /// Returns the screen and the line as they were before the first key.
    fn base_line(&self) -> Option<(Canvas, InputLine)> {
        let mut line = self.line.clone()?;
        let canvas = self.base.clone();
        line.refresh(&canvas, self.hints.as_ref());
        Some((canvas, line))
    }

    /// True if caret and row are as in the frame.
    fn looks_like_frame(&self, canvas: &Canvas) -> bool {
        let frame = &self.frame.canvas;
        canvas.caret() == frame.caret() && reads_alike(canvas.line(), frame.line())
    }
}
