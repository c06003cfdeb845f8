//! Draws the user's terminal: keeps what it shows, and makes the bytes that change it.

mod main_screen;

use std::sync::Arc;

use fulmar_base::Time;
use fulmar_predict::Overlay;
use fulmar_terminal::{
    Answer, Attributes, Color, CursorShape, MouseEncodings, Palette, QUESTIONS, Reflow, Row,
    Screen, Size, Style, TerminalEvent,
};

use self::main_screen::{MainScreen, lead_below};
use crate::announcer::Announcer;
use crate::history_item::HistoryItem;
use crate::outer_terminal::{OuterTerminal, POP_TITLE, PUSH_TITLE};
use crate::title::{TitleGate, Titles};

/// The fate of the last screen when the terminal is given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LastScreen {
    /// It goes, if `exit` brings back what the terminal showed before.
    #[default]
    Dropped,
    /// It is printed below what the terminal showed before.
    Printed,
}

/// Draws on the user's terminal, and leaves it as it was.
///
/// Source: docs/protocol.md §11.3, docs/threat-model.md §8.
#[derive(Debug)]
pub(crate) struct Display {
    outer: OuterTerminal,
    /// The terminal's main screen, if the session is drawn there and lines go into its scrollback.
    main: Option<Box<MainScreen>>,
    title_prefix: String,
    gate: TitleGate,
    announcer: Announcer,
    state: State,
    changed: Changed,
    has_asked: bool,
}

/// The changes on the terminal that are put back only if they were made.
#[derive(Debug, Default)]
struct Changed {
    /// The title, after the one before was pushed on the terminal's stack.
    title: bool,
    /// The forms of keys, after those before were put aside on the terminal's stack.
    keyboard: bool,
    /// The colours that programs have changed.
    palette: Palette,
    /// Mode 2027, which was reset before we set it.
    clusters: bool,
    /// The cursor's shape. What the terminal resets it to need not be what it was.
    cursor_shape: bool,
}

#[derive(Debug)]
enum State {
    /// The terminal belongs to somebody else.
    Left,
    /// It is ours, and shows anything.
    Unknown,
    /// It is ours, and shows this.
    Shows(Box<Screen>),
}

/// The screen of its own that a program has drawn on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The main one.
    Main {
        /// The number of the first line that is still on it.
        history_end: u64,
    },
    /// The alternate one.
    Alternate,
}

/// The picture that a person is to see.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    /// The screen that the program drew.
    pub(crate) screen: &'a Screen,
    /// The one of the program's screens that this is.
    pub(crate) place: Place,
    /// The effect of keys on that screen, as far as it is predicted.
    pub(crate) predicted: Option<Overlay>,
    /// The cursor's shape, which frames do not have.
    pub(crate) cursor_shape: CursorShape,
    /// The size of the window.
    pub(crate) size: Size,
    /// The notice, if there is one: a line for each row from the top.
    pub(crate) notice: Option<String>,
}

impl Display {
    pub(crate) fn new(outer: OuterTerminal, title_prefix: String) -> Display {
        Display {
            announcer: Announcer::new(outer.events, String::new()),
            outer,
            main: None,
            title_prefix,
            gate: TitleGate::default(),
            state: State::Left,
            changed: Changed::default(),
            has_asked: false,
        }
    }

    /// Returns a display that draws on the terminal's main screen, below what was there before, and puts lines into its
    /// scrollback. While the program draws on its alternate screen, so does the display.
    pub(crate) fn keeping_history(mut outer: OuterTerminal, title_prefix: String) -> Display {
        let enter = std::mem::take(&mut outer.enter);
        let exit = std::mem::take(&mut outer.exit);
        Display {
            main: Some(Box::new(MainScreen::new(enter, exit))),
            ..Display::new(outer, title_prefix)
        }
    }

    /// Has notifications say that they come from that session.
    pub(crate) fn set_label(&mut self, label: String) {
        self.announcer.set_label(label);
    }

    /// Takes in what a program has said once.
    pub(crate) fn announce(&mut self, event: TerminalEvent) {
        self.announcer.push(event);
    }

    /// Returns true if lines go into the terminal's scrollback.
    pub(crate) fn keeps_history(&self) -> bool {
        self.main.is_some()
    }

