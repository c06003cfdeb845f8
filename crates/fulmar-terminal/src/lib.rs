//! Bytes in, screen out; and the bytes that turn one screen into another.
//!
//! A [`Terminal`] takes what a program writes and keeps a [`Screen`]. A clone of the screen is a
//! cheap snapshot: rows are shared until written to.
//!
//! There is no pty, no network, no clock and no environment here: a screen is a function of bytes
//! and sizes.
//!
//! ```
//! use fulmar_terminal::{Row, Size, Terminal};
//!
//! let mut terminal = Terminal::new(Size::new(24, 80).expect("a usual size"));
//! terminal.process(b"\x1b[31mred\x1b[m \x1b[6n");
//!
//! let mut text = String::new();
//! terminal.screen().row(Row(0)).push_text(&mut text);
//! assert_eq!(text, "red ");
//! assert_eq!(terminal.take_replies(), b"\x1b[1;5R");
//! ```

mod attribute_extent;
mod base64;
mod cell;
mod charset;
mod checksum;
mod clipboard;
mod cluster;
mod clustering;
mod color_names;
mod colors;
mod conformance;
mod content;
mod csi;
mod cursor;
mod echo;
mod edit;
mod esc;
mod event_forms;
mod event_queue;
mod events;
mod fit;
mod frame;
mod grid;
mod history;
mod hyperlink;
mod keyboard;
mod keys;
mod memory;
mod mode_switching;
mod modes;
mod motion;
mod occurrences;
mod osc;
mod overlay;
mod packing;
mod palette;
mod parser;
mod permitted;
mod print;
mod print_clusters;
mod probe;
mod protection;
mod rectangle;
mod reflow;
mod rendition;
mod replies;
mod report;
mod reset;
mod reverse_wrap;
mod row;
mod rows_above;
mod saved;
mod saved_cursor;
mod saved_modes;
mod scan;
mod screen;
mod scrollback;
mod sequences;
mod sgr;
mod sides;
mod size;
mod strings;
mod style;
mod tabs;
mod termcap;
mod terminal;
mod title_stack;
mod titles;
mod unpacking;
mod utf8;
mod vocabulary;
mod waiting_events;
mod width;
mod window_report;

pub use cell::{CELL_TEXT_MAX, CLUSTER_TEXT_MAX, Cell, Glyph};
pub use clustering::Clustering;
pub use colors::{ColorLevels, DefaultColors};
pub use cursor::{Cursor, CursorShape};
pub use event_forms::NotificationForm;
pub use events::{
    EVENT_BYTES_MAX, EVENTS_MAX, NOTIFICATION_BODY_MAX, NOTIFICATION_TITLE_MAX, Progress,
    TerminalEvent,
};
pub use frame::line_as_text;
pub use history::History;
pub use hyperlink::{Hyperlink, LINK_URI_MAX, LINKS_MAX};
pub use keys::{CursorKeyMode, CursorKeys};
pub use modes::{ModeFlags, Modes, MouseEncoding, MouseMode};
pub use osc::TITLE_MAX;
pub use palette::Palette;
pub use permitted::{Checker, Violation};
pub use probe::{Answer, AnswerReader, QUESTIONS};
pub use reflow::{Reflow, cut_line};
pub use replies::REPLIES_MAX;
pub use report::TerminalReport;
pub use row::{CellRow, SharedRow};
pub use screen::Screen;
pub use scrollback::{Scrollback, ScrollbackLimits};
pub use size::{Column, Position, Row, Size};
pub use style::{Attributes, Color, ColorKind, Style, Underline};
pub use terminal::Terminal;
pub use unpacking::{MalformedLine, unpack_line};
pub use vocabulary::{Colors, MouseEncodings, Vocabulary};
pub use waiting_events::WaitingEvents;
pub use width::char_columns;
