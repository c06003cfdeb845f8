//! The user's program: which one it is, and what it finds around itself.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

use fulmar_login::{TERMINAL_VARIABLE, TerminalColors};
use fulmar_platform::{CoreLimit, Spawn, User};
use fulmar_settings::Environment;

/// The shell where neither environment nor password database names one.
const SHELL: &str = "/bin/sh";

/// Variables of ours that are no business of the program's. What steers stock's server (as
/// `MOSH_SERVER_NETWORK_TMOUT`) stays, as with stock.
const OURS: [&str; 3] = ["MOSH_KEY", "FULMAR_LOG", TERMINAL_VARIABLE];

/// A program to be started on a terminal: docs/protocol.md §2.6.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shell {
    program: OsString,
    /// The name that the program is given, if not its own: with a dash in front a shell knows that it is a
    /// login shell.
    argv0: Option<OsString>,
    arguments: Vec<OsString>,
    environment: Environment,
    home: Option<PathBuf>,
}

impl Shell {
    /// Returns what to start: the words of `command`, or the user's login shell.
    pub(crate) fn new(
        command: &[OsString],
        mut environment: Environment,
        user: Option<&User>,
        colors: TerminalColors,
    ) -> Shell {
        let home = environment
            .get_filled("HOME")
            .map(PathBuf::from)
            .or_else(|| user.map(|user| user.home.clone()));
        let (program, argv0, arguments) = match command {
            [program, arguments @ ..] => (program.clone(), None, arguments.to_vec()),
            [] => {
                let shell = login_shell(&environment, user);
                let argv0 = login_name(&shell);
                (shell, Some(argv0), Vec::new())
            }
        };
        // Of a server that was started inside of GNU Screen the session is not inside
        // (docs/protocol.md §2.6).
        for name in OURS.iter().chain(&["STY"]) {
            environment.remove(name);
        }
        environment.set("TERM", colors.term());
        if let Some(name) = colors.colorterm() {
            environment.set("COLORTERM", name);
        }
        // ncurses then draws lines with Unicode's characters, not with the alternate character set
        // of the terminal.
        environment.set("NCURSES_NO_UTF8_ACS", "1");
        if let Some(home) = &home {
            environment.set("PWD", home);
        }
        Shell {
            program,
            argv0,
            arguments,
            environment,
            home,
        }
    }

    /// Tells if it is the user's login shell, and not a program that was asked for.
    pub(crate) fn is_login(&self) -> bool {
        self.argv0.is_some()
    }

    /// Returns the program, as it was named.
    pub(crate) fn program(&self) -> &OsStr {
        &self.program
    }

    /// Returns the directory that it starts in.
    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Returns why the program cannot be run, if that can be told early. One of which nothing is told may still fail.
    pub(crate) fn obstacle(&self) -> Option<Obstacle> {
        let program = Path::new(&self.program);
        if self.program.as_encoded_bytes().contains(&b'/') {
            let from = self.home.as_deref().unwrap_or(Path::new("/"));
            return obstacle(&from.join(program));
        }
        let path = self.environment.get("PATH").unwrap_or_default();
        let is_found =
            std::env::split_paths(path).any(|folder| obstacle(&folder.join(program)).is_none());
        (!is_found).then_some(Obstacle::Missing)
    }

    /// Returns the order to start it, in its home unless `directory` is another.
    pub(crate) fn spawn(&self, directory: Option<&Path>, core_limit: CoreLimit) -> Spawn {
        let mut spawn = Spawn::new(&self.program);
        if let Some(name) = &self.argv0 {
            spawn.argv0(name);
        }
        for argument in &self.arguments {
            spawn.arg(argument);
        }
        for (name, value) in self.environment.iter() {
            spawn.env(name, value);
        }
        if let Some(directory) = directory {
            spawn.directory(directory);
        }
        spawn.core_limit(core_limit);
        spawn
    }
}

fn login_shell(environment: &Environment, user: Option<&User>) -> OsString {
    let named = match environment.get("SHELL") {
        Some(shell) => shell.to_owned(),
        None => user
            .map(|user| user.shell.clone().into_os_string())
            .unwrap_or_default(),
    };
    if named.is_empty() {
        SHELL.into()
    } else {
        named
    }
}

