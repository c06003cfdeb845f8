//! Draws the user's terminal: keeps what it shows, and makes the bytes that change it.

mod kept_lines;
mod main_screen;

use std::sync::Arc;

use fulmar_base::Time;
use fulmar_predict::Overlay;
use fulmar_terminal::{
    Answer, Attributes, Color, CursorShape, MouseEncodings, Palette, QUESTIONS, Reflow, Row,
    Screen, SharedRow, Size, Style, TerminalEvent,
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
    /// The lines that the server cuts anew for a window of another size, on whose main screen the text stays around the cursor. `None`
    /// if it crops at the bottom, as stock does.
    pub(crate) server_fits: Option<Reflow>,
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
    pub(crate) fn queue(&mut self, mut item: HistoryItem) {
        if let Some(main) = &mut self.main {
            main.kept.push(&item, &self.outer.vocabulary);
            if let HistoryItem::Line { rows, .. } = &mut item {
                // As the terminal has it in the end, which goes by that when its window changes.
                for row in rows {
                    *row = SharedRow::new(row.trimmed());
                }
            }
            main.queue.push(item);
        }
    }

    /// Returns the lines that stand above the screen, as text with renditions, and those of `screen` behind them, if that is the
    /// program's main screen, with the number of its first line. `None` if the display keeps no history.
    pub(crate) fn scrollback_text(&self, screen: Option<(&Screen, u64)>) -> Option<Vec<u8>> {
        let kept = &self.main.as_ref()?.kept;
        let mut text = kept.text();
        if let Some((screen, first)) = screen {
            if let Some(missing) = kept.missing_before(first) {
                text.extend(missing.into_bytes());
            }
            let lines = screen.as_lines(&self.outer.vocabulary);
            text.extend(lines.into_iter().filter(|byte| *byte != b'\r'));
        }
        Some(text)
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
        if let Place::Main { history_end } = wanted.place
            && let Some(main) = &self.main
        {
            let reflow = if self.outer.reflows {
                Reflow::All
            } else {
                Reflow::Off
            };
            top = history_end;
            if screen.size() != wanted.size {
                top = main.crop(&mut screen, history_end, wanted.size, reflow);
            }
        } else if let (Place::Main { .. }, Some(reflow)) = (wanted.place, wanted.server_fits) {
            // As the server will show it a round trip later, but for the lines that come back from above.
            screen.fit_below(Vec::new(), wanted.size, reflow);
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
mod tests;
