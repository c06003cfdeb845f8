//! tmux, cell by cell.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fulmar_terminal::{
    Column, CursorShape, Glyph, MouseEncoding, MouseMode, Position, Row, Size, Style, Terminal,
};
use fulmar_testbed::{PtyProgram, peers};

use super::window::{Emulator, SIZE, lend_terminal, lent_terminal};
use crate::support::World;

/// Nothing but the window is shown, and all of what tmux has of it.
const SETTINGS: &str = "set -g status off
set -g default-terminal tmux-256color
set -g default-shell /bin/sh
set -s escape-time 0
set -as terminal-features ',xterm-256color:RGB:usstyle:strikethrough:overline:cstyle'
";

/// A tmux with one window, and a client that shows it. Dropping it ends both.
///
/// What tmux itself tells of its cells leaves out those that were erased in a colour, so it draws them for a terminal of ours: with
/// no more than a usual program uses, and the same for both windows.
pub(super) struct Tmux {
    client: PtyProgram,
    shown: Terminal,
    tty: PathBuf,
    end: Command,
}

/// A terminal, as far as it can be seen.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Picture {
    /// The text and style of each cell.
    rows: Vec<Vec<(String, Style)>>,
    cursor: (Position, bool, CursorShape),
    mouse: (MouseMode, MouseEncoding),
}

impl Tmux {
    fn start(world: &World, program: &Path, name: &'static str) -> Self {
        world.write("tmux.emulator", SETTINGS);
        let tty = format!("{name}.tty");
        let [columns, rows] = [SIZE.columns, SIZE.rows].map(|size| size.to_string());
        let options = ["-f", "tmux.emulator", "-S", name];
        let mut command = world.command(program);
        command
            .args(options)
            .args(["new-session", "-d", "-x", &columns, "-y", &rows])
            .arg(lend_terminal(&tty));
        let status = command.status().expect("tmux runs");
        assert!(status.success(), "{status}");
        let mut attach = world.spawn(program);
        attach.env("TERM", "xterm-256color");
        for word in options.iter().chain(&["attach"]) {
            attach.arg(*word);
        }
        let mut end = world.command(program);
        end.args(options).arg("kill-server");
        Self {
            client: PtyProgram::start(&attach, SIZE).expect("tmux runs"),
            shown: Terminal::new(Size::new(SIZE.rows, SIZE.columns).expect("a usual one")),
            tty: lent_terminal(world, &tty),
            end,
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.end.output();
    }
}

impl Emulator for Tmux {
    type Picture = Picture;

    const TERM: &'static str = "tmux-256color";

    const REFRESH: &'static [u8] = b"";

    fn start_two(world: &World) -> Option<[Self; 2]> {
        let program = peers::require("tmux")?;
        Some(["plain", "session"].map(|name| Self::start(world, &program, name)))
    }

    fn tty(&self) -> &Path {
        &self.tty
    }

    fn picture(&mut self) -> Picture {
        loop {
            let drawn = self.client.turn(Some(Duration::ZERO)).expect("a pty");
            if drawn.is_empty() {
                break;
            }
            self.shown.process(drawn);
            self.client.type_keys(self.shown.take_replies());
        }
        let screen = self.shown.screen();
        let cell = |row: u16, column: u16| {
            let row = screen.row(Row(row));
            let text = match row.glyph(Column(column)) {
                Glyph::Blank => " ".to_owned(),
                Glyph::Spacer => String::new(),
                Glyph::Char(character) => character.to_string(),
                Glyph::Cluster(text) => text.to_owned(),
            };
            (text, row.style(Column(column)))
        };
        let (cursor, modes) = (screen.cursor(), screen.modes());
        let columns = |row| (0..SIZE.columns).map(|column| cell(row, column)).collect();
        Picture {
            rows: (0..SIZE.rows).map(columns).collect(),
            cursor: (cursor.position, cursor.visible, cursor.shape),
            mouse: (modes.mouse, modes.mouse_encoding),
        }
    }

    fn difference(&self, _name: &str, plain: &Picture, session: &Picture) -> String {
        let mut said = String::new();
        let text = |cells: &[(String, Style)]| -> String {
            cells.iter().map(|(text, _)| text.as_str()).collect()
        };
        for (row, (plain, session)) in plain.rows.iter().zip(&session.rows).enumerate() {
            if let Some(column) = plain.iter().zip(session).position(|(a, b)| a != b) {
                let _ = write!(
                    said,
                    "\nrow {row}, column {column}: {:?} in the session, {:?} without\n{}\n{}",
                    session[column],
                    plain[column],
                    text(session),
                    text(plain)
                );
            }
        }
        for (name, picture) in [("in the session", session), ("without", plain)] {
            let _ = write!(said, "\n{:?} {:?} {name}", picture.cursor, picture.mouse);
        }
        said
    }
}
