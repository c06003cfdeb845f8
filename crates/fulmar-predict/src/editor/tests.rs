use super::*;
use crate::testing::{at, screen};

/// The editor on a screen of 6 rows whose last have these contents.
fn kind(rows: [&str; 3], cursor: Position) -> Option<EditorKind> {
    let [first, second, third] = rows;
    let bytes = format!("text\r\nmore\r\n\r\n{first}\r\n{second}\r\n{third}");
    find_editor(&screen(6, 80, &bytes), cursor).map(|editor| editor.kind)
}

const EMACS: &str = "-UUU:----F1  notes.txt      All   L1     (Text) -------";

#[test]
fn editors_are_known_by_their_marks() {
    let table = [
        (
            ["", "", "-- INSERT --     1,5  All"],
            Some(EditorKind::Insert),
        ),
        (["", "", "-- INSERT (paste) --"], Some(EditorKind::Insert)),
        (
            ["", "-- INSERT --", "[0] 0:vim*   \"host\" 12:30"],
            Some(EditorKind::Insert),
        ),
        (["", "", "-- REPLACE --"], Some(EditorKind::Replace)),
        (
            ["", "\x1b[30;44m INSERT \x1b[m main  a.txt", ""],
            Some(EditorKind::Insert),
        ),
        (
            ["", "\x1b[7m INS   a.txt  \x1b[m", ""],
            Some(EditorKind::Insert),
        ),
        (
            ["", "\x1b[7m^G\x1b[m Help", "\x1b[7m^X\x1b[m Exit"],
            Some(EditorKind::Nano),
        ),
        (["", EMACS, ""], Some(EditorKind::Emacs)),
        (
            ["", EMACS, "Wrote /home/user/notes.txt"],
            Some(EditorKind::Emacs),
        ),
        (
            ["", "-UU-:**--F1  a  All (Lisp Interaction)", ""],
            Some(EditorKind::Emacs),
        ),
        (
            ["a.txt (1,1) | ft:unknown | unix | utf-8", "", ""],
            Some(EditorKind::Plain),
        ),
        (
            ["", "", "a.txt 1:5 insert 1 sel - client0@[77]"],
            Some(EditorKind::Plain),
        ),
        (["", "", "a.txt 1:5 1 sel - client0@[77]"], None),
        (["", "", " 1Help  2Save  3Mark"], Some(EditorKind::Plain)),
        (["", "", "-- VISUAL --"], None),
        (["", "", "-- (insert) --"], None),
        (["", "", "\"a.txt\" 3L, 12B"], None),
        (["", "INSERT INTO t", ""], None),
        (["", "\x1b[30;44m NORMAL \x1b[m a.txt", ""], None),
        (["", "^G Help", "^C Cancel"], None),
        (["", "", "^X Close"], None),
        (["", EMACS, "I-search: wor"], None),
        (["", EMACS, "Save file? (y or n)"], None),
        (["", EMACS, "C-x-"], None),
        (["", "-UU-:%%--F1  *info*  All (Info)", ""], None),
        (["", "", ""], None),
    ];
    for (rows, expected) in table {
        assert_eq!(kind(rows, at(1, 2)), expected, "{rows:?}");
    }
}

#[test]
fn the_mark_is_below_the_cursor() {
    assert_eq!(kind(["", "-- INSERT --", "$ "], at(5, 2)), None);
    assert_eq!(kind(["", "-- INSERT --", "$ "], at(4, 2)), None);
    assert_eq!(kind(["", EMACS, "Find file: ~/"], at(5, 13)), None);
}

#[test]
fn marks_of_other_panes_do_not_count() {
    let side = screen(4, 40, "text  │ $ \r\n      │\r\n      │\r\n-- INSERT --");
    assert!(find_editor(&side, at(0, 3)).is_some());
    assert_eq!(find_editor(&side, at(0, 10)), None);
    let rule = "─".repeat(40);
    let above = screen(4, 40, &format!("$ \r\n{rule}\r\ntext\r\n-- INSERT --"));
    assert_eq!(find_editor(&above, at(0, 2)), None);
    assert!(find_editor(&above, at(2, 2)).is_some());
}

#[test]
fn modes_of_emacs_are_contexts_of_their_own() {
    let of = |mode: &str| {
        let bytes = format!("text\r\n-UUU:----F1  a  All ({mode})\r\n");
        find_editor(&screen(3, 60, &bytes), at(0, 0)).map(|editor| editor.id)
    };
    assert!(of("Text").is_some());
    assert_eq!(of("Text"), of("Text"));
    assert_ne!(of("Text"), of("C++//l"));
}

#[test]
fn of_several_windows_the_own_one_counts() {
    let own = |flags| {
        format!(
            "text\r\n\x1b[7m-UU-:{flags}--F1  a.py  Top L1  (Python) ---\x1b[m\r\nwarning\r\n\
             \x1b[7m-UUU:%*--F1  *Warnings*  All L2  (Special) ---\x1b[m\x1b[1;3H"
        )
    };
    let found = find_editor(&screen(5, 60, &own("**")), Position::new(0, 2));
    let found = found.expect("a text that may be changed");
    assert_eq!((found.kind, found.bottom), (EditorKind::Emacs, Row(1)));
    assert_eq!(
        find_editor(&screen(5, 60, &own("%%")), Position::new(0, 2)),
        None
    );
    let below = find_editor(&screen(5, 60, &own("**")), Position::new(2, 0));
    assert_eq!(below, None, "the other window's text is fixed");
}

#[test]
fn text_ends_above_bars_and_above_what_nano_has_at_the_bottom() {
    let bottom = |last: [&str; 3]| {
        let [first, second, third] = last;
        let bytes = format!("text\r\n\r\n\r\n{first}\r\n{second}\r\n{third}");
        find_editor(&screen(6, 20, &bytes), at(0, 2)).map(|editor| editor.bottom)
    };
    let bar = format!("\x1b[44m{:20}\x1b[m", "a.txt");
    assert_eq!(bottom(["", "", "-- INSERT --"]), Some(Row(5)));
    assert_eq!(bottom(["", &bar, "-- INSERT --"]), Some(Row(4)));
    assert_eq!(bottom(["[ 3 lines ]", "^G Help", "^X Exit"]), Some(Row(3)));
}
