//! The reasons for which a state machine wants to be woken.

use std::fmt;

use fulmar_base::Time;
use fulmar_transport::Cause;

/// The thing that becomes due at the time that `poll_timeout` gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wake {
    /// The transport has something to send, or to give up.
    Transport(Cause),
    /// The echo ack advances.
    EchoAck,
    /// A window's size that was asked for too soon after another is applied.
    Resize,
    /// A frame that its program has not finished has been held back long enough.
    HeldFrame,
    /// Answers wait for a program, and it may have begun to read, or ended.
    Replies,
    /// The program's terminal is looked at once more.
    Tty,
    /// The client has not said what the user's terminal is like, and a program has asked.
    Report,
    /// The client's silence comes to mean something.
    Silence,
    /// Nobody has used an attachment.
    Attachment,
    /// The program has ended, and its last lines have been told for long enough.
    LastLines,
    /// A client that was not there to be told how its program ended has been waited for long enough.
    Goodbye,
    /// The notice line reads differently from then on.
    Notice,
    /// A title that came too soon after another is shown.
    Title,
    /// An event that came too soon after others is told.
    Event,
    /// A prediction is shown in another way, or not any more.
    Prediction,
    /// A key that may have been the beginning of an answer of the user's terminal is one.
    Key,
    /// The server has not answered for so long that the client gives up.
    ConnectLimit,
    /// The client does not wait any more for the arrival of what was typed, and leaves.
    Leaving,
}

impl Wake {
    /// Returns the earliest of some deadlines.
    pub(crate) fn earliest(
        deadlines: impl IntoIterator<Item = Option<(Time, Wake)>>,
    ) -> Option<(Time, Wake)> {
        deadlines.into_iter().flatten().min()
    }

    /// Logs what has become due, if anything has.
    pub(crate) fn log(due: Option<(Time, Wake)>, now: Time) {
        if let Some((_, cause)) = due.filter(|(at, _)| *at <= now) {
            tracing::trace!(%cause, "woken");
        }
    }
}

impl fmt::Display for Wake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wake::Transport(cause) => cause.fmt(f),
            Wake::EchoAck => f.pad("echo ack"),
            Wake::Resize => f.pad("resize"),
            Wake::HeldFrame => f.pad("held frame"),
            Wake::Replies => f.pad("replies"),
            Wake::Tty => f.pad("tty"),
            Wake::Report => f.pad("report"),
            Wake::Silence => f.pad("silence"),
            Wake::Attachment => f.pad("attachment"),
            Wake::LastLines => f.pad("last lines"),
            Wake::Goodbye => f.pad("goodbye"),
            Wake::Notice => f.pad("notice"),
            Wake::Title => f.pad("title"),
            Wake::Event => f.pad("event"),
            Wake::Prediction => f.pad("prediction"),
            Wake::Key => f.pad("key"),
            Wake::ConnectLimit => f.pad("connect limit"),
            Wake::Leaving => f.pad("leaving"),
        }
    }
}
