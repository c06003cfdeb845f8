//! Looks at the settings of the program's terminal, and at the program that has its foreground.

use std::time::Duration;

use fulmar_base::Time;
use fulmar_core::{ForegroundProgram, Server, TtyReader, TtyState};
use fulmar_platform::{Master, NAME_BYTES_MAX, RunningProgram};

/// As much of a command line as tells what it runs. Chosen by eye.
const WORDS_BYTES_MAX: usize = 256;

/// The pause between two questions about what a group runs. Chosen by eye: half of the time after which a key is taken
/// for answered (docs/protocol.md §6.4), when the terminal is looked at, too; a busy program writes more often.
const ASK_PAUSE: Duration = Duration::from_millis(25);

/// Tells the server who reads what is written to the terminal, and how.
pub(super) fn look_at_reader(now: Time, master: &Master, server: &mut Server) {
    let Ok(discipline) = master.discipline() else {
        return;
    };
    let unread = server.wants_unread().then(|| master.unread().ok());
    let reader = TtyReader {
        group: master.foreground().ok().flatten(),
        is_canonical: discipline.is_canonical,
        flush_keys: discipline.flush_keys,
        unread: unread.flatten(),
    };
    server.handle_reader(now, reader);
}

/// Watches the foreground of a terminal. A look costs two short system calls, and two longer ones when it is asked
/// what runs there: the files that they read are opened only when another group has the foreground, for within one
/// group a process may become another program at any time.
#[derive(Debug)]
pub(super) struct Foreground {
    group: Option<u32>,
    program: Option<RunningProgram>,
    /// The time at which it was last asked what the group runs.
    asked_at: Option<Time>,
    name: [u8; NAME_BYTES_MAX],
    /// The length of the name, and of the words; without a name nothing is known.
    name_bytes: usize,
    words: [u8; WORDS_BYTES_MAX],
    words_bytes: usize,
}

impl Default for Foreground {
    fn default() -> Foreground {
        Foreground {
            group: None,
            program: None,
            asked_at: None,
            name: [0; NAME_BYTES_MAX],
            name_bytes: 0,
            words: [0; WORDS_BYTES_MAX],
            words_bytes: 0,
        }
    }
}

impl Foreground {
    /// Looks at the terminal and hands over what is seen, if the client is to know. What the system
    /// does not tell is not guessed.
    pub(super) fn look(&mut self, now: Time, master: &Master, server: &mut Server) {
        if !server.wants_tty() {
            return;
        }
        let Ok(discipline) = master.discipline() else {
            return;
        };
        self.follow(master.foreground().ok().flatten());
        self.ask(now);
        let tty = TtyState {
            is_canonical: discipline.is_canonical,
            has_echo: discipline.has_echo,
            program: self.running(),
        };
        server.handle_tty(now, tty);
    }

    /// A group has the number of the process that leads it. If that is gone, nothing is known.
    fn follow(&mut self, group: Option<u32>) {
        if self.group != group {
            self.group = group;
            self.program = group.and_then(RunningProgram::of);
            self.asked_at = None;
        }
    }

    /// Asks what the group runs, unless that was asked a moment ago.
    fn ask(&mut self, now: Time) {
        if self.asked_at.is_some_and(|at| now.since(at) < ASK_PAUSE) {
            return;
        }
        self.asked_at = Some(now);
        let Foreground {
            program,
            name,
            words,
            ..
        } = self;
        let program = program.as_ref();
        let length = |bytes: Option<&[u8]>| bytes.map_or(0, <[u8]>::len);
        self.name_bytes = length(program.and_then(|program| program.name(name)));
        self.words_bytes = length(program.and_then(|program| program.command_line(words)));
    }

    /// Returns what the group ran when that was last asked.
    fn running(&self) -> Option<ForegroundProgram<'_>> {
        let name = self.name.get(..self.name_bytes)?;
        (!name.is_empty()).then_some(ForegroundProgram {
            name,
            words: self.words.get(..self.words_bytes).unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::from_origin(Duration::from_millis(millis))
    }

    #[test]
    fn what_a_group_runs_is_asked_again_after_25_ms_and_at_once_of_another_group() {
        let mut foreground = Foreground::default();
        foreground.follow(Some(std::process::id()));
        foreground.ask(ms(100));
        foreground.ask(ms(124));
        assert_eq!(foreground.asked_at, Some(ms(100)));
        foreground.ask(ms(125));
        assert_eq!(foreground.asked_at, Some(ms(125)));
        // Linux has no process numbers beyond 2^22.
        foreground.follow(Some(0x7fff_fffe));
        foreground.ask(ms(126));
        assert_eq!(foreground.asked_at, Some(ms(126)));
        assert_eq!(foreground.running(), None);
    }
}
