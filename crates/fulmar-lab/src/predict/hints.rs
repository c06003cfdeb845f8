//! What a server of our own would say of the recorded program.

use fulmar_predict::{Hints, ProgramClass};
use fulmar_terminal::Screen;

use crate::trace::TtyState;

/// Returns the hints for a screen and the terminal's state.
pub(super) fn hints(tty: &TtyState, screen: &Screen) -> Hints {
    Hints {
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

/// What kind of program a name stands for.
fn class_of(name: &str) -> ProgramClass {
    let classes: [(&[&str], ProgramClass); 4] = [
        (
            &["bash", "zsh", "fish", "sh", "dash", "ksh"],
            ProgramClass::Shell,
        ),
        (
            &[
                "python", "ipython", "node", "psql", "sqlite3", "gdb", "bc", "ed",
            ],
            ProgramClass::LineEditor,
        ),
        (
            &["vi", "vim", "nvim", "nano", "emacs", "micro", "hx", "helix"],
            ProgramClass::Editor,
        ),
        (
            &[
                "tmux",
                "tmux: client",
                "screen",
                "ssh",
                "mosh-client",
                "docker",
                "sudo",
                "su",
                "unshare",
            ],
            ProgramClass::Relay,
        ),
    ];
    let plain = name.trim_start_matches('-');
    let plain = plain.trim_end_matches(|end: char| end.is_ascii_digit() || end == '.');
    let class = classes
        .iter()
        .find(|(names, _)| names.contains(&plain) || names.contains(&name));
    class.map_or(ProgramClass::Unknown, |(_, class)| *class)
}
