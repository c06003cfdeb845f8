//! Frames that have rows leave at the top of the reader's screen, and another emulator's scrollback after them.

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::Processor;
use fulmar_terminal::{Checker, Screen, ScrollbackLimits, Size, Terminal, Vocabulary, unpack_line};
use proptest::prelude::*;

/// A piece of what a program without a full screen writes.
fn piece() -> impl Strategy<Value = String> {
    let characters = prop::sample::select(vec!["漢", "字字字é", "e\u{301}", "─", "한"]);
    // Emulators do not agree on what these do while a wrap is pending, and to half of a wide character.
    let sequences = prop::sample::select(vec![
        "\r",
        "\r\t",
        "\x1b[31m",
        "\x1b[44m",
        "\x1b[1;7m",
        "\x1b[m",
        "\x1b[m\r\x1b[K",
        "\r\x1b[A",
        "\x1b[m\r\x1b[2K",
        "\x1b[H",
        "\x1b[m\x1b[2H\x1b[J",
        "\x1b[2;4H",
        "\r\x1b[4C",
    ]);
    let lines = |count: u32| (0..count).map(|n| format!("{n}\r\n")).collect::<String>();
    prop_oneof![
        4 => "[a-z ]{1,30}",
        4 => Just("\r\n".to_owned()),
        // What of a rendition stays where a wide character had no place is a matter of taste.
        2 => characters.prop_map(|text| format!("\x1b[m{text}")),
        3 => sequences.prop_map(str::to_owned),
        1 => (0..30_u32).prop_map(lines),
    ]
}

/// A program's output, in the pieces after which the reader may be sent a frame; and for each of them, how many lines it is then
/// behind with those that have left, and true if it is then painted anew.
fn output() -> impl Strategy<Value = Vec<(String, Option<u64>, bool)>> {
    let lag = prop_oneof![2 => Just(None), 2 => Just(Some(0)), 2 => (0..9_u64).prop_map(Some)];
    prop::collection::vec((piece(), lag, prop::bool::weighted(0.1)), 0..60)
}

fn size() -> impl Strategy<Value = Size> {
    let sizes = prop_oneof![4 => (1..9_u16, 2..14_u16), 1 => Just((24, 80))];
    sizes.prop_map(|(rows, columns)| Size::new(rows, columns).expect("small"))
}

/// Another emulator.
struct Emulator {
    terminal: Term<VoidListener>,
    parser: Processor,
}

struct Window(Size);

impl Dimensions for Window {
    fn total_lines(&self) -> usize {
        self.screen_lines()
    }
    fn screen_lines(&self) -> usize {
        self.0.rows().into()
    }
    fn columns(&self) -> usize {
        self.0.columns().into()
    }
}

impl Emulator {
    fn new(size: Size) -> Emulator {
        Emulator {
            terminal: Term::new(Config::default(), &Window(size), VoidListener),
            parser: Processor::new(),
        }
    }

    fn process(&mut self, bytes: &[u8]) {
        self.parser.advance(&mut self.terminal, bytes);
    }

    /// All lines that it has, those above the screen first, whatever number of rows each has.
    fn lines(&self) -> Vec<String> {
        let grid = self.terminal.grid();
        let above = grid.history_size() as i32;
        let mut lines = vec![String::new()];
        for row in (-above..grid.screen_lines() as i32).map(|line| &grid[Line(line)]) {
            let cells = (0..grid.columns()).map(|column| &row[Column(column)]);
            let line = lines.last_mut().expect("there is one");
            line.extend(cells.map(drawn));
            let last = &row[Column(grid.columns() - 1)];
            if !last.flags.contains(Flags::WRAPLINE) {
                line.truncate(line.trim_end_matches(' ').len());
                lines.push(String::new());
            }
        }
        lines
    }
}

/// Returns a cell with all that is to be seen of it.
fn drawn(cell: &Cell) -> String {
    // A tab leaves its sign in the cell where it began, and a wide character without a place its rendition.
    let text = if cell.c == '\t' { ' ' } else { cell.c };
    let flags = if cell.flags.contains(Flags::LEADING_WIDE_CHAR_SPACER) {
        Flags::empty()
    } else {
        cell.flags - Flags::WRAPLINE
    };
    let shows_color = text != ' ' || !flags.is_empty();
    let foreground = if shows_color {
        cell.fg
    } else {
        Cell::default().fg
    };
    let marks: String = cell.zerowidth().into_iter().flatten().collect();
    let is_plain =
        cell.bg == Cell::default().bg && foreground == Cell::default().fg && flags.is_empty();
    if is_plain {
        return format!("{text}{marks}");
    }
    format!("{text}{marks}<{:?} {:?} {flags:?}>", foreground, cell.bg)
}

/// A program's terminal, and one that is sent frames.
struct Pair {
    program: Terminal,
    /// The number of lines that were sent.
    pushed: u64,
    shown: Option<Screen>,
    reader: Emulator,
    vocabulary: Vocabulary,
}

impl Pair {
    fn new(size: Size, vocabulary: Vocabulary) -> Pair {
        let mut program = Terminal::new(size);
        program.keep_history(ScrollbackLimits::default());
        Pair {
            program,
            pushed: 0,
            shown: None,
            reader: Emulator::new(size),
            vocabulary,
        }
    }

    fn run(&mut self, output: &str) {
        self.program.process(output.as_bytes());
    }

