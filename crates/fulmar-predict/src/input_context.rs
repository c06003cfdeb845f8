//! Tells contexts apart: the kind of place that the caret is in, and an id by which it is known again.
//!
//! Source: docs/prediction.md §6.

use std::hash::{DefaultHasher, Hash, Hasher};

use fulmar_terminal::{ModeFlags, Position};

use crate::canvas::Canvas;
use crate::editor::{TextEditor, find_editor};
use crate::prompt::{ContextId, prompt_id};
use crate::tty_hints::TtyHints;

/// The kind of a context, which decides on the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum InputKind {
    /// Behind a prompt: the margin is hard.
    Prompt,
    /// In the text of an editor that says it takes text.
    Editor,
    /// Anywhere else.
    Other,
}

/// A context: where the user types. Equal ones are expected to behave alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InputContext {
    pub(crate) kind: InputKind,
    pub(crate) id: ContextId,
    /// The editor that it is in the text of.
    pub(crate) editor: Option<TextEditor>,
}

impl InputContext {
    /// Returns the context of a line whose text begins at `margin` of the caret's row.
    pub(crate) fn of(canvas: &Canvas, margin: u16, hints: Option<&TtyHints>) -> InputContext {
        let screen = canvas.screen();
        let start = Position::new(canvas.caret().row.0, margin);
        if let Some(editor) = find_editor(screen, canvas.caret()) {
            return InputContext {
                kind: InputKind::Editor,
                id: editor.id,
                editor: Some(editor),
            };
        }
        match prompt_id(screen, start, hints) {
            Some(id) => InputContext {
                kind: InputKind::Prompt,
                id,
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
            kind: InputKind::Other,
            id: ContextId(hasher.finish()),
            editor: None,
        }
    }
}