    /// Takes in what is to stand above the screen; ignored by a display that keeps no history.
    pub(crate) fn queue(&mut self, item: HistoryItem) {
        if let Some(main) = &mut self.main {
            main.queue.push(item);
        }
    }

    /// Takes note of an answer of the terminal. If more can be shown now, the next frame shows it.
    pub(crate) fn learn(&mut self, answer: &Answer) {
        let before = self.outer.vocabulary.clone();
        self.outer.learn(answer);
        if self.outer.vocabulary != before {
            self.forget();
        }
    }

    /// Returns true if the terminal was asked all that it is to be asked.
    pub(crate) fn has_asked_all(&self) -> bool {
        self.has_asked || !self.outer.is_asked
    }

    /// Returns true if the terminal was asked what it can do.
    pub(crate) fn has_asked(&self) -> bool {
        self.has_asked
    }

    /// Has the next frame paint everything.
    pub(crate) fn forget(&mut self) {
        match std::mem::replace(&mut self.state, State::Unknown) {
            State::Shows(shown) => self.keep_last(shown),
            State::Unknown => {}
            State::Left => self.state = State::Left,
        }
    }

    /// Remembers what the main screen showed last.
    fn keep_last(&mut self, shown: Box<Screen>) {
        if let Some(main) = self.main.as_mut().filter(|main| !main.is_hidden) {
            main.last = Some(shown);
        }
    }

    /// Returns the time at which a title that was held back may be shown, and that at which an event may.
    pub(crate) fn dues(&self) -> [Option<Time>; 2] {
        [self.gate.due(), self.announcer.due()]
    }

    /// Appends what makes the terminal show what is wanted; nothing if it does.
    pub(crate) fn draw(&mut self, now: Time, wanted: &Wanted<'_>, out: &mut Vec<u8>) {
        self.enter(wanted.size, out);
        self.go_to(wanted.place, out);
        let mut composed = self.composed(wanted);
        let titles = Titles::of(wanted.screen).with_prefix(&self.title_prefix);
        let titles = self.gate.pass(now, &titles);
        let screen = &mut composed.screen;
        screen.set_names(titles.window.clone(), titles.icon.clone());
        self.show(composed, wanted.place, out);
        self.announcer.write(now, out);
    }

    /// Appends what gives the terminal back as it was found. `last` stays on its screen where `exit`
    /// does not bring back another one.
    pub(crate) fn leave(&mut self, last: &Wanted<'_>, fate: LastScreen, out: &mut Vec<u8>) {
        if let State::Left = self.state {
            return;
        }
        let was_hidden = self.main.as_ref().is_some_and(|main| main.is_hidden);
        self.show_main(out);
        if let Some(main) = self.main.as_mut().filter(|_| was_hidden) {
            out.append(&mut main.push_last(last.place, last.size, &self.outer.vocabulary));
        }
        if let State::Shows(_) = self.state {
            // Once more without notice and predictions, since it may stay on the terminal.
            self.show(self.composed(last), last.place, out);
        }
        self.state = State::Left;
        out.extend_from_slice(LEAVE_MODES);
        if self.outer.vocabulary.mouse_encodings == MouseEncodings::All {
            out.extend_from_slice(b"\x1b[?1016l");
        }
        let changed = std::mem::take(&mut self.changed);
        if changed.keyboard {
            out.extend_from_slice(b"\x1b[<u");
        }
        Palette::default().write_resets(&changed.palette, out);
        if changed.clusters {
            out.extend_from_slice(b"\x1b[?2027l");
        }
        if changed.cursor_shape {
            out.extend_from_slice(b"\x1b[0 q");
        }
        if changed.title {
            out.extend_from_slice(POP_TITLE);
        }
        self.announcer.leave(out);
        out.extend_from_slice(&self.outer.exit);
        let screen_before = self.main.as_mut().and_then(|main| main.last.take());
        let screen = if was_hidden {
            screen_before.map(|screen| *screen)
        } else {
            Some(self.composed(last).screen)
        };
        let screen = screen.filter(|screen| screen.size() == last.size);
        if let (Some(main), Some(screen)) = (&mut self.main, &screen) {
            main.note_left_behind(screen);
        }
        match screen {
            // What was drawn stays, so what comes next goes below it.
            Some(screen) if self.outer.exit.is_empty() => lead_below(&screen, out),
            Some(screen) if fate == LastScreen::Printed => {
                out.extend_from_slice(&screen.as_lines(&self.outer.vocabulary));
            }
            Some(_) => {}
            None => out.extend_from_slice(b"\r\n"),
        }
    }

