//! Draws the screen of 80x24 that the bytes on standard input make.
//!
//! ```text
//! cargo run -p fulmar-terminal --example draw < testdata/recordings/vim-edit.bin
//! ```
//!
//! This is how the expected screens beside the recordings were made, after each had been seen to
//! agree with another emulator; see testdata/README.md.

#[path = "../tests/support/mod.rs"]
#[expect(dead_code, reason = "a part of what the tests share")]
mod support;

#[path = "../tests/support/picture.rs"]
mod picture;

use std::io::{self, Read, Write};

use fulmar_terminal::{Size, Terminal};

fn main() -> io::Result<()> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    let mut terminal = Terminal::new(Size::default());
    terminal.process(&bytes);
    io::stdout().write_all(picture::picture(terminal.screen()).as_bytes())
}
