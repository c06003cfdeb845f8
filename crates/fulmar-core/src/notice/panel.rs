//! Shows what the user has asked for, in rows that fit into 80 columns.

use crate::compat_mode::CompatMode;
use crate::escape_key::EscapeKey;

/// The keys that close a panel and do nothing else: q, Escape, Space, and Enter in both its forms.
///
/// Chosen by eye: those with which pagers and pop-ups of terminals are left.
const CLOSING: [u8; 5] = [b'q', 0x1B, b' ', b'\r', b'\n'];

/// The last row of each panel.
const HOW_TO_CLOSE: &str =
    "  q, Esc, Space or Enter closes this; other keys do, too, and are typed.";

/// Returns true if that key closes a panel, if nothing comes with it: arrows and pastes come as several bytes at once.
pub(super) fn is_closed_by(key: u8) -> bool {
    CLOSING.contains(&key)
}

/// Returns the list of all keys that the client obeys.
pub(super) fn help(escape: EscapeKey) -> Vec<String> {
    let (Some(key), Some(pass)) = (escape.label(), escape.pass_label()) else {
        return Vec::new();
    };
    let mut rows = vec![title(&format!("keys after {key}"))];
    for (next, effect) in [
        (".", "end the session"),
        (
            "d",
            "leave the session, which goes on: fulmar attach takes it again",
        ),
        ("Ctrl-Z", "suspend the client; fg resumes it"),
        (&pass, &format!("type {key} itself")),
        ("i", "show the state of the link"),
        ("r", "run ssh here, which may ask: it carries the session"),
        ("[", "read what has left the screen, in $PAGER or less"),
        ("?", "show this list"),
    ] {
        rows.push(format!("  {next:8} {effect}"));
    }
    if escape.needs_line_start() {
        rows.push(format!("  {key} counts only as the first key of a line."));
    }
    rows.push("  Ctrl-L alone repaints the screen; the program gets it, too.".to_owned());
    rows.push(HOW_TO_CLOSE.to_owned());
    rows
}

/// Returns what is known of the link to `server`: `rows` below a title.
pub(super) fn link(server: &str, rows: Vec<String>) -> Vec<String> {
    let title = title(&format!("the link to {server}"));
    let rows = rows.into_iter().map(|row| format!("  {row}"));
    let end = HOW_TO_CLOSE.to_owned();
    [title].into_iter().chain(rows).chain([end]).collect()
}

fn title(text: &str) -> String {
    format!("{}: {text}", CompatMode::Fulmar.program())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_lists_every_key_within_80_columns() {
        for key in [&b"\x1e"[..], b"~"] {
            let rows = help(EscapeKey::from_setting(key));
            for next in [".", "d", "Ctrl-Z", "i", "r", "?", "Ctrl-L"] {
                let is_about = |row: &String| row.split_whitespace().next() == Some(next);
                assert!(rows.iter().any(is_about), "{next}: {rows:?}");
            }
            assert!(rows.iter().all(|row| row.len() <= 80), "{rows:?}");
        }
    }

    #[test]
    fn of_a_printable_key_it_is_told_where_it_counts() {
        let tells = |key: &[u8]| {
            let rows = help(EscapeKey::from_setting(key));
            rows.iter().any(|row| row.contains("first key of a line"))
        };
        assert!(tells(b"~") && !tells(b"\x1e"));
    }

    #[test]
    fn without_an_escape_key_there_is_no_help() {
        assert!(help(EscapeKey::DISABLED).is_empty());
    }
}