    /// Returns the screen to show, but for its titles.
    fn composed(&self, wanted: &Wanted<'_>) -> Composed {
        let mut screen = wanted.screen.clone();
        if let Some(predicted) = &wanted.predicted {
            predicted.apply(&mut screen);
        }
        screen.set_cursor_shape(wanted.cursor_shape);
        let mut top = 0;
        if let (Some(main), Place::Main { history_end }) = (&self.main, wanted.place) {
            let reflow = if self.outer.reflows {
                Reflow::All
            } else {
                Reflow::Off
            };
            top = history_end;
            if screen.size() != wanted.size {
                top = main.crop(&mut screen, history_end, wanted.size, reflow);
            }
        }
        // The program learns of a new size later than the window has it.
        screen.resize(wanted.size);
        let notice = wanted.notice.as_deref().unwrap_or_default();
        for (row, line) in (0..).map(Row).zip(notice.lines()) {
            screen.overlay_row(row, line, &notice_style());
            if screen.cursor().position.row == row {
                screen.hide_cursor();
            }
        }
        Composed { screen, top }
    }

    fn enter(&mut self, size: Size, out: &mut Vec<u8>) {
        if let State::Left = self.state {
            self.state = State::Unknown;
            out.extend_from_slice(&self.outer.enter);
            if self.outer.enter.is_empty() {
                // What is above the cursor goes to the scrollback, wherever the cursor is.
                let lines = usize::from(size.last_row().0);
                out.extend_from_slice("\r\n".repeat(lines).as_bytes());
            }
            // Application cursor keys always: the server translates them for the program
            // (docs/protocol.md §9.1).
            out.extend_from_slice(b"\x1b[?1h");
            // Before anything is drawn: what is shown of it by a terminal that does not understand it is painted over.
            if self.outer.is_asked && !self.has_asked {
                self.has_asked = true;
                out.extend_from_slice(QUESTIONS);
            }
        }
    }

    /// Has the terminal show the screen of its own that is like the program's.
    fn go_to(&mut self, place: Place, out: &mut Vec<u8>) {
        if place != Place::Alternate {
            return self.show_main(out);
        }
        let can_hide = |main: &&mut Box<MainScreen>| !main.is_hidden && !main.enter.is_empty();
        if self.main.as_mut().filter(can_hide).is_none() {
            return;
        }
        self.forget();
        if let Some(main) = &mut self.main {
            main.is_hidden = true;
            main.hidden_keyboard = std::mem::take(&mut self.changed.keyboard);
            out.extend_from_slice(&main.enter);
        }
    }

    /// Has the terminal show its main screen again, if that is hidden.
    fn show_main(&mut self, out: &mut Vec<u8>) {
        let Some(main) = self.main.as_mut().filter(|main| main.is_hidden) else {
            return;
        };
        if std::mem::replace(&mut self.changed.keyboard, main.hidden_keyboard) {
            out.extend_from_slice(b"\x1b[<u");
        }
        out.extend_from_slice(&main.exit);
        main.is_hidden = false;
        self.state = State::Unknown;
    }

