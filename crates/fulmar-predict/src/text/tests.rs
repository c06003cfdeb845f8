use super::*;
use crate::testing::{at, line, screen, text};
use fulmar_terminal::Size;
use proptest::prelude::*;

/// Draws cells on a copy of the screen and returns the first row's text.
fn drawn(screen: &Screen, cells: &[OverlayCell]) -> String {
    let mut screen = screen.clone();
    for cell in cells {
        screen.overlay_cell(cell.at, cell.content.grapheme.glyph(), &cell.content.style);
    }
    text(&screen, 0)
}

fn content(character: char) -> CellContent {
    CellContent {
        grapheme: Grapheme::Char(character),
        style: Style::default(),
    }
}

fn after_insert(before: &str, column: u16, gap: u16, typed: char) -> String {
    let screen = line(before);
    let run = ShiftRun::at(&screen, at(0, column), gap);
    let columns = fulmar_terminal::char_columns(typed);
    drawn(&screen, &run.insert(&screen, content(typed), columns))
}

fn after_remove(before: &str, column: u16, gap: u16, columns: u16) -> String {
    let screen = line(before);
    let run = ShiftRun::at(&screen, at(0, column), gap);
    drawn(&screen, &run.remove(&screen, columns))
}

#[test]
fn a_character_typed_inside_text_moves_the_rest_up_to_the_gap() {
    // Before, column, gap, typed, after.
    let table = [
        ("$ ls", 4, PROMPT_GAP, 'x', "$ lsx"),
        ("$ ls", 2, PROMPT_GAP, 'x', "$ xls"),
        ("$ ls -l", 3, PROMPT_GAP, 'x', "$ lxs -l"),
        ("$ ls        12:30", 3, PROMPT_GAP, 'x', "$ lxs       12:30"),
        ("$ ls  12:30", 3, PROMPT_GAP, 'x', "$ lxs 12:30"),
        ("$ ls  more", 3, OTHER_GAP, 'x', "$ lxs  more"),
        ("$ ls    more", 3, OTHER_GAP, 'x', "$ lxs    more"),
        ("$ ls     more", 3, OTHER_GAP, 'x', "$ lxs    more"),
        ("$ ls        │", 3, OTHER_GAP, 'x', "$ lxs       │"),
        ("$ ls│", 3, PROMPT_GAP, 'x', "$ lx│"),
        ("$ 漢字", 2, PROMPT_GAP, 'x', "$ x漢字"),
        ("$ 漢字", 4, PROMPT_GAP, '語', "$ 漢語字"),
        ("$ e\u{301}a", 2, PROMPT_GAP, 'x', "$ xe\u{301}a"),
    ];
    for (before, column, gap, typed, after) in table {
        assert_eq!(
            after_insert(before, column, gap, typed),
            after,
            "{before:?} at {column}"
        );
    }
}

#[test]
fn what_is_taken_out_is_closed_up_to_the_gap() {
    let table = [
        ("$ ls", 3, PROMPT_GAP, 1, "$ l"),
        ("$ ls", 2, PROMPT_GAP, 1, "$ s"),
        ("$ ls -l", 2, PROMPT_GAP, 2, "$  -l"),
        ("$ ls        12:30", 2, PROMPT_GAP, 1, "$ s         12:30"),
        ("$ ls        │", 2, OTHER_GAP, 2, "$           │"),
        ("$ 漢字", 2, PROMPT_GAP, 2, "$ 字"),
        ("$ 漢字x", 4, PROMPT_GAP, 2, "$ 漢x"),
        ("$ ls", 4, PROMPT_GAP, 1, "$ ls"),
    ];
    for (before, column, gap, columns, after) in table {
        assert_eq!(
            after_remove(before, column, gap, columns),
            after,
            "{before:?} at {column}"
        );
    }
}

