//! Finds out about the server's program what helps the client to predict.

use fulmar_predict::TtyHints;
use fulmar_terminal::Screen;
use sha2::{Digest as _, Sha256};

use crate::program_class::program_class;
use crate::random::Seed;

/// The first bytes of what is hashed for a name, so that the salt is used for nothing else.
const PREFIX: &[u8] = b"fulmar hints 1\n";

/// The program's terminal, as the edge sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TtyState<'a> {
    /// Programs read whole lines, which can be edited until then (`ICANON`).
    pub is_canonical: bool,
    /// The terminal itself echoes what is typed (`ECHO`).
    pub has_echo: bool,
    /// The program that has the foreground, if that is known.
    pub program: Option<ForegroundProgram<'a>>,
}

/// The program that has the foreground of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForegroundProgram<'a> {
    /// Its name, as the kernel keeps it.
    pub name: &'a [u8],
    /// Its command line, each word with a zero byte behind it; empty if it is not known.
    pub words: &'a [u8],
}

/// Makes hints of what was seen last. Of a program it keeps a salted hash and a class, nothing else.
///
/// Source: docs/protocol.md §13.7.
#[derive(Debug)]
pub(crate) struct TtyWatch {
    salt: Seed,
    /// But for what the screen tells.
    seen: Option<TtyHints>,
}

impl TtyWatch {
    pub(crate) fn new(salt: Seed) -> TtyWatch {
        TtyWatch { salt, seen: None }
    }

    /// Notes what was seen, and tells if it is anything new.
    pub(crate) fn note(&mut self, tty: TtyState<'_>) -> bool {
        let hints = TtyHints {
            canonical: tty.is_canonical,
            echo: tty.has_echo,
            program: tty.program.map_or(0, |program| self.hash(program.name)),
            class: tty.program.map_or_else(Default::default, |program| {
                program_class(program.name, program.words)
            }),
            ..TtyHints::default()
        };
        self.seen.replace(hints) != Some(hints)
    }

    /// Returns the hints that go with a screen, once the terminal was looked at.
    pub(crate) fn hints(&self, screen: &Screen) -> Option<TtyHints> {
        let seen = self.seen?;
        Some(TtyHints {
            alternate: screen.is_alternate(),
            cursor_shape: screen.cursor().shape,
            ..seen
        })
    }

    /// Returns 32 bits that stand for a name in this session and in no other; never 0.
    fn hash(&self, name: &[u8]) -> u64 {
        let hash = Sha256::new()
            .chain_update(PREFIX)
            .chain_update(self.salt)
            .chain_update(name)
            .finalize();
        let first = hash.iter().take(4);
        first
            .fold(0, |number, byte| number << 8 | u64::from(*byte))
            .max(1)
    }
}

#[cfg(test)]
mod tests {
    use fulmar_predict::ProgramClass;
    use fulmar_terminal::{CursorShape, Size, Terminal};

    use super::*;

    fn tty(name: &[u8]) -> TtyState<'_> {
        TtyState {
            is_canonical: true,
            has_echo: false,
            program: Some(ForegroundProgram { name, words: name }),
        }
    }

    fn hints_of(salt: Seed, name: &[u8]) -> TtyHints {
        let mut watch = TtyWatch::new(salt);
        assert!(watch.note(tty(name)));
        watch
            .hints(&Screen::new(Size::default()))
            .expect("it was seen")
    }

    #[test]
    fn a_name_is_told_by_a_hash_of_its_own_session() {
        let [one, other] = [[1; 32], [2; 32]];
        let vim = hints_of(one, b"vim");
        assert_eq!(vim, hints_of(one, b"vim"));
        assert_ne!(vim.program, hints_of(one, b"nano").program);
        assert_ne!(vim.program, hints_of(other, b"vim").program);
        assert!(vim.program > 0 && vim.program <= u64::from(u32::MAX));
        assert_eq!(vim.class, ProgramClass::Editor);
        assert!(vim.canonical && !vim.echo);
    }

    #[test]
    fn only_what_is_new_is_news() {
        let mut watch = TtyWatch::new([1; 32]);
        assert!(watch.note(tty(b"cat")));
        assert!(!watch.note(tty(b"cat")));
        let echoing = TtyState {
            has_echo: true,
            ..tty(b"cat")
        };
        assert!(watch.note(echoing));
        let unknown = TtyState {
            program: None,
            ..echoing
        };
        assert!(watch.note(unknown));
        let hints = watch.hints(&Screen::new(Size::default())).unwrap();
        assert_eq!((hints.program, hints.class), (0, ProgramClass::Unknown));
    }

    #[test]
    fn the_screen_tells_the_rest() {
        let mut watch = TtyWatch::new([1; 32]);
        let mut terminal = Terminal::new(Size::default());
        terminal.process(b"\x1b[?1049h\x1b[6 q");
        assert_eq!(watch.hints(terminal.screen()), None);
        watch.note(tty(b"vim"));
        let hints = watch.hints(terminal.screen()).unwrap();
        assert!(hints.alternate);
        assert_eq!(hints.cursor_shape, CursorShape::SteadyBar);
    }
}
