//! Tells contexts apart: the kind of place that the caret is in, and an id by which it is known again.
//!
//! Source: docs/prediction.md §6.

use std::hash::{DefaultHasher, Hash, Hasher};

use fulmar_terminal::{ModeFlags, Position};

use crate::canvas::Canvas;
use crate::editor::{Editor, editor};
use crate::prompt::{ContextId, signature};
use crate::tty_hints::TtyHints;

/// The kind of a context, which decides on the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum InputKind {
    /// Behind a prompt: the margin is hard.
    Prompt,
    /// In the text of an editor that says it takes text.
    Editor,
    /// Anywhere else.
    Elsewhere,
}

/// A place; equal ones are believed to behave alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InputContext {
    pub(crate) kind: InputKind,
    pub(crate) signature: ContextId,
    /// The editor that it is in the text of.
    pub(crate) editor: Option<Editor>,
}

impl InputContext {
    /// Returns the place of a line whose text begins at `margin` of the caret's row.
    pub(crate) fn of(canvas: &Canvas, margin: u16, hints: Option<&TtyHints>) -> InputContext {
        let screen = canvas.screen();
        let start = Position::new(canvas.caret().row.0, margin);
        if let Some(editor) = editor(screen, canvas.caret()) {
            return InputContext {
                kind: InputKind::Editor,
                signature: editor.signature,
                editor: Some(editor),
            };
        }
        match signature(screen, start, hints) {
            Some(signature) => InputContext {
                kind: InputKind::Prompt,
                signature,
                editor: None,
            },
            None => InputContext::elsewhere(canvas, margin, hints),
        }
    }

    fn elsewhere(canvas: &Canvas, margin: u16, hints: Option<&TtyHints>) -> InputContext {
        let modes = canvas.screen().modes();
        let mut hasher = DefaultHasher::new();
        modes.has(ModeFlags::BRACKETED_PASTE).hash(&mut hasher);
        modes.mouse.number().hash(&mut hasher);
        canvas.caret_kind().hash(&mut hasher);
        if let Some(hints) = hints {
            (hints.canonical, hints.echo, hints.program).hash(&mut hasher);
            // A program that asks and one that only waits are not alike.
            (hints.canonical && margin == 0).hash(&mut hasher);
        }
        InputContext {
            kind: InputKind::Elsewhere,
            signature: ContextId(hasher.finish()),
            editor: None,
        }
    }
}
