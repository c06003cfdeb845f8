//! Measures how good predictions are: every key of many recordings, over many links, in virtual time.
//!
//! A [`PredictionSession`] is the real emulator, server, transport and client on a simulated link. The user types
//! at the recorded times, whatever the screen shows, and the programs answer after the recorded
//! time. What a [`Predictor`] shows changes nothing of that, so a session is run once and shown to
//! any of them; a [`UserView`] is what the user then saw, and a [`Scored`] says how good that was.
//!
//! # What is counted
//!
//! - The *truth* of a key ([`RecordedTruth`]) is what changed in the recording, without delay, on the cursor's rows
//!   (before and after the key) from the press to the end of its first burst of output, and the cursor
//!   if it is visible, the terminal's or one that the program draws; where nothing of that changed it is all that did. The burst begins within 250 ms and
//!   ends at a gap of 20 ms, or with the next key that is answered. Characters, inverse and background
//!   count, other colours do not; grey text right of the cursor is not required; for Enter the
//!   screen behind the first newline will do as well. Keys without effect have no wait.
//! - *Instant* is an effect that is there within 5 ms ([`INSTANT`]).
//! - A cell is *wrong* when it differs from the server's frame and from every true screen between that
//!   frame and the last key ([`WrongInterval`]); if that lasts 30 ms or longer ([`WRONG_FROM`]) the key that caused it is
//!   wrong. So is a cursor, and its row if no true screen has what is drawn left and right of the cursor together. The
//!   share is one of all keys.
//! - A *leak* is a wrong cell near the cursor that holds a character of a secret, however short
//!   ([`Leaks`]).
//!
//! # The gate
//!
//! No predictor of ours may leak, on any link ([`TestLink::gate`]) and with any seed, and a control that shows
//! everything must, on every recording that has a secret ([`SecrecyGate`]).
//!
//! [`WrongInterval`]: crate::judge::WrongInterval
//! [`WRONG_FROM`]: crate::judge::WRONG_FROM

mod comparison;
mod displayed_run;
mod engine;
mod explain;
mod leak;
mod link;
mod misprediction;
mod predictor;
mod predictor_kind;
mod recorded_truth;
mod recorded_user;
mod recording;
mod rendered;
mod rows;
mod score;
mod secrecy_gate;
mod session;
mod snapshot;
mod stock;
mod trial;
mod user_view;

pub use comparison::Comparison;
pub use explain::explain;
pub use leak::Leaks;
pub use link::TestLink;
pub use predictor::{DrawnScreen, Predictor};
pub use predictor_kind::PredictorKind;
pub use recorded_truth::{RecordedKey, RecordedScreens, RecordedTruth};
pub use recorded_user::{ClientScreen, ClientWatch, KeyboardRead, Peer, ServerUpdate, UserInput};
pub use recording::{HELD_OUT, ProgramGroup, Recording, RecordingSet};
pub use rendered::judged;
pub use rows::{PREDICTIONS, PredictionRow, PredictionRows, RowSubject};
pub use score::{INSTANT, Score, Scored};
pub use secrecy_gate::{SecrecyGate, SecrecyReport};
pub use session::{PredictionSession, ServerFrame, SessionEvent, SessionEventKind};
pub use snapshot::{CellLook, ScreenSnapshot};
pub use trial::{Plan, Trial};
pub use user_view::{UserView, ViewSample};

#[cfg(test)]
mod tests;
