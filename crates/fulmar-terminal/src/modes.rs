//! The switches of a terminal.
//!
//! Source: docs/protocol.md §8.7 for those a stock server sends; xterm's control sequences for the
//! rest.

bitflags::bitflags! {
    /// Modes that are on or off. Numbers with `?` are set by `CSI ? n h`, others by `CSI n h`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ModeFlags: u32 {
        /// 4: what is printed pushes the rest of the row to the right.
        const INSERT = 1;
        /// 20: a line feed is also a carriage return.
        const NEW_LINE = 1 << 1;
        /// ?1, DECCKM: cursor keys send `ESC O`.
        const APPLICATION_CURSOR = 1 << 2;
        /// ?5, DECSCNM: dark and light change places on the whole screen.
        const REVERSE_SCREEN = 1 << 3;
        /// ?6, DECOM: rows count from the top margin.
        const ORIGIN = 1 << 4;
        /// ?7, DECAWM: printing past the last column goes on in the next row.
        const AUTO_WRAP = 1 << 5;
        /// ?45: cursor and backspace go from the first column back over a wrap.
        const REVERSE_WRAP = 1 << 6;
        /// ?66 and `ESC =`: the keypad sends its own codes.
        const APPLICATION_KEYPAD = 1 << 7;
        /// ?1004: tell when the window gets and loses the focus.
        const FOCUS_REPORTS = 1 << 8;
        /// ?1007: the wheel sends cursor keys on the alternate screen.
        const ALTERNATE_SCROLL = 1 << 9;
        /// ?2004: pasted text comes in brackets.
        const BRACKETED_PASTE = 1 << 10;
        /// ?2026: the program is in the middle of a frame.
        const SYNCHRONIZED = 1 << 11;
        /// ?12: the cursor blinks. Kept apart from its shape, which may be the user's own.
        const BLINKING_CURSOR = 1 << 12;
        /// ?2027: characters that make one grapheme cluster share a cell.
        const GRAPHEME_CLUSTERS = 1 << 13;
        /// ?69, DECLRMM: there may be a left and a right margin.
        const SIDE_MARGINS = 1 << 14;
        /// ?1045: cursor and backspace go from the first column back to the row above, wherever that ends.
        const REVERSE_WRAP_ALWAYS = 1 << 15;
        /// 2, KAM: the keyboard is locked. Kept only: nobody is kept from typing.
        const KEYBOARD_LOCKED = 1 << 16;
        /// 12, SRM: the terminal does not echo keys itself. Kept only: it never does.
        const NO_LOCAL_ECHO = 1 << 17;
        /// ?4, DECSCLM: rows move smoothly. Kept only.
        const SMOOTH_SCROLL = 1 << 18;
        /// ?18, DECPFF: a form feed behind what is printed. Kept only: there is no printer.
        const PRINT_FORM_FEED = 1 << 19;
        /// ?19, DECPEX: all of the screen is printed, and not only what is between the margins. Kept only.
        const PRINT_SCREEN = 1 << 20;
        /// ?42, DECNRCM: sets of characters of a nation. Kept only: there are none.
        const NATIONAL_SETS = 1 << 21;
        /// ?67, DECBKM: the backspace key sends BS. Kept only: the user's terminal decides what that key sends.
        const BACKSPACE_KEY = 1 << 22;
    }
}

/// The mouse events that the program wants to hear about. The last mode set counts.
///
/// Source: docs/protocol.md §8.7.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MouseMode {
    /// None.
    #[default]
    Off,
    /// ?9: presses alone.
    Press,
    /// ?1000: presses and releases.
    Click,
    /// ?1001: presses, then the program says what to highlight.
    Highlight,
    /// ?1002: also motion while a button is down.
    Drag,
    /// ?1003: also motion without a button.
    Motion,
}

/// The encoding of mouse events. The last mode set counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MouseEncoding {
    /// Bytes, which end at column 223.
    #[default]
    Bytes,
    /// ?1005: characters in UTF-8.
    Utf8,
    /// ?1006: decimal numbers, releases with their button.
    Sgr,
    /// ?1015: decimal numbers as urxvt writes them.
    Urxvt,
    /// ?1016: as 1006, in pixels.
    SgrPixels,
}

impl MouseMode {
    /// Returns the number of the private mode, or `None` for [`MouseMode::Off`].
    pub const fn number(self) -> Option<u16> {
        match self {
            MouseMode::Off => None,
            MouseMode::Press => Some(9),
            MouseMode::Click => Some(1000),
            MouseMode::Highlight => Some(1001),
            MouseMode::Drag => Some(1002),
            MouseMode::Motion => Some(1003),
        }
    }

    /// Returns the mode of a private mode's number.
    pub const fn from_number(number: u16) -> Option<MouseMode> {
        match number {
            9 => Some(MouseMode::Press),
            1000 => Some(MouseMode::Click),
            1001 => Some(MouseMode::Highlight),
            1002 => Some(MouseMode::Drag),
            1003 => Some(MouseMode::Motion),
            _ => None,
        }
    }
}

impl MouseEncoding {
    /// Returns the number of the private mode, or `None` for [`MouseEncoding::Bytes`].
    pub const fn number(self) -> Option<u16> {
        match self {
            MouseEncoding::Bytes => None,
            MouseEncoding::Utf8 => Some(1005),
            MouseEncoding::Sgr => Some(1006),
            MouseEncoding::Urxvt => Some(1015),
            MouseEncoding::SgrPixels => Some(1016),
        }
    }

    /// Returns the encoding of a private mode's number.
    pub const fn from_number(number: u16) -> Option<MouseEncoding> {
        match number {
            1005 => Some(MouseEncoding::Utf8),
            1006 => Some(MouseEncoding::Sgr),
            1015 => Some(MouseEncoding::Urxvt),
            1016 => Some(MouseEncoding::SgrPixels),
            _ => None,
        }
    }
}

/// The state of a mode as DECRPM reports it; the numbers are those of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModeState {
    Unknown = 0,
    Set = 1,
    Reset = 2,
    PermanentlySet = 3,
    PermanentlyReset = 4,
}

impl ModeState {
    /// Returns the state of a mode that can be switched.
    pub(crate) const fn switchable(is_set: bool) -> ModeState {
        if is_set {
            ModeState::Set
        } else {
            ModeState::Reset
        }
    }
}

/// All modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modes {
    /// Those that are on or off.
    pub flags: ModeFlags,
    /// The mouse events that are reported.
    pub mouse: MouseMode,
    /// The encoding of mouse events.
    pub mouse_encoding: MouseEncoding,
}

impl Modes {
    /// Returns true if all of `flags` are on.
    pub const fn has(&self, flags: ModeFlags) -> bool {
        self.flags.contains(flags)
    }
}

impl Default for Modes {
    fn default() -> Modes {
        Modes {
            flags: ModeFlags::AUTO_WRAP | ModeFlags::ALTERNATE_SCROLL | ModeFlags::NO_LOCAL_ECHO,
            mouse: MouseMode::Off,
            mouse_encoding: MouseEncoding::Bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lead_back_to_their_modes() {
        for number in 0..3000 {
            if let Some(mode) = MouseMode::from_number(number) {
                assert_eq!(mode.number(), Some(number));
            }
            if let Some(encoding) = MouseEncoding::from_number(number) {
                assert_eq!(encoding.number(), Some(number));
            }
        }
        assert_eq!(MouseMode::Off.number(), None);
        assert_eq!(MouseEncoding::Bytes.number(), None);
    }
}
