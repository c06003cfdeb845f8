use fulmar_terminal::{Attributes, Color, Column, Glyph, Position, Row, Style, Underline};

use crate::after;

/// The style in force after `bytes`.
fn style(bytes: &str) -> Style {
    after(bytes).screen().style().clone()
}

fn attributes(bytes: &str) -> Attributes {
    style(bytes).attributes
}

#[test]
fn each_attribute_is_switched_on_and_off() {
    for (on, off, flag) in [
        (1, 22, Attributes::BOLD),
        (2, 22, Attributes::DIM),
        (3, 23, Attributes::ITALIC),
        (5, 25, Attributes::BLINK),
        (7, 27, Attributes::INVERSE),
        (8, 28, Attributes::HIDDEN),
        (9, 29, Attributes::STRIKE),
        (53, 55, Attributes::OVERLINE),
    ] {
        assert_eq!(attributes(&format!("\x1b[{on}m")), flag);
        assert_eq!(
            attributes(&format!("\x1b[{on};{off}m")),
            Attributes::empty()
        );
        assert_eq!(
            attributes(&format!("\x1b[{on}m\x1b[m")),
            Attributes::empty()
        );
    }
}

#[test]
fn underlines_have_kinds() {
    let underline = |bytes: &str| attributes(bytes).underline();
    assert_eq!(underline("\x1b[4m"), Underline::Single);
    assert_eq!(underline("\x1b[21m"), Underline::Double);
    assert_eq!(underline("\x1b[4:3m"), Underline::Curly);
    assert_eq!(underline("\x1b[4:3;4:0m"), Underline::None);
    assert_eq!(underline("\x1b[4:3;24m"), Underline::None);
    assert_eq!(underline("\x1b[4:9m"), Underline::None);
    assert_eq!(underline("\x1b[4:5m"), Underline::Dashed);
}

#[test]
fn colours_come_in_many_forms() {
    let foreground = |bytes: &str| style(bytes).foreground;
    assert_eq!(foreground("\x1b[31m"), Color::indexed(1));
    assert_eq!(foreground("\x1b[38;5;1m"), Color::indexed(1));
    assert_eq!(foreground("\x1b[97m"), Color::indexed(15));
    assert_eq!(foreground("\x1b[38:5:200m"), Color::indexed(200));
    assert_eq!(foreground("\x1b[38;2;1;2;3m"), Color::rgb(1, 2, 3));
    assert_eq!(foreground("\x1b[38:2:1:2:3m"), Color::rgb(1, 2, 3));
    assert_eq!(foreground("\x1b[38:2::1:2:3m"), Color::rgb(1, 2, 3));
    assert_eq!(foreground("\x1b[31;39m"), Color::DEFAULT);
    assert_eq!(style("\x1b[48;5;9m").background, Color::indexed(9));
    assert_eq!(style("\x1b[105m").background, Color::indexed(13));
    assert_eq!(style("\x1b[58:5:3m").underline_color, Color::indexed(3));
    assert_eq!(
        style("\x1b[58;2;1;2;3m").underline_color,
        Color::rgb(1, 2, 3)
    );
    assert_eq!(style("\x1b[58:5:3;59m").underline_color, Color::DEFAULT);
}

#[test]
fn what_follows_a_colour_is_understood() {
    let style = style("\x1b[38;5;200;1;48;2;1;2;3;4m");
    assert_eq!(style.foreground, Color::indexed(200));
    assert_eq!(style.background, Color::rgb(1, 2, 3));
    assert_eq!(
        style.attributes,
        Attributes::BOLD.with_underline(Underline::Single)
    );
}

#[test]
fn what_is_not_known_changes_nothing() {
    assert_eq!(attributes("\x1b[1;77;98;200m"), Attributes::BOLD);
    assert!(style("\x1b[38;5;256m").is_plain());
    assert!(style("\x1b[38;2;1;2;300m").is_plain());
    assert!(style("\x1b[38;2;1;2m").is_plain());
    assert!(style("\x1b[>4;1m").is_plain());
    assert!(style("\x1b[?1m").is_plain());
}

#[test]
fn text_is_printed_in_the_rendition_in_force() {
    let terminal = after("\x1b[1;31;58:5:3mab\x1b[mc");
    let row = terminal.screen().row(Row(0));
    assert_eq!(row.style(Column(0)), style("\x1b[1;31;58:5:3m"));
    assert_eq!(row.style(Column(1)), row.style(Column(0)));
    assert!(row.style(Column(2)).is_plain());
}

#[test]
fn what_enters_keeps_the_background_alone() {
    let erased = Style::erased(Color::indexed(4));
    for bytes in [
        "\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[J", "\x1b[2J", "\x1b[X", "\x1b[@", "\x1b[L",
        "\x1b[M", "\x1b[S", "\x1b[T", "\x1bM", "\x1b[P", "\x1b[ A", "\x1b['}",
    ] {
        let terminal = after(&format!("\x1b[1;4;31;44m{bytes}"));
        let blue = (0..24).flat_map(|row| (0..80).map(move |column| Position::new(row, column)));
        let mut blue = blue.filter(|at| {
            let row = terminal.screen().row(at.row);
            row.glyph(at.column) == Glyph::Blank && row.style(at.column) == erased
        });
        assert!(blue.next().is_some(), "{bytes:?}");
    }
}

#[test]
fn the_saved_rendition_comes_back() {
    assert_eq!(style("\x1b[1;31m\x1b7\x1b[0m\x1b8"), style("\x1b[1;31m"));
    assert!(style("\x1b[1;31m\x1b8").is_plain());
    assert!(style("\x1b[1;31m\x1b[!p").is_plain());
}
