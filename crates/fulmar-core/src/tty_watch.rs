//! Finds out about the server's program what helps the client to predict.

use std::time::Duration;

use fulmar_base::Time;
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

/// So long after the program last wrote or was written to, the terminal is looked at again while it echoes: a program
/// may turn that off without a word. Chosen by eye: a program that asks turns it off soon, and a person who reads the
/// question types later than half a second after it.
///
/// Source: docs/protocol.md §13.7.
const LOOKS_MS: [u64; 15] = [
    20, 50, 100, 200, 500, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10_000,
];

/// The look from which on hints are steady: one of [`LOOKS_MS`].
///
/// Source: docs/protocol.md §13.7.
const STEADY_AFTER: Duration = Duration::from_millis(500);

/// Makes hints of what was seen last. Of a program it keeps a salted hash and a class, nothing else.
///
/// Source: docs/protocol.md §13.7.
#[derive(Debug)]
pub(crate) struct TtyWatch {
    salt: Seed,
    /// But for what the screen tells.
    seen: Option<TtyHints>,
    /// The time at which the program last wrote something, or was written to.
    active_at: Time,
    /// The time of the last look.
    looked_at: Time,
}

impl TtyWatch {
    pub(crate) fn new(salt: Seed) -> TtyWatch {
        TtyWatch {
            salt,
            seen: None,
            active_at: Time::ZERO,
            looked_at: Time::ZERO,
        }
    }

    /// Notes that the program has written something, or was written to.
    pub(crate) fn note_activity(&mut self, now: Time) {
        self.active_at = now;
        if let Some(seen) = &mut self.seen {
            seen.steady = false;
        }
    }

    /// Notes that the time for a look has come, though nobody may have looked.
    pub(crate) fn note_look(&mut self, now: Time) {
        self.looked_at = now;
    }

    /// Returns when the terminal is to be looked at next although nothing happens: only while it echoes, and not for
    /// long.
    pub(crate) fn due(&self) -> Option<Time> {
        self.seen.filter(|seen| seen.echo)?;
        let mut looks = LOOKS_MS
            .into_iter()
            .map(|after| self.active_at + Duration::from_millis(after));
        looks.find(|at| *at > self.looked_at)
    }

    /// Notes what was seen, and tells if it is anything new.
    pub(crate) fn note(&mut self, now: Time, tty: TtyState<'_>) -> bool {
        self.note_look(now);
        let hints = TtyHints {
            canonical: tty.is_canonical,
            echo: tty.has_echo,
            steady: tty.has_echo && now.since(self.active_at) >= STEADY_AFTER,
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

    fn ms(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    fn hints_of(salt: Seed, name: &[u8]) -> TtyHints {
        let mut watch = TtyWatch::new(salt);
        assert!(watch.note(ms(0), tty(name)));
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
        assert!(watch.note(ms(0), tty(b"cat")));
        assert!(!watch.note(ms(0), tty(b"cat")));
        let echoing = TtyState {
            has_echo: true,
            ..tty(b"cat")
        };
        assert!(watch.note(ms(0), echoing));
        let unknown = TtyState {
            program: None,
            ..echoing
        };
        assert!(watch.note(ms(0), unknown));
        let hints = watch.hints(&Screen::new(Size::default())).unwrap();
        assert_eq!((hints.program, hints.class), (0, ProgramClass::Unknown));
    }

    #[test]
    fn the_screen_tells_the_rest() {
        let mut watch = TtyWatch::new([1; 32]);
        let mut terminal = Terminal::new(Size::default());
        terminal.process(b"\x1b[?1049h\x1b[6 q");
        assert_eq!(watch.hints(terminal.screen()), None);
        watch.note(ms(0), tty(b"vim"));
        let hints = watch.hints(terminal.screen()).unwrap();
        assert!(hints.alternate);
        assert_eq!(hints.cursor_shape, CursorShape::SteadyBar);
    }

    /// Looks whenever it is time to, up to a time, and returns when that was.
    fn looks(watch: &mut TtyWatch, tty: TtyState<'_>, until: u64) -> Vec<u64> {
        let mut looks = Vec::new();
        while let Some(due) = watch.due().filter(|due| *due <= ms(until)) {
            watch.note(due, tty);
            looks.push(due.since(ms(0)).as_millis() as u64);
        }
        looks
    }

    #[test]
    fn a_terminal_that_echoes_is_looked_at_for_ten_seconds() {
        let echoing = TtyState {
            has_echo: true,
            ..tty(b"cat")
        };
        let mut watch = TtyWatch::new([1; 32]);
        watch.note_activity(ms(100));
        assert_eq!(watch.due(), None, "nobody wants to know");
        watch.note(ms(100), echoing);
        let first = [120, 150, 200, 300, 600, 1100, 2100];
        assert_eq!(looks(&mut watch, echoing, 2500), first);
        watch.note_activity(ms(2600));
        // Other reasons to look make one of these unnecessary.
        watch.note(ms(2655), echoing);
        assert_eq!(looks(&mut watch, echoing, 3000), [2700, 2800]);
        let rest = looks(&mut watch, echoing, 100_000);
        assert_eq!((rest.len(), rest.last()), (11, Some(&12_600)));
        // One that does not echo cannot be made to show less.
        watch.note_activity(ms(20_000));
        watch.note(ms(20_000), tty(b"cat"));
        assert_eq!(watch.due(), None);
    }

    #[test]
    fn what_is_seen_half_a_second_later_is_steady() {
        let echoing = TtyState {
            has_echo: true,
            ..tty(b"cat")
        };
        let mut watch = TtyWatch::new([1; 32]);
        let steady = |watch: &TtyWatch| watch.hints(&Screen::new(Size::default())).unwrap().steady;
        watch.note_activity(ms(1000));
        watch.note(ms(1000), echoing);
        assert!(!watch.note(ms(1499), echoing) && !steady(&watch));
        assert!(watch.note(ms(1500), echoing) && steady(&watch));
        assert!(!watch.note(ms(2500), echoing), "it is no news");
        watch.note_activity(ms(2600));
        assert!(!steady(&watch));
        watch.note(ms(9000), tty(b"cat"));
        assert!(!steady(&watch), "it does not echo");
    }
}
