use std::time::Duration;

use fulmar_terminal::{Checker, Position, Terminal, TerminalReport, Vocabulary};

use super::*;

fn ms(millis: u64) -> Time {
    Time::from_origin(Duration::from_millis(millis))
}

fn size() -> Size {
    Size::new(4, 30).unwrap()
}

fn outer() -> OuterTerminal {
    OuterTerminal {
        vocabulary: Vocabulary::FULL,
        enter: b"\x1b[?1049h\x1b[22;0;0t".to_vec(),
        exit: b"\x1b[?1049l\x1b[23;0;0t".to_vec(),
        synchronized_output: true,
        ..OuterTerminal::default()
    }
}

fn text(screen: &Screen, row: Row) -> String {
    let mut text = String::new();
    screen.row(row).push_text(&mut text);
    text.trim_end().to_owned()
}

/// A display, the program's terminal and the user's.
struct Scene {
    display: Display,
    program: Terminal,
    user: Terminal,
    checker: Checker,
    server_fits: Option<Reflow>,
}

impl Scene {
    fn new(outer: OuterTerminal) -> Scene {
        Scene {
            display: Display::new(outer, "[x] ".to_owned()),
            program: Terminal::new(size()),
            user: Terminal::new(size()),
            checker: Checker::default(),
            server_fits: None,
        }
    }

    /// Returns what the user is to see, and the display.
    fn wanted(&mut self, notice: Option<&str>) -> (Wanted<'_>, &mut Display) {
        let screen = self.program.screen();
        let wanted = Wanted {
            screen,
            place: Place::Main { history_end: 0 },
            predicted: None,
            cursor_shape: screen.cursor().shape,
            size: self.user.screen().size(),
            server_fits: self.server_fits,
            notice: notice.map(str::to_owned),
        };
        (wanted, &mut self.display)
    }

    fn draw(&mut self, now: u64, notice: Option<&str>) -> Vec<u8> {
        let mut out = Vec::new();
        let (wanted, display) = self.wanted(notice);
        display.draw(ms(now), &wanted, &mut out);
        self.feed(&out);
        out
    }

    fn leave(&mut self) -> Vec<u8> {
        self.leave_with(LastScreen::Dropped)
    }

    fn leave_with(&mut self, fate: LastScreen) -> Vec<u8> {
        let mut out = Vec::new();
        let (wanted, display) = self.wanted(None);
        display.leave(&wanted, fate, &mut out);
        self.feed(&out);
        out
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.checker.check(bytes).unwrap();
        self.user.process(bytes);
    }

    fn row(&self, row: u16) -> String {
        text(self.user.screen(), Row(row))
    }
}

#[test]
fn the_forms_of_keys_that_a_program_has_asked_for_are_put_back() {
    let mut scene = Scene::new(outer());
    let report = TerminalReport {
        keyboard: true,
        ..TerminalReport::default()
    };
    scene.program.set_report(report);
    scene.user.set_report(report);
    scene.user.process(b"\x1b[=4u");
    scene.draw(0, None);
    scene.program.process(b"\x1b[>1u");
    scene.draw(1, None);
    assert_eq!(scene.user.screen().keyboard_flags(), 1);
    scene.program.process(b"\x1b[=3u");
    scene.draw(2, None);
    assert_eq!(scene.user.screen().keyboard_flags(), 3);
    // In the frame that paints everything too.
    scene.display.forget();
    scene.program.process(b"\x1b[=0u");
    scene.draw(3, None);
    assert_eq!(scene.user.screen().keyboard_flags(), 0);
    // The screen before has its own, and this one what it had.
    scene.leave();
    assert_eq!(scene.user.screen().keyboard_flags(), 4);
    scene.user.process(b"\x1b[?1049h");
    assert_eq!(scene.user.screen().keyboard_flags(), 0);
}

#[test]
fn colours_that_a_program_has_changed_are_put_back() {
    let mut scene = Scene::new(outer());
    scene
        .program
        .process(b"\x1b]4;1;#102030;7;#fff\x07\x1b]11;#fff\x07");
    let drawn = scene.draw(0, None);
    let shown = String::from_utf8(drawn).unwrap();
    assert!(
        shown.contains("\x1b]4;1;rgb:1010/2020/3030\x1b\\"),
        "{shown:?}"
    );
    // One of them goes while the terminal shows who knows what.
    scene.program.process(b"\x1b]104;7\x07");
    scene.display.forget();
    let shown = String::from_utf8(scene.draw(1, None)).unwrap();
    assert!(shown.contains("\x1b]104;7\x1b\\"), "{shown:?}");
    assert_eq!(
        scene.user.screen().palette(),
        scene.program.screen().palette()
    );
    let left = String::from_utf8(scene.leave()).unwrap();
    assert!(left.contains("\x1b]104;1\x1b\\\x1b]111\x1b\\"), "{left:?}");
    assert!(!left.contains("\x1b]104;7"), "{left:?}");
    assert!(scene.user.screen().palette().is_empty());
}

