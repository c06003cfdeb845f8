//! Keys: one for each thing that the user did.
//!
//! Source: docs/prediction.md §4.

/// A key, or what the terminal wrote by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    /// A character that is printed, perhaps a wide or a combining one.
    Text(char),
    /// The key that most terminals write as DEL. Ctrl-H is [`Key::Control`].
    Backspace,
    /// Removes what is at the cursor.
    Delete,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    /// Left with Ctrl or Alt.
    WordLeft,
    /// Right with Ctrl or Alt.
    WordRight,
    Enter,
    Tab,
    /// Escape by itself.
    Escape,
    /// Ctrl with a lower-case letter or one of `@ [ \ ] ^ _`.
    Control(char),
    /// Alt with a printable character.
    Alt(char),
    AltBackspace,
    /// A key that nothing is known about: function keys and the like.
    Other,
    /// A part of a bracketed paste.
    Paste,
    /// A button, the wheel, or a motion of the mouse. Not a key.
    Mouse,
    /// An answer of the terminal, or a change of its focus. Not a key.
    Reply,
    /// The release of a key, or a key that only changes others, as Shift does. Does nothing.
    Silent,
}

impl Key {
    /// True if the user, and not the terminal, wrote this, and programs act on it.
    pub(crate) fn is_key(self) -> bool {
        !matches!(self, Key::Mouse | Key::Reply | Key::Silent)
    }

    /// True if the edited line goes on after this key, although nothing is known of its effect. Everything
    /// else that has no rule ends the line.
    ///
    /// Source: docs/prediction.md §4.
    pub(crate) fn keeps_line(self) -> bool {
        match self {
            Key::Control(letter) => matches!(
                letter,
                'a' | 'b' | 'e' | 'f' | 'h' | 'k' | 'l' | 'n' | 'p' | 'u' | 'w' | 'y'
            ),
            Key::Alt(letter) => matches!(letter, 'b' | 'd' | 'f'),
            Key::Enter | Key::Escape | Key::Other | Key::Paste => false,
            _ => true,
        }
    }

    /// True if a shell may put text into the line that nobody typed: from its history, or to complete a
    /// word.
    pub(crate) fn may_recall(self) -> bool {
        matches!(
            self,
            Key::Up | Key::Down | Key::Tab | Key::Control('n' | 'p' | 'y')
        )
    }
}

/// A key and where it stands among all bytes that were ever typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keystroke {
    pub(crate) key: Key,
    /// The number of its first byte.
    pub(crate) start: u64,
    /// One more than the number of its last byte.
    pub(crate) end: u64,
}
