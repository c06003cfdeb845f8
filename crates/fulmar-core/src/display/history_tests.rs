//! A session on the main screen of another emulator, and all that this keeps of it.

use std::collections::VecDeque;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::{Config, Term, TermMode};
use alacritty_terminal::vte::ansi::Processor;
use fulmar_terminal::{Checker, ScrollbackLimits, Terminal, Vocabulary, unpack_line};

use super::*;

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

    /// All lines, those above the screen first, without the empty ones at the end. Behind a row that runs on stands `↩`.
    fn lines(&self) -> Vec<String> {
        let grid = self.terminal.grid();
        let above = grid.history_size() as i32;
        let rows = (-above..grid.screen_lines() as i32).map(|line| &grid[Line(line)]);
        let text = |row: &alacritty_terminal::grid::Row<_>| {
            let cells = (0..grid.columns()).map(|column| &row[Column(column)]);
            let seen = cells.filter(|cell: &&alacritty_terminal::term::cell::Cell| {
                !cell.flags.contains(Flags::WIDE_CHAR_SPACER)
            });
            let mut text: String = seen.map(|cell| cell.c).collect();
            text.truncate(text.trim_end().len());
            let last = &row[Column(grid.columns() - 1)];
            if last.flags.contains(Flags::WRAPLINE) {
                text.push('↩');
            }
            text
        };
        let mut lines: Vec<String> = rows.map(text).collect();
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }

    fn is_alternate(&self) -> bool {
        self.terminal.mode().contains(TermMode::ALT_SCREEN)
    }
}

/// A program, the display, the user's emulator, and one on which the program writes itself.
struct Scene {
    program: Terminal,
    /// The program's screen as frames have made it.
    copy: Screen,
    display: Display,
    user: Emulator,
    direct: Emulator,
    size: Size,
    history_end: u64,
    /// The first line that was not collected, and how often all were cleared until then.
    collected: u64,
    clears: u64,
    /// The lines that have left and have not arrived yet.
    on_its_way: VecDeque<HistoryItem>,
    notice: Option<String>,
}

impl Scene {
    fn new(rows: u16, columns: u16) -> Scene {
        Scene::with(rows, columns, b"\x1b[?1049h", b"\x1b[?1049l")
    }

    fn with(rows: u16, columns: u16, enter: &[u8], exit: &[u8]) -> Scene {
        let size = Size::new(rows, columns).unwrap();
        let outer = OuterTerminal {
            vocabulary: Vocabulary::FULL,
            enter: enter.to_vec(),
            exit: exit.to_vec(),
            ..OuterTerminal::default()
        };
        let mut program = Terminal::new(size);
        program.keep_history(ScrollbackLimits::default());
        Scene {
            program,
            copy: Screen::new(size),
            display: Display::keeping_history(outer, String::new()),
            user: Emulator::new(size),
            direct: Emulator::new(size),
            size,
            history_end: 0,
            collected: 0,
            clears: 0,
            on_its_way: VecDeque::new(),
            notice: None,
        }
    }

    /// Has the program write, here and on the emulator of its own.
    fn run(&mut self, output: &str) {
        self.direct.process(output.as_bytes());
        self.program.process(output.as_bytes());
        self.collect();
    }

    fn collect(&mut self) {
        let history = self.program.history().unwrap();
        if self.clears != history.clears() {
            self.clears = history.clears();
            let next = history.cleared_at();
            self.on_its_way.push_back(HistoryItem::Cleared { next });
            self.collected = next;
        }
        while self.collected < history.end() {
            let (number, mut line) = (self.collected, Vec::new());
            self.collected += 1;
            if history.read(number, &mut line) {
                let rows = unpack_line(&line, 17).unwrap();
                let item = HistoryItem::Line { number, rows };
                self.on_its_way.push_back(item);
            }
        }
        self.history_end = history.end();
    }

    /// Has the next lines arrive.
    fn deliver(&mut self, count: usize) {
        let count = count.min(self.on_its_way.len());
        for item in self.on_its_way.drain(..count) {
            self.display.queue(item);
        }
    }

