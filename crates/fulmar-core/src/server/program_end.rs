//! The end of a program: the client is told the lines that it has printed last, and then how it has ended.

use std::time::Duration;

use fulmar_base::Time;

use super::{Phase, Server, ServerEnding};
use crate::connection::Connection;

/// The time for which the last lines are told. Chosen by eye: longer than the round trips that a screen and a window of lines
/// take, and short enough to be taken for the program's own end.
const TELLING_MAX: Duration = Duration::from_secs(3);

/// The time for which a client that was not there is waited for, to be told how its program has ended. Chosen by eye: a machine that
/// is closed for the night.
const MISSED_MAX: Duration = Duration::from_secs(24 * 3600);

impl Server {
    /// Begins to tell the lines that the client has not, or says goodbye if it has all: a goodbye accepts no further change.
    pub(super) fn begin_telling(&mut self, now: Time) {
        if matches!(self.phase, Phase::Serving | Phase::Missed(_)) {
            self.phase = Phase::Telling(now + TELLING_MAX);
            self.finish_telling(now);
        }
    }

    /// Says goodbye once the client has all lines above the screen, or has had its time.
    pub(super) fn finish_telling(&mut self, now: Time) {
        if let Some(until) = self.telling_until()
            && (until <= now || !self.owes_history())
        {
            self.close(now, ServerEnding::ProgramEnded);
        }
    }

    /// The time up to which lines are told before the goodbye.
    pub(super) fn telling_until(&self) -> Option<Time> {
        match self.phase {
            Phase::Telling(until) => Some(until),
            _ => None,
        }
    }

    /// Tells if a client that did not answer the goodbye is told when it is heard again.
    pub(super) fn is_told_later(&self) -> bool {
        let is_program_over = matches!(
            self.phase,
            Phase::Closing(ServerEnding::ProgramEnded) | Phase::Missed(_)
        );
        is_program_over
            && self
                .connection
                .as_ref()
                .is_some_and(Connection::is_told_later)
    }

    /// Waits for a client that did not answer the goodbye.
    pub(super) fn wait_to_tell(&mut self, now: Time) {
        if self.missed_until().is_none() {
            tracing::info!("the client is not there to be told");
            self.phase = Phase::Missed(now + MISSED_MAX);
        }
    }

    /// Tells a client that has attached behind the end of the program.
    pub(super) fn tell_newcomer(&mut self, now: Time) {
        if let (Phase::Missed(_), Some(connection)) = (self.phase, &mut self.connection) {
            // A goodbye accepts no further change.
            connection.follow(now, &self.session);
            self.begin_telling(now);
        }
    }

    /// The time up to which a client that was not there is waited for.
    pub(super) fn missed_until(&self) -> Option<Time> {
        match self.phase {
            Phase::Missed(until) => Some(until),
            _ => None,
        }
    }

    /// Returns the time that is left until the session ends if no client comes; `None` if it waits for ever.
    pub fn expires_in(&self, now: Time) -> Option<Duration> {
        let missed = self.missed_until().map(|until| until.since(now));
        missed
            .into_iter()
            .chain(self.liveness.expires_in(now))
            .min()
    }

    fn owes_history(&self) -> bool {
        let connection = self.connection.as_ref();
        connection.is_some_and(|connection| connection.owes_history(&self.session))
    }
}
