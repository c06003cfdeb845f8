//! The steps from a command to the first screen, with their times, for the log and for a user who wants to know them (`-v`).

use std::mem;

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
    /// ssh has logged in.
    LoggedIn = 1 << 10,
}

/// The choice of who is told of the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verbosity {
    /// Only the log is.
    Usual,
    /// The user is, too.
    Verbose,
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
            Step::LoggedIn => "logged in",
        }
    }

    /// Returns what a user is told.
    fn sentence(self) -> &'static str {
        match self {
            Step::SshStarted => "ssh is started; it may ask for a password",
            Step::SettingsKnown => "ssh's configuration for the host is known",
            Step::Resolved => "the host's name is resolved",
            Step::Hello => "the remote side answers",
            Step::Connect => "the server says on which UDP port it waits",
            Step::FirstDatagram => "the first datagram is sent",
            Step::Heard => "the server has received a datagram",
            Step::FirstAnswer => "the first answer has come over UDP",
            Step::FirstScreen => "the first screen is drawn",
            Step::Agreed => "the server has agreed to the request",
            Step::LoggedIn => "ssh is logged in, and the remote command is started",
        }
    }
}

impl Verbosity {
    /// Returns what is meant by so many flags `-v`.
    pub(crate) fn of_count(flags: u8) -> Verbosity {
        if flags > 0 {
            Verbosity::Verbose
        } else {
            Verbosity::Usual
        }
    }
}

/// The steps that were taken since a command was given.
#[derive(Debug)]
pub(crate) struct Steps {
    began: Time,
    taken: u16,
    verbosity: Verbosity,
    /// The lines for the user that were not fetched yet.
    lines: Vec<String>,
}

impl Steps {
    /// Returns none yet, of a command that was given now.
    pub(crate) fn begin(now: Time, verbosity: Verbosity) -> Steps {
        Steps {
            began: now,
            taken: 0,
            verbosity,
            lines: Vec::new(),
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
        self.tell(now, step.sentence());
        true
    }

    /// Tells the user something that is no step.
    pub(crate) fn tell(&mut self, now: Time, what: &str) {
        if self.verbosity == Verbosity::Verbose {
            let seconds = now.since(self.began).as_secs_f64();
            self.lines.push(format!("{seconds:.3} s: {what}"));
        }
    }

    /// Returns what the user is to be told by now, once.
    pub(crate) fn take_lines(&mut self) -> Vec<String> {
        mem::take(&mut self.lines)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_step_is_taken_once() {
        let mut steps = Steps::begin(Time::ZERO, Verbosity::Usual);
        assert!(steps.take(Time::ZERO, Step::Hello));
        assert!(steps.take(Time::ZERO, Step::FirstScreen));
        assert!(!steps.take(Time::ZERO, Step::Hello));
        assert!(steps.take_lines().is_empty());
    }

    #[test]
    fn a_user_who_wants_it_is_told_of_each_once_with_its_time() {
        let mut steps = Steps::begin(Time::ZERO, Verbosity::Verbose);
        let later = Time::ZERO + Duration::from_millis(1250);
        steps.take(later, Step::Hello);
        steps.take(later, Step::Hello);
        assert_eq!(steps.take_lines(), ["1.250 s: the remote side answers"]);
        assert!(steps.take_lines().is_empty());
    }
}
