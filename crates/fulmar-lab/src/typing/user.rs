//! A user at a terminal, from the start of a session to its end.

use super::plan::TypingLoop;
use super::reader::ScreenReader;
use super::typist::Typist;
use crate::judge::GroundTruth;
use crate::played::{READY, START};
use crate::trace::{Event, Record, Trace};
use anyhow::{Context as _, Result, anyhow};
use std::time::Duration;

/// The limits after which a user stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// After so many keys.
    pub keys: usize,
    /// After this time of typing.
    pub time: Duration,
    /// So long the user looks on for what has not come when the last key was typed.
    pub patience: Duration,
    /// So long the session may take to be there.
    pub set_up: Duration,
    /// No pause between keys is longer.
    pub pause_max: Option<Duration>,
}

/// The record of what a user saw and did.
#[derive(Clone, Debug)]
pub struct TypingSession {
    /// The user's side of the run: from the start of the session on, with everything that was
    /// shown, and the keys that were typed.
    pub user_side: Trace,
    /// The reason for its end.
    pub why_over: SessionEnd,
    /// The number of times that the user waited in vain before a key.
    pub given_up: usize,
}

/// The reason why nobody typed: the peer ended before its session was there. On a link that loses much, logins do.
#[derive(Debug, Default, thiserror::Error)]
#[error("the peer left before the session was there; the screen shows {screen:?}")]
pub struct LoginDied {
    screen: String,
}

/// The reason for the end of a typing session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// Everything was typed, and the last answer seen.
    AllSeen,
    /// A limit was reached, and all answers were seen.
    LimitReached,
    /// Answers were missing when the patience was over.
    AnswersMissing,
    /// The peer left.
    PeerLeft,
}

/// A stage of a typing session that others may want to know of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionStage {
    /// The session is there: the remote end waits for the start.
    Ready,
    /// It has begun, and the first key comes next.
    Begun,
    /// The user has seen enough; the remote end is about to be told.
    Over,
}

/// A user as a state machine: told what the terminal shows, it says what to type and when.
///
/// It waits for the played host, starts it, types the recording and looks on until all answers are
/// there. Who has a real terminal drives it by a clock ([`run_session`](super::run_session)), who has a simulated one by
/// virtual time.
pub struct TypingUser<'a> {
    recording: &'a Trace,
    truth: &'a GroundTruth,
    user: TypingLoop,
    limits: Limits,
    reader: ScreenReader<'a>,
    records: Vec<Record>,
    phase: Phase,
    given_up: usize,
}

/// An act of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserAction {
    /// Types this.
    Type(Vec<u8>),
    /// Has come so far.
    Reach(SessionStage),
}

enum Phase {
    /// The host is to say that it is ready.
    Arriving { limit: Duration },
    /// It has, and is to be told to start.
    Greeted { limit: Duration },
    /// It was told.
    Starting { limit: Duration },
    /// It has started; typing begins as soon as the user is asked.
    Begun,
    /// Typing, until a time.
    Typing { typist: Box<Typist>, end: Duration },
    /// Nothing more is typed; whether all was.
    Looking { limit: Duration, is_complete: bool },
    /// Enough was seen.
    Done(SessionEnd),
    /// It is over.
    Over(SessionEnd),
    /// Nobody typed.
    NotBegun(anyhow::Error),
}

impl<'a> TypingUser<'a> {
    /// Returns a user of that kind who begins at `now` to type a recording, of which `truth` is the truth.
    pub fn new(
        recording: &'a Trace,
        truth: &'a GroundTruth,
        user: TypingLoop,
        limits: Limits,
        now: Duration,
    ) -> Self {
        Self {
            recording,
            truth,
            user,
            limits,
            reader: ScreenReader::new(truth, recording.size()),
            records: vec![Record {
                at: now,
                event: Event::Size(recording.size()),
            }],
            phase: Phase::Arriving {
                limit: now + limits.set_up,
            },
            given_up: 0,
        }
    }

    /// Takes in what the terminal got.
    pub fn handle_output(&mut self, now: Duration, bytes: &[u8]) {
        self.reader.show(bytes);
        self.note(now, Event::Host(bytes.to_vec()));
        if let Phase::Typing { typist, .. } = &mut self.phase {
            typist.handle_output(now, &self.reader);
        }
    }

    /// Takes in that the peer has left.
    pub(crate) fn handle_left(&mut self) {
        self.phase = match &self.phase {
            Phase::Arriving { .. } | Phase::Greeted { .. } | Phase::Starting { .. } => {
                let screen = self.screen();
                Phase::NotBegun(LoginDied { screen }.into())
            }
            Phase::Typing { typist, .. } => {
                self.given_up = typist.given_up();
                Phase::Done(SessionEnd::PeerLeft)
            }
            Phase::Begun | Phase::Looking { .. } => Phase::Done(SessionEnd::PeerLeft),
            Phase::Done(_) | Phase::Over(_) | Phase::NotBegun(_) => return,
        };
    }