    /// Has the program's screen arrive, and hands out the display as well.
    fn wanted(&mut self) -> (Wanted<'_>, &mut Display) {
        let screen = self.program.screen();
        let frame = screen.diff_from(&self.copy, &Vocabulary::CLUSTERED);
        self.copy.resize(screen.size());
        self.copy.apply(&frame);
        let place = if screen.is_alternate() {
            Place::Alternate
        } else {
            Place::Main {
                history_end: self.history_end,
            }
        };
        let wanted = Wanted {
            screen: &self.copy,
            place,
            predicted: None,
            cursor_shape: CursorShape::Default,
            size: self.size,
            server_fits: None,
            notice: self.notice.clone(),
        };
        (wanted, &mut self.display)
    }

    fn draw(&mut self) -> String {
        let mut out = Vec::new();
        let (wanted, display) = self.wanted();
        display.draw(Time::ZERO, &wanted, &mut out);
        self.show(out)
    }

    /// Has everything arrive, and draws it.
    fn settle(&mut self) {
        self.deliver(usize::MAX);
        self.draw();
    }

    fn leave(&mut self) {
        self.notice = None;
        let mut out = Vec::new();
        let (wanted, display) = self.wanted();
        display.leave(&wanted, LastScreen::Dropped, &mut out);
        self.show(out);
    }

    fn show(&mut self, out: Vec<u8>) -> String {
        Checker::default().check(&out).unwrap();
        self.user.process(&out);
        String::from_utf8(out).unwrap()
    }

    /// Gives both emulators and the program another window.
    fn resize(&mut self, rows: u16, columns: u16) {
        self.size = Size::new(rows, columns).unwrap();
        self.user.terminal.resize(Window(self.size));
        self.direct.terminal.resize(Window(self.size));
        self.display.forget();
        self.program.resize(self.size);
        self.collect();
    }
}

fn seq(numbers: std::ops::RangeInclusive<u32>) -> String {
    numbers.map(|number| format!("{number}\r\n")).collect()
}

#[test]
fn what_was_there_before_stays_above_and_the_session_after_it() {
    let mut scene = Scene::new(4, 20);
    scene.user.process(b"old\r\n$ fulmar host\r\n");
    scene.run("$ ls\r\na\r\nb\r\n$");
    scene.settle();
    scene.leave();
    scene.user.process(b"$ exit");
    let lines = ["old", "$ fulmar host", "$ ls", "a", "b", "$", "$ exit"];
    assert_eq!(scene.user.lines(), lines);
}

#[test]
fn a_flood_is_there_line_for_line_however_late_its_lines_come() {
    for lag in [0, 1, 3, 40, 400] {
        let mut scene = Scene::new(6, 20);
        scene.draw();
        for start in (1..500).step_by(23) {
            scene.run(&seq(start..=start + 22));
            let waiting = scene.on_its_way.len();
            scene.deliver(waiting.saturating_sub(lag));
            scene.draw();
        }
        scene.run("a line that is longer than the window is wide\r\n$");
        scene.settle();
        assert_eq!(scene.user.lines(), scene.direct.lines(), "{lag}");
    }
}

#[test]
fn a_window_of_one_row_has_everything_above() {
    let mut scene = Scene::new(1, 6);
    scene.draw();
    scene.run("one line that is long\r\n2\r\n3\r\n$");
    scene.settle();
    assert_eq!(scene.user.lines(), scene.direct.lines());
}

#[test]
fn where_nothing_is_late_what_is_written_is_what_the_program_wrote() {
    let mut scene = Scene::new(4, 20);
    scene.run("1\r\n2\r\n3\r\n$");
    scene.settle();
    scene.run("\r\nfile\r\n$");
    scene.deliver(usize::MAX);
    assert_eq!(scene.draw(), "\x1b[?25l\r\nfile\r\n$\x1b[?25h");
}

#[test]
fn a_notice_is_never_above() {
    let mut scene = Scene::new(4, 30);
    scene.notice = Some("fulmar: no contact".to_owned());
    for start in (1..60).step_by(3) {
        scene.run(&seq(start..=start + 2));
        scene.deliver(3);
        scene.draw();
    }
    scene.notice = None;
    scene.settle();
    assert_eq!(scene.user.lines(), scene.direct.lines());
}

