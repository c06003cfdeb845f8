//! A user at a terminal behind which a recording is played.

use super::plan::TypingLoop;
use super::user::{TypingUser, UserAction};
use crate::judge::GroundTruth;
use crate::played::END;
use crate::trace::{NoTrace, Trace};
use fulmar_platform::boot_time;
use fulmar_testbed::PtyProgram;
use std::io;
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

/// The reason why nobody typed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TypingError {
    /// The played host did not say that it is ready.
    #[error("the session was not there after {0:?}; the screen shows {1:?}")]
    NotReady(Duration, String),
    /// The peer left before.
    #[error("the peer left before the session was there; the screen shows {0:?}")]
    PeerLeft(String),
    /// The pty cannot be used.
    #[error("the pty fails: {0}")]
    Pty(#[from] io::Error),
    /// The notes make no trace, which is a fault of the lab.
    #[error("what the user saw is no trace: {0}")]
    NoTrace(#[from] NoTrace),
}

/// A moment that others may want to know of while somebody sits there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionStage {
    /// The session is there: the far end waits for the start.
    Ready,
    /// It has begun, and the first key comes next.
    Begun,
    /// The user has seen enough; the far end is about to be told.
    Over,
}

/// Types a recording at a peer on a pty, whose far end is a played host.
///
/// # Errors
///
/// When the session is not there in time, or the pty fails. A peer that leaves later is no
/// error: that is a result.
pub fn run_session(
    peer: &mut PtyProgram,
    recording: &Trace,
    truth: &GroundTruth,
    user: TypingLoop,
    limits: Limits,
) -> Result<TypingSession, TypingError> {
    run_session_watched(peer, recording, truth, user, limits, &mut |_| {})
}

/// As [`run_session`], and calls `at` at each [`SessionStage`]. The user waits meanwhile.
///
/// # Errors
///
/// Those of [`run_session`].
pub fn run_session_watched(
    peer: &mut PtyProgram,
    recording: &Trace,
    truth: &GroundTruth,
    user: TypingLoop,
    limits: Limits,
    at: &mut dyn FnMut(SessionStage),
) -> Result<TypingSession, TypingError> {
    let mut session = PtySession {
        peer,
        user: TypingUser::new(recording, truth, user, limits, boot_time()),
        has_left: false,
    };
    while !session.user.is_over() {
        match session.user.poll_act(boot_time()) {
            Some(UserAction::Type(bytes)) => session.write(&bytes)?,
            Some(UserAction::Reach(moment)) => at(moment),
            None => session.look(session.user.poll_timeout())?,
        }
    }
    if !session.user.has_failed() {
        session.write(END)?;
    }
    session.user.finish()
}

struct PtySession<'a> {
    peer: &'a mut PtyProgram,
    user: TypingUser<'a>,
    has_left: bool,
}

impl PtySession<'_> {
    /// Waits for output until a time, and shows it.
    fn look(&mut self, until: Option<Duration>) -> io::Result<()> {
        let limit = until.map(|until| until.saturating_sub(boot_time()));
        let bytes = self.peer.turn(limit)?;
        if !bytes.is_empty() {
            self.user.handle_output(boot_time(), bytes);
        }
        if self.peer.is_closed() {
            self.leave();
        }
        Ok(())
    }

    /// Writes all of it; while the pty takes no more, output is read, or peer and user wait for
    /// each other.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.peer.type_keys(bytes);
        self.peer.type_now()?;
        while self.peer.has_keys() && !self.has_left {
            self.look(None)?;
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.has_left = true;
        self.user.handle_left();
    }
}
