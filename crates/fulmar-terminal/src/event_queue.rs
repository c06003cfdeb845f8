//! The queue of what programs have said once, and how they say it.

use data_encoding::BASE64;

use crate::colors::digits;
use crate::events::{NOTIFICATION_BODY_MAX, NOTIFICATION_TITLE_MAX, Progress, TerminalEvent};
use crate::waiting_events::WaitingEvents;

/// The events that nobody has taken yet, and the notification that comes in pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventQueue {
    waiting: WaitingEvents,
    pieces: Pieces,
}

/// The pieces of a notification (OSC 99) that have come.
#[derive(Clone, Debug, Default)]
struct Pieces {
    id: String,
    title: String,
    body: String,
}

impl EventQueue {
    /// Takes all, in their order.
    pub(crate) fn take(&mut self) -> Vec<TerminalEvent> {
        self.waiting.take()
    }

    /// The number of those that found no room.
    pub(crate) fn dropped(&self) -> u64 {
        self.waiting.dropped()
    }

    fn push(&mut self, event: Option<TerminalEvent>) {
        if let Some(event) = event {
            self.waiting.push(event);
        }
    }

    /// Notes what the OSC of that number says, if it is an event.
    pub(crate) fn note(&mut self, number: &str, value: &str) {
        match number {
            "7" => self.push(TerminalEvent::directory(value)),
            "9" => self.push(of_osc_9(value)),
            "52" => {
                let (targets, text) = value.split_once(';').unwrap_or_default();
                self.push(TerminalEvent::selection(targets, text));
            }
            "99" => {
                let (keys, payload) = value.split_once(';').unwrap_or_default();
                self.note_piece(keys, payload);
            }
            "133" => self.push(of_osc_133(value)),
            "777" => {
                let text = value.strip_prefix("notify;");
                let parts = text.map(|text| text.split_once(';').unwrap_or((text, "")));
                self.push(parts.and_then(|(title, body)| TerminalEvent::notification(title, body)));
            }
            _ => {}
        }
    }

    /// `key=value:key=value`, and a piece of the text. Of several notifications that come in pieces at a time the last begun
    /// counts.
    fn note_piece(&mut self, keys: &str, payload: &str) {
        let key = |name: &str| {
            let mut keys = keys.split(':').filter_map(|key| key.split_once('='));
            keys.find_map(|(key, value)| (key == name).then_some(value))
        };
        let decoded = match key("e") {
            Some("1") => BASE64.decode(payload.as_bytes()).ok(),
            _ => Some(payload.as_bytes().to_vec()),
        };
        let Some(text) = decoded.and_then(|bytes| String::from_utf8(bytes).ok()) else {
            return;
        };
        let id = key("i").unwrap_or_default();
        if self.pieces.id != id {
            self.pieces = Pieces {
                id: id.to_owned(),
                ..Pieces::default()
            };
        }
        let (part, characters_max) = match key("p") {
            None | Some("title") => (&mut self.pieces.title, NOTIFICATION_TITLE_MAX),
            Some("body") => (&mut self.pieces.body, NOTIFICATION_BODY_MAX),
            // Icons, buttons and questions.
            Some(_) => return,
        };
        if part.len() < 4 * characters_max {
            part.push_str(&text);
        }
        if key("d") != Some("0") {
            let Pieces { title, body, .. } = std::mem::take(&mut self.pieces);
            self.push(TerminalEvent::notification(&title, &body));
        }
    }
}

/// A progress, or a notification unless it begins as one of ConEmu's commands does: with a number and a semicolon.
fn of_osc_9(value: &str) -> Option<TerminalEvent> {
    let mut parts = value.split(';');
    match parts.next().map(digits::<u8>) {
        Some(Some(4)) if value.len() > 1 => {
            let state = digits(parts.next()?)?;
            let percent = parts.next().and_then(digits).unwrap_or(0);
            Progress::new(state, percent).map(TerminalEvent::Progress)
        }
        Some(Some(_)) if value.contains(';') => None,
        _ => TerminalEvent::notification("", value),
    }
}

