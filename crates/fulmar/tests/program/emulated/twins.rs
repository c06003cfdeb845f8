//! A program and the same one in a session, side by side.

use std::time::{Duration, Instant};

use super::program::Program;
use super::programs;
use super::window::{Emulator, Window};
use crate::support::World;

/// The time for which both have to write nothing and to show the same. Chosen by eye: a program that has been given keys on a
/// loaded machine does not pause for so long in the middle of what it draws; if one does, less is compared.
const QUIET: Duration = Duration::from_millis(250);

/// The time between two looks at the pictures. Chosen by eye.
const LOOK: Duration = Duration::from_millis(60);

/// The longest wait for the same picture in both windows. Chosen by eye.
const SAME_WITHIN: Duration = Duration::from_secs(20);

/// The number of times that a program is run. Keys that come too early are echoed twice, and a loaded machine may pause for long, so that they
/// do. Chosen by eye.
const RUNS: usize = 3;

/// Runs a program in a window and in a session in another, types the same keys at both, and expects the same picture each time.
pub(super) fn look_alike<E: Emulator>(program: &Program) {
    if !program.is_there() {
        return;
    }
    let mut differences = Vec::new();
    while let Err(difference) = run::<E>(program) {
        eprintln!("{difference}");
        differences.push(difference);
        assert!(differences.len() < RUNS, "{}", differences.concat());
    }
}

/// Returns what was not the same.
fn run<E: Emulator>(program: &Program) -> Result<(), String> {
    let mut world = World::new();
    world.set("TERM", E::TERM);
    programs::prepare(&world);
    let Some([plain, session]) = E::start_two(&world) else {
        return Ok(());
    };
    // What a server tells its programs, for both.
    let inside = ["-u", "COLORTERM", "TERM=xterm-256color"];
    let mut plain_command = world.spawn("env");
    let mut session_command = world.spawn(world.ours("fulmar"));
    for word in [
        "--config",
        "none",
        "--predict",
        "never",
        "--local",
        "--",
        "env",
    ] {
        session_command.arg(word);
    }
    for word in inside.iter().chain(program.command) {
        plain_command.arg(*word);
        session_command.arg(*word);
    }
    let mut twins = Twins {
        windows: [
            Window::start(plain, &plain_command),
            Window::start(session, &session_command),
        ],
        name: program.name,
    };
    let result = twins.compare(program);
    // The client's own keys: it says goodbye to its server.
    let [_, session] = &mut twins.windows;
    session.type_keys("\x1e.");
    session.let_end();
    result
}

struct Twins<E> {
    /// The program alone, and the session.
    windows: [Window<E>; 2],
    name: &'static str,
}

impl<E: Emulator> Twins<E> {
    fn compare(&mut self, program: &Program) -> Result<(), String> {
        let blank = self.pictures()[0].clone();
        if let Some(keys) = program.unseen {
            for number in [0, 1] {
                self.wait_until_quiet(number, &blank)?;
                self.windows[number].type_keys(keys);
            }
        }
        let mut before = self.wait_until_same("at first", &blank)?;
        for (number, keys) in (1..).zip(program.keys) {
            for window in &mut self.windows {
                window.type_keys(keys);
            }
            let step = format!("after keys {number}, {keys:?}");
            before = self.wait_until_same(&step, &before)?;
        }
        Ok(())
    }

    fn pictures(&mut self) -> [E::Picture; 2] {
        self.windows
            .each_mut()
            .map(|window| window.emulator.picture())
    }

    /// Waits until one has drawn something and has nothing more to write for a moment.
    fn wait_until_quiet(&mut self, number: usize, blank: &E::Picture) -> Result<(), String> {
        let began = Instant::now();
        let mut quiet_since = began;
        loop {
            for (place, window) in self.windows.iter_mut().enumerate() {
                if !window.turn() && place == number {
                    quiet_since = Instant::now();
                }
            }
            if began.elapsed() > SAME_WITHIN {
                return Err(format!("{} is never quiet\n", self.name));
            }
            if quiet_since.elapsed() > QUIET && self.windows[number].emulator.picture() != *blank {
                return Ok(());
            }
        }
    }

    /// Waits until both have shown for a moment the same other than `before`, and returns it.
    fn wait_until_same(&mut self, step: &str, before: &E::Picture) -> Result<E::Picture, String> {
        let began = Instant::now();
        let mut looked = began;
        let mut quiet_since = began;
        let mut is_refreshed = false;
        let mut same: Option<(E::Picture, Instant)> = None;
        loop {
            let are_quiet = self.windows.each_mut().map(Window::turn) == [true; 2];
            if !are_quiet {
                (same, quiet_since, is_refreshed) = (None, Instant::now(), false);
            }
            if looked.elapsed() < LOOK {
                continue;
            }
            let [plain, session] = self.pictures();
            looked = Instant::now();
            let are_over = self.windows.iter().any(Window::is_closed);
            if are_over || began.elapsed() > SAME_WITHIN {
                let emulator = &self.windows[1].emulator;
                let name = self.name;
                let difference = if plain == *before {
                    "nothing has changed".to_owned()
                } else {
                    emulator.difference(name, &plain, &session)
                };
                return Err(format!("{name} {step}, over: {are_over}: {difference}\n"));
            }
            if plain != session && !is_refreshed && quiet_since.elapsed() > 2 * QUIET {
                is_refreshed = true;
                self.windows.iter_mut().for_each(Window::refresh);
            }
            if plain != session || plain == *before {
                same = None;
                continue;
            }
            match &same {
                Some((picture, since)) if *picture == plain => {
                    if since.elapsed() >= QUIET {
                        return Ok(plain);
                    }
                }
                _ => same = Some((plain, looked)),
            }
        }
    }
}
