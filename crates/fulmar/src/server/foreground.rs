//! Looks at the settings of the program's terminal, and at the program that has its foreground.

use fulmar_base::Time;
use fulmar_core::{ForegroundProgram, Server, TtyReader, TtyState};
use fulmar_platform::{Master, NAME_BYTES_MAX, RunningProgram};

/// As much of a command line as tells what it runs. Chosen by eye.
const WORDS_BYTES_MAX: usize = 256;

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

/// Watches the foreground of a terminal. A look costs four short system calls; the files that they
/// read are opened only when another group has the foreground, for within one group a process may
/// become another program at any time.
#[derive(Debug, Default)]
pub(super) struct Foreground {
    group: Option<u32>,
    program: Option<RunningProgram>,
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
        let mut name = [0; NAME_BYTES_MAX];
        let mut words = [0; WORDS_BYTES_MAX];
        let program = self.program.as_ref().and_then(|program| {
            Some(ForegroundProgram {
                name: program.name(&mut name)?,
                words: program.command_line(&mut words).unwrap_or_default(),
            })
        });
        let tty = TtyState {
            is_canonical: discipline.is_canonical,
            has_echo: discipline.has_echo,
            program,
        };
        server.handle_tty(now, tty);
    }

    /// A group has the number of the process that leads it. If that is gone, nothing is known.
    fn follow(&mut self, group: Option<u32>) {
        if self.group != group {
            self.group = group;
            self.program = group.and_then(RunningProgram::of);
        }
    }
}
