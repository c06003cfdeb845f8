//! The properties of the user's terminal.

use fulmar_terminal::{Screen, Vocabulary};

/// The properties of the user's terminal.
#[derive(Clone, Debug)]
pub struct OuterTerminal {
    /// The vocabulary that it understands.
    pub vocabulary: Vocabulary,
    /// The bytes that make it ready, `smcup` of terminfo; empty if its screen is not to be changed.
    pub enter: Vec<u8>,
    /// The bytes that undo that, `rmcup`.
    pub exit: Vec<u8>,
    /// True if it can be told to show a frame only when it is complete (mode 2026).
    pub synchronized_output: bool,
}

impl Default for OuterTerminal {
    /// A terminal of which nothing is known.
    fn default() -> OuterTerminal {
        OuterTerminal {
            vocabulary: Vocabulary::PLAIN,
            enter: Vec::new(),
            exit: Vec::new(),
            synchronized_output: false,
        }
    }
}

/// Puts the window's and the icon's title on the terminal's stack.
pub(crate) const PUSH_TITLE: &[u8] = b"\x1b[22;0;0t";
/// Takes them from there.
pub(crate) const POP_TITLE: &[u8] = b"\x1b[23;0;0t";

impl OuterTerminal {
    /// Tells if the screen changes the title of this terminal, and `enter` has not put the one before on the stack.
    pub(crate) fn shows_title_of(&self, screen: &Screen) -> bool {
        let is_named = screen.title().is_some() || screen.icon_name().is_some();
        let is_pushed = self
            .enter
            .windows(PUSH_TITLE.len())
            .any(|part| part == PUSH_TITLE);
        self.vocabulary.titles && is_named && !is_pushed
    }
}