#[test]
fn a_program_on_its_alternate_screen_is_on_that_of_the_terminal() {
    let mut scene = Scene::new(5, 20);
    scene.run(&seq(1..=9));
    scene.draw();
    scene.run("\x1b[?1049h\x1b[2J\x1b[Hfull screen");
    scene.draw();
    assert!(scene.user.is_alternate());
    assert_eq!(scene.user.lines(), ["full screen"]);
    // Lines that come now wait.
    scene.settle();
    assert_eq!(scene.user.lines(), ["full screen"]);
    scene.run("\x1b[?1049l\x1b[32mafter\x1b[m\r\n");
    scene.settle();
    assert!(!scene.user.is_alternate());
    assert_eq!(scene.user.lines(), scene.direct.lines());
}

#[test]
fn a_terminal_without_alternate_screen_keeps_nothing_of_what_was_drawn_there() {
    let mut scene = Scene::with(5, 20, b"", b"");
    scene.run(&seq(1..=9));
    scene.settle();
    scene.run("\x1b[?1049h\x1b[2J\x1b[Htop\r\n\r\n\r\nbottom");
    scene.draw();
    scene.run("\x1b[H\x1b[2Mtop");
    scene.draw();
    scene.run("\x1b[?1049l10\r\n");
    scene.settle();
    assert_eq!(scene.user.lines(), scene.direct.lines());
}

#[test]
fn a_session_that_is_left_on_the_alternate_screen_leaves_the_main_one() {
    let mut scene = Scene::new(5, 20);
    scene.run("$ vim\r\n");
    scene.settle();
    scene.run("\x1b[?1049h\x1b[2J\x1b[Hfull screen");
    scene.draw();
    scene.leave();
    scene.user.process(b"$ here");
    assert_eq!(scene.user.lines(), ["$ vim", "$ here"]);
    scene.user.process(b"\r\n$ fg\r\n");
    scene.draw();
    assert!(scene.user.is_alternate());
    scene.run("\x1b[?1049l$ back");
    scene.draw();
    assert_eq!(
        scene.user.lines(),
        ["$ vim", "$ here", "$ fg", "$ vim", "$ back"]
    );
}

#[test]
fn a_taller_window_erases_nothing_of_what_is_above() {
    let mut scene = Scene::new(4, 20);
    scene.run(&format!("{}$", seq(1..=20)));
    scene.settle();
    scene.resize(9, 20);
    scene.settle();
    scene.run(&format!("\r\n{}$", seq(21..=40)));
    scene.settle();
    let numbers = (1..=20).chain(21..=40).map(|number| number.to_string());
    let mut expected: Vec<String> = numbers.collect();
    expected.insert(20, "$".to_owned());
    expected.push("$".to_owned());
    assert_eq!(scene.user.lines(), expected);
}

#[test]
fn a_window_of_another_width_erases_nothing_of_what_is_above() {
    let long = "a line that is long enough to be cut";
    for (rows, columns) in [(6, 40), (6, 12), (9, 40), (9, 12), (4, 14), (4, 33)] {
        let mut scene = Scene::new(6, 24);
        scene.run(&format!("{}{long}\r\n{long}\r\n$", seq(1..=20)));
        scene.settle();
        scene.resize(rows, columns);
        scene.settle();
        scene.run(&format!("\r\n{}$", seq(21..=60)));
        scene.settle();
        let lines = scene.user.lines();
        let once = |number: u32| {
            let is_it = |line: &&String| **line == number.to_string();
            lines.iter().filter(is_it).count()
        };
        for number in 1..=17 {
            assert_eq!(once(number), 1, "{number} {rows}x{columns} {lines:#?}");
        }
    }
}

#[test]
fn what_a_program_has_cleared_is_cleared_here_too() {
    let mut scene = Scene::new(4, 20);
    scene.user.process(b"old\r\n");
    scene.run(&seq(1..=20));
    scene.settle();
    scene.run("\x1b[H\x1b[J\x1b[3J$ ");
    scene.settle();
    assert_eq!(scene.user.lines(), ["$"]);
}

#[test]
fn lines_that_are_skipped_are_one_line_above() {
    let mut scene = Scene::new(4, 20);
    scene.run(&seq(1..=6));
    scene.settle();
    scene.run(&seq(7..=30));
    scene.on_its_way.drain(..20);
    scene.settle();
    let lines = scene.user.lines();
    let above = ["1", "2", "3", "[20 lines skipped]", "24", "25"];
    assert_eq!(lines[..6], above);
}

