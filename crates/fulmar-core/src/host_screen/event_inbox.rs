//! The events that have arrived.

use fulmar_terminal::{TerminalEvent, WaitingEvents};

/// The events that have arrived, each once, whatever states it came with.
#[derive(Debug, Default)]
pub(super) struct EventInbox {
    waiting: WaitingEvents,
    /// The number of the first event that has not arrived.
    next: u64,
}

impl EventInbox {
    /// Takes in an event with its number, unless it has arrived before. Of more than may wait the oldest go. Those that are `None` could
    /// not be read.
    pub(super) fn take(&mut self, number: u64, event: Option<TerminalEvent>) {
        if number < self.next {
            return;
        }
        self.next = number.saturating_add(1);
        if let Some(event) = event {
            self.waiting.push(event);
        }
    }

    /// Returns what has arrived since the last time, in order.
    pub(super) fn fetch(&mut self) -> Vec<TerminalEvent> {
        self.waiting.take()
    }
}
