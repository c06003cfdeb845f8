//! The judge: from what was typed, what the host wrote, and what the user's terminal got, to what a
//! person saw of each key, and when.
//!
//! It knows nothing of the peer that carried the session, uses no code of ours for the screen, and
//! takes nobody's word for what is shown: an emulator that is neither ours nor a peer's ([`ScreenObserver`])
//! shows the bytes. Text and cursor count, attributes do not.
//!
//! # Truth
//!
//! The host's output makes a row of true screens, one after each byte ([`GroundTruth`]). The
//! position in it is the one measure of everything: what the host had written at a time, what the
//! display has for certain, and how far the keys typed so far can lead.
//!
//! For a recording that is played again the truth is the recording. Its output is released by the keys
//! that stand before it (see [`played`](crate::played)), so the screens come in the recorded order
//! whatever the network does; the recording's own times say which output was the direct answer to
//! a key. For real programs the truth is what the host noted in the run itself. Then output follows
//! the key that was received last, which is right as long as keys do not arrive in bunches: judge
//! such runs in closed loop.
//!
//! A terminal without an alternate screen does not put back what a full-screen program has covered: behind the end of
//! an editor, the shell goes on below what the editor has left. Stock Mosh is such a terminal (docs/protocol.md §8.7), and
//! others are by choice. So there are two renderings of one output ([`SingleScreenTrace`](crate::trace::SingleScreenTrace)).
//! Keys are right in either; that a screen was not put back is counted once each time, and nothing else is late or wrong
//! because of it. At each moment a display is judged by the rendering that it is nearer to.
//!
//! # Stamps
//!
//! A screen does not say how old it is, and a right guess looks like an answer. So the host that plays
//! a recording puts a number into the window title after each write ([`Stamp`]); every peer
//! carries titles. Where a run has stamps the judge knows at each moment which of the host's
//! screens the display has; without them it concludes that from what is shown and from the least
//! time that output takes. A peer that predicts nothing shows only what it has, so its screens count from when
//! they are shown: titles may come later, since a client may limit how often they change.
//!
//! # What is found
//!
//! Per key ([`KeyVerdict`]): when its own effect is right ([`KeyEffect`]), when the whole screen is, when
//! the first output comes, and what was wrong because of it ([`WrongInterval`]). Per run ([`RunVerdict`]): what
//! arrived of the keys, the longest stall. Keys that were never answered are censored.

mod cell_history;
mod delivery;
mod display;
mod displayed_run;
mod glyph;
mod ground_truth;
mod key_effect;
mod observer;
mod own_effect;
mod rendering;
mod spliced_row;
mod timeline;
mod truth;
mod verdict;
mod wrong_interval;

pub use delivery::{Delivery, plain};
pub use glyph::{CellPosition, Glyph};
pub use ground_truth::{GroundTruth, GroundTruthKey, OutputPosition, OutputScreens};
pub use key_effect::{ANSWER_WITHIN, BURST_GAP, KeyEffect, TypedKey};
pub(crate) use observer::NoTimeout;
pub use observer::{Change, Cursor, STAMP_PREFIX, ScreenObserver, Stamp};
pub(crate) use own_effect::DisplayedRun;
pub(crate) use spliced_row::{CellText, is_spliced};
pub use truth::{TrueScreens, Truth};
pub use verdict::{JudgeError, KeyVerdict, ObservedRun, RunVerdict};
pub(crate) use wrong_interval::WrongIntervals;
pub use wrong_interval::{NOTICES, WRONG_FROM, WrongInterval};

#[cfg(test)]
mod tests;
