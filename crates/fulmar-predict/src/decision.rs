//! Decisions of the engine, without a word of the typed text: for traces.

use std::fmt;
use std::time::Duration;

/// The class of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyClass {
    /// A character that is shown.
    Print,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// One to the left.
    Left,
    /// One to the right.
    Right,
    /// Up.
    Up,
    /// Down.
    Down,
    /// To the start of the line.
    Home,
    /// To the end of the line.
    End,
    /// A word to the left.
    WordLeft,
    /// A word to the right.
    WordRight,
    /// Deletes a word to the left.
    DeleteWord,
    /// Deletes a word to the right.
    DeleteWordRight,
    /// Deletes to the start of the line, or all of it.
    KillLine,
    /// Deletes to the end of the line.
    KillEnd,
    /// Return.
    Enter,
    /// Tab.
    Tab,
    /// Escape alone.
    Escape,
    /// Another control character.
    Control,
    /// Anything else: function keys, unknown sequences.
    Other,
}

/// The rule that gave an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyRule {
    /// No rule: the effect is unknown.
    None,
    /// The key is behind one whose effect is unknown.
    Blind,
    /// The effect of its class, in this variant.
    Effect {
        /// 0 for the usual one.
        variant: u8,
    },
}

/// The end of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PredictionVerdict {
    /// The server's screen showed it.
    Right,
    /// The server's screen showed something else.
    Wrong,
    /// It cannot be told, or there was no prediction.
    Open,
}

/// The reason for beginning or confirming an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EpochReason {
    /// A typed character was found where it was expected.
    Evidence,
    /// The context has echoed before.
    Memory,
    /// The line was confirmed before the key that interrupted it.
    Line,
    /// An editor in text mode.
    Editor,
    /// The server says that the terminal echoes.
    Hints,
    /// A key whose effect is unknown.
    Unknown,
    /// The server's screen contradicts a prediction.
    Misprediction,
    /// The screen changed on its own.
    Moved,
    /// Nothing was typed for a while.
    Paused,
    /// A paste.
    Paste,
    /// Another size of the window.
    Resize,
    /// More keys are pending than are kept.
    Overflow,
}

impl fmt::Display for EpochReason {
    /// The word of a trace.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Traces have had this word from the beginning.
            EpochReason::Misprediction => f.write_str("Surprise"),
            other => fmt::Debug::fmt(other, f),
        }
    }
}

/// One thing that the engine decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PredictionDecision {
    /// A key came.
    Typed {
        /// The number of its first byte in the stream.
        key: u64,
        /// Its kind.
        class: KeyClass,
        /// The rule that gave its effect.
        rule: KeyRule,
        /// The epoch that it belongs to.
        epoch: u64,
        /// True if it is shown.
        shown: bool,
    },
    /// A key is not pending any more.
    Settled {
        /// The number of its first byte in the stream.
        key: u64,
        /// Its kind.
        class: KeyClass,
        /// The end of its prediction.
        verdict: PredictionVerdict,
        /// True if it was shown.
        shown: bool,
        /// The time for which it was pending.
        after: Duration,
    },
    /// Predictions from here on are not shown until confirmed.
    EpochBegun {
        /// The new epoch.
        epoch: u64,
        /// The reason.
        reason: EpochReason,
    },
    /// Predictions up to this epoch may be shown.
    EpochConfirmed {
        /// The epoch.
        epoch: u64,
        /// The reason.
        reason: EpochReason,
    },
}

impl fmt::Display for PredictionDecision {
    /// A word and `key=value` pairs, as a line of a trace.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PredictionDecision::Typed {
                key,
                class,
                rule,
                epoch,
                shown,
            } => {
                write!(f, "typed key={key} class={class:?} epoch={epoch} ")?;
                match rule {
                    KeyRule::None => write!(f, "rule=none")?,
                    KeyRule::Blind => write!(f, "rule=blind")?,
                    KeyRule::Effect { variant } => write!(f, "rule={variant}")?,
                }
                write!(f, " shown={shown}")
            }
            PredictionDecision::Settled {
                key,
                class,
                verdict,
                shown,
                after,
            } => {
                let after = after.as_millis();
                write!(
                    f,
                    "settled key={key} class={class:?} verdict={verdict:?} shown={shown} after={after}"
                )
            }
            PredictionDecision::EpochBegun { epoch, reason } => {
                write!(f, "broken epoch={epoch} reason={reason}")
            }
            PredictionDecision::EpochConfirmed { epoch, reason } => {
                write!(f, "confirmed epoch={epoch} reason={reason}")
            }
        }
    }
}
