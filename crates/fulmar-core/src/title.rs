//! Paces the changes of the window's title, and puts a prefix before it.

use std::sync::Arc;
use std::time::Duration;

use fulmar_base::Time;

/// The shortest pause between two changes: at most ten a second.
///
/// Source: docs/threat-model.md §8.
const CHANGE_INTERVAL: Duration = Duration::from_millis(100);

/// A window's title and the name of its icon; `None` until a program has set them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Titles {
    pub(crate) window: Option<Arc<str>>,
    pub(crate) icon: Option<Arc<str>>,
}

impl Titles {
    /// Puts `prefix` before the title, and before the icon's name if it is the same.
    ///
    /// Source: docs/protocol.md §11.2.
    pub(crate) fn with_prefix(&self, prefix: &str) -> Titles {
        let prefixed = |title: &Arc<str>| Arc::from(format!("{prefix}{title}"));
        let window = self.window.as_ref().map(prefixed);
        let icon = if self.icon == self.window {
            window.clone()
        } else {
            self.icon.clone()
        };
        Titles { window, icon }
    }
}

/// Lets titles through, but not faster than people can read or terminals should be asked to.
#[derive(Debug, Default)]
pub(crate) struct TitleGate {
    shown: Titles,
    changed: Option<Time>,
    /// The latest one was held back and may be shown at this time.
    due: Option<Time>,
}

impl TitleGate {
    /// Returns the titles to show now: those that are wanted, or the ones before as long as these
    /// are too fresh.
    pub(crate) fn pass(&mut self, now: Time, wanted: &Titles) -> &Titles {
        let open_at = self
            .changed
            .map_or(now, |changed| changed + CHANGE_INTERVAL);
        self.due = None;
        if *wanted != self.shown {
            if now >= open_at {
                self.shown = wanted.clone();
                self.changed = Some(now);
            } else {
                self.due = Some(open_at);
            }
        }
        &self.shown
    }

    /// Returns the time at which the titles that were held back may be shown.
    pub(crate) fn due(&self) -> Option<Time> {
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    fn titles(window: &str, icon: &str) -> Titles {
        Titles {
            window: Some(Arc::from(window)),
            icon: Some(Arc::from(icon)),
        }
    }

    #[test]
    fn the_prefix_goes_before_the_icon_only_if_it_is_the_same() {
        assert_eq!(
            titles("vim", "vim").with_prefix("[mosh] "),
            titles("[mosh] vim", "[mosh] vim")
        );
        assert_eq!(
            titles("vim", "v").with_prefix("[mosh] "),
            titles("[mosh] vim", "v")
        );
        assert_eq!(Titles::default().with_prefix("[mosh] "), Titles::default());
    }

    #[test]
    fn ten_titles_a_second_pass_and_the_last_one_always_does() {
        let mut gate = TitleGate::default();
        let mut changes = 0;
        let mut last = Titles::default();
        for now in 0..1000 {
            let wanted = titles(&now.to_string(), "");
            let shown = gate.pass(ms(now), &wanted).clone();
            changes += u32::from(shown != last);
            last = shown;
        }
        assert_eq!(changes, 10);
        let due = gate.due().unwrap();
        assert_eq!(due, ms(1000));
        assert_eq!(gate.pass(due, &titles("999", "")), &titles("999", ""));
        assert_eq!(gate.due(), None);
    }

    #[test]
    fn a_title_that_went_back_is_not_due() {
        let mut gate = TitleGate::default();
        gate.pass(ms(0), &titles("a", ""));
        gate.pass(ms(10), &titles("b", ""));
        assert_eq!(gate.due(), Some(ms(100)));
        gate.pass(ms(20), &titles("a", ""));
        assert_eq!(gate.due(), None);
    }
}
