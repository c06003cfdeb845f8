//! The surroundings of the programs of one test: a home of their own, and an environment that does not depend
//! on the machine's.

use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fulmar_platform::Spawn;
use tempfile::TempDir;

use super::PROMPT;

/// The folders of programs, ahead of those of the caller's `PATH`: a wrapper that a developer has there may
/// need his home.
const FOLDERS: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// The time for which a server stays without its client: longer than any test waits.
pub(crate) const SERVER_STAYS_SECONDS: &str = "120";

/// A home, which is removed at the end of the test.
pub(crate) struct World {
    home: TempDir,
    environment: Vec<(OsString, OsString)>,
}

impl World {
    /// Makes an empty home that holds nothing but our program under stock's names, in `ours`.
    pub(crate) fn new() -> Self {
        let home = TempDir::with_prefix("fulmar-test-").expect("a folder");
        let ours = home.path().join("ours");
        std::fs::create_dir(&ours).expect("a folder");
        for name in ["fulmar", "mosh", "mosh-server", "mosh-client"] {
            symlink(env!("CARGO_BIN_EXE_fulmar"), ours.join(name)).expect("a link");
        }
        let caller = std::env::var("PATH").unwrap_or_default();
        let environment = [
            ("PATH", format!("{FOLDERS}:{caller}")),
            ("HOME", home.path().display().to_string()),
            ("LC_ALL", "C.UTF-8".to_owned()),
            ("SHELL", "/bin/sh".to_owned()),
            ("PS1", PROMPT.to_owned()),
            ("TERM", "xterm-256color".to_owned()),
            // What a server of either make tells its programs; in a plain terminal they are to
            // draw lines the same way.
            ("NCURSES_NO_UTF8_ACS", "1".to_owned()),
            // A server whose test has failed is not to stay: nobody knows its number.
            ("MOSH_SERVER_NETWORK_TMOUT", SERVER_STAYS_SECONDS.to_owned()),
            // A user who asks stock for guesses gets a screen that is not the server's.
            ("MOSH_PREDICTION_DISPLAY", "never".to_owned()),
        ];
        let environment = environment.map(|(name, value)| (name.into(), value.into()));
        Self {
            home,
            environment: environment.into(),
        }
    }

    /// Adds a variable to the environment of everything started from here on.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.unset(name);
        self.environment.push((name.into(), value.into()));
    }

    /// Takes a variable from the environment of everything started from here on.
    pub(crate) fn unset(&mut self, name: &str) {
        self.environment.retain(|(known, _)| known != name);
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Our program under one of the names `fulmar`, `mosh`, `mosh-server` and `mosh-client`.
    pub(crate) fn ours(&self, name: &str) -> PathBuf {
        self.home.path().join("ours").join(name)
    }

    /// Writes a file in the home and returns its path.
    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.home.path().join(name);
        std::fs::write(&path, contents).expect("a file can be written");
        path
    }

    /// A program for a terminal, started in the home.
    pub(crate) fn spawn(&self, program: impl Into<OsString>) -> Spawn {
        let mut spawn = Spawn::new(program);
        spawn.directory(self.home());
        for (name, value) in &self.environment {
            spawn.env(name, value);
        }
        spawn
    }

    /// A program without terminal, started in the home, in a process group of its own.
    ///
    /// Signals do what they do by default, even where whoever started the tests ignores some, as `nohup` and the
    /// background of a script do: stock's server hands what is ignored on to its shell, which no Ctrl-C ends then.
    pub(crate) fn command(&self, program: impl Into<OsString>) -> Command {
        use std::os::unix::process::CommandExt as _;
        let mut command = Command::new("/usr/bin/env");
        command.arg("--default-signal").arg(program.into());
        command.env_clear().current_dir(self.home());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.process_group(0).stdin(Stdio::null());
        command
    }
}
