//! The client draws on the user's terminal.

use fulmar_base::Time;
use fulmar_terminal::{CursorShape, Reflow};

use super::Client;
use crate::display::{LastScreen, Place, Wanted};
use crate::history_item::HistoryItem;
use crate::history_place::HistoryPlace;

impl Client {
    /// Appends what makes the user's terminal show the present state. Call it only when the terminal
    /// has taken all that it was given before: so the newest screen comes first.
    pub fn draw(&mut self, now: Time, out: &mut Vec<u8>) {
        if !self.is_stale || self.suspended.is_some() || self.resize_settles.is_some() {
            return;
        }
        self.is_stale = self.queue_history();
        for event in self.endpoint.remote().fetch_events() {
            self.display.announce(event);
        }
        let liveness = self.liveness();
        let notice = self.notices.text(now, liveness, self.size.columns(), || {
            self.link_info().rows(now)
        });
        self.notice_due = self.notices.next_change(now, liveness);
        let screen = self.endpoint.remote().screen();
        let wanted = Wanted {
            screen,
            place: self.place(),
            // A screen of another size than the window's is not what the keys were typed at.
            predicted: self
                .prediction
                .overlay(now)
                .filter(|_| screen.size() == self.size),
            cursor_shape: self
                .hints()
                .map_or(CursorShape::Default, |hints| hints.cursor_shape),
            size: self.size,
            server_fits: self.server_fits(),
            notice,
        };
        let had_asked = self.display.has_asked();
        self.display.draw(now, &wanted, out);
        if self.display.has_asked() && !had_asked {
            self.probe.begin(now);
        }
        self.predicted = wanted.predicted;
    }

    /// Appends what gives the user's terminal back: everything that was set is put back, whatever
    /// the reason for leaving. Nothing if it has been given back, or was never taken.
    pub fn leave(&mut self, out: &mut Vec<u8>) {
        while self.queue_history() {}
        let mut last_place = self.place();
        if self.lifecycle.has_ended()
            && let Some(HistoryPlace { end, .. }) = self.history()
        {
            // What has not come never will. What has belongs above the main screen, also if that is not shown.
            self.display.queue(HistoryItem::Skipped { next: end });
            last_place = Place::Main { history_end: end };
        }
        let last = Wanted {
            screen: self.endpoint.remote().screen(),
            place: last_place,
            predicted: None,
            cursor_shape: CursorShape::Default,
            size: self.size,
            server_fits: self.server_fits(),
            notice: None,
        };
        let fate = if self.lifecycle.has_ended() {
            self.last_screen
        } else {
            // A suspended session comes back.
            LastScreen::Dropped
        };
        self.display.leave(&last, fate, out);
        self.is_stale = true;
    }

    /// Returns the lines that have left the screen, as far as they have come, and those on it, as text in their renditions. `None` if the
    /// terminal is [not to keep them](crate::ClientConfig::keeps_history).
    pub fn scrollback_text(&mut self) -> Option<Vec<u8>> {
        while self.queue_history() {}
        let first = self.history().map_or(0, |place| place.end);
        let is_main = self.place() != Place::Alternate;
        let screen = self.endpoint.remote().screen();
        self.display
            .scrollback_text(is_main.then_some((screen, first)))
    }

    /// Takes in what stands above the screen, if the terminal is to keep that
    /// ([`keeps_history`](crate::ClientConfig::keeps_history)).
    pub fn push_history(&mut self, item: HistoryItem) {
        self.display.queue(item);
        self.is_stale = true;
    }

    /// Hands over the lines that have arrived, or some of very many, and returns true if there were any: there may be more.
    fn queue_history(&mut self) -> bool {
        if !self.display.keeps_history() {
            return false;
        }
        let items = self.fetch_history();
        let has_come = !items.is_empty();
        for item in items {
            self.display.queue(item);
        }
        has_come
    }

    /// Returns what the server does to the lines on the main screen of its terminal when the window changes; `None` if that is not known,
    /// as of stock.
    fn server_fits(&self) -> Option<Reflow> {
        let hints = self.hints()?;
        Some(if self.crops {
            Reflow::Off
        } else if hints.canonical {
            Reflow::All
        } else {
            Reflow::AboveCursor
        })
    }

    /// Returns the place of the program's screen. As long as the server has not told where its history ends, what is handed over is
    /// above it.
    fn place(&self) -> Place {
        let place = self.history();
        let is_alternate = match place {
            Some(place) => place.is_alternate,
            None => self.hints().is_some_and(|hints| hints.alternate),
        };
        if is_alternate {
            Place::Alternate
        } else {
            Place::Main {
                history_end: place.map_or(u64::MAX, |place| place.end),
            }
        }
    }
}
