//! One session of the soak, and what its user does.

use std::ffi::OsString;
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use fulmar_platform::{Spawn, WindowSize};
use fulmar_testbed::{Process, PtyProgram, Relay};

/// The user's habits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Habit {
    /// Does nothing.
    Idle,
    /// Types a command twice a second.
    Typing,
    /// Lets a program write a megabyte every few seconds.
    Flood,
    /// Leaves the session and takes it again every few seconds.
    Attaching,
    /// Types while the network changes every few seconds.
    Roaming,
}

impl Habit {
    pub(super) const ALL: [Habit; 5] = [
        Habit::Idle,
        Habit::Typing,
        Habit::Flood,
        Habit::Attaching,
        Habit::Roaming,
    ];

    /// The name of the session, and of the file into which its commands write their numbers.
    pub(super) fn name(self) -> &'static str {
        match self {
            Habit::Idle => "idle",
            Habit::Typing => "typing",
            Habit::Flood => "flood",
            Habit::Attaching => "attaching",
            Habit::Roaming => "roaming",
        }
    }

    /// The time between two of the user's acts. Chosen by eye.
    fn pause(self) -> Duration {
        Duration::from_millis(match self {
            Habit::Idle => 60_000,
            Habit::Typing | Habit::Roaming => 500,
            Habit::Flood => 8_000,
            Habit::Attaching => 5_000,
        })
    }
}

/// A roaming client moves with each so many of its commands. Chosen by eye.
const COMMANDS_BETWEEN_MOVES: u64 = 20;

/// Fills what keeps lines, such as the rows above the screen, so that it does not grow any more. Source: `ROWS_MAX` of
/// crates/fulmar-terminal/src/rows_above.rs, 16 384 rows.
const FILL: &str = "seq 40000\n";

const SIZE: WindowSize = WindowSize {
    rows: 24,
    columns: 80,
};

/// The time for which a client or a server is waited for. Chosen by eye.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program, and the home in which it lives.
pub(super) struct Place {
    pub(super) program: PathBuf,
    pub(super) home: PathBuf,
}

/// A session, and the terminal at which its user sits.
pub(super) struct Session {
    pub(super) habit: Habit,
    client: PtyProgram,
    server: Process,
    relay: Option<Relay>,
    /// The commands that were typed.
    typed: u64,
    next: Instant,
    is_leaving: bool,
}

impl Session {
    pub(super) fn start(place: &Place, habit: Habit) -> Result<Session> {
        let (server, relay, mut client) = if habit == Habit::Roaming {
            let (port, key, server) = place.server()?;
            let relay = Relay::to(port);
            let mut spawn = place.spawn(&["client", "127.0.0.1", &relay.port().to_string()]);
            spawn.env("MOSH_KEY", key);
            (server, Some(relay), PtyProgram::start(&spawn, SIZE)?)
        } else {
            let spawn = place.spawn(&["--local", "--name", habit.name(), "--", "sh", "-i"]);
            let client = PtyProgram::start(&spawn, SIZE)?;
            (place.server_of(habit.name())?, None, client)
        };
        if habit != Habit::Idle {
            client.type_keys(FILL);
        }
        Ok(Session {
            habit,
            client,
            server: Process::of(server).context("the server has ended")?,
            relay,
            typed: 0,
            next: Instant::now() + habit.pause(),
            is_leaving: false,
        })
    }

    /// Returns the process of the server.
    pub(super) fn server(&self) -> u32 {
        self.server.pid()
    }

    /// Returns the process of the client, if there is one that stays.
    pub(super) fn client(&self) -> Option<u32> {
        (self.habit != Habit::Attaching).then(|| self.client.pid())
    }

    /// Returns the terminal, to be waited for.
    pub(super) fn terminal(&self) -> &PtyProgram {
        &self.client
    }