    /// Returns what the user does now. To be asked until there is nothing, whenever the time has come
    /// and after output.
    pub(crate) fn poll_act(&mut self, now: Duration) -> Option<UserAction> {
        loop {
            match self.phase {
                Phase::Arriving { limit } if self.shows_ready() => {
                    self.phase = Phase::Greeted { limit };
                    return Some(UserAction::Reach(SessionStage::Ready));
                }
                Phase::Greeted { limit } => {
                    self.phase = Phase::Starting { limit };
                    return Some(UserAction::Type(vec![START]));
                }
                Phase::Starting { .. } if !self.shows_ready() => {
                    self.phase = Phase::Begun;
                    return Some(UserAction::Reach(SessionStage::Begun));
                }
                Phase::Arriving { limit } | Phase::Starting { limit } => {
                    if now >= limit {
                        let (limit, screen) = (self.limits.set_up, self.screen());
                        self.phase = Phase::NotBegun(anyhow!(
                            "the session was not there after {limit:?}; the screen shows {screen:?}"
                        ));
                    }
                    return None;
                }
                Phase::Begun => self.begin(now),
                Phase::Typing { .. } => match self.press(now) {
                    Step::Typed(bytes) => return Some(UserAction::Type(bytes)),
                    Step::Waits => return None,
                    Step::Done => {}
                },
                Phase::Looking { limit, is_complete } => {
                    self.phase = Phase::Done(self.seen(now, limit, is_complete)?);
                }
                Phase::Done(why) => {
                    self.phase = Phase::Over(why);
                    return Some(UserAction::Reach(SessionStage::Over));
                }
                Phase::Over(_) | Phase::NotBegun(_) => return None,
            }
        }
    }

    /// Returns when to ask again, if not for output before. `None` when it is over.
    pub fn poll_timeout(&self) -> Option<Duration> {
        match &self.phase {
            Phase::Arriving { limit }
            | Phase::Starting { limit }
            | Phase::Looking { limit, .. } => Some(*limit),
            Phase::Typing { typist, end } => {
                Some(typist.poll_timeout().map_or(*end, |next| next.min(*end)))
            }
            // At once.
            Phase::Greeted { .. } | Phase::Begun | Phase::Done(_) => Some(Duration::ZERO),
            Phase::Over(_) | Phase::NotBegun(_) => None,
        }
    }

    /// True where nobody has typed or will.
    pub fn has_failed(&self) -> bool {
        matches!(self.phase, Phase::NotBegun(_))
    }

    /// Returns true if the session is over.
    pub fn is_over(&self) -> bool {
        self.poll_timeout().is_none()
    }

    /// Returns what the user saw and did, when it is over.
    ///
    /// # Errors
    ///
    /// Where nobody typed.
    pub fn finish(self) -> Result<TypingSession> {
        let why_over = match self.phase {
            Phase::Over(why) => why,
            Phase::NotBegun(error) => return Err(error),
            _ => SessionEnd::AnswersMissing,
        };
        Ok(TypingSession {
            user_side: Trace::new(self.records).context("what the user saw is no trace")?,
            why_over,
            given_up: self.given_up,
        })
    }

    fn begin(&mut self, now: Duration) {
        let (recording, truth, longest) = (self.recording, self.truth, self.limits.pause_max);
        let mut typist = Typist::new(recording, truth, self.user, now, longest);
        typist.look(now, &self.reader);
        self.phase = Phase::Typing {
            typist: Box::new(typist),
            end: now + self.limits.time,
        };
    }

    fn press(&mut self, now: Duration) -> Step {
        let Phase::Typing { typist, end } = &mut self.phase else {
            return Step::Done;
        };
        let is_complete = typist.is_done();
        if is_complete || now >= *end || self.reader.typed() >= self.limits.keys {
            self.given_up = typist.given_up();
            let limit = now + self.limits.patience;
            self.phase = Phase::Looking { limit, is_complete };
            return Step::Done;
        }
        let Some(press) = typist.poll_press(now) else {
            return Step::Waits;
        };
        self.reader.type_keys(press.keys);
        typist.look(now, &self.reader);
        self.note(now, Event::User(press.bytes.clone()));
        Step::Typed(press.bytes)
    }

    /// Returns why it is over, if it is: everything is there that the keys can lead to, or the
    /// patience is at its end.
    fn seen(&self, now: Duration, limit: Duration, is_complete: bool) -> Option<SessionEnd> {
        let last = self.truth.reach(self.reader.typed());
        if !self.reader.has_for_certain(last) {
            (now >= limit).then_some(SessionEnd::AnswersMissing)
        } else if is_complete {
            Some(SessionEnd::AllSeen)
        } else {
            Some(SessionEnd::LimitReached)
        }
    }

    fn note(&mut self, at: Duration, event: Event) {
        self.records.push(Record { at, event });
    }

    fn shows_ready(&self) -> bool {
        self.rows().any(|row| row.contains(READY))
    }

    fn screen(&self) -> String {
        let rows: Vec<String> = self.rows().filter(|row| !row.is_empty()).collect();
        rows.join("\n")
    }

    fn rows(&self) -> impl Iterator<Item = String> {
        let observer = self.reader.observer();
        (0..observer.size().rows).map(|row| observer.row_text(row))
    }
}

/// A step of a user at work.
enum Step {
    Typed(Vec<u8>),
    Waits,
    Done,
}

#[cfg(test)]
mod tests;
