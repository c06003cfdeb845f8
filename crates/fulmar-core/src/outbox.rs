//! The events of a session, numbered, until a client has them.

use std::collections::VecDeque;

use fulmar_terminal::{EVENT_BYTES_MAX, EVENTS_MAX, Progress, TerminalEvent};

/// The events that a client may not have.
///
/// Each has a number, one more than the one before. What has been overtaken or does not fit is missing among them.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: VecDeque<(u64, TerminalEvent)>,
    bytes: usize,
    /// The number of the next event.
    end: u64,
    progress: Progress,
    directory: Option<TerminalEvent>,
}

impl Outbox {
    /// Puts an event behind all others. Of progress and folders the newest counts.
    pub(crate) fn push(&mut self, event: TerminalEvent) {
        match &event {
            TerminalEvent::Progress(progress) => {
                self.progress = *progress;
                self.drop_where(|event| matches!(event, TerminalEvent::Progress(_)));
            }
            TerminalEvent::Directory(_) => {
                self.directory = Some(event.clone());
                self.drop_where(|event| matches!(event, TerminalEvent::Directory(_)));
            }
            _ => {}
        }
        self.bytes += event.len();
        self.waiting.push_back((self.end, event));
        self.end += 1;
        while self.waiting.len() > EVENTS_MAX || self.bytes > EVENT_BYTES_MAX {
            self.drop_first();
        }
    }

    /// The number of the next event.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Forgets the events before `number`: the client has them.
    pub(crate) fn forget_before(&mut self, number: u64) {
        while self.waiting.front().is_some_and(|(at, _)| *at < number) {
            self.drop_first();
        }
    }

    /// Returns the events from `from` on and before `to`, as many as fit into so many bytes, each with `overhead` of them; and
    /// the number behind the last.
    pub(crate) fn between(
        &self,
        from: u64,
        to: u64,
        bytes_max: usize,
        overhead: usize,
    ) -> (Vec<(u64, TerminalEvent)>, u64) {
        let mut events = Vec::new();
        let mut room = bytes_max;
        let asked = self
            .waiting
            .iter()
            .filter(|(at, _)| (from..to).contains(at));
        for (number, event) in asked {
            let bytes = event.len() + overhead;
            if bytes > room {
                return (events, *number);
            }
            room -= bytes;
            events.push((*number, event.clone()));
        }
        (events, to)
    }

    /// Another client comes: it is told of the progress and the folder once more, and of no commands before its time.
    pub(crate) fn renew(&mut self) {
        self.drop_where(|event| {
            matches!(
                event,
                TerminalEvent::CommandBegins | TerminalEvent::CommandEnds(_)
            )
        });
        if let Some(directory) = self.directory.clone() {
            self.push(directory);
        }
        if self.progress != Progress::default() {
            self.push(TerminalEvent::Progress(self.progress));
        }
    }

    fn drop_first(&mut self) {
        let first = self.waiting.pop_front();
        self.bytes -= first.map_or(0, |(_, event)| event.len());
    }

    fn drop_where(&mut self, is_over: impl Fn(&TerminalEvent) -> bool) {
        self.waiting.retain(|(_, event)| !is_over(event));
        self.bytes = self.waiting.iter().map(|(_, event)| event.len()).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notification(text: &str) -> TerminalEvent {
        TerminalEvent::notification("", text).unwrap()
    }

    fn progress(percent: u8) -> TerminalEvent {
        TerminalEvent::Progress(Progress::new(1, percent).unwrap())
    }

    fn all(outbox: &Outbox) -> Vec<(u64, TerminalEvent)> {
        outbox.between(0, outbox.end(), usize::MAX, 0).0
    }

    #[test]
    fn events_have_numbers_and_go_when_the_client_has_them() {
        let mut outbox = Outbox::default();
        for text in ["a", "b", "c"] {
            outbox.push(notification(text));
        }
        assert_eq!(outbox.end(), 3);
        let (told, end) = outbox.between(0, 2, usize::MAX, 0);
        assert_eq!((told.len(), end), (2, 2));
        outbox.forget_before(2);
        assert_eq!(all(&outbox), [(2, notification("c"))]);
        outbox.forget_before(9);
        assert_eq!(all(&outbox), []);
    }

    #[test]
    fn of_more_events_than_fit_the_first_are_told() {
        let mut outbox = Outbox::default();
        for text in ["aaaa", "bbbb", "cccc"] {
            outbox.push(notification(text));
        }
        for (bytes_max, count) in [(0, 0), (5, 0), (6, 1), (17, 2), (18, 3)] {
            let (told, end) = outbox.between(0, 3, bytes_max, 2);
            assert_eq!((told.len(), end), (count, count as u64), "{bytes_max}");
        }
    }

    #[test]
    fn events_wait_up_to_the_cap_and_the_newest_stay() {
        let mut outbox = Outbox::default();
        for _ in 0..=EVENTS_MAX {
            outbox.push(notification("x"));
        }
        assert_eq!(all(&outbox).len(), EVENTS_MAX);
        assert_eq!(all(&outbox)[0].0, 1);
        let large = "A".repeat(EVENT_BYTES_MAX / 4);
        for _ in 0..3 {
            outbox.push(TerminalEvent::selection("p", &large).unwrap());
        }
        let bytes: usize = all(&outbox).iter().map(|(_, event)| event.len()).sum();
        assert!(bytes <= EVENT_BYTES_MAX && bytes == outbox.bytes, "{bytes}");
    }

    #[test]
    fn the_newest_progress_and_folder_count_and_are_told_to_whoever_comes() {
        let mut outbox = Outbox::default();
        let folder = |name: &str| TerminalEvent::directory(&format!("file://h/{name}")).unwrap();
        for event in [progress(1), folder("a"), progress(2), folder("b")] {
            outbox.push(event);
        }
        outbox.push(TerminalEvent::CommandBegins);
        assert_eq!(
            all(&outbox),
            [
                (2, progress(2)),
                (3, folder("b")),
                (4, TerminalEvent::CommandBegins)
            ]
        );
        outbox.forget_before(5);
        outbox.push(TerminalEvent::CommandEnds(None));
        outbox.renew();
        assert_eq!(all(&outbox), [(6, folder("b")), (7, progress(2))]);
        outbox.push(TerminalEvent::Progress(Progress::default()));
        outbox.forget_before(outbox.end());
        outbox.renew();
        assert_eq!(all(&outbox).len(), 1);
    }
}
