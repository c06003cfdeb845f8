//! A program whose terminal is the window of an emulator.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fulmar_platform::{Spawn, WindowSize};
use fulmar_testbed::PtyProgram;
use rustix::fs::{Mode, OFlags, open};

use crate::support::{DEADLINE, World};

/// The size of all windows.
pub(super) const SIZE: WindowSize = WindowSize {
    rows: 24,
    columns: 80,
};

/// The longest that one turn waits for the program. Chosen by eye.
const TURN: Duration = Duration::from_millis(5);

/// A terminal emulator with one window, whose picture can be read.
pub(super) trait Emulator: Sized {
    /// All that the window shows.
    type Picture: Clone + PartialEq;

    /// The name by which clients know this terminal.
    const TERM: &'static str;

    /// The bytes that have it draw its window once more, all that it has.
    const REFRESH: &'static [u8];

    /// Starts two emulators that look the same; `None` if the calling test is to return.
    fn start_two(world: &World) -> Option<[Self; 2]>;

    /// The terminal whose output the window shows.
    fn tty(&self) -> &Path;

    /// Returns what the window shows now, but for what has not been drawn yet.
    fn picture(&mut self) -> Self::Picture;

    /// Says where the picture of a session differs from that of its program, and keeps what is needed to look at it under `name`.
    fn difference(&self, name: &str, plain: &Self::Picture, session: &Self::Picture) -> String;
}

/// Returns the command that an emulator runs: it leaves its terminal to us, and says in a file in `world` which that is.
pub(super) fn lend_terminal(name: &str) -> String {
    format!("stty raw -echo; tty > {name}.new; mv {name}.new {name}; while :; do sleep 600; done")
}

/// Waits until the command of [`lend_terminal`] has said which its terminal is.
pub(super) fn lent_terminal(world: &World, name: &str) -> PathBuf {
    let began = Instant::now();
    loop {
        if let Ok(tty) = std::fs::read_to_string(world.home().join(name)) {
            return PathBuf::from(tty.trim_end());
        }
        assert!(began.elapsed() < DEADLINE, "no emulator in {name}");
        std::thread::sleep(TURN);
    }
}

/// A program on a pty of its own, and the window that shows it. What the emulator answers is typed.
pub(super) struct Window<E> {
    program: PtyProgram,
    tty: File,
    /// Output that the emulator has not taken yet.
    to_show: VecDeque<u8>,
    pub(super) emulator: E,
}

impl<E: Emulator> Window<E> {
    pub(super) fn start(emulator: E, command: &Spawn) -> Self {
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let tty = open(emulator.tty(), flags, Mode::empty()).expect("a terminal");
        Self {
            program: PtyProgram::start(command, SIZE).expect("the program starts"),
            tty: File::from(tty),
            to_show: VecDeque::new(),
            emulator,
        }
    }

    pub(super) fn type_keys(&mut self, keys: &str) {
        self.program.type_keys(keys);
    }

    /// Returns true once the program has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.program.is_closed()
    }

    /// Passes on what program and emulator have written, and waits a moment for it. Returns true if the program has written nothing.
    pub(super) fn turn(&mut self) -> bool {
        let output = self.program.turn(Some(TURN)).expect("the pty works");
        let is_quiet = output.is_empty();
        self.to_show.extend(output);
        while !self.to_show.is_empty() {
            match self.tty.write(self.to_show.as_slices().0) {
                Ok(count) => drop(self.to_show.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("the emulator is gone: {error}"),
            }
        }
        let mut answer = [0; 4096];
        match self.tty.read(&mut answer) {
            Ok(count) => self.program.type_keys(&answer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => panic!("the emulator is gone: {error}"),
        }
        is_quiet && self.to_show.is_empty()
    }

    /// Has the emulator draw its window anew.
    pub(super) fn refresh(&mut self) {
        self.to_show.extend(E::REFRESH);
    }

    /// Reads until the program has ended.
    pub(super) fn let_end(&mut self) {
        let began = Instant::now();
        while !self.is_closed() && began.elapsed() < DEADLINE {
            self.turn();
        }
    }
}
