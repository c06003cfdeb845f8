//! The cursor: the place of the next character, and the look of the place.

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

/// The look of the cursor; the numbers are those of DECSCUSR, `CSI n SP q`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CursorShape {
    /// The shape that the user's terminal is set to.
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

impl CursorShape {
    /// Returns the shape that DECSCUSR calls by `number`.
    pub const fn from_number(number: u16) -> Option<CursorShape> {
        match number {
            0 => Some(CursorShape::Default),
            1 => Some(CursorShape::BlinkingBlock),
            2 => Some(CursorShape::SteadyBlock),
            3 => Some(CursorShape::BlinkingUnderline),
            4 => Some(CursorShape::SteadyUnderline),
            5 => Some(CursorShape::BlinkingBar),
            6 => Some(CursorShape::SteadyBar),
            _ => None,
        }
    }
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