impl Scene {
    /// Gives the emulators another window, of which the program learns after a frame that is drawn meanwhile.
    fn resize_late(&mut self, rows: u16, columns: u16) {
        self.size = Size::new(rows, columns).unwrap();
        self.user.terminal.resize(Window(self.size));
        self.direct.terminal.resize(Window(self.size));
        self.display.forget();
        self.draw();
        self.program.resize(self.size);
        self.collect();
    }
}

/// Output that fills the screen once more, so that everything before is above it.
fn more(scene: &mut Scene) {
    let rows = u32::from(scene.size.rows());
    scene.run(&format!("\r\n{}$", seq(900..=900 + rows)));
    scene.settle();
}

#[test]
fn a_shorter_window_leaves_nothing_twice() {
    for late in [false, true] {
        for rows in 1..8 {
            let mut scene = Scene::new(8, 20);
            scene.run(&format!("{}$", seq(1..=20)));
            scene.settle();
            if late {
                scene.resize_late(rows, 20);
            } else {
                scene.resize(rows, 20);
            }
            scene.settle();
            more(&mut scene);
            assert_eq!(scene.user.lines(), scene.direct.lines(), "{rows} {late}");
        }
    }
}

#[test]
fn a_window_that_changes_often_leaves_nothing_twice_and_loses_nothing() {
    let sizes = [
        (8, 20),
        (3, 20),
        (12, 20),
        (5, 20),
        (8, 20),
        (2, 20),
        (20, 20),
        (4, 20),
    ];
    for first in 0..sizes.len() {
        for settles in [false, true] {
            let mut scene = Scene::new(8, 20);
            scene.run(&format!("{}$", seq(1..=20)));
            scene.settle();
            for index in 0..5 {
                let (rows, columns) = sizes[(first + index) % sizes.len()];
                scene.resize_late(rows, columns);
                if settles {
                    scene.settle();
                }
            }
            scene.settle();
            more(&mut scene);
            assert_eq!(
                scene.user.lines(),
                scene.direct.lines(),
                "{first} {settles}"
            );
        }
    }
}

#[test]
fn a_window_of_another_width_leaves_no_line_twice() {
    let long = "a line that is long enough to be cut";
    for late in [false, true] {
        for (rows, columns) in [
            (6, 40),
            (6, 12),
            (9, 40),
            (9, 12),
            (4, 14),
            (4, 33),
            (3, 24),
        ] {
            let mut scene = Scene::new(6, 24);
            scene.run(&format!("{}{long}\r\n{long}\r\n$", seq(1..=20)));
            scene.settle();
            if late {
                scene.resize_late(rows, columns);
            } else {
                scene.resize(rows, columns);
            }
            scene.settle();
            more(&mut scene);
            assert_eq!(
                scene.user.lines(),
                scene.direct.lines(),
                "{rows}x{columns} {late}"
            );
        }
    }
}

#[test]
fn what_a_suspended_session_has_left_on_the_terminal_is_not_there_once_more() {
    let mut scene = Scene::new(5, 20);
    scene.run(&format!("{}$", seq(1..=8)));
    scene.settle();
    scene.leave();
    scene.user.process(b"$ fg\r\n");
    scene.display.forget();
    scene.settle();
    more(&mut scene);
    let lines = scene.user.lines();
    let once = |text: &str| lines.iter().filter(|line| *line == text).count();
    for number in 1..=8 {
        assert_eq!(once(&number.to_string()), 1, "{number} {lines:#?}");
    }
    assert_eq!(once("$ fg"), 1);
}

#[test]
fn a_shorter_window_leaves_nothing_twice_where_lines_of_several_rows_were() {
    let mut scene = Scene::new(8, 20);
    let long = "with spaces at ends of rows as short as some are here \r\n";
    scene.run(&long.repeat(3));
    scene.settle();
    scene.run(&format!("{}{long}with a space \r\n$", seq(1..=20)));
    scene.settle();
    for (rows, columns) in [(3, 20), (8, 15), (4, 30)] {
        scene.resize(rows, columns);
        scene.settle();
    }
    more(&mut scene);
    assert_eq!(scene.user.lines(), scene.direct.lines());
}
