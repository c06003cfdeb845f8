//! The played host: a program that stands for all programs of a recording.
//!
//! It runs inside of the session that is measured, where otherwise a shell would, and plays what the
//! recorded programs wrote: each piece when it has received the keys that stand before it in the
//! recording, after the time that the programs took then. It notes when it received and wrote what, in
//! the form of a key trace: the host's side of a run, for the [`judge`](crate::judge).
//!
//! # When a piece is written
//!
//! Let `k` be the last key before a piece in the recording, and `gap` the time between them. The piece is
//! due `gap` after the moment at which `k` has been received *and* everything that the recording has
//! before `k` has been written: programs take one key after the other. Pieces keep their order
//! always. So a key that a program ignored holds nothing up, and one that never arrives holds up all that
//! follows it, as it should.
//!
//! Where keys arrive in a bunch, the next key is there before the piece is due. A program that is
//! at work makes it wait, a clock that ticks meanwhile does not, and the recording does not say which of
//! them wrote the piece. A direct answer comes within [`ANSWER_WITHIN`](crate::judge::ANSWER_WITHIN): a longer
//! gap is cut to that while the next key waits.
//!
//! # What it receives
//!
//! Keys are compared byte by byte with those of the recording. The answers of terminals are neither
//! asked for nor counted: some peers give them by themselves, at their own times. Arrows are
//! equal in both of their forms. A byte that is not the next one of the recording is noted,
//! counted and otherwise ignored.
//!
//! # Begin and end
//!
//! The program waits until its terminal has the size of the recording, shows [`READY`], and begins when it
//! receives [`START`]: by then the session is up and the first packets are not among those that are measured.
//! It clears the screen, and its log begins. It ends when it receives [`END`], or when the terminal is
//! gone.

mod player;
mod program;
mod raw_terminal;
mod signals;
mod stamper;

pub use player::{Output, Player};
pub use program::Program;
pub(crate) use raw_terminal::RawTerminal;
pub use signals::{CLEAR, END, READY, START};
pub(crate) use stamper::Stamper;
