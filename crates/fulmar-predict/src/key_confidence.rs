//! Decides by a key's record whether its prediction may be shown.
//!
//! Source: docs/prediction.md §4.

use crate::context_memory::KeyRecord;
use crate::decision::KeyClass;
use crate::effect::Agreement;
use crate::input_context::InputKind;
use crate::key::Key;

/// The number of mispredictions from which a key has to be right twice in a row; with fewer, once. Chosen
/// by eye: a key that was wrong so often may be right once by chance.
const OFTEN_WRONG: u32 = 3;

/// True if a key with this record may be expected to do as predicted. Of several ways that come to different things
/// here, the one must be known.
pub(crate) fn is_confident(
    key: Key,
    kind: InputKind,
    record: &KeyRecord,
    agreement: Agreement,
) -> bool {
    let works = match record.wrong {
        // S9: for characters the epoch alone decides.
        _ if matches!(key, Key::Text(_)) => true,
        0 => record.right_in_a_row > 0 || is_common(key, kind),
        1..OFTEN_WRONG => record.right_in_a_row > 0,
        _ => record.right_in_a_row > 1,
    };
    works && (agreement != Agreement::Different || is_way_known(key, kind, record))
}

/// True if it is known which of its ways the key goes. Where Enter begins the next row of an editor may depend on what
/// stands in the row, and does in a program where it was wrong once.
fn is_way_known(key: Key, kind: InputKind, record: &KeyRecord) -> bool {
    let splits_line = key == Key::Enter && kind == InputKind::Editor;
    record.variant.is_some() && (record.wrong == 0 || !splits_line)
}

/// True if the key worked here when it was pressed last, and shows nothing that was typed: it moves the caret in its row, or
/// removes text. Then it may be shown before an echo is expected.
pub(crate) fn is_harmless(key: Key, record: &KeyRecord) -> bool {
    let class = KeyClass::of(key);
    let moves = matches!(
        class,
        KeyClass::Left
            | KeyClass::Right
            | KeyClass::Home
            | KeyClass::End
            | KeyClass::WordLeft
            | KeyClass::WordRight
    );
    (moves || class.removes()) && record.right_in_a_row > 0
}

/// True if nearly all programs know the key; others are shown when they have worked once.
fn is_common(key: Key, kind: InputKind) -> bool {
    match KeyClass::of(key) {
        // The prefix of a multiplexer.
        KeyClass::Left => key == Key::Left,
        // In pagers it goes down, in editors it takes back what indents; inside the text of a line it deletes.
        KeyClass::Delete => key == Key::Delete || kind == InputKind::Prompt,
        // Of some terminals, programs do not know the sequences of arrows.
        KeyClass::WordLeft | KeyClass::WordRight => {
            kind == InputKind::Prompt && matches!(key, Key::Alt(_))
        }
        // A shell may have read its history from a file, or share it.
        KeyClass::Up | KeyClass::Down => kind != InputKind::Prompt,
        _ => true,
    }
}

/// Returns the variant in which a key is expected to work.
pub(crate) fn variant(key: Key, record: &KeyRecord) -> u8 {
    record.variant.unwrap_or(first_variant(key))
}

/// Ctrl-W is the terminal's own: words between blanks.
fn first_variant(key: Key) -> u8 {
    u8::from(key == Key::Control('w'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_that_was_wrong_in_an_editor_is_shown_where_its_ways_agree() {
        let record = |wrong| KeyRecord {
            right_in_a_row: 5,
            wrong,
            variant: Some(0),
        };
        let is_shown =
            |wrong, kind, agreement| is_confident(Key::Enter, kind, &record(wrong), agreement);
        assert!(is_shown(0, InputKind::Editor, Agreement::Different));
        assert!(!is_shown(1, InputKind::Editor, Agreement::Different));
        assert!(is_shown(1, InputKind::Editor, Agreement::Same));
    }
}