#[test]
fn what_comes_from_outside_the_row_is_left_out() {
    let full: String = "$ ".chars().chain(('a'..='z').cycle().take(38)).collect();
    let screen = line(&full);
    let run = ShiftRun::at(&screen, at(0, 2), PROMPT_GAP);
    assert!(run.overflows);
    let removed = run.remove(&screen, 1);
    assert!(removed.iter().all(|cell| cell.at.column.0 < 39));
    assert_eq!(removed.len(), 37);
    // The editor's mark stays, and nothing is known of the cell before it.
    let marked = format!("{}>", full.chars().take(39).collect::<String>());
    let screen = line(&marked);
    let run = ShiftRun::at(&screen, at(0, 2), OTHER_GAP);
    assert!(run.overflows);
    assert!(
        run.remove(&screen, 1)
            .iter()
            .all(|cell| cell.at.column.0 < 38)
    );
    let inserted = run.insert(&screen, content('#'), 1);
    assert!(inserted.iter().all(|cell| cell.at.column.0 < 39));
    assert!(drawn(&screen, &inserted).starts_with("$ #abc"));
}

#[test]
fn text_ends_at_a_gap_or_a_border() {
    let table = [
        ("$ ls -l", 2, 7),
        ("$ ls -l", 7, 7),
        ("$ ls   -l", 2, 9),
        ("$ ls    -l", 2, 4),
        ("│ > text         │", 4, 8),
        ("│ > text│", 4, 8),
        ("a | b", 0, 5),
        ("a │ b", 0, 5),
        ("", 0, 0),
        ("$ ls", 30, 30),
        ("$ 漢字", 2, 6),
    ];
    for (before, column, end) in table {
        assert_eq!(
            text_end(&line(before), at(0, column)),
            end,
            "{before:?} at {column}"
        );
    }
}

#[test]
fn the_border_of_a_pane_goes_on_above_or_below() {
    let panes = screen(3, 40, "left │ right\r\nls   │ other\r\n     │");
    assert_eq!(border(&panes, at(1, 0)), 5);
    assert_eq!(text_end(&panes, at(1, 0)), 2);
    assert_eq!(left_border(&panes, at(1, 12)), 6);
    assert_eq!(left_border(&panes, at(1, 3)), 0);
    // A table of text is none.
    let table = screen(3, 40, "| a | b |\r\n| c | d |\r\n| e | f |");
    assert_eq!(border(&table, at(1, 0)), 40);
    // vim's border between windows is inverse.
    let split = screen(2, 40, "ab \x1b[7m|\x1b[m cd\r\nef \x1b[7m|\x1b[m gh");
    assert_eq!(border(&split, at(0, 0)), 3);
}

#[test]
fn boxes_are_borders() {
    let frame = screen(3, 20, "╭──────────╮\r\n│ > hello  │\r\n╰──────────╯");
    assert_eq!(left_border(&frame, at(1, 9)), 1);
    assert_eq!(border(&frame, at(1, 4)), 11);
    assert!(is_rule(frame.row(Row(0))));
    assert!(!is_rule(frame.row(Row(1))));
}

#[test]
fn grey_text_begins_at_the_cursor() {
    let grey = |color: &str| line(&format!("$ l\x1b[{color}ms -l\x1b[m      12:30"));
    for color in [
        "2",
        "90",
        "38;5;8",
        "38;5;240",
        "38;5;246",
        "38;2;85;85;85",
        "38;2;88;110;117",
    ] {
        assert_eq!(grey_end(&grey(color), at(0, 3), false), Some(7), "{color}");
    }
    for color in [
        "0",
        "37",
        "38;5;247",
        "38;5;231",
        "34",
        "38;2;200;200;200",
        "38;2;0;0;200",
    ] {
        assert_eq!(grey_end(&grey(color), at(0, 3), false), None, "{color}");
    }
    // Not inside it, and not elsewhere.
    assert_eq!(grey_end(&grey("90"), at(0, 4), false), None);
    assert_eq!(grey_end(&grey("90"), at(0, 2), false), None);
    // A right prompt in the same grey is not part of it.
    let right = line("$ l\x1b[90ms      12:30");
    assert_eq!(grey_end(&right, at(0, 3), false), Some(4));
    // A blank at its start, grey or not.
    let plain = line("$ git \x1b[90madd .\x1b[m");
    assert_eq!(grey_end(&plain, at(0, 5), false), Some(11));
    assert_eq!(grey_end(&plain, at(0, 4), false), None);
    let blank = line("$ git\x1b[90m add .");
    assert_eq!(grey_end(&blank, at(0, 5), false), Some(11));
    // A cursor that the program draws has taken the grey of one cell.
    let drawn = line("> \x1b[7mT\x1b[0;2mry this");
    assert_eq!(grey_end(&drawn, at(0, 2), true), Some(10));
    assert_eq!(grey_end(&drawn, at(0, 2), false), None);
}

