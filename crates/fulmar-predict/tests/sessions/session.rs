//! An engine, a program's terminal, and a link that is as slow as a test wants it.

use std::time::Duration;

use fulmar_base::Time;
use fulmar_predict::{PredictionConfig, PredictionEngine, PredictionMode};
use fulmar_terminal::{Row, Screen, Size, Terminal};

/// A user at one end and a program's terminal at the other.
pub(crate) struct Session {
    pub(crate) engine: PredictionEngine,
    terminal: Terminal,
    /// The newest screen that the user's side has.
    frame: Screen,
    now: Time,
    typed: u64,
}

impl Session {
    /// Returns a session of `rows` by `columns` on a link slow enough for predictions.
    pub(crate) fn new(rows: u16, columns: u16) -> Session {
        let size = Size::new(rows, columns).expect("a size within bounds");
        let config = PredictionConfig {
            mode: PredictionMode::Always,
            overwrite: false,
        };
        let mut engine = PredictionEngine::new(config, size);
        engine.handle_link(Some(Duration::from_millis(100)));
        Session {
            engine,
            terminal: Terminal::new(size),
            frame: Screen::new(size),
            now: Time::ZERO + Duration::from_secs(1),
            typed: 0,
        }
    }

    /// A session at a shell's prompt in which `ls` and Enter were typed, shown, and answered.
    pub(crate) fn at_trusted_prompt() -> Session {
        let mut session = Session::new(6, 40);
        session.program("\x1b[?2004h$ ");
        for key in ["l", "s"] {
            session.keys(key);
            session.program(key);
        }
        session.keys("\r");
        session.program("\x1b[?2004l\r\nfile\r\n\x1b[?2004h$ ");
        session
    }

    /// The user's keyboard writes, in one piece.
    pub(crate) fn keys(&mut self, bytes: &str) {
        self.wait(60);
        self.engine
            .handle_keys(self.now, self.typed, bytes.as_bytes());
        self.typed += bytes.len() as u64;
    }

    /// The program has had everything, writes, and the screen arrives.
    pub(crate) fn program(&mut self, bytes: &str) {
        let typed = self.typed;
        self.program_with(bytes, typed, typed);
    }

    /// The program writes, and the screen arrives with these counts.
    pub(crate) fn program_with(&mut self, bytes: &str, received: u64, echoed: u64) {
        self.wait(100);
        self.terminal.process(bytes.as_bytes());
        self.frame = self.terminal.screen().clone();
        self.engine
            .handle_frame(self.now, &self.frame, received, echoed);
    }

    /// The window gets another size, and the program is told.
    pub(crate) fn resize(&mut self, rows: u16, columns: u16) {
        let size = Size::new(rows, columns).expect("a size within bounds");
        self.wait(10);
        self.engine.handle_resize(self.now, size);
        self.terminal.resize(size);
        self.frame = self.terminal.screen().clone();
    }

    /// Counts the typed bytes.
    pub(crate) fn typed(&self) -> u64 {
        self.typed
    }

    /// True if nothing is drawn over the server's screen.
    pub(crate) fn is_plain(&mut self) -> bool {
        self.engine.overlay(self.now).is_empty()
    }

    /// Returns the screen as the user sees it.
    pub(crate) fn seen(&mut self) -> Screen {
        let mut screen = self.frame.clone();
        self.engine.overlay(self.now).apply(&mut screen);
        screen
    }

    /// Returns one row as the user sees it, with a bar where the cursor is.
    pub(crate) fn seen_row(&mut self, row: u16) -> String {
        let screen = self.seen();
        let mut text = String::new();
        screen.row(Row(row)).push_text(&mut text);
        let cursor = screen.cursor().position;
        if cursor.row == Row(row) {
            text = with_bar(&text, cursor.column.0);
        }
        text.trim_end().to_owned()
    }

    fn wait(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
    }
}

fn with_bar(text: &str, column: u16) -> String {
    let mut out = String::new();
    let mut at = 0;
    for character in text.chars() {
        if at == column {
            out.push('¦');
        }
        out.push(character);
        at += fulmar_terminal::char_columns(character);
    }
    if at <= column {
        (at..column).for_each(|_| out.push(' '));
        out.push('¦');
    }
    out
}

/// The text of all rows.
pub(crate) fn rows_of(screen: &Screen) -> Vec<String> {
    let text = |row: &fulmar_terminal::SharedRow| {
        let mut text = String::new();
        row.push_text(&mut text);
        text.trim_end().to_owned()
    };
    screen.rows().map(text).collect()
}
