//! A user at a terminal behind which a recording is played.

use super::reader::Reader;
use super::typist::{Loop, Typist};
use crate::judge::Truth;
use crate::played::{END, READY, START};
use crate::trace::{Event, NoTrace, Record, Trace};
use fulmar_platform::{Interest, Master, PollList, Transfer, boot_time};
use std::io;
use std::time::Duration;

/// When a user stops.
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

/// What a user saw and did.
#[derive(Clone, Debug)]
pub struct Sitting {
    /// The user's side of the run: from the start of the session on, with everything that was
    /// shown, and the keys that were typed.
    pub user_side: Trace,
    /// Why it ended.
    pub why_over: WhyOver,
    /// How often the user waited in vain before a key.
    pub given_up: usize,
}

/// Why a sitting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyOver {
    /// Everything was typed, and the last answer seen.
    AllSeen,
    /// A limit was reached, and all answers were seen.
    LimitReached,
    /// Answers were missing when the patience was over.
    AnswersMissing,
    /// The peer left.
    PeerLeft,
}

/// Why nobody typed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SittingError {
    /// The played host did not say that it is ready.
    #[error("the session was not there after {0:?}; the screen shows {1:?}")]
    NotReady(Duration, String),
    /// The peer left before.
    #[error("the peer left before the session was there; the screen shows {0:?}")]
    PeerLeft(String),
    /// The pty cannot be used.
    #[error("the pty fails: {0}")]
    Pty(#[from] io::Error),
    /// What was noted makes no trace, which is a fault of the lab.
    #[error("what the user saw is no trace: {0}")]
    NoTrace(#[from] NoTrace),
}

/// What others may want to know of while somebody sits there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The session is there: the far end waits for the start.
    Ready,
    /// It has begun, and the first key comes next.
    Begun,
    /// The user has seen enough; the far end is about to be told.
    Over,
}

/// Types a recording at the master of the pty on which a peer runs, whose far end is a played host.
///
/// # Errors
///
/// When the session is not there in time, or the pty fails. A peer that leaves later is no
/// error: that is a result.
pub fn sit(
    master: &Master,
    recording: &Trace,
    truth: &Truth,
    user: Loop,
    limits: Limits,
) -> Result<Sitting, SittingError> {
    sit_watched(master, recording, truth, user, limits, &mut |_| {})
}

/// As [`sit`], and calls `at` at each [`Moment`]. The user waits meanwhile.
///
/// # Errors
///
/// Those of [`sit`].
pub fn sit_watched(
    master: &Master,
    recording: &Trace,
    truth: &Truth,
    user: Loop,
    limits: Limits,
    at: &mut dyn FnMut(Moment),
) -> Result<Sitting, SittingError> {
    let mut seat = Seat {
        master,
        reader: Reader::new(truth, recording.size()),
        records: vec![Record {
            at: boot_time(),
            event: Event::Size(recording.size()),
        }],
        has_left: false,
    };
    seat.start(boot_time() + limits.set_up, limits.set_up, at)?;
    at(Moment::Begun);
    let began = boot_time();
    let mut typist = Typist::new(recording, truth, user, began, limits.pause_max);
    let is_complete = seat.type_all(&mut typist, began, limits)?;
    let all_seen = seat.look_on(truth, limits.patience)?;
    let why_over = match (seat.has_left, all_seen, is_complete) {
        (true, _, _) => WhyOver::PeerLeft,
        (_, false, _) => WhyOver::AnswersMissing,
        (_, true, true) => WhyOver::AllSeen,
        (_, true, false) => WhyOver::LimitReached,
    };
    at(Moment::Over);
    seat.write(END)?;
    Ok(Sitting {
        user_side: Trace::new(seat.records)?,
        why_over,
        given_up: typist.given_up(),
    })
}

struct Seat<'a> {
    master: &'a Master,
    reader: Reader<'a>,
    records: Vec<Record>,
    has_left: bool,
}

impl Seat<'_> {
    /// Waits until the host is ready, starts it, and waits until it has begun.
    fn start(
        &mut self,
        limit: Duration,
        set_up: Duration,
        at: &mut dyn FnMut(Moment),
    ) -> Result<(), SittingError> {
        for is_ready in [true, false] {
            while self.shows_ready() != is_ready {
                self.look(Some(limit))?;
                if self.has_left {
                    return Err(SittingError::PeerLeft(self.screen()));
                }
                if boot_time() >= limit {
                    return Err(SittingError::NotReady(set_up, self.screen()));
                }
            }
            if is_ready {
                at(Moment::Ready);
                self.write(&[START])?;
            }
        }
        Ok(())
    }

    /// Returns whether the whole recording was typed.
    fn type_all(
        &mut self,
        typist: &mut Typist,
        began: Duration,
        limits: Limits,
    ) -> Result<bool, SittingError> {
        let (end, mut typed) = (began + limits.time, 0);
        typist.look(began, &self.reader);
        while !typist.is_done() && !self.has_left {
            let now = boot_time();
            if now >= end || typed >= limits.keys {
                return Ok(false);
            }
            if let Some(press) = typist.poll_press(now) {
                typed += press.keys;
                self.note(now, Event::User(press.bytes.clone()));
                self.reader.type_keys(press.keys);
                self.write(&press.bytes)?;
                typist.look(now, &self.reader);
                continue;
            }
            let until = typist.poll_timeout().map_or(end, |next| next.min(end));
            if self.look(Some(until))? {
                typist.handle_output(boot_time(), &self.reader);
            }
        }
        Ok(typist.is_done())
    }

    /// Looks on until everything is there that the keys can lead to, and returns whether it is.
    fn look_on(&mut self, truth: &Truth, patience: Duration) -> Result<bool, SittingError> {
        let limit = boot_time() + patience;
        let last = truth.reach(self.reader.typed());
        while !self.reader.has_for_certain(last) {
            if self.has_left || boot_time() >= limit {
                return Ok(false);
            }
            self.look(Some(limit))?;
        }
        Ok(true)
    }

    /// Waits for output until a time, and returns whether there was some.
    fn look(&mut self, until: Option<Duration>) -> io::Result<bool> {
        let mut list = PollList::new();
        list.add(self.master, Interest::Read);
        list.wait(until.map(|until| until.saturating_sub(boot_time())))?;
        let mut buffer = [0; 16_384];
        match self.master.read(&mut buffer)? {
            Transfer::Bytes(count) => {
                let now = boot_time();
                let bytes = &buffer[..count];
                self.reader.show(bytes);
                self.note(now, Event::Host(bytes.to_vec()));
                return Ok(true);
            }
            Transfer::WouldBlock => {}
            Transfer::Closed => self.has_left = true,
        }
        Ok(false)
    }

    /// Writes all of it; while the pty takes no more, output is read, or peer and user wait for
    /// each other.
    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() && !self.has_left {
            match self.master.write(bytes)? {
                Transfer::Bytes(count) => bytes = &bytes[count..],
                Transfer::Closed => self.has_left = true,
                Transfer::WouldBlock => {
                    let mut list = PollList::new();
                    list.add(self.master, Interest::ReadWrite);
                    list.wait(None)?;
                    self.look(Some(Duration::ZERO))?;
                }
            }
        }
        Ok(())
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
        let eye = self.reader.eye();
        (0..eye.size().rows).map(|row| eye.row_text(row))
    }
}
