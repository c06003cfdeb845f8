//! A client's reactions to signals.
//!
//! Source: docs/protocol.md §2.8.

use fulmar_platform::Signal;

/// The signals that a client deals with: those of window and job control, that of ssh's end, and those
/// that would end it and leave the terminal as it is. Missing are those of which the process cannot
/// go on.
pub(crate) const SIGNALS: [Signal; 19] = [
    Signal::WindowChange,
    Signal::Continue,
    Signal::Suspend,
    Signal::Child,
    Signal::HangUp,
    Signal::Interrupt,
    Signal::Quit,
    Signal::Pipe,
    Signal::Terminate,
    Signal::User1,
    Signal::User2,
    Signal::Alarm,
    Signal::VirtualAlarm,
    Signal::Profile,
    Signal::ProcessorLimit,
    Signal::FileLimit,
    Signal::Abort,
    Signal::BadCall,
    Signal::Trap,
];

/// The meaning of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The window has another size.
    Resized,
    /// We run again.
    Continued,
    /// Somebody wants us to stop for a while.
    Stop,
    /// A child has ended or stopped.
    Child,
    /// Somebody wants us to end.
    End(Signal),
}

impl Meaning {
    /// Returns what a signal means.
    pub(crate) fn of(signal: Signal) -> Meaning {
        match signal {
            Signal::WindowChange => Meaning::Resized,
            Signal::Continue => Meaning::Continued,
            Signal::Suspend => Meaning::Stop,
            Signal::Child => Meaning::Child,
            other => Meaning::End(other),
        }
    }
}
