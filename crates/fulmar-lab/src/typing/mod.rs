//! Users: who types the keys of a recording, and when.
//!
//! A user is a [`Typist`]: told what the screen does, it says when to type what. There are three, and
//! a figure is worth nothing without the name of the one it was measured with.
//!
//! # Closed loop
//!
//! As in the Mosh paper and its reproduction: type a key, wait for the first output of any kind, then
//! wait as long as the recorded user waited between the first output and the next key. A key to which the
//! recorded host answered nothing visible is followed by the next after the recorded time.
//!
//! This user is patient: while an answer is on its way nothing is typed. It never types ahead, so a slow
//! answer delays the next key instead of meeting it.
//!
//! # Open loop
//!
//! The recorded rhythm: each key comes as long after the one before as in the recording, whatever the
//! screen shows. Only where the recorded user had *read the result* of what was typed before, this one waits
//! until it is to be seen, and then as long as the recorded user did.
//!
//! A result was read where all of this holds:
//!
//! - The host had written something since the key before, and was done [`READING`] before the
//!   next key. Whoever types sooner has not waited for it.
//! - It was more than an echo: the key before was none of those that are typed in a row (characters, Backspace,
//!   Left and Right), or the host changed at least [`RESULT_CELLS`] cells outside of the cursor's rows.
//!
//! It is to be seen when the screen is, as a whole, one that the host made after writing it, or when a stamp
//! says that the screen has it. A user who sees nothing of the kind for [`PATIENCE`] types on; how often that
//! happened is counted.
//!
//! # Recorded
//!
//! The recorded times and nothing else: this user does not look at the screen at all, and types into prompts that are
//! not there yet. Predictions are evaluated with it (see [`predict`](crate::predict)).

mod plan;
mod reader;
mod session;
mod typist;
mod user;

pub use plan::{READING, RESULT_CELLS, TypingLoop};
pub use reader::ScreenReader;
pub use session::run_session;
pub(crate) use session::run_user;
pub use typist::{PATIENCE, Typist};
pub use user::{
    Limits, LoginDied, SessionEnd, SessionStage, TypingSession, TypingUser, UserAction,
};
