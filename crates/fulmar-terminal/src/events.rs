//! Events: what a program says once, beside what it draws.
//!
//! Source: iTerm2's escape codes (OSC 9), rxvt-unicode's `notify` (OSC 777), kitty's desktop notifications (OSC 99), ConEmu's
//! progress (OSC 9;4), VTE's current directory (OSC 7), FinalTerm's marks (OSC 133), xterm's selections (OSC 52).

use std::sync::Arc;

use crate::base64::is_base64;
use crate::clipboard::CLIPBOARD_BYTES_MAX;
use crate::hyperlink::LINK_URI_MAX;

/// The most events that wait to be taken; of more the oldest go.
///
/// Source: docs/threat-model.md §8.
pub const EVENTS_MAX: usize = 64;

/// The most bytes of texts of events that wait to be taken; of more the oldest go.
///
/// Source: docs/threat-model.md §8.
pub const EVENT_BYTES_MAX: usize = 256 * 1024;

/// The longest title of a notification, in characters; the rest is cut off.
///
/// Source: docs/threat-model.md §8.
pub const NOTIFICATION_TITLE_MAX: usize = 128;

/// The longest text of a notification, in characters; the rest is cut off.
///
/// Source: docs/threat-model.md §8.
pub const NOTIFICATION_BODY_MAX: usize = 512;

/// Something that happens once. A clone is cheap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TerminalEvent {
    /// Something for the user's attention. No control character is in it; either part may be empty, but not both.
    Notification {
        /// In a few words.
        title: Arc<str>,
        /// And in more.
        body: Arc<str>,
    },
    /// The progress of a program.
    Progress(Progress),
    /// The folder that a program is in, as a `file` address of printable ASCII.
    Directory(Arc<str>),
    /// A command begins to write.
    CommandBegins,
    /// A command has ended, with that status if it is told.
    CommandEnds(Option<u8>),
    /// A text for selections other than the clipboard.
    Selection {
        /// Letters and digits of them, each once: `p`, `q`, `s`, `0` to `7`.
        targets: Arc<str>,
        /// The text, in base64.
        text: Arc<str>,
    },
}

/// The progress of a program, OSC 9;4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// 0: no progress is shown; 1 normal, 2 an error, 3 it is not known how far, 4 it pauses.
    pub state: u8,
    /// From 0 to 100.
    pub percent: u8,
}

impl Progress {
    /// Returns it if both numbers have a meaning.
    pub fn new(state: u8, percent: u8) -> Option<Progress> {
        (state <= 4 && percent <= 100).then_some(Progress { state, percent })
    }
}

impl TerminalEvent {
    /// Returns a notification without controls, and cut to what it may have; `None` if nothing is left.
    pub fn notification(title: &str, body: &str) -> Option<TerminalEvent> {
        let title = plain(title, NOTIFICATION_TITLE_MAX);
        let body = plain(body, NOTIFICATION_BODY_MAX);
        let is_empty = title.is_empty() && body.is_empty();
        (!is_empty).then(|| TerminalEvent::Notification {
            title: title.into(),
            body: body.into(),
        })
    }

    /// Returns a folder if it is a `file` address of printable ASCII that is not too long.
    pub fn directory(address: &str) -> Option<TerminalEvent> {
        let is_fine = address.starts_with("file://")
            && address.len() <= LINK_URI_MAX
            && address.bytes().all(|byte| matches!(byte, b'!'..=b'~'));
        is_fine.then(|| TerminalEvent::Directory(address.into()))
    }

    /// Returns a text for those of the selections `targets` that are not the clipboard; `None` if there are none, or it is no
    /// base64 or too long.
    pub fn selection(targets: &str, text: &str) -> Option<TerminalEvent> {
        let known = "pqs01234567".chars();
        let targets: String = known.filter(|target| targets.contains(*target)).collect();
        let is_fine = !targets.is_empty() && text.len() <= CLIPBOARD_BYTES_MAX && is_base64(text);
        is_fine.then(|| TerminalEvent::Selection {
            targets: targets.into(),
            text: text.into(),
        })
    }

    /// The bytes of its texts.
    pub fn len(&self) -> usize {
        match self {
            TerminalEvent::Notification { title, body } => title.len() + body.len(),
            TerminalEvent::Directory(address) => address.len(),
            TerminalEvent::Selection { targets, text } => targets.len() + text.len(),
            TerminalEvent::Progress(_)
            | TerminalEvent::CommandBegins
            | TerminalEvent::CommandEnds(_) => 0,
        }
    }

    /// Returns true if it has no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Returns at most so many characters of `text`, with spaces for line ends and U+FFFD for other controls.
fn plain(text: &str, characters_max: usize) -> String {
    let shown = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    let text = text.trim_matches(|c: char| c.is_whitespace());
    text.chars().take(characters_max).map(shown).collect()
}
