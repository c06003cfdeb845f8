//! Sorts keys into classes.

use crate::decision::KeyClass;
use crate::key::Key;

impl KeyClass {
    /// Returns the class of a key.
    pub(crate) fn of(key: Key) -> KeyClass {
        match key {
            Key::Text(_) => KeyClass::Print,
            Key::Backspace | Key::Control('h') => KeyClass::Backspace,
            Key::Delete | Key::Control('d') => KeyClass::Delete,
            Key::Left | Key::Control('b') => KeyClass::Left,
            Key::Right | Key::Control('f') => KeyClass::Right,
            Key::Up | Key::Control('p') => KeyClass::Up,
            Key::Down | Key::Control('n') => KeyClass::Down,
            Key::Home | Key::Control('a') => KeyClass::Home,
            Key::End | Key::Control('e') => KeyClass::End,
            Key::WordLeft | Key::Alt('b') => KeyClass::WordLeft,
            Key::WordRight | Key::Alt('f') => KeyClass::WordRight,
            Key::AltBackspace | Key::Control('w') => KeyClass::DeleteWord,
            Key::Alt('d') => KeyClass::DeleteWordRight,
            Key::Control('u') => KeyClass::KillLine,
            Key::Control('k') => KeyClass::KillEnd,
            Key::Enter => KeyClass::Enter,
            Key::Tab => KeyClass::Tab,
            Key::Escape => KeyClass::Escape,
            Key::Control(_) => KeyClass::Control,
            _ => KeyClass::Other,
        }
    }

    /// True if the keys remove text.
    pub(crate) fn removes(self) -> bool {
        matches!(
            self,
            KeyClass::Backspace
                | KeyClass::Delete
                | KeyClass::DeleteWord
                | KeyClass::DeleteWordRight
                | KeyClass::KillLine
                | KeyClass::KillEnd
        )
    }
}
