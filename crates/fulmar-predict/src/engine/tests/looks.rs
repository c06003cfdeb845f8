//! The look of predicted cells, and the keys for which they are drawn.

use fulmar_terminal::Color;

use super::*;

fn background(scene: &mut Scene, row: u16, column: u16) -> Color {
    let at = crate::testing::at(row, column);
    scene.seen().row(at.row).style(at.column).background
}

#[test]
fn a_shell_types_in_no_colour_that_another_program_left_behind() {
    let blue = "\x1b[44m\x1b[2J\x1b[m";
    let mut shell = Scene::new(&format!("{EDITING}{blue}$ \x1b[H$ "));
    shell.keys("a");
    shell.answer("a");
    shell.keys("b");
    assert_eq!(shell.row(0), "$ ab");
    assert!(background(&mut shell, 0, 3).is_default());
    let mut field = Scene::new(&format!("{EDITING}{blue}"));
    field.keys("a");
    field.answer("\x1b[44ma");
    field.keys("b");
    assert!(!background(&mut field, 0, 1).is_default());
}

#[test]
fn brackets_are_marked_as_the_program_did_it_last() {
    let mut scene = Scene::new(&format!("{EDITING}$ "));
    scene.keys("(x)");
    scene.answer("\x1b[45m(\x1b[mx\x1b[45m)\x1b[m");
    scene.keys("y");
    scene.answer("\x1b[1;3H(x)y");
    scene.keys("[]");
    assert_eq!(scene.row(0), "$ (x)y[]");
    let marked = |scene: &mut Scene| {
        (2..8)
            .filter(|column| !background(scene, 0, *column).is_default())
            .collect::<Vec<u16>>()
    };
    assert_eq!(marked(&mut scene), [6, 7]);
    scene.keys("z");
    assert_eq!(marked(&mut scene), []);
    // It does so no more.
    scene.answer("[]z");
    scene.keys("(");
    scene.answer("(");
    scene.keys(")");
    scene.answer(")");
    scene.keys("()");
    assert_eq!(scene.row(0), "$ (x)y[]z()()");
    assert_eq!(marked(&mut scene), []);
}

#[test]
fn every_cell_says_for_which_key_it_is_drawn() {
    let mut scene = Scene::new("$ ");
    scene.keys("a");
    scene.answer("a");
    scene.keys("bc");
    let now = scene.now;
    let overlay = scene.engine.overlay(now);
    let keys: Vec<_> = overlay.cells().iter().map(|cell| cell.key).collect();
    assert_eq!(keys, [Some(1), Some(2)]);
    assert_eq!(overlay.cursor_key(), Some(2));
}

#[test]
fn rows_that_scroll_are_moved_and_not_drawn() {
    let mut scene = Scene::new(&format!(
        "{}{EDITING}$ ",
        "\x1b[44mtext\x1b[m\r\n".repeat(9)
    ));
    scene.key("\r");
    scene.answer("\r\n$ ");
    scene.keys("a");
    scene.answer("a");
    scene.keys("b\r");
    let now = scene.now;
    let overlay = scene.engine.overlay(now);
    assert_eq!(overlay.scroll_key(), Some(3));
    let cells: Vec<_> = overlay
        .cells()
        .iter()
        .map(|cell| (cell.at, cell.key))
        .collect();
    let typed = crate::testing::at(8, 3);
    assert_eq!(cells, [(typed, Some(3))]);
    assert_eq!(scene.row(8), "$ ab");
    assert!(
        !background(&mut scene, 6, 0).is_default(),
        "colours move along"
    );
    assert!(scene.row(9).is_empty());
}

#[test]
fn the_mark_of_a_cursor_that_scrolls_is_drawn_once() {
    let cursor = "\x1b[7m \x1b[m";
    let hidden = "\x1b[?25l";
    let mut scene = Scene::new(&format!("{hidden}{EDITING}{}$ {cursor}", "\r\n".repeat(9)));
    scene.key("\r");
    scene.answer(&format!("\r$  \r\n$ {cursor}"));
    scene.keys("a");
    scene.answer(&format!("\r$ a{cursor}"));
    scene.key("\r");
    assert_eq!(scene.row(8), "$ a");
    let screen = scene.seen();
    let is_marked = |cell: &&fulmar_terminal::Cell| {
        cell.attributes()
            .contains(fulmar_terminal::Attributes::INVERSE)
    };
    let marks = |row: u16| {
        let cells = screen.row(fulmar_terminal::Row(row)).cells();
        cells.iter().filter(is_marked).count()
    };
    assert_eq!(
        (0..10).map(marks).collect::<Vec<_>>(),
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    );
}

#[test]
fn text_goes_on_in_the_colour_in_which_it_was_echoed() {
    let mut scene = Scene::new("\x1b[44m\x1b[2J\x1b[m");
    scene.keys("a");
    scene.answer("a");
    scene.keys("b");
    assert_eq!(scene.row(0), "ab");
    assert!(background(&mut scene, 0, 1).is_default());
}

#[test]
fn a_suggestion_takes_back_what_is_removed() {
    let mut scene = Scene::new(&format!("{EDITING}$ "));
    scene.keys("m");
    scene.answer("m\x1b[90main.py\x1b[m\x1b[1;4H");
    scene.keys("a");
    scene.key("\x7f");
    scene.keys("ai");
    assert_eq!(scene.row(0), "$ main.py");
    assert_eq!(scene.column(), 5);
}

