//! The terminal's answers to a program's questions.
//!
//! Every answer is made from tables and the screen's state; no byte that a program chose is ever
//! repeated.
//!
//! Source: docs/protocol.md §8.3; docs/threat-model.md §8.

use std::fmt::Write;

use crate::csi::Csi;
use crate::modes::{ModeFlags, ModeState};
use crate::rendition;
use crate::screen::Screen;

/// The most bytes of answers that wait for the program; further ones are dropped and counted.
///
/// Source: docs/threat-model.md §6.
pub const REPLIES_MAX: usize = 64 * 1024;

/// The work of an answer, which is put together: some two hundred characters, measured for DECRQSS of
/// many attributes by the example `worst_input`.
const REPLY_WORK: u64 = 192;

/// A VT220 with colours.
const PRIMARY_ATTRIBUTES: &str = "\x1b[?62;22c";
/// The answer that stock gives, too: a VT220 of firmware 10. Editors take higher numbers for an xterm of that
/// patch level and ask for more.
const SECONDARY_ATTRIBUTES: &str = "\x1b[>1;10;0c";
/// No serial number.
const TERTIARY_ATTRIBUTES: &str = "\x1bP!|00000000\x1b\\";
/// Ready.
const STATUS: &str = "\x1b[0n";
const VERSION: &str = concat!("\x1bP>|fulmar(", env!("CARGO_PKG_VERSION"), ")\x1b\\");

/// Answers on their way to the program.
#[derive(Clone, Debug)]
pub(crate) struct Replies {
    waiting: String,
    max: usize,
    dropped: u64,
}

impl Replies {
    pub(crate) fn new() -> Replies {
        Replies {
            waiting: String::new(),
            max: REPLIES_MAX,
            dropped: 0,
        }
    }

    /// Returns a place where no answer is kept.
    pub(crate) fn discarded() -> Replies {
        Replies {
            waiting: String::new(),
            max: 0,
            dropped: 0,
        }
    }

    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.waiting).into_bytes()
    }

    /// The number of answers that found no room.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    fn push(&mut self, reply: &str) {
        if self.waiting.len() + reply.len() <= self.max {
            self.waiting.push_str(reply);
        } else {
            self.dropped += 1;
        }
    }

    /// Returns the work that answering makes: none where nothing is kept.
    pub(crate) fn work(&self) -> u64 {
        match self.max {
            0 => 0,
            _ => REPLY_WORK,
        }
    }

    /// Answers the control sequences that are questions.
    pub(crate) fn answer(
        &mut self,
        screen: &Screen,
        marker: Option<char>,
        intermediates: &[u8],
        csi: &Csi,
        last: char,
    ) {
        if self.max == 0 {
            return;
        }
        let value = csi.value(0);
        match (marker, intermediates, last) {
            (None, [], 'c') if value == 0 => self.push(PRIMARY_ATTRIBUTES),
            (Some('>'), [], 'c') if value == 0 => self.push(SECONDARY_ATTRIBUTES),
            (Some('='), [], 'c') if value == 0 => self.push(TERTIARY_ATTRIBUTES),
            (Some('>'), [], 'q') if value == 0 => self.push(VERSION),
            (None, [], 'n') if value == 5 => self.push(STATUS),
            (None, [], 'n') if value == 6 => self.push(&format!("\x1b[{}R", position(screen))),
            (Some('?'), [], 'n') if value == 6 => {
                self.push(&format!("\x1b[?{}R", position(screen)));
            }
            (None, [], 't') if value == 18 => {
                let size = screen.size();
                self.push(&format!("\x1b[8;{};{}t", size.rows(), size.columns()));
            }
            (Some('?'), b"$", 'p') => self.report_mode("?", value, screen.private_mode(value)),
            (None, b"$", 'p') => self.report_mode("", value, screen.mode(value)),
            _ => {}
        }
    }

    /// Answers to `ESC Z`, which asks what `CSI c` asks.
    pub(crate) fn identify(&mut self) {
        self.push(PRIMARY_ATTRIBUTES);
    }

    /// Answers the one device control string that is a question we know: DECRQSS.
    pub(crate) fn answer_string(&mut self, screen: &Screen, text: &str) {
        let setting = text.strip_prefix("$q").filter(|_| self.max > 0);
        let Some(setting) = setting else { return };
        let value = match setting {
            "m" => rendition::parameters(screen.style()) + "m",
            "r" => {
                let margins = screen.margins.clone();
                format!("{};{}r", margins.start + 1, margins.end)
            }
            " q" => format!("{} q", screen.cursor.shape as u8),
            // Without what was asked: no byte of a program comes back to it (docs/threat-model.md
            // §8).
            _ => return self.push("\x1bP0$r\x1b\\"),
        };
        self.push(&format!("\x1bP1$r{value}\x1b\\"));
    }

    /// DECRPM.
    fn report_mode(&mut self, marker: &str, number: u16, state: ModeState) {
        let state = state as u8;
        self.push(&format!("\x1b[{marker}{number};{state}$y"));
    }
}

/// Returns the cursor's place, 1-based, from the top margin in origin mode.
fn position(screen: &Screen) -> String {
    let position = screen.cursor().position;
    let top = if screen.modes().has(ModeFlags::ORIGIN) {
        screen.margins.start
    } else {
        0
    };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "{};{}",
        position.row.0.saturating_sub(top) + 1,
        position.column.0 + 1
    );
    text
}