    /// Returns the time of the user's next act.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Reads what the client draws, and does what the user does now.
    ///
    /// # Errors
    ///
    /// When the client has ended by itself.
    pub(super) fn turn(&mut self, place: &Place) -> Result<()> {
        self.client.transfer()?;
        let name = self.habit.name();
        if self.client.is_closed() {
            let status = self.client.wait()?;
            ensure!(
                self.is_leaving && status.success(),
                "the client of {name} has ended with {status}"
            );
            let spawn = place.spawn(&["attach", "--local", name]);
            self.client = PtyProgram::start(&spawn, SIZE)?;
            self.is_leaving = false;
            self.next = Instant::now() + self.habit.pause();
        }
        if Instant::now() < self.next {
            return Ok(());
        }
        self.next += self.habit.pause();
        match (self.habit, &self.relay) {
            (Habit::Idle, _) => return Ok(()),
            (Habit::Attaching, _) if self.is_leaving => {
                bail!("the client of {name} does not leave")
            }
            (_, Some(relay)) if self.typed.is_multiple_of(COMMANDS_BETWEEN_MOVES) => {
                relay.move_to(Ipv4Addr::LOCALHOST);
            }
            _ => {}
        }
        self.type_command();
        if self.habit == Habit::Flood {
            self.client.type_keys("seq 200000\n");
        }
        if self.habit == Habit::Attaching {
            self.client.type_keys("\x1ed");
            self.is_leaving = true;
            self.next = Instant::now() + PATIENCE;
        }
        Ok(())
    }

    /// Types a command that writes its number into a file and onto the screen.
    fn type_command(&mut self) {
        self.typed += 1;
        let (number, name) = (self.typed, self.habit.name());
        let command = format!("echo {number} >>{name}; echo said {number}\n");
        self.client.type_keys(command);
    }

    /// Lets the shell end, and checks that each command was run once and in order.
    ///
    /// # Errors
    ///
    /// When it does not end, or a command is missing, doubled or out of order.
    pub(super) fn end(mut self, place: &Place) -> Result<u64> {
        let name = self.habit.name();
        if self.is_leaving {
            let left = self.client.let_end(PATIENCE)?;
            ensure!(left, "the client of {name} does not leave");
            self.turn(place)?;
        }
        self.client.type_keys("exit\n");
        let ended = self.client.let_end(PATIENCE)?;
        ensure!(ended, "the session {name} does not end");
        let written = fs::read_to_string(place.home.join(name)).unwrap_or_default();
        let expected: String = (1..=self.typed)
            .map(|number| format!("{number}\n"))
            .collect();
        ensure!(
            written == expected,
            "of {} commands of {name}, {} were run, or not in order",
            self.typed,
            written.lines().count()
        );
        Ok(self.typed)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.server.kill();
    }
}

impl Place {
    fn variables(&self) -> Vec<(&'static str, OsString)> {
        vec![
            ("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME", self.home.clone().into()),
            ("LC_ALL", "C.UTF-8".into()),
            ("SHELL", "/bin/sh".into()),
            ("TERM", "xterm-256color".into()),
        ]
    }

    /// Our program with a terminal.
    fn spawn(&self, words: &[&str]) -> Spawn {
        let mut spawn = Spawn::new(&self.program);
        spawn.directory(&self.home);
        for (name, value) in self.variables() {
            spawn.env(name, value);
        }
        for word in words {
            spawn.arg(*word);
        }
        spawn
    }

    /// Our program without one.
    fn command(&self, program: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words).current_dir(&self.home).env_clear();
        command.envs(self.variables()).stdin(Stdio::null());
        command
    }

    /// Starts a server by itself, and returns its port, its key and its process.
    fn server(&self) -> Result<(u16, String, u32)> {
        // Under this name a server says which process it is.
        let name = self.home.join("mosh-server");
        std::os::unix::fs::symlink(&self.program, &name)?;
        let mut command = self.command(&name, &["new", "-p", "0", "-i", "127.0.0.1", "-c", "256"]);
        let output = command.args(["--", "sh", "-i"]).output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let told = String::from_utf8_lossy(&output.stderr);
        let connect = said
            .lines()
            .find_map(|line| line.strip_prefix("MOSH CONNECT "));
        let pid = told
            .split_once("detached, pid = ")
            .and_then(|(_, rest)| rest.split(']').next());
        let (port, key) = connect
            .and_then(|connect| connect.split_once(' '))
            .with_context(|| format!("the server says {said} {told}"))?;
        let pid = pid.context("the server does not say its process")?;
        Ok((port.parse()?, key.to_owned(), pid.parse()?))
    }

    /// Waits for the session of that name, and returns the process of its server.
    fn server_of(&self, name: &str) -> Result<u32> {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let output = self
                .command(&self.program, &["ls", "--local", "--json"])
                .output()?;
            let sessions: serde_json::Value = serde_json::from_slice(&output.stdout)?;
            let sessions = sessions.as_array().context("ls lists sessions")?;
            let found = sessions.iter().find(|session| session["name"] == name);
            if let Some(pid) = found.and_then(|session| session["pid"].as_u64()) {
                return Ok(u32::try_from(pid)?);
            }
        }
        bail!("there is no session {name}")
    }
}