#[test]
fn an_answer_that_ends_in_the_column_of_the_line_before_is_seen_as_one() {
    let mut scene = Scene::new(&format!("{}{EDITING}$ ", "\r\n".repeat(9)));
    scene.key("\r");
    scene.answer("\r\n$ ");
    scene.keys("ab");
    scene.answer("ab");
    let had = scene.typed();
    scene.keys("cd\r");
    assert_eq!(scene.row(8), "$ abcd", "Enter is shown at once");
    scene.partial("cd\r\nnow ", scene.typed(), had);
    assert_eq!(
        (scene.row(8), scene.row(9)),
        ("$ abcd".into(), "now".into())
    );
}

/// An editor whose line numbers and text have backgrounds of their own, with `text` in its first row.
fn numbered(text: &str) -> Scene {
    let gutter = |number| format!("\x1b[{number};1H\x1b[48;5;238m  {number} \x1b[48;5;234m");
    let rows: String = (1..4)
        .map(|number| format!("{}{text}\x1b[K", gutter(number)))
        .collect();
    Scene::new(&format!("{rows}\x1b[10;1H\x1b[m-- INSERT --\x1b[1;5H"))
}

#[test]
fn the_first_character_behind_a_line_number_has_the_background_of_the_text() {
    for text in ["", "text"] {
        let mut scene = numbered(text);
        scene.keys("ab");
        assert!(scene.row(0).starts_with("  1 ab"));
        for column in [4, 5] {
            assert_eq!(
                background(&mut scene, 0, column),
                Color::indexed(234),
                "{text}"
            );
        }
    }
}

#[test]
fn typed_text_looks_like_what_was_echoed_last() {
    // A box that gives what is typed a background, and one that takes it away.
    for (place, echo, expected) in [
        ("", "\x1b[45m", Color::indexed(5)),
        ("\x1b[45m\x1b[K", "\x1b[m", Color::DEFAULT),
    ] {
        let mut scene = Scene::new(&format!("{EDITING}{place}| "));
        scene.keys("a");
        scene.answer(&format!("{echo}a\x1b[m"));
        scene.keys("b");
        assert_eq!(background(&mut scene, 0, 3), expected, "{place:?}");
    }
}

#[test]
fn a_caret_in_colours_of_its_own_moves_with_the_text() {
    let mut scene = Scene::new("\x1b[?25l> \x1b[30;46m \x1b[m\x1b[1;3H");
    scene.keys("a");
    scene.answer("a\x1b[30;46m \x1b[m\x1b[1;4H");
    scene.keys("b");
    assert_eq!(scene.row(0), "> ab");
    assert!(background(&mut scene, 0, 3).is_default());
    assert!(!background(&mut scene, 0, 4).is_default());
    scene.answer("b\x1b[30;46m \x1b[m\x1b[1;5H");
    assert!(!scene.shows());
    assert_eq!(scene.engine.score().wrong, 0);
}

#[test]
fn enter_takes_a_right_prompt_away_where_it_was_seen_to() {
    let mut scene = Scene::sized(3, 20, &format!("{EDITING}$ \x1b[1;16H12:00\x1b[1;3H"));
    scene.keys("ab");
    scene.answer("ab");
    scene.key("\r");
    // Nothing is known of that yet, but that shells go to the next row.
    assert_eq!(
        (scene.row(0).as_str(), scene.column()),
        ("$ ab           12:00", 0)
    );
    scene.answer("\x1b[K\r\nnews\r\n$ \x1b[3;16H12:01\x1b[3;3H");
    scene.keys("c");
    assert_eq!(scene.row(2), "$ c            12:01");
    scene.answer("c");
    scene.key("\r");
    // In the bottom row everything moves up.
    let rows = [0, 1, 2].map(|row| scene.row(row));
    assert_eq!(rows, ["news", "$ c", ""]);
}

#[test]
fn what_enter_does_is_kept_where_its_answer_tells_nothing() {
    let mut scene = Scene::new(&format!("{EDITING}$ "));
    scene.keys("ab");
    scene.answer("ab");
    scene.key("\r");
    // A box whose line is emptied in place.
    scene.answer("\r$ \x1b[K\x1b[3;1Hnews\x1b[1;3H");
    scene.keys("cd");
    scene.answer("cd");
    scene.key("\r");
    assert_eq!((scene.row(0).as_str(), scene.column()), ("$", 2));
    scene.answer("\x1b[2J\x1b[Hnothing of that\r\n$ ");
    scene.keys("e");
    scene.answer("e");
    scene.key("\r");
    assert_eq!((scene.row(1).as_str(), scene.column()), ("$", 2));
}

#[test]
fn nothing_is_known_of_the_first_enter_in_a_box() {
    for (written, is_shown) in [
        ("> ", true),
        ("> \x1b[4;1H╰───╯\x1b[1;3H", false),
        ("\x1b[10;1H> ", false),
        ("mira> \x1b[4;1Hnews\x1b[1;7H", true),
    ] {
        let mut scene = Scene::new(&format!("{EDITING}{written}"));
        scene.keys("ab");
        scene.answer("ab");
        scene.key("\r");
        assert_eq!(scene.shows(), is_shown, "{written}");
    }
}
