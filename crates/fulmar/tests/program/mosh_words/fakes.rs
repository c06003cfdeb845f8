//! Programs in place of ssh, client and server, and what they have written down.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Make, World, write_program};

/// A key, and the lines with which a session begins.
pub(super) const KEY: &str = "c68K8iLyuCr1oEM7Hszyjg";
pub(super) const SESSION: &str = "MOSH IP 192.0.2.7\nMOSH CONNECT 60001 c68K8iLyuCr1oEM7Hszyjg\n";

/// The status of the client that is none.
const CLIENT_STATUS: i32 = 7;

/// Writes down everything it is given, and says what the test wants.
const FAKE: &str = r#"#!/bin/sh
here=${0%/*} name=${0##*/}
case "$name $1" in "mosh-client -c") cat "$here/colors"; exit;; esac
printf '%s\0' "$@" > "$here/$name.words"
env -0 > "$here/$name.environment"
pwd > "$here/$name.folder"
readlink /proc/$$/fd/0 > "$here/$name.input"
case $name in
    mosh-client) exit 7;;
    *) cat "$here/said"; cat "$here/said-on-stderr" >&2; exit "$(cat "$here/status")";;
esac
"#;

/// A command line, and what surrounds it. The client is named in every one: `--client=mosh-client`
/// comes before `words`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case<'a> {
    pub(super) words: &'a [&'a str],
    /// The output of ssh or the server.
    pub(super) said: &'a str,
    /// Its output on standard error.
    pub(super) said_on_stderr: &'a str,
    /// The status with which ssh or the server leaves.
    pub(super) status: i32,
    /// The client's answer about its colours.
    pub(super) colors: &'a str,
    /// Variables besides `PATH`, `HOME` and `TERM`.
    pub(super) variables: &'a [(&'a str, &'a str)],
}

impl Default for Case<'_> {
    fn default() -> Self {
        Self {
            words: &[],
            said: SESSION,
            said_on_stderr: "",
            status: 0,
            colors: "256\n",
            variables: &[("LANG", "C.UTF-8")],
        }
    }
}

/// A program that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) words: Vec<String>,
    pub(super) variables: BTreeMap<String, String>,
    pub(super) folder: String,
    pub(super) input: String,
}

/// The outcome of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) status: Status,
    pub(super) printed: String,
    /// Something came on standard error.
    pub(super) complained: bool,
    pub(super) ssh: Option<Run>,
    pub(super) server: Option<Run>,
    pub(super) client: Option<Run>,
}

/// The way in which the starter left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Success,
    Client,
    Failure,
}

/// Does what a case says with the starter of one make; `None` if the calling test is to return.
#[track_caller]
pub(super) fn outcome(make: Make, case: &Case<'_>) -> Option<Outcome> {
    let world = World::new();
    let starter = make.program(&world, "mosh")?;
    let folder = fakes(&world, case);
    let mut command = world.command(starter);
    command
        .env_clear()
        .env("HOME", world.home())
        .env("TERM", "xterm-256color");
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", folder.display()));
    // Perl would complain of locales, which is not what is compared.
    command.env("PERL_BADLANG", "0");
    command.envs(case.variables.iter().copied());
    command.arg("--client=mosh-client").args(case.words);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the starter starts");
    let pid = child.id().to_string();
    let output = child.wait_with_output().expect("the starter ends");
    let record = |name| Run::of(&folder, name, world.home(), &pid);
    let outcome = Outcome {
        status: match output.status.code() {
            Some(0) => Status::Success,
            Some(CLIENT_STATUS) => Status::Client,
            _ => Status::Failure,
        },
        printed: String::from_utf8_lossy(&output.stdout).into_owned(),
        complained: !output.stderr.is_empty(),
        ssh: record("ssh"),
        server: record("mosh-server"),
        client: record("mosh-client"),
    };
    Some(outcome)
}

fn fakes(world: &World, case: &Case<'_>) -> PathBuf {
    let folder = world.home().join("fakes");
    std::fs::create_dir(&folder).expect("a folder");
    let fake = folder.join("fake");
    write_program(&fake, FAKE);
    for name in ["ssh", "mosh-client", "mosh-server"] {
        symlink(&fake, folder.join(name)).expect("a link");
    }
    world.write("fakes/said", case.said);
    world.write("fakes/said-on-stderr", case.said_on_stderr);
    world.write("fakes/status", case.status.to_string());
    world.write("fakes/colors", case.colors);
    folder
}

