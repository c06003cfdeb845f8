//! The hints that a server of our own would give about the recorded program.

use fulmar_core::program_class;
use fulmar_predict::{ProgramClass, TtyHints};
use fulmar_terminal::Screen;

use crate::trace::TtyState;

/// Returns the hints for a screen and the terminal's state.
pub(super) fn hints(tty: &TtyState, screen: &Screen) -> TtyHints {
    TtyHints {
        canonical: tty.is_canonical,
        echo: tty.has_echo,
        alternate: screen.is_alternate(),
        cursor_shape: screen.cursor().shape,
        program: number_of(&tty.foreground),
        class: class_of(&tty.foreground),
    }
}

/// A number for a program's name; never 0.
fn number_of(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step) | 1
}

/// The class that our server would give a program of that name. A recording does not say with which
/// words it was called: it counts as used interactively, which is what trusts it most.
fn class_of(name: &str) -> ProgramClass {
    let words = format!("{name}\0");
    program_class(name.as_bytes(), words.as_bytes())
}
