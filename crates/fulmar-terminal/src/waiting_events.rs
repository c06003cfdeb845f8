//! Events that wait to be taken.

use std::collections::VecDeque;

use crate::events::{EVENT_BYTES_MAX, EVENTS_MAX, TerminalEvent};

/// Events in their order: at most [`EVENTS_MAX`], with at most [`EVENT_BYTES_MAX`] of texts. Of more the oldest go.
#[derive(Clone, Debug, Default)]
pub struct WaitingEvents {
    events: VecDeque<TerminalEvent>,
    bytes: usize,
    dropped: u64,
}

impl WaitingEvents {
    /// Puts an event behind all others.
    pub fn push(&mut self, event: TerminalEvent) {
        self.bytes += event.len();
        self.events.push_back(event);
        while self.events.len() > EVENTS_MAX || self.bytes > EVENT_BYTES_MAX {
            self.pop();
            self.dropped += 1;
        }
    }

    /// Returns the first event.
    pub fn first(&self) -> Option<&TerminalEvent> {
        self.events.front()
    }

    /// Takes the first event.
    pub fn pop(&mut self) -> Option<TerminalEvent> {
        let event = self.events.pop_front()?;
        self.bytes -= event.len();
        Some(event)
    }

    /// Takes all, in their order.
    pub fn take(&mut self) -> Vec<TerminalEvent> {
        self.bytes = 0;
        std::mem::take(&mut self.events).into()
    }

    /// Returns the number of those that found no room.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}