    /// Sends a frame, with all lines that have left but for the last few. Returns the frame.
    fn show(&mut self, lag: u64) -> Vec<u8> {
        let history = self.program.history().expect("it is kept");
        let screen = self.program.screen();
        let end = history.end().saturating_sub(lag).max(self.pushed);
        let mut rows = Vec::new();
        for number in self.pushed..end {
            let mut line = Vec::new();
            assert!(history.read(number, &mut line));
            rows.append(&mut unpack_line(&line, screen.size().columns()).expect("a line"));
        }
        let frame = screen.diff_pushing(&rows, self.shown.as_ref(), &self.vocabulary);
        Checker::default()
            .check(&frame)
            .expect("a frame is permitted");
        self.pushed = end;
        self.shown = Some(screen.clone());
        self.reader.process(&frame);
        frame
    }
}

proptest! {
    #[test]
    fn rows_that_have_left_are_above_as_if_the_program_had_written_there(
        size in size(),
        output in output(),
        hides in any::<bool>(),
        erases_in_colour in any::<bool>(),
    ) {
        let mut pair = Pair::new(size, Vocabulary {
            hide_while_drawing: hides,
            back_color_erase: erases_in_colour,
            ..Vocabulary::FULL
        });
        let mut direct = Emulator::new(size);
        for (piece, lag, repaints) in &output {
            pair.run(piece);
            direct.process(piece.as_bytes());
            if let Some(lag) = lag {
                pair.shown.take_if(|_| *repaints);
                pair.show(*lag);
            }
        }
        // A line that has not left with all its rows is not above yet.
        let last = format!("\x1b[99H{}", "\r\n".repeat(usize::from(size.rows())));
        pair.run(&last);
        direct.process(last.as_bytes());
        pair.show(0);
        let all: String = output.iter().map(|(piece, ..)| piece.as_str()).collect();
        let (mut kept, mut wanted) = (pair.reader.lines(), direct.lines());
        if !all.is_ascii() {
            // Where a wide character had no place and then went, lines of history have no blank, in whatever colour.
            let text = |line: &String| {
                let looks = line.split('>').map(|cells| cells.split('<').next());
                looks.flatten().collect::<String>().replace(' ', "")
            };
            kept = kept.iter().map(text).collect();
            wanted = wanted.iter().map(text).collect();
        }
        prop_assert_eq!(kept, wanted, "{:?}", all);
        prop_assert_eq!(pair.reader.terminal.grid().cursor.point, direct.terminal.grid().cursor.point);
    }
}

/// Returns the frame for some more output, with nothing that is told of modes and cursor.
fn frame_for(before: &str, output: &str) -> String {
    let vocabulary = Vocabulary {
        hide_while_drawing: false,
        ..Vocabulary::FULL
    };
    let mut pair = Pair::new(Size::new(4, 10).expect("small"), vocabulary);
    pair.run(before);
    pair.show(0);
    pair.run(output);
    String::from_utf8(pair.show(0)).expect("text")
}

#[test]
fn lines_at_the_bottom_are_written_as_the_program_writes_them() {
    for output in [
        "\r\nfile\r\n$",
        "5\r\n6\r\n7\r\n8\r\n9\r\n10\r\n11\r\n12",
        "\r\n\n\n",
        "x\r\n\x1b[31mred\x1b[m\r\n$",
    ] {
        assert_eq!(frame_for("1\r\n2\r\n3\r\n$", output), output);
    }
}

#[test]
fn lines_that_run_on_are_written_without_an_end() {
    let line = "abcdefghij".repeat(4);
    let frame = frame_for("1\r\n2\r\n3\r\n", &format!("{line}\r\n4\r\n5\r\n6\r\n$"));
    assert_eq!(frame, format!("{line}\r\n4\r\n5\r\n6\r\n$"));
}

#[test]
fn a_wide_character_without_a_place_leaves_no_text_at_the_end_of_the_row() {
    let line = "abcdefghi漢字";
    let frame = frame_for("1\r\n2\r\n3\r\n", &format!("{line}\r\n4\r\n5\r\n6\r\n$"));
    assert_eq!(frame, "abcdefghi\x1b[K漢字\r\n4\r\n5\r\n6\r\n$");
}

#[test]
fn a_row_that_runs_on_no_more_is_erased_as_a_whole() {
    let line = "abcdefghij".repeat(2);
    let frame = frame_for(&format!("{line}\r\n$"), "\x1b[H\x1b[Jabc\r\ndef\r\n$");
    assert_eq!(frame, "\x1b[H\x1b[Kabc\r\ndef\x1b[K\n\x08\x08");
    // What ran on into such a row does so still.
    let line = "abcdefghij".repeat(3);
    let frame = frame_for(&format!("{line}\r\n$"), "\x1b[2;3H\x1b[Jxy\r\nde\r\n$");
    assert_eq!(frame, "\x1b[2H\x1b[K\x1b[;10Hjabxy\r\nde\x1b[K\n\x08");
}

#[test]
fn a_line_whose_last_row_was_erased_ends_there_also_if_it_moves_down() {
    let size = Size::new(6, 8).expect("small");
    let vocabulary = Vocabulary {
        hide_while_drawing: false,
        back_color_erase: false,
        ..Vocabulary::FULL
    };
    let mut pair = Pair::new(size, vocabulary);
    let mut direct = Emulator::new(size);
    let pieces = [
        "\x1b[44m   a aa a  a        a  aaaaaa  aa\x1b[m\r\x1b[K\r\n  aa aa  ",
        "\x1b[99H\r\n\r\n\r\n\r\n\r\n\r\n",
    ];
    for piece in pieces {
        pair.run(piece);
        direct.process(piece.as_bytes());
        pair.show(0);
    }
    assert_eq!(pair.reader.lines(), direct.lines());
}
