//! Tells the user's terminal what programs say once, as far as the user wants it.

use std::time::Duration;

use fulmar_base::Time;
use fulmar_terminal::{NotificationForm, Progress, TerminalEvent, WaitingEvents};

/// At most so many events reach the user's terminal in [`INTERVAL`]; others wait.
///
/// Source: docs/threat-model.md §8.
const AT_ONCE_MAX: usize = 10;

/// At most so many of them are notifications.
///
/// Source: docs/threat-model.md §8.
const NOTIFICATIONS_MAX: usize = 3;

/// The time in which there are no more than so many.
///
/// Source: docs/threat-model.md §8.
const INTERVAL: Duration = Duration::from_secs(1);

/// The events that the user wants to reach the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventWishes {
    /// Notifications (OSC 9, 99, 777), and the form in which the terminal understands them.
    pub notifications: Option<NotificationForm>,
    /// Progress (OSC 9;4).
    pub progress: bool,
    /// The program's folder (OSC 7).
    pub directory: bool,
    /// Marks of the beginnings and ends of commands (OSC 133).
    pub commands: bool,
    /// Texts for selections other than the clipboard (OSC 52).
    pub selections: bool,
}

impl EventWishes {
    /// Returns true if the user wants such an event.
    fn want(&self, event: &TerminalEvent) -> bool {
        match event {
            TerminalEvent::Notification { .. } => self.notifications.is_some(),
            TerminalEvent::Progress(_) => self.progress,
            TerminalEvent::Directory(_) => self.directory,
            TerminalEvent::CommandBegins | TerminalEvent::CommandEnds(_) => self.commands,
            TerminalEvent::Selection { .. } => self.selections,
        }
    }
}

/// The events on their way to the user's terminal.
#[derive(Debug)]
pub(crate) struct Announcer {
    wishes: EventWishes,
    /// The session's name, which stands before what notifications say.
    label: String,
    waiting: WaitingEvents,
    /// The beginning of this interval, and the number of events that were told in it.
    began: Option<Time>,
    told: usize,
    notified: usize,
    /// The next one may be told then.
    due: Option<Time>,
    shows_progress: bool,
}

impl Announcer {
    pub(crate) fn new(wishes: EventWishes, label: String) -> Announcer {
        Announcer {
            wishes,
            label,
            waiting: WaitingEvents::default(),
            began: None,
            told: 0,
            notified: 0,
            due: None,
            shows_progress: false,
        }
    }

    /// Has notifications say that they come from that session.
    pub(crate) fn set_label(&mut self, label: String) {
        self.label = label;
    }

    /// Takes in an event, unless the user does not want it. Of too many the oldest go.
    pub(crate) fn push(&mut self, event: TerminalEvent) {
        if !self.wishes.want(&event) {
            return;
        }
        self.waiting.push(event);
    }

    /// Returns the time at which an event that was held back may be told.
    pub(crate) fn due(&self) -> Option<Time> {
        self.due
    }

    /// Appends what tells the terminal of events, not faster than it should be told.
    pub(crate) fn write(&mut self, now: Time, out: &mut Vec<u8>) {
        self.due = None;
        let began = *self.began.get_or_insert(now);
        if now >= began + INTERVAL {
            (self.began, self.told, self.notified) = (Some(now), 0, 0);
        }
        while let Some(event) = self.waiting.first() {
            let notifies = matches!(event, TerminalEvent::Notification { .. });
            if self.told == AT_ONCE_MAX || notifies && self.notified == NOTIFICATIONS_MAX {
                self.due = self.began.map(|began| began + INTERVAL);
                return;
            }
            self.told += 1;
            self.notified += usize::from(notifies);
            if let TerminalEvent::Progress(progress) = event {
                self.shows_progress = progress.state != 0;
            }
            let form = self.wishes.notifications.unwrap_or_default();
            event.write(form, &self.label, out);
            self.waiting.pop();
        }
    }

    /// Appends what takes back the progress that the terminal shows.
    pub(crate) fn leave(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.shows_progress) {
            let none = TerminalEvent::Progress(Progress::default());
            none.write(NotificationForm::default(), "", out);
        }
    }
}

#[cfg(test)]
mod tests {
    use fulmar_terminal::EVENTS_MAX;

    use super::*;

    const EVERYTHING: EventWishes = EventWishes {
        notifications: Some(NotificationForm::Osc777),
        progress: true,
        directory: true,
        commands: true,
        selections: true,
    };

    fn ms(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    fn notification(text: &str) -> TerminalEvent {
        TerminalEvent::notification("", text).unwrap()
    }

    fn written(announcer: &mut Announcer, now: Time) -> String {
        let mut out = Vec::new();
        announcer.write(now, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_the_user_does_not_want_is_not_told() {
        let mut announcer = Announcer::new(EventWishes::default(), "host".into());
        for event in [
            notification("a"),
            TerminalEvent::Progress(Progress::new(1, 5).unwrap()),
            TerminalEvent::directory("file://h/").unwrap(),
            TerminalEvent::CommandBegins,
            TerminalEvent::CommandEnds(None),
            TerminalEvent::selection("p", "").unwrap(),
        ] {
            announcer.push(event);
        }
        assert_eq!(written(&mut announcer, ms(0)), "");
        assert_eq!(announcer.due(), None);
    }

    #[test]
    fn notifications_name_their_session_and_pass_three_a_second() {
        let mut announcer = Announcer::new(EVERYTHING, "host".into());
        for number in 0..5 {
            announcer.push(notification(&number.to_string()));
        }
        let told = |number: u8| format!("\x1b]777;notify;host;{number}\x1b\\");
        assert_eq!(
            written(&mut announcer, ms(0)),
            [told(0), told(1), told(2)].concat()
        );
        assert_eq!(announcer.due(), Some(ms(1000)));
        assert_eq!(written(&mut announcer, ms(999)), "");
        assert_eq!(
            written(&mut announcer, ms(1000)),
            [told(3), told(4)].concat()
        );
        assert_eq!(announcer.due(), None);
    }

    #[test]
    fn ten_events_a_second_pass_and_of_more_than_wait_the_oldest_go() {
        let mut announcer = Announcer::new(EVERYTHING, String::new());
        for _ in 0..=EVENTS_MAX {
            announcer.push(TerminalEvent::CommandBegins);
        }
        assert_eq!(announcer.waiting.dropped(), 1);
        let mark = "\x1b]133;C\x1b\\";
        assert_eq!(written(&mut announcer, ms(5)), mark.repeat(10));
        assert_eq!(announcer.due(), Some(ms(1005)));
    }

    #[test]
    fn a_progress_goes_with_the_session() {
        let mut announcer = Announcer::new(EVERYTHING, String::new());
        announcer.push(TerminalEvent::Progress(Progress::new(1, 5).unwrap()));
        assert_eq!(written(&mut announcer, ms(0)), "\x1b]9;4;1;5\x1b\\");
        let mut out = Vec::new();
        announcer.leave(&mut out);
        announcer.leave(&mut out);
        assert_eq!(out, b"\x1b]9;4;0;0\x1b\\");
    }
}
