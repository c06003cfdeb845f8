//! Where the next character goes.

use crate::size::Position;

/// The cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Always on the screen.
    pub position: Position,
    /// The last column was just written: the next character goes to the next row first.
    pub pending_wrap: bool,
    /// DECTCEM, `CSI ? 25 h`.
    pub visible: bool,
    /// DECSCUSR.
    pub shape: CursorShape,
}

/// What the cursor looks like; the numbers are those of DECSCUSR, `CSI n SP q`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CursorShape {
    /// What the user's terminal is set to.
    #[default]
    Default = 0,
    /// A blinking block.
    BlinkingBlock = 1,
    /// A block.
    SteadyBlock = 2,
    /// A blinking line below the character.
    BlinkingUnderline = 3,
    /// A line below the character.
    SteadyUnderline = 4,
    /// A blinking line before the character.
    BlinkingBar = 5,
    /// A line before the character.
    SteadyBar = 6,
}

impl Default for Cursor {
    fn default() -> Cursor {
        Cursor {
            position: Position::HOME,
            pending_wrap: false,
            visible: true,
            shape: CursorShape::Default,
        }
    }
}