#[test]
fn the_first_frame_takes_the_terminal_over_and_the_next_say_what_changed() {
    let mut scene = Scene::new(outer());
    scene.program.process(b"hello");
    let first = scene.draw(0, None);
    assert!(first.starts_with(b"\x1b[?1049h\x1b[22;0;0t\x1b[?1h"));
    assert_eq!(scene.row(0), "hello");
    assert_eq!(scene.draw(1, None), b"");
    scene.program.process(b"!");
    let next = scene.draw(2, None);
    assert!(next.len() < 30, "{:?}", String::from_utf8_lossy(&next));
    assert_eq!(scene.row(0), "hello!");
}

#[test]
fn a_notice_covers_the_top_row_and_goes_away_without_trace() {
    let mut scene = Scene::new(outer());
    scene.program.process(b"top\r\nsecond\x1b[H");
    scene.draw(0, Some("notice: something"));
    assert_eq!(scene.row(0), "notice: something");
    assert_eq!(scene.row(1), "second");
    assert!(!scene.user.screen().cursor().visible, "hidden below it");
    scene.program.process(b"\x1b[2;1H");
    scene.draw(1, Some("notice: something"));
    assert!(scene.user.screen().cursor().visible);
    scene.draw(2, None);
    assert_eq!(scene.row(0), "top");
}

#[test]
fn a_notice_of_several_lines_covers_as_many_rows() {
    let mut scene = Scene::new(outer());
    scene.program.process(b"1\r\n2\r\n3\r\n4\x1b[2;1H");
    scene.draw(0, Some("notice: one\n  two"));
    let rows = [0, 1, 2].map(|row| scene.row(row));
    assert_eq!(rows, ["notice: one", "  two", "3"]);
    assert!(!scene.user.screen().cursor().visible, "hidden below it");
    scene.draw(1, Some("a\nb\nc\nd\ne\nf"));
    assert_eq!(scene.row(3), "d", "there are no more rows");
    scene.draw(2, None);
    assert_eq!([0, 1, 2].map(|row| scene.row(row)), ["1", "2", "3"]);
}

#[test]
fn a_repaint_cleans_whatever_was_there() {
    let mut scene = Scene::new(outer());
    scene.program.process(b"clean");
    scene.draw(0, None);
    scene
        .user
        .process(b"\x1b[2J\x1b[31mjunk of another program");
    assert_eq!(scene.draw(1, None), b"");
    scene.display.forget();
    let repaint = scene.draw(2, None);
    assert_eq!(scene.row(0), "clean");
    let text = String::from_utf8(repaint).unwrap();
    assert!(!text.contains("2J") && !text.contains("3J"), "{text:?}");
}

#[test]
fn a_window_of_another_size_shows_what_fits() {
    let mut scene = Scene::new(outer());
    scene
        .program
        .process(b"a long line of some text\r\n2\r\n3\r\n4");
    scene.draw(0, None);
    scene.user.resize(Size::new(2, 10).unwrap());
    scene.draw(1, None);
    assert_eq!(scene.row(0), "a long lin");
    scene.user.resize(Size::new(6, 40).unwrap());
    scene.draw(2, None);
    assert_eq!(scene.row(0), "a long line of some text");
}

/// Resizes the window while the program's screen stays as it is, and compares what is shown with what the server shows once it knows.
#[track_caller]
fn shows_at_once_what_comes(output: &str, reflow: Reflow, rows: u16, columns: u16) {
    let mut scene = Scene::new(outer());
    scene.server_fits = Some(reflow);
    scene.program.process(output.as_bytes());
    scene.draw(0, None);
    let size = Size::new(rows, columns).unwrap();
    scene.user.resize(size);
    scene.draw(1, None);
    scene.program.resize_with(size, reflow);
    let [shown, wanted] = [&scene.user, &scene.program].map(Terminal::screen);
    for row in (0..rows).map(Row) {
        let [shown, wanted] = [shown, wanted].map(|screen| text(screen, row));
        assert_eq!(shown, wanted, "{output:?} at {size}, {row:?}");
    }
    assert_eq!(shown.cursor().position, wanted.cursor().position);
}

#[test]
fn a_window_of_another_size_shows_at_once_what_the_server_will() {
    for output in [
        "1\r\n2\r\n3\r\n$ ",
        "1\r\n2\r\n$ \x1b[A",
        "$ ",
        "a long line of text that wraps\r\n$ typed text that is long",
    ] {
        for reflow in [Reflow::All, Reflow::AboveCursor, Reflow::Off] {
            for (rows, columns) in [(1, 30), (2, 30), (3, 20), (2, 10), (7, 30), (6, 40)] {
                shows_at_once_what_comes(output, reflow, rows, columns);
            }
        }
    }
}

#[test]
fn a_shorter_window_is_cropped_at_the_bottom_where_the_server_does_so() {
    let mut scene = Scene::new(outer());
    scene
        .program
        .process(b"1\r\n2\r\n3\r\n$ \x1b[?1049h\x1b[H1\r\n2\r\n3\r\n4");
    scene.user.resize(Size::new(2, 30).unwrap());
    scene.draw(0, None);
    assert_eq!([0, 1].map(|row| scene.row(row)), ["1", "2"]);
}