impl Run {
    /// Reads what a program has written down; `None` if it was not started. What differs between
    /// any two runs gets a name: the home, our process number, our own program.
    fn of(folder: &Path, name: &str, home: &Path, pid: &str) -> Option<Run> {
        let read = |what: &str| {
            let bytes = std::fs::read(folder.join(format!("{name}.{what}"))).ok()?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Some(text.replace(&*home.to_string_lossy(), "<home>"))
        };
        let list = |text: String| -> Vec<String> {
            text.split_terminator('\0').map(str::to_owned).collect()
        };
        let variables = list(read("environment")?)
            .into_iter()
            .filter_map(|variable| {
                let (name, value) = variable.split_once('=')?;
                let value = match name {
                    // The shell of the fake sets them.
                    "PWD" | "OLDPWD" | "SHLVL" | "_" => return None,
                    "MOSH_CLIENT_PID" if value == pid => "<starter>",
                    _ => value,
                };
                Some((name.to_owned(), value.to_owned()))
            });
        Some(Run {
            variables: variables.collect(),
            words: list(read("words")?).into_iter().map(named).collect(),
            folder: read("folder")?,
            input: read("input")?,
        })
    }
}

/// Puts names for what is not the same word by word.
fn named(word: String) -> String {
    // Each starter is its own proxy.
    if let Some(proxy) = word.strip_prefix("ProxyCommand=")
        && let Some((_, options)) = proxy.split_once(" '--family")
    {
        return format!("ProxyCommand=<starter> '--family{options}");
    }
    // How the remote side is asked for its address is each one's own.
    if let Some((ask, server)) = word.split_once(" ; mosh-server ") {
        return format!("<asks: {:?}> ; mosh-server {server}", answers(ask));
    }
    word
}

/// Returns the output of a shell command with ssh around it, and without.
fn answers(ask: &str) -> [String; 2] {
    [Some("192.0.2.1 7 192.0.2.2 22"), None].map(|connection| {
        let mut command = Command::new("sh");
        command.arg("-c").arg(ask).env_remove("SSH_CONNECTION");
        command.envs(connection.map(|connection| ("SSH_CONNECTION", connection)));
        let output = command.output().expect("there is a shell");
        String::from_utf8_lossy(&output.stdout).into_owned()
    })
}

/// Asserts that both starters do the same; returns what they do, or `None` if the calling test is to
/// return.
#[track_caller]
pub(super) fn same(case: &Case<'_>) -> Option<Outcome> {
    let stock = outcome(Make::Stock, case)?;
    let ours = outcome(Make::Ours, case)?;
    assert_eq!(ours, stock, "ours (left) and stock's (right) for {case:#?}");
    Some(ours)
}

/// Does what a case says with both starters. Returns ours and stock's, or `None` if the calling test
/// is to return.
#[track_caller]
pub(super) fn both(case: &Case<'_>) -> Option<[Outcome; 2]> {
    let stock = outcome(Make::Stock, case)?;
    Some([outcome(Make::Ours, case)?, stock])
}

#[test]
fn what_a_program_is_given_is_written_down() {
    let case = Case {
        words: &["-4", "ada@host", "--", "it's"],
        variables: &[("LANG", "C.UTF-8"), ("SHELL", "/bin/zsh")],
        ..Case::default()
    };
    let Some(outcome) = same(&case) else { return };
    let ssh = outcome.ssh.expect("ssh was started");
    let wanted = [
        "-n",
        "-tt",
        "-S",
        "none",
        "-o",
        "ProxyCommand=<starter> '--family=inet' --fake-proxy -- %h %p",
        "ada@host",
        "--",
        "mosh-server 'new' '-c' '256' '-s' '-l' 'LANG=C.UTF-8' '--' 'it'\\''s'",
    ];
    assert_eq!(ssh.words, wanted);
    assert_eq!(ssh.variables["SHELL"], "/bin/sh");
    assert_eq!(ssh.variables["MOSH_CLIENT_PID"], "<starter>");
    let client = outcome.client.expect("the client was started");
    let label = "-# --client=mosh-client -4 ada@host -- it's |";
    assert_eq!(client.words, [label, "192.0.2.7", "60001"]);
    assert_eq!(client.variables["MOSH_KEY"], KEY);
    assert_eq!(client.variables["MOSH_PREDICTION_DISPLAY"], "adaptive");
    assert_eq!(client.variables["SHELL"], "/bin/zsh");
    assert_eq!(
        (client.folder.as_str(), client.input.as_str()),
        ("<home>\n", "/dev/null\n")
    );
    assert_eq!(outcome.status, Status::Client);
    assert!(!outcome.complained && outcome.printed.is_empty() && outcome.server.is_none());
}
