//! The view of a session's user with a predictor, moment by moment.

use std::collections::BTreeMap;
use std::time::Duration;

use super::predictor::{DrawnScreen, Predictor};
use super::recorded_user::UserInput;
use super::session::{PredictionSession, ServerFrame, SessionEventKind};
use crate::trace::keystrokes;

/// A session as a predictor showed it.
#[derive(Debug)]
pub struct UserView<'a> {
    /// In order of time; one for each thing that happened, and one for each timer.
    pub moments: Vec<ViewSample<'a>>,
    /// The time at which it was over.
    pub end: Duration,
    /// The number of the key that each first byte belongs to.
    keys_by_byte: BTreeMap<u64, usize>,
}

/// The view from a time on.
#[derive(Debug)]
pub struct ViewSample<'a> {
    /// The time.
    pub at: Duration,
    /// The number of keys that were typed.
    pub typed: usize,
    /// The newest that came from the server.
    pub frame: &'a ServerFrame,
    /// The snapshot that is shown.
    pub drawn: DrawnScreen,
    /// The remarks of the predictor.
    pub remarks: Vec<String>,
}

impl<'a> UserView<'a> {
    /// Shows a session to a predictor, and what the predictor makes of it to nobody.
    pub fn of(session: &'a PredictionSession, predictor: &mut dyn Predictor) -> UserView<'a> {
        let mut show = ViewBuilder {
            predictor,
            moments: Vec::new(),
            typed: 0,
            now: Duration::ZERO,
            frame: None,
        };
        for event in &session.events {
            show.wait(event.at);
            show.now = event.at;
            match &event.what {
                SessionEventKind::Frame(frame) => {
                    show.frame = Some(frame);
                    show.predictor.take_frame(show.now, frame);
                }
                SessionEventKind::Input(UserInput::Resize(size)) => {
                    show.predictor.resize(show.now, *size);
                }
                SessionEventKind::Input(UserInput::Keys(keys)) => {
                    show.typed = keys.key + keys.count;
                    if let Some(frame) = show.frame {
                        show.predictor.type_keys(show.now, keys, frame);
                    }
                }
            }
            show.draw();
        }
        show.wait(session.end);
        UserView {
            moments: show.moments,
            end: session.end,
            keys_by_byte: keys_by_byte(session),
        }
    }

    /// Returns what the client itself showed of a session that was watched.
    pub fn of_client(session: &'a PredictionSession) -> UserView<'a> {
        let mut view = UserView {
            moments: Vec::new(),
            end: session.end,
            keys_by_byte: keys_by_byte(session),
        };
        let events = session.events.iter().map(|one| one.at);
        let mut times: Vec<Duration> = events
            .chain(session.shown.iter().map(|shown| shown.at))
            .collect();
        times.sort();
        times.dedup();
        let (mut happened, mut shown) = (session.events.iter().peekable(), 0);
        let mut said = session.said.iter().peekable();
        let (mut typed, mut frame) = (0, None);
        for now in times {
            while let Some(one) = happened.next_if(|one| one.at <= now) {
                match &one.what {
                    SessionEventKind::Input(UserInput::Keys(keys)) => {
                        typed = keys.key + keys.count;
                    }
                    SessionEventKind::Input(UserInput::Resize(_)) => {}
                    SessionEventKind::Frame(newest) => frame = Some(&**newest),
                }
            }
            shown += session.shown[shown..].partition_point(|shown| shown.at <= now);
            let seen = shown.checked_sub(1).map(|last| &session.shown[last]);
            if let (Some(frame), Some(seen)) = (frame, seen) {
                let predicted = seen.predicted.as_ref();
                let drawn = predicted.map(|overlay| DrawnScreen::because(overlay, frame));
                view.moments.push(ViewSample {
                    at: now,
                    typed,
                    frame,
                    drawn: DrawnScreen {
                        snapshot: seen.snapshot.clone(),
                        ..drawn.unwrap_or_else(|| DrawnScreen::plain(frame))
                    },
                    remarks: std::iter::from_fn(|| said.next_if(|(at, _)| *at <= now))
                        .map(|(_, remark)| remark.clone())
                        .collect(),
                });
            }
        }
        view
    }

    /// Returns the number of the key that a byte belongs to.
    pub fn key_of(&self, byte: u64) -> Option<usize> {
        let before = self.keys_by_byte.range(..=byte).next_back();
        before.map(|(_, key)| *key)
    }

    /// Returns the number of the moment at which a key was typed.
    pub(crate) fn moment_of(&self, key: usize) -> usize {
        self.moments.partition_point(|moment| moment.typed <= key)
    }
}

fn keys_by_byte(session: &PredictionSession) -> BTreeMap<u64, usize> {
    let mut keys_by_byte = BTreeMap::new();
    for event in &session.events {
        let SessionEventKind::Input(UserInput::Keys(keys)) = &event.what else {
            continue;
        };
        let mut first = keys.first;
        for (number, keystroke) in keystrokes(&keys.bytes).enumerate() {
            keys_by_byte.insert(first, keys.key + number);
            first += keystroke.bytes.len() as u64;
        }
    }
    keys_by_byte
}

struct ViewBuilder<'a, 'p> {
    predictor: &'p mut dyn Predictor,
    moments: Vec<ViewSample<'a>>,
    typed: usize,
    now: Duration,
    frame: Option<&'a ServerFrame>,
}

impl ViewBuilder<'_, '_> {
    /// Lets time pass up to shortly before `until`.
    fn wait(&mut self, until: Duration) {
        while let Some(due) = self.predictor.poll_timeout() {
            // What was due by now was drawn with what happened now.
            if due <= self.now || due >= until {
                return;
            }
            self.now = due;
            self.draw();
        }
    }

    fn draw(&mut self) {
        let Some(frame) = self.frame else { return };
        let drawn = self.predictor.draw(self.now, frame);
        self.moments.push(ViewSample {
            at: self.now,
            typed: self.typed,
            frame,
            drawn,
            remarks: self.predictor.take_remarks(),
        });
    }
}