#[test]
fn leaving_puts_every_mode_back() {
    let set = b"\x1b[?5h\x1b[?25l\x1b[?1000h\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[?2004h\
        \x1b[4 q\x1b[1;31mred\x1b]0;title\x07";
    let mut scene = Scene::new(outer());
    scene.program.process(set);
    scene.draw(0, Some("a notice"));
    assert_eq!(scene.user.screen().title(), Some("[x] title"));
    let bytes = scene.leave();
    assert!(bytes.ends_with(b"\x1b[?1049l\x1b[23;0;0t"));
    let user = scene.user.screen();
    assert_eq!(user.modes(), Screen::new(size()).modes());
    assert_eq!(user.cursor().shape, Screen::new(size()).cursor().shape);
    assert!(user.cursor().visible);
    assert!(user.style().is_plain());
    assert_eq!(user.title(), None, "as before the session");
    assert_eq!(scene.leave(), b"");
}

#[test]
fn a_title_that_was_changed_is_put_back_and_one_that_was_not_is_left_alone() {
    let mut scene = Scene::new(bare());
    scene.draw(0, None);
    assert!(!has(&scene.leave(), "\x1b[23"), "no title was set");
    scene.program.process(b"\x1b]0;title\x07");
    let frame = String::from_utf8(scene.draw(1000, None)).unwrap();
    assert!(frame.contains("\x1b[22;0;0t"), "{frame:?}");
    scene.program.process(b"\x1b]0;another\x07");
    assert!(!has(&scene.draw(2000, None), "\x1b[22"), "pushed once");
    assert!(has(&scene.leave(), "\x1b[23;0;0t"));
}

#[test]
fn the_cursors_shape_is_put_back_only_if_a_program_has_set_one() {
    let mut scene = Scene::new(outer());
    scene.draw(0, None);
    assert!(!has(&scene.leave(), " q"));
    scene.program.process(b"\x1b[4 q");
    scene.draw(1, None);
    // The frame that paints everything anew says nothing of a usual shape.
    scene.program.process(b"\x1b[0 q");
    scene.display.forget();
    scene.draw(2, None);
    assert!(has(&scene.leave(), "\x1b[0 q"));
}

fn has(bytes: &[u8], text: &str) -> bool {
    String::from_utf8_lossy(bytes).contains(text)
}

#[test]
fn a_last_screen_that_is_wanted_is_printed_below_what_was_there() {
    let mut scene = Scene::new(outer());
    scene.feed(b"from before\r\n");
    scene.program.process(b"one\r\n\x1b[7mtwo\x1b[m\r\n");
    scene.draw(0, Some("a notice"));
    let bytes = scene.leave_with(LastScreen::Printed);
    assert!(bytes.ends_with(b"\x1b[23;0;0tone\r\n\x1b[7mtwo\x1b[m\r\n"));
    assert_eq!(
        [0, 1, 2].map(|row| scene.row(row)),
        ["from before", "one", "two"]
    );
    assert_eq!(scene.user.screen().cursor().position, Position::new(3, 0));
}

fn bare() -> OuterTerminal {
    OuterTerminal {
        enter: Vec::new(),
        exit: Vec::new(),
        ..outer()
    }
}

#[test]
fn without_another_screen_what_comes_next_goes_below_the_last_text() {
    for (output, row) in [
        (&b""[..], 0),
        (b"one", 1),
        (b"one\r\n", 1),
        (b"one\r\n\r\n", 2),
        (b"one\r\ntwo\r", 2),
    ] {
        let mut scene = Scene::new(bare());
        scene.program.process(output);
        scene.draw(0, None);
        scene.leave_with(LastScreen::Printed);
        let cursor = scene.user.screen().cursor().position;
        assert_eq!(cursor, Position::new(row, 0), "{output:?}");
    }
}

#[test]
fn without_another_screen_the_last_frame_stays_and_the_cursor_goes_below() {
    let mut scene = Scene::new(bare());
    scene.program.process(b"one\r\ntwo\r\nthree\r\nfour\x1b[H");
    scene.draw(0, Some("a notice"));
    scene.leave();
    assert_eq!(scene.row(0), "two");
    assert_eq!(scene.row(2), "four");
    assert_eq!(scene.user.screen().cursor().position.row, Row(3));
}

#[test]
fn after_leaving_the_terminal_is_taken_over_again() {
    let mut scene = Scene::new(outer());
    scene.draw(0, None);
    scene.leave();
    let again = scene.draw(1, None);
    assert!(again.starts_with(b"\x1b[?1049h"));
}

#[test]
fn titles_change_ten_times_a_second_at_most() {
    let mut scene = Scene::new(outer());
    let mut titles = Vec::new();
    for now in 0..500 {
        scene
            .program
            .process(format!("\x1b]0;{now}\x07").as_bytes());
        scene.draw(now, None);
        titles.push(scene.user.screen().title().map(str::to_owned));
    }
    titles.dedup();
    assert_eq!(titles.len(), 5);
    assert_eq!(scene.display.dues(), [Some(ms(500)), None]);
    scene.draw(500, None);
    assert_eq!(scene.user.screen().title(), Some("[x] 499"));
}