#[test]
fn typed_text_looks_like_its_left_neighbour() {
    let screen = line("\x1b[1;2;4;7;31mx\x1b[m");
    let style = typed_style(screen.row(Row(0)), 1);
    assert_eq!(style.attributes, Attributes::BOLD);
    assert_eq!(style.foreground, Color::indexed(1));
    // A blank that was part of a suggestion leaves nothing of its grey.
    let blank = line("$ git\x1b[90m \x1b[m");
    let style = typed_style(blank.row(Row(0)), 6);
    assert!(style.foreground.is_default());
    // A bar across the row goes on below it, a coloured prompt does not.
    let bar = line("\x1b[7mSearch:     ");
    let style = typed_style(bar.row(Row(0)), 8);
    assert_eq!(style.attributes, Attributes::INVERSE);
    let prompt = line("\x1b[44mhost \x1b[m");
    assert!(typed_style(prompt.row(Row(0)), 5).background.is_default());
}

#[test]
fn characters_are_stepped_over_as_a_whole() {
    let screen = line("a漢b");
    let row = screen.row(Row(0));
    assert_eq!(left_of(row, 0), None);
    assert_eq!(left_of(row, 1), Some(0));
    assert_eq!(left_of(row, 3), Some(1));
    assert_eq!(right_of(row, 1), 3);
    assert_eq!(right_of(row, 0), 1);
    assert_eq!(right_of(row, 2), 3);
    assert_eq!(left_of(row, 4000), Some(39));
}

proptest! {
    /// Nothing is drawn outside the row, whatever is on the screen and wherever the cursor is.
    #[test]
    fn whatever_is_there_effects_stay_in_the_row(
        bytes in "[a-z >$|│─漢\u{301}1-9\r\n]{0,120}",
        row in 0..6_u16,
        column in 0..24_u16,
        gap in 0..7_u16,
        count in 0..30_u16,
        wide in any::<bool>(),
    ) {
        let screen = screen(4, 17, &bytes);
        let size = Size::new(4, 17).unwrap();
        let place = size.clamp(at(row, column));
        let typed = if wide { '漢' } else { 'x' };
        let run = ShiftRun::at(&screen, place, gap);
        let cells = [
            run.insert(&screen, content(typed), 1 + u16::from(wide)),
            run.remove(&screen, count),
        ];
        for cell in cells.iter().flatten() {
            prop_assert!(size.contains(cell.at) && cell.at.row == place.row);
        }
        prop_assert!(text_end(&screen, place) <= 17);
        prop_assert!(grey_end(&screen, place, wide).is_none_or(|end| end <= 18));
        let _ = left_border(&screen, place);
    }

    /// Text that was put in and taken out again leaves the row as it was.
    #[test]
    fn putting_in_and_taking_out_is_nothing(
        before in "[a-z漢]{1,12}( [a-z漢]{1,5})?", place in 0..12_u16, wide in any::<bool>(),
    ) {
        let screen = line(&before);
        let row = screen.row(Row(0));
        let column = (0..).find(|&c| c >= place && row.glyph(Column(c)) != Glyph::Spacer).unwrap();
        prop_assume!(column <= row_end(row));
        let typed = if wide { '漢' } else { 'x' };
        let width = 1 + u16::from(wide);
        let mut changed = screen.clone();
        for cell in ShiftRun::at(&screen, at(0, column), OTHER_GAP).insert(&screen, content(typed), width) {
            changed.overlay_cell(cell.at, cell.content.grapheme.glyph(), &cell.content.style);
        }
        let run = ShiftRun::at(&changed, at(0, column), OTHER_GAP);
        prop_assert_eq!(drawn(&changed, &run.remove(&changed, width)), text(&screen, 0));
    }
}