/// Of a shell's marks those that are about time: where a prompt is only the screen at the server knows.
fn of_osc_133(value: &str) -> Option<TerminalEvent> {
    let (mark, rest) = value.split_once(';').unwrap_or((value, ""));
    match mark {
        "C" => Some(TerminalEvent::CommandBegins),
        "D" => {
            let status = rest.split(';').next().and_then(digits);
            Some(TerminalEvent::CommandEnds(status))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clipboard::CLIPBOARD_BYTES_MAX;
    use crate::events::{EVENT_BYTES_MAX, EVENTS_MAX};
    use crate::{Size, Terminal};

    fn events(program: &str) -> Vec<TerminalEvent> {
        let mut terminal = Terminal::new(Size::default());
        terminal.process(program.as_bytes());
        terminal.take_events()
    }

    fn notified(title: &str, body: &str) -> Vec<TerminalEvent> {
        vec![TerminalEvent::notification(title, body).unwrap()]
    }

    #[test]
    fn notifications_are_understood_in_three_forms() {
        for (program, title, body) in [
            ("\x1b]9;done\x07", "", "done"),
            ("\x1b]9;4 tests failed\x07", "", "4 tests failed"),
            ("\x1b]9;a;b\x1b\\", "", "a;b"),
            ("\x1b]777;notify;make;all; done\x07", "make", "all; done"),
            ("\x1b]777;notify;make\x07", "make", ""),
            ("\x1b]99;;Hello\x1b\\", "Hello", ""),
            (
                "\x1b]99;i=1:d=0;Hello \x1b\\\x1b]99;i=1:p=body:d=1;world\x1b\\",
                "Hello",
                "world",
            ),
            (
                "\x1b]99;i=1:d=0;a\x07\x1b]99;i=2:d=0;b\x07\x1b]99;i=2;c\x07",
                "bc",
                "",
            ),
            ("\x1b]99;e=1:p=body;YQpiGw==\x07", "", "a b\u{fffd}"),
        ] {
            assert_eq!(events(program), notified(title, body), "{program:?}");
        }
        for nothing in [
            "\x1b]9;\x07",
            "\x1b]9;9;/tmp\x07",
            "\x1b]9;1;500\x07",
            "\x1b]777;other;a;b\x07",
            "\x1b]777;notify; ; \x07",
            "\x1b]99;p=icon;abc\x07",
            "\x1b]99;e=1;***\x07",
            "\x1b]99\x07",
        ] {
            assert_eq!(events(nothing), [], "{nothing:?}");
        }
    }

    #[test]
    fn progress_directories_and_commands_are_understood() {
        let progress = |state, percent| vec![TerminalEvent::Progress(Progress { state, percent })];
        assert_eq!(events("\x1b]9;4;1;42\x07"), progress(1, 42));
        assert_eq!(events("\x1b]9;4;0\x1b\\"), progress(0, 0));
        assert_eq!(
            events("\x1b]9;4;5;1\x07\x1b]9;4;1;101\x07\x1b]9;4;\x07"),
            []
        );
        let home = "file://host/home/a%20b";
        let directory = TerminalEvent::Directory(home.into());
        assert_eq!(events(&format!("\x1b]7;{home}\x07")), [directory]);
        assert_eq!(
            events("\x1b]7;\x07\x1b]7;http://a/\x07\x1b]7;file://a/b c\x07"),
            []
        );
        assert_eq!(
            events(
                "\x1b]133;A\x07$ \x1b]133;B\x07ls\r\n\x1b]133;C\x07\x1b]133;D;2;x\x07\x1b]133;D\x07"
            ),
            [
                TerminalEvent::CommandBegins,
                TerminalEvent::CommandEnds(Some(2)),
                TerminalEvent::CommandEnds(None),
            ]
        );
    }

    #[test]
    fn a_text_goes_to_each_selection_and_the_clipboard_is_no_event() {
        let selection = |targets: &str, text: &str| TerminalEvent::Selection {
            targets: targets.into(),
            text: text.into(),
        };
        assert_eq!(
            events("\x1b]52;p;aGk=\x07\x1b]52;sp0cpz;aGk=\x07"),
            [selection("p", "aGk="), selection("ps0", "aGk=")]
        );
        assert_eq!(
            events("\x1b]52;c;aGk=\x07\x1b]52;;aGk=\x07\x1b]52;p;?\x07"),
            []
        );
        let longest = "A".repeat(CLIPBOARD_BYTES_MAX - 8);
        assert_eq!(
            events(&format!("\x1b]52;p;{longest}\x07")),
            [selection("p", &longest)]
        );
    }

    #[test]
    fn events_wait_up_to_the_cap_and_the_newest_stay() {
        let mut terminal = Terminal::new(Size::default());
        for number in 0..=EVENTS_MAX {
            terminal.process(format!("\x1b]9;number {number}\x07").as_bytes());
        }
        assert_eq!(terminal.events_dropped(), 1);
        let events = terminal.take_events();
        assert_eq!(events.len(), EVENTS_MAX);
        assert_eq!(events[..1], notified("", "number 1"));
        assert_eq!(terminal.take_events(), []);
        let large = format!("\x1b]52;p;{}\x07", "A".repeat(100_000));
        terminal.process(large.repeat(3).as_bytes());
        assert_eq!(terminal.take_events().len(), EVENT_BYTES_MAX / 100_000);
        let long = format!("\x1b]777;notify;{0};{0}\x07", "x".repeat(1025));
        let [TerminalEvent::Notification { title, body }] = &*events_of(&mut terminal, &long)
        else {
            panic!("no notification");
        };
        assert_eq!(title.chars().count(), NOTIFICATION_TITLE_MAX);
        assert_eq!(body.chars().count(), NOTIFICATION_BODY_MAX);
    }

    fn events_of(terminal: &mut Terminal, program: &str) -> Vec<TerminalEvent> {
        terminal.process(program.as_bytes());
        terminal.take_events()
    }
}
