//! The events that have arrived.

use std::collections::VecDeque;

use fulmar_terminal::{EVENT_BYTES_MAX, EVENTS_MAX, TerminalEvent};

/// The events that have arrived, each once, whatever states it came with.
#[derive(Debug, Default)]
pub(super) struct EventInbox {
    waiting: VecDeque<TerminalEvent>,
    bytes: usize,
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
        let Some(event) = event else {
            return;
        };
        self.bytes += event.len();
        self.waiting.push_back(event);
        while self.waiting.len() > EVENTS_MAX || self.bytes > EVENT_BYTES_MAX {
            let first = self.waiting.pop_front();
            self.bytes -= first.map_or(0, |event| event.len());
        }
    }

    /// Returns what has arrived since the last time, in order.
    pub(super) fn fetch(&mut self) -> Vec<TerminalEvent> {
        self.bytes = 0;
        std::mem::take(&mut self.waiting).into()
    }
}