fn login_name(shell: &OsStr) -> OsString {
    let mut name = OsString::from("-");
    name.push(Path::new(shell).file_name().unwrap_or(shell));
    name
}

/// The reason why a program cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// There is no such file.
    Missing,
    /// It is a folder.
    Folder,
    /// Nobody may run the file.
    NotExecutable,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Obstacle::Missing => "there is no such program here",
            Obstacle::Folder => "it is a folder",
            Obstacle::NotExecutable => "it is a file that nobody may run",
        })
    }
}

fn obstacle(file: &Path) -> Option<Obstacle> {
    use std::os::unix::fs::PermissionsExt as _;
    match file.metadata() {
        Err(_) => Some(Obstacle::Missing),
        Ok(meta) if meta.is_dir() => Some(Obstacle::Folder),
        Ok(meta) if !meta.is_file() || meta.permissions().mode() & 0o111 == 0 => {
            Some(Obstacle::NotExecutable)
        }
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user() -> User {
        User {
            name: "ada".to_owned(),
            home: "/home/ada".into(),
            shell: "/bin/zsh".into(),
        }
    }

    fn shell(variables: &[(&str, &str)], command: &[&str]) -> Shell {
        let command: Vec<OsString> = command.iter().map(OsString::from).collect();
        let environment = variables.iter().copied().collect();
        Shell::new(
            &command,
            environment,
            Some(&user()),
            TerminalColors::Palette,
        )
    }

    #[test]
    fn without_a_command_the_users_shell_is_a_login_shell() {
        for (variables, program, argv0) in [
            (&[("SHELL", "/bin/bash")] as &[_], "/bin/bash", "-bash"),
            (&[("SHELL", "fish")], "fish", "-fish"),
            (&[("SHELL", "")], "/bin/sh", "-sh"),
            (&[], "/bin/zsh", "-zsh"),
        ] {
            let shell = shell(variables, &[]);
            assert_eq!(shell.program, program, "{variables:?}");
            assert_eq!(shell.argv0.as_deref(), Some(OsStr::new(argv0)));
            assert!(shell.is_login());
        }
    }

    #[test]
    fn a_command_is_taken_as_it_is() {
        let shell = shell(&[("SHELL", "/bin/bash")], &["vim", "-b", "a"]);
        assert_eq!(shell.program, "vim");
        assert_eq!(shell.arguments, ["-b", "a"]);
        assert!(!shell.is_login());
    }

    #[test]
    fn the_environment_is_the_servers_with_a_terminals_variables() {
        let shell = shell(
            &[
                ("STY", "1"),
                ("MOSH_KEY", "secret"),
                ("TERM", "dumb"),
                ("A", "b"),
                ("PWD", "/"),
            ],
            &["x"],
        );
        let wanted = [
            ("TERM", "xterm-256color"),
            ("A", "b"),
            ("PWD", "/home/ada"),
            ("NCURSES_NO_UTF8_ACS", "1"),
        ];
        assert_eq!(shell.environment, Environment::from_iter(wanted));
    }

    #[test]
    fn home_is_where_the_environment_says() {
        assert_eq!(
            shell(&[("HOME", "/tmp/h")], &[]).home(),
            Some(Path::new("/tmp/h"))
        );
        let fallback = Some(Path::new("/home/ada"));
        assert_eq!(shell(&[("HOME", "")], &[]).home(), fallback);
        assert_eq!(shell(&[], &[]).home(), fallback);
    }

    #[test]
    fn a_program_is_looked_for_along_the_path() {
        for (program, expected) in [
            ("sh", None),
            ("/bin/sh", None),
            ("no-such-program", Some(Obstacle::Missing)),
            ("/bin/no-such-program", Some(Obstacle::Missing)),
            ("", Some(Obstacle::Missing)),
            ("/", Some(Obstacle::Folder)),
            ("/etc", Some(Obstacle::Folder)),
            ("/etc/passwd", Some(Obstacle::NotExecutable)),
            ("/dev/null", Some(Obstacle::NotExecutable)),
        ] {
            let shell = shell(&[("PATH", "/nowhere:/bin")], &[program]);
            assert_eq!(shell.obstacle(), expected, "{program}");
        }
    }
}