    fn show(&mut self, composed: Composed, place: Place, out: &mut Vec<u8>) {
        let Composed { screen, top } = composed;
        // Behind a change of size nobody knows what the terminal has made of its content.
        if matches!(&self.state, State::Shows(shown) if shown.size() != screen.size()) {
            self.forget();
        }
        let vocabulary = &self.outer.vocabulary;
        let shown = match &self.state {
            State::Shows(shown) => Some(&**shown),
            State::Left | State::Unknown => None,
        };
        if shown.is_none() {
            // The rest of the screen is known afterwards, whatever it was.
            screen.palette().write_resets(&self.changed.palette, out);
            if self.changed.keyboard && screen.keyboard_flags() == 0 {
                out.extend_from_slice(b"\x1b[=0;1u");
            }
        }
        let frame = match (self.main.as_mut().filter(|main| !main.is_hidden), shown) {
            (Some(main), _) => main.frame(&screen, top, shown, place, &self.outer),
            (None, Some(shown)) => screen.diff_from(shown, vocabulary),
            (None, None) => screen.repaint(vocabulary),
        };
        if vocabulary.palette && *screen.palette() != self.changed.palette {
            self.changed.palette = screen.palette().clone();
        }
        self.changed.cursor_shape |=
            vocabulary.cursor_shape && screen.cursor().shape != CursorShape::Default;
        if !self.changed.title && self.outer.shows_title_of(&screen) {
            self.changed.title = true;
            out.extend_from_slice(PUSH_TITLE);
        }
        let asks_for_keys = self.outer.vocabulary.keyboard && screen.keyboard_flags() != 0;
        if asks_for_keys && !std::mem::replace(&mut self.changed.keyboard, true) {
            out.extend_from_slice(b"\x1b[>u");
        }
        if self.outer.resets_clusters && !std::mem::replace(&mut self.changed.clusters, true) {
            out.extend_from_slice(b"\x1b[?2027h");
        }
        if !frame.is_empty() {
            if self.outer.synchronized_output {
                out.extend_from_slice(b"\x1b[?2026h");
            }
            out.extend_from_slice(&frame);
            if self.outer.synchronized_output {
                out.extend_from_slice(b"\x1b[?2026l");
            }
        }
        self.state = State::Shows(Box::new(screen));
    }
}

/// Puts every mode back that a frame may have set: cursor keys, rendition, reverse screen, cursor,
/// mouse reports and their encodings, focus reports, bracketed paste.
///
/// Source: docs/protocol.md §11.3.
const LEAVE_MODES: &[u8] = b"\x1b[?1l\x1b[0m\x1b[?5l\x1b[?25h\
    \x1b[?1003l\x1b[?1002l\x1b[?1001l\x1b[?1000l\x1b[?9l\
    \x1b[?1015l\x1b[?1006l\x1b[?1005l\x1b[?1004l\x1b[?2004l";

/// A screen to show.
struct Composed {
    screen: Screen,
    /// The number of the line with which it begins.
    top: u64,
}

/// Bold white on blue.
///
/// Source: docs/protocol.md §11.1.
fn notice_style() -> Style {
    Style {
        foreground: Color::indexed(7),
        background: Color::indexed(4),
        attributes: Attributes::BOLD,
        ..Style::default()
    }
}

impl Titles {
    fn of(screen: &Screen) -> Titles {
        Titles {
            window: screen.title().map(Arc::from),
            icon: screen.icon_name().map(Arc::from),
        }
    }
}

#[cfg(test)]
mod history_tests;

#[cfg(test)]
mod tests {
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

    /// A display, the program's terminal and the user's.
    struct Scene {
        display: Display,
        program: Terminal,
        user: Terminal,
        checker: Checker,
    }

    impl Scene {
        fn new(outer: OuterTerminal) -> Scene {
            Scene {
                display: Display::new(outer, "[x] ".to_owned()),
                program: Terminal::new(size()),
                user: Terminal::new(size()),
                checker: Checker::default(),
            }
        }

        fn draw(&mut self, now: u64, notice: Option<&str>) -> Vec<u8> {
            let mut out = Vec::new();
            let wanted = Wanted {
                screen: self.program.screen(),
                place: Place::Main { history_end: 0 },
                predicted: None,
                cursor_shape: self.program.screen().cursor().shape,
                size: self.user.screen().size(),
                notice: notice.map(str::to_owned),
            };
            self.display.draw(ms(now), &wanted, &mut out);
            self.feed(&out);
            out
        }

        fn leave(&mut self) -> Vec<u8> {
            self.leave_with(LastScreen::Dropped)
        }

        fn leave_with(&mut self, fate: LastScreen) -> Vec<u8> {
            let mut out = Vec::new();
            let wanted = Wanted {
                screen: self.program.screen(),
                place: Place::Main { history_end: 0 },
                predicted: None,
                cursor_shape: self.program.screen().cursor().shape,
                size: self.user.screen().size(),
                notice: None,
            };
            self.display.leave(&wanted, fate, &mut out);
            self.feed(&out);
            out
        }

        fn feed(&mut self, bytes: &[u8]) {
            self.checker.check(bytes).unwrap();
            self.user.process(bytes);
        }

        fn row(&self, row: u16) -> String {
            let mut text = String::new();
            self.user.screen().row(Row(row)).push_text(&mut text);
            text.trim_end().to_owned()
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
}
