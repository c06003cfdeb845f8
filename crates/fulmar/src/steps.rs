//! The steps from a command to the first screen, with their times, for the log.

use fulmar_base::Time;

/// A step on the way. Each is taken once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Step {
    /// ssh runs.
    SshStarted = 1,
    /// It is known what ssh's configuration means.
    SettingsKnown = 1 << 1,
    /// The host's name has addresses, or none.
    Resolved = 1 << 2,
    /// The remote side reads.
    Hello = 1 << 3,
    /// The server can be reached.
    Connect = 1 << 4,
    /// The first datagram has left.
    FirstDatagram = 1 << 5,
    /// The server has had a datagram.
    Heard = 1 << 6,
    /// The server has answered.
    FirstAnswer = 1 << 7,
    /// The terminal shows what the server has drawn.
    FirstScreen = 1 << 8,
    /// The server knows what it is for.
    Agreed = 1 << 9,
}

impl Step {
    /// Returns what the log calls it.
    fn name(self) -> &'static str {
        match self {
            Step::SshStarted => "ssh started",
            Step::SettingsKnown => "settings known",
            Step::Resolved => "address resolved",
            Step::Hello => "hello",
            Step::Connect => "connect",
            Step::FirstDatagram => "first datagram",
            Step::Heard => "heard",
            Step::FirstAnswer => "first answer",
            Step::FirstScreen => "first screen drawn",
            Step::Agreed => "agreed",
        }
    }
}

/// The steps that were taken since a command was given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    began: Time,
    taken: u16,
}

impl Steps {
    /// Returns none yet, of a command that was given now.
    pub(crate) fn begin(now: Time) -> Steps {
        Steps {
            began: now,
            taken: 0,
        }
    }

    /// Takes a step, and logs it, unless it was taken before. Returns whether this was it.
    pub(crate) fn take(&mut self, now: Time, step: Step) -> bool {
        if self.taken & step as u16 != 0 {
            return false;
        }
        self.taken |= step as u16;
        let micros = now.since(self.began).as_micros();
        let after_ms = format_args!("{}.{:03}", micros / 1000, micros % 1000);
        tracing::info!(%after_ms, "step: {}", step.name());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_taken_once() {
        let mut steps = Steps::begin(Time::ZERO);
        assert!(steps.take(Time::ZERO, Step::Hello));
        assert!(steps.take(Time::ZERO, Step::FirstScreen));
        assert!(!steps.take(Time::ZERO, Step::Hello));
    }
}
