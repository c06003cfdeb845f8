//! The words and the status that any failure of the program has for its user.

use std::error::Error;
use std::io;

use fulmar_core::CompatMode;
use fulmar_login::{LoginError, STATUS_NO_PROGRAM, SessionNameError};
use fulmar_platform::{Shortage, Signal};

/// A failure that a user can be told of. Its text says what happened and to whom.
pub(crate) trait Advice: Error {
    /// Returns the failure of another part that this one only passes on.
    fn passed_on(&self) -> Option<&dyn Advice> {
        None
    }

    /// Says what happened, in one line or, of a file with several faults, in one for each.
    fn told(&self) -> Vec<String> {
        match self.passed_on() {
            Some(failure) => failure.told(),
            None => vec![self.to_string()],
        }
    }

    /// Says what to try next, in one line or several.
    fn advice(&self, compat: CompatMode) -> Option<String>;

    /// Returns the status to leave with: 1, as stock, or 255, as ssh, where a part has no rule of its own.
    fn status(&self, compat: CompatMode) -> u8 {
        match self.passed_on() {
            Some(failure) => failure.status(compat),
            None => compat.failure_status(),
        }
    }
}

impl Advice for LoginError {
    /// As of a shell if the program is not there.
    fn status(&self, compat: CompatMode) -> u8 {
        match self {
            LoginError::ProgramMissing { .. } => STATUS_NO_PROGRAM,
            _ => compat.failure_status(),
        }
    }

    fn advice(&self, _compat: CompatMode) -> Option<String> {
        LoginError::advice(self)
    }
}

impl Advice for SessionNameError {
    /// The message says it.
    fn advice(&self, _compat: CompatMode) -> Option<String> {
        None
    }
}

/// Says what to try where the system has too little of something.
pub(crate) fn remedy(error: &io::Error) -> Option<&'static str> {
    Some(match Shortage::of(error)? {
        Shortage::Descriptors => {
            "a process may open too few files: ulimit -n shows and raises how many"
        }
        Shortage::Files => "too many files are open on this machine: end what is not needed",
        Shortage::Processes => {
            "too many processes run: end some, or raise how many a user may have (ulimit -u)"
        }
        Shortage::Memory => "there is too little memory: end something, or raise ulimit -v",
        Shortage::Space => {
            "make room: df shows how much there is; of terminals there are as many as \
             /proc/sys/kernel/pty/max says"
        }
    })
}

/// Returns the status to leave with after a signal, which is that of a shell.
pub(crate) fn status_after(signal: Signal) -> u8 {
    u8::try_from(signal.number()).map_or(u8::MAX, |number| 128 | number)
}

/// Returns what failures call a signal.
pub(crate) fn signal_name(signal: Signal) -> &'static str {
    match signal {
        Signal::HangUp => "SIGHUP",
        Signal::Interrupt => "SIGINT",
        Signal::Quit => "SIGQUIT",
        Signal::Pipe => "SIGPIPE",
        Signal::Terminate => "SIGTERM",
        Signal::User1 => "SIGUSR1",
        Signal::User2 => "SIGUSR2",
        Signal::Alarm => "SIGALRM",
        Signal::VirtualAlarm => "SIGVTALRM",
        Signal::Profile => "SIGPROF",
        Signal::ProcessorLimit => "SIGXCPU",
        Signal::FileLimit => "SIGXFSZ",
        Signal::Abort => "SIGABRT",
        Signal::BadCall => "SIGSYS",
        Signal::Trap => "SIGTRAP",
        _ => "a signal",
    }
}
