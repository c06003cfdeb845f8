//! Hints of our own server about the program's terminal, which come beside the screen.
//!
//! Source: docs/prediction.md §9.

use fulmar_terminal::CursorShape;

/// The class of the program in the foreground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ProgramClass {
    /// A command interpreter.
    Shell,
    /// A program that reads lines with an editor of its own, as interpreters do.
    LineEditor,
    /// An editor of text.
    Editor,
    /// A program behind which another terminal is: the tty here says nothing about it.
    Relay,
    /// A known program of another kind.
    Other,
    /// A program that nobody knows. Relaxes no rule.
    #[default]
    Unknown,
}

/// The state of the program's terminal as the server sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TtyHints {
    /// The tty collects lines (ICANON).
    pub canonical: bool,
    /// The tty echoes (ECHO).
    pub echo: bool,
    /// It was looked at again, a while after the program last wrote or read: what it is set to then is not on the
    /// way to something else.
    pub steady: bool,
    /// The alternate screen is shown.
    pub alternate: bool,
    /// The cursor's shape as the program set it.
    pub cursor_shape: CursorShape,
    /// A hash of the foreground program's name, salted for each session; 0 for none.
    pub program: u64,
    /// The class of the program.
    pub class: ProgramClass,
}

impl TtyHints {
    /// True if the tty shows nothing of what is typed.
    pub(crate) fn is_silent(&self) -> bool {
        self.canonical && !self.echo
    }

    /// True if keys do the same under both. The cursor's shape is left out: it changes while a line is
    /// edited. So is when the terminal was looked at.
    pub(crate) fn agrees_with(&self, other: &TtyHints) -> bool {
        let decisive = |hints: &TtyHints| TtyHints {
            cursor_shape: CursorShape::Default,
            steady: false,
            ..*hints
        };
        decisive(self) == decisive(other)
    }
}
