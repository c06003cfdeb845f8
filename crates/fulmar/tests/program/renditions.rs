//! Text and spaces in every rendition look as in a plain terminal, in each pairing, whatever `COLORTERM` says.

use std::fmt::Write as _;

use vt100::{Cell, Screen};

use super::screens::Twins;
use crate::support::{Pair, World, for_each_pair};

for_each_pair! {
    attributes
    eight_and_sixteen_colours
    the_palette
    true_colours
    spaces
    erased_cells
}

/// Shows a page in a plain terminal and in a session, with `COLORTERM` and without, and expects the same of both.
#[track_caller]
fn look_alike(pair: Pair, page: &str) {
    for is_told in [false, true] {
        let mut world = World::new();
        if is_told {
            world.set("COLORTERM", "truecolor");
        }
        let page = format!("\x1b[H\x1b[2J{page}\x1b[m\x1b[24;1Hthe end");
        let file = world.write("page", page).display().to_string();
        let command = ["sh", "-c", "cat \"$0\"; read -r _", &file];
        let Some(mut twins) = Twins::start(world, pair, &command) else {
            return;
        };
        twins.wait_until_same("the end");
        expect_same_spaces(twins.screens());
    }
}

/// Expects of spaces that were written what nobody sees, too: whoever copies from the screen gets it, and inverse shows it.
#[track_caller]
fn expect_same_spaces(screens: [&Screen; 2]) {
    let (rows, columns) = screens[0].size();
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let [plain, session] =
            screens.map(|screen| screen.cell(row, column).expect("it is within"));
        if plain.contents() == " " {
            let look = |cell: &Cell| {
                let attributes = [cell.bold(), cell.italic(), cell.underline(), cell.inverse()];
                (cell.fgcolor(), cell.bgcolor(), attributes)
            };
            assert_eq!(look(plain), look(session), "row {row}, column {column}");
        }
    }
}

/// Returns a page on which each rendition has a cell or more of its own.
fn page(renditions: impl IntoIterator<Item = String>, text: &str) -> String {
    let mut page = String::new();
    for rendition in renditions {
        write!(page, "\x1b[0;{rendition}m{text}").expect("memory takes it");
    }
    page
}

/// Every combination of bold, italic, underlined, blinking and inverse.
fn combinations() -> impl Iterator<Item = String> {
    (0..32_u8).map(|bits| {
        let codes = [1, 3, 4, 5, 7].into_iter().enumerate();
        let codes = codes.filter(|(bit, _)| bits >> bit & 1 == 1);
        let codes: Vec<String> = codes.map(|(_, code)| code.to_string()).collect();
        codes.join(";")
    })
}

fn attributes(pair: Pair) {
    let mut all = page(combinations(), "a b ");
    // Each ends by its own sequence, too, and the others stay.
    for end in [22, 23, 24, 25, 27] {
        write!(all, "\r\n\x1b[1;3;4;5;7mon\x1b[{end}m off ").expect("memory takes it");
    }
    look_alike(pair, &all);
}

fn eight_and_sixteen_colours(pair: Pair) {
    let text = (30..38).chain(90..98).chain([39]);
    let all = text.flat_map(|text| {
        let background = (40..48).chain(100..108).chain([49]);
        background.map(move |background| format!("{text};{background}"))
    });
    look_alike(pair, &page(all, "x "));
}

fn the_palette(pair: Pair) {
    let text = (0..=255).map(|index| format!("38;5;{index}"));
    let background = (0..=255).map(|index| format!("48;5;{index}"));
    look_alike(pair, &page(text.chain(background), "x "));
}

fn true_colours(pair: Pair) {
    let levels = (0..=255).step_by(17);
    let all = levels.flat_map(|level| {
        let other = 255 - level;
        [
            format!("38;2;{level};{other};1"),
            format!("48;2;1;{level};{other}"),
            format!("38;2;{level};2;{other};48;2;{other};{level};3"),
        ]
    });
    look_alike(pair, &page(all, "xy "));
}

fn spaces(pair: Pair) {
    let colors = ["31", "41", "38;5;200", "48;5;200", "31;47"];
    let all =
        combinations().flat_map(|attributes| colors.map(|color| format!("{attributes};{color}")));
    // Three at a time, so that some have text beside them and some have none.
    look_alike(pair, &page(all, "   ").replace("\x1b[0;;", "|\x1b[0;"));
}

/// Cells erased under nothing but a colour, since the judge would give them an underline, too; and none that move in, to which
/// it gives no colour.
fn erased_cells(pair: Pair) {
    let erasing = ["K", "1K", "2K", "4X"];
    let mut all = String::new();
    for (row, erasing) in (1..).zip(erasing.iter().cycle().take(18)) {
        let color = 41 + row % 7;
        write!(
            all,
            "\x1b[{row};1H\x1b[0;4;7;{color}mtext and more text\x1b[{row};9H\x1b[0;{color}m\x1b[{erasing}"
        )
        .expect("memory takes it");
    }
    all += "\x1b[20;1H\x1b[0;44mbelow\x1b[J";
    look_alike(pair, &all);
}
