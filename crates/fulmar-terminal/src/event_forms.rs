//! Events as a terminal is told of them.

use std::io::Write as _;

use crate::events::{NOTIFICATION_BODY_MAX, NOTIFICATION_TITLE_MAX, TerminalEvent};

/// The form of a notification that a terminal understands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NotificationForm {
    /// OSC 9, a text: iTerm2, WezTerm, ghostty, foot.
    #[default]
    Osc9,
    /// OSC 99, title and text: kitty, foot.
    Osc99,
    /// OSC 777, title and text: rxvt-unicode, foot, ghostty, WezTerm, VTE of some distributions.
    Osc777,
}

impl TerminalEvent {
    /// Appends what tells a terminal of the event. `label` says where a notification comes from.
    pub fn write(&self, form: NotificationForm, label: &str, out: &mut Vec<u8>) {
        // Writing to a vector cannot fail.
        let _ = match self {
            TerminalEvent::Notification { title, body } => {
                write_notification(form, label, title, body, out);
                Ok(())
            }
            TerminalEvent::Progress(progress) => {
                write!(
                    out,
                    "\x1b]9;4;{};{}\x1b\\",
                    progress.state, progress.percent
                )
            }
            TerminalEvent::Directory(address) => write!(out, "\x1b]7;{address}\x1b\\"),
            TerminalEvent::CommandBegins => write!(out, "\x1b]133;C\x1b\\"),
            TerminalEvent::CommandEnds(None) => write!(out, "\x1b]133;D\x1b\\"),
            TerminalEvent::CommandEnds(Some(status)) => write!(out, "\x1b]133;D;{status}\x1b\\"),
            TerminalEvent::Selection { targets, text } => {
                write!(out, "\x1b]52;{targets};{text}\x1b\\")
            }
        };
    }
}

fn write_notification(
    form: NotificationForm,
    label: &str,
    title: &str,
    body: &str,
    out: &mut Vec<u8>,
) {
    let parts = [label, title].map(str::trim);
    let named: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let named = named.join(": ");
    // A semicolon would end the title.
    let title: String = named.chars().take(NOTIFICATION_TITLE_MAX).collect();
    let title = title.replace(';', ",");
    let body: String = body.chars().take(NOTIFICATION_BODY_MAX).collect();
    // Writing to a vector cannot fail.
    let _ = match form {
        NotificationForm::Osc9 if body.is_empty() => write!(out, "\x1b]9;{title}\x1b\\"),
        // What begins with a number and a semicolon would be another command.
        NotificationForm::Osc9 => write!(out, "\x1b]9;{title}: {body}\x1b\\"),
        NotificationForm::Osc99 if body.is_empty() => write!(out, "\x1b]99;;{title}\x1b\\"),
        NotificationForm::Osc99 => write!(
            out,
            "\x1b]99;i=fulmar:d=0;{title}\x1b\\\x1b]99;i=fulmar:p=body;{body}\x1b\\"
        ),
        NotificationForm::Osc777 => write!(out, "\x1b]777;notify;{title};{body}\x1b\\"),
    };
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::events::Progress;
    use crate::{Checker, Size, Terminal};

    fn written(event: &TerminalEvent, form: NotificationForm) -> String {
        let mut out = Vec::new();
        event.write(form, "host", &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_notification_says_where_it_comes_from_in_each_form() {
        let titled = TerminalEvent::notification("a;b", "c;d").unwrap();
        let body = TerminalEvent::notification("", "c").unwrap();
        let title = TerminalEvent::notification("t", "").unwrap();
        for (event, form, bytes) in [
            (
                &titled,
                NotificationForm::Osc9,
                "\x1b]9;host: a,b: c;d\x1b\\",
            ),
            (&body, NotificationForm::Osc9, "\x1b]9;host: c\x1b\\"),
            (&title, NotificationForm::Osc9, "\x1b]9;host: t\x1b\\"),
            (
                &titled,
                NotificationForm::Osc777,
                "\x1b]777;notify;host: a,b;c;d\x1b\\",
            ),
            (
                &body,
                NotificationForm::Osc777,
                "\x1b]777;notify;host;c\x1b\\",
            ),
            (&title, NotificationForm::Osc99, "\x1b]99;;host: t\x1b\\"),
            (
                &titled,
                NotificationForm::Osc99,
                "\x1b]99;i=fulmar:d=0;host: a,b\x1b\\\x1b]99;i=fulmar:p=body;c;d\x1b\\",
            ),
        ] {
            assert_eq!(written(event, form), bytes);
        }
    }

    /// Events of any texts.
    fn event() -> impl Strategy<Value = Option<TerminalEvent>> {
        prop_oneof![
            ("[ -~é;]{0,200}", "[0-9;a\n\x1b\u{9c}]{0,9}")
                .prop_map(|(title, body)| TerminalEvent::notification(&title, &body)),
            ("[0-9;]{0,5}", "\\PC{0,2000}")
                .prop_map(|(title, body)| TerminalEvent::notification(&title, &body)),
            (0..6_u8, 0..120_u8).prop_map(|(state, percent)| {
                Progress::new(state, percent).map(TerminalEvent::Progress)
            }),
            "file://[ -~]{0,9}".prop_map(|address| TerminalEvent::directory(&address)),
            any::<Option<u8>>().prop_map(|status| Some(TerminalEvent::CommandEnds(status))),
            ("[cpqs0-9]{0,5}", "(aGk=)?")
                .prop_map(|(targets, text)| TerminalEvent::selection(&targets, &text)),
        ]
    }

    proptest! {
        #[test]
        fn whatever_an_event_says_may_reach_the_users_terminal(
            event in event(), label in "[a-z0-9 :;]{0,8}",
        ) {
            let Some(event) = event else { return Ok(()) };
            for form in [NotificationForm::Osc9, NotificationForm::Osc99, NotificationForm::Osc777] {
                let mut out = Vec::new();
                event.write(form, &label, &mut out);
                let mut checker = Checker::default();
                prop_assert_eq!(checker.check(&out), Ok(()));
                prop_assert_eq!(checker.finish(), Ok(()));
                let mut terminal = Terminal::new(Size::default());
                terminal.process(&out);
                prop_assert_eq!(terminal.take_events().len(), 1);
            }
        }
    }
}
