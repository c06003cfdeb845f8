//! Programs look the same in a session as without one, as real terminal emulators show them.
//!
//! Each program runs twice, in two windows of an emulator: directly, and in a session. It gets the same keys. After each, both
//! windows have to show the same: in tmux the text and style of each cell.

mod program;
#[expect(dead_code, reason = "the first emulator comes with the next commits")]
mod twins;
#[expect(dead_code, reason = "the first emulator comes with the next commits")]
mod window;
