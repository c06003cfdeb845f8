//! A user at a terminal behind which a recording is played.

use super::plan::TypingLoop;
use super::user::{Limits, SessionStage, TypingSession, TypingUser, UserAction};
use crate::judge::GroundTruth;
use crate::played::END;
use crate::trace::Trace;
use anyhow::{Context as _, Result};
use fulmar_platform::boot_time;
use fulmar_testbed::PtyProgram;
use std::time::Duration;

/// Types a recording at a peer on a pty, whose remote end is a played host.
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
) -> Result<TypingSession> {
    let user = TypingUser::new(recording, truth, user, limits, boot_time());
    run_user(peer, user, &mut |_| {})
}

/// Lets a user type at a peer on a pty, and calls `at` at each [`SessionStage`]. The user waits meanwhile.
///
/// # Errors
///
/// Those of [`run_session`].
pub(crate) fn run_user(
    peer: &mut PtyProgram,
    user: TypingUser<'_>,
    at: &mut dyn FnMut(SessionStage),
) -> Result<TypingSession> {
    let mut session = PtySession { peer, user };
    while !session.user.is_over() {
        match session.user.poll_act(boot_time()) {
            Some(UserAction::Type(bytes)) => session.write(&bytes)?,
            Some(UserAction::Reach(stage)) => at(stage),
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
}

impl PtySession<'_> {
    /// Waits for output until a time, and shows it.
    fn look(&mut self, until: Option<Duration>) -> Result<()> {
        let limit = until.map(|until| until.saturating_sub(boot_time()));
        let bytes = self.peer.turn(limit).context("the pty fails")?;
        if !bytes.is_empty() {
            self.user.handle_output(boot_time(), bytes);
        }
        if self.peer.is_closed() {
            self.user.handle_left();
        }
        Ok(())
    }

    /// Writes all of it; while the pty takes no more, output is read, or peer and user wait for
    /// each other.
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.peer.type_keys(bytes);
        self.peer.type_now().context("the pty fails")?;
        while self.peer.has_keys() && !self.peer.is_closed() {
            self.look(None)?;
        }
        Ok(())
    }
}
