//! Single controls and escape sequences without parameters.
//!
//! Source: docs/protocol.md §8.2 and §8.3.

use crate::charset::Charset;
use crate::modes::ModeFlags;
use crate::screen::Screen;

/// Does what a C0 or C1 control says; one that is not known is ignored.
pub(crate) fn control(screen: &mut Screen, control: char) {
    match control {
        '\x07' => screen.bell_count += 1,
        '\x08' => screen.move_left(1),
        '\t' => screen.tab_forward(1),
        '\n' | '\x0b' | '\x0c' => screen.line_feed(),
        '\r' => screen.carriage_return(),
        '\x0e' => screen.charsets.lock(1),
        '\x0f' => screen.charsets.lock(0),
        '\u{84}' => screen.index(),
        '\u{85}' => {
            screen.index();
            screen.carriage_return();
        }
        '\u{88}' => screen.tabs.set(screen.cursor.position.column),
        '\u{8d}' => screen.reverse_index(),
        '\u{8e}' => screen.charsets.shift_once(2),
        '\u{8f}' => screen.charsets.shift_once(3),
        _ => {}
    }
}

/// Does what an escape sequence says; one that is not known is ignored.
pub(crate) fn dispatch(screen: &mut Screen, intermediates: &[u8], last: char) {
    match (intermediates, last) {
        ([], '6') => screen.back_index(),
        ([], '9') => screen.forward_index(),
        ([], '7') => screen.save_cursor(),
        ([], '8') => screen.restore_cursor(),
        ([], '=') => screen.modes.flags.insert(ModeFlags::APPLICATION_KEYPAD),
        ([], '>') => screen.modes.flags.remove(ModeFlags::APPLICATION_KEYPAD),
        ([], 'c') => screen.reset(),
        ([], 'n') => screen.charsets.lock(2),
        ([], 'o') => screen.charsets.lock(3),
        (b"#", '8') => screen.alignment_pattern(),
        (&[slot @ b'('..=b'+'], _) => screen
            .charsets
            .load(slot - b'(', Charset::from_letter(last)),
        _ => {}
    }
}
