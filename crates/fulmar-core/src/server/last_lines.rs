//! The lines that a program has printed last, before the client is told that it has ended.

use std::time::Duration;

use fulmar_base::Time;

use super::{Phase, Server, ServerEnding};

/// The time for which the last lines are told. Chosen by eye: longer than the round trips that a screen and a window of lines
/// take, and short enough to be taken for the program's own end.
const TELLING_MAX: Duration = Duration::from_secs(3);

impl Server {
    /// Begins to tell the lines that the client has not, or says goodbye if it has all: a goodbye accepts no further change.
    pub(super) fn begin_telling(&mut self, now: Time) {
        if self.phase == Phase::Serving {
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

    fn owes_history(&self) -> bool {
        let connection = self.connection.as_ref();
        connection.is_some_and(|connection| connection.owes_history(&self.session))
    }
}
