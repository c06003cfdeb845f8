//! Keys and what is typed lie where they have to and nowhere else: in no argument, environment, file or log, and in no memory
//! but that of the two ends. T-L1 and T-L2 of docs/threat-model.md §12.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::scene::{FAR, Plan, Scene, Starter, for_each_starter, is_daemon, leave};
use crate::key_memory::may_read_memory;
use crate::support::{Machine, Needles, Person, Terminal, mappings, mappings_if_it_runs};

for_each_starter! {
    of_a_session: fulmar;
    of_a_session_that_is_taken: fulmar;
    of_a_session_over_ssh: fulmar;
    of_a_copy: fulmar;
    to_another_user: fulmar;
}

/// A word that is typed where it is shown.
const SHOWN: &str = "mQ4xWt8ZrKp2LvYs";

/// A word that is typed where a password is asked for.
const HIDDEN: &str = "Jb7uGc3NdHf9EaTo";

/// The folders in which the programs of a machine can write.
const FOLDERS: [&str; 7] = [
    "/home", "/root", "/run", "/tmp", "/var/tmp", "/var/log", "/etc",
];

/// The flags of a user who wants to know all that can be known.
const TALKATIVE: [&str; 7] = [
    "-v",
    "--log=log",
    "--log-filter=trace",
    "--trace=trace",
    "--predict=always",
    "--name=work",
    "bob@far",
];

/// The question of a program that hides what is typed.
const ASK: &str = "stty -echo; printf 'Pass''word: '; read word; stty echo; echo; echo th''anks\n";

/// Types both words in a session.
#[track_caller]
fn type_words(terminal: &mut Terminal) {
    terminal.wait_for_prompt();
    terminal.type_keys(format!("clear; echo {SHOWN}\n"));
    terminal.wait_for_text(SHOWN);
    terminal.wait_for_prompt();
    terminal.type_keys(ASK);
    terminal.wait_for_text("Password:");
    terminal.type_keys(format!("{HIDDEN}\n"));
    terminal.wait_for_text("thanks");
    terminal.wait_for_prompt();
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    assert!(!shown.contains(HIDDEN), "{shown:?}");
}

/// Everything of the key of the session between the two machines, as bytes and as text, and the two processes that have it.
#[track_caller]
fn key(scene: &Scene) -> (Needles, Vec<u32>) {
    let mut needles = Needles::default();
    let mut holders = Vec::new();
    for machine in [&scene.near, &scene.far] {
        for (pid, line) in machine.processes() {
            let mappings = mappings_if_it_runs(pid).unwrap_or_default();
            let found = Needles::of_protected(&mappings);
            if found.len() > 0 {
                holders.push((pid, line));
                needles = needles.join(found);
                needles = needles.join(Needles::of_protected_in_text(&mappings));
            }
        }
    }
    assert_eq!(holders.len(), 2, "have a key: {holders:?}");
    (needles, holders.into_iter().map(|(pid, _)| pid).collect())
}

/// Expects that nothing of this is in an argument, an environment or a file of the two machines, nor in the memory of a
/// process, but for those that `may_have` it. What is in the protected pages of a process does not count.
#[track_caller]
fn expect_nowhere(scene: &Scene, needles: &Needles, may_have: impl Fn(u32, &str) -> bool) {
    for machine in [&scene.near, &scene.far] {
        for (pid, line) in machine.processes() {
            for name in ["cmdline", "environ"] {
                let bytes = fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
                assert_eq!(needles.first_in(&bytes), None, "in the {name} of {line}");
            }
            if !may_have(pid, &line) {
                let (_, elsewhere) = needles.find(&mappings_if_it_runs(pid).unwrap_or_default());
                assert_eq!(elsewhere, "", "in the memory of {line}");
            }
        }
        for folder in FOLDERS {
            expect_not_below(&machine.path(folder), needles);
        }
    }
}

/// Expects it of all files in a folder and below it.
#[track_caller]
fn expect_not_below(folder: &Path, needles: &Needles) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
        if kind.is_dir() {
            expect_not_below(&path, needles);
        } else if kind.is_file() {
            let bytes = fs::read(&path).expect("root may");
            assert_eq!(needles.first_in(&bytes), None, "in {}", path.display());
        }
    }
}

/// Expects that the logs were written, and that what is said there is none of this.
#[track_caller]
fn expect_clean_logs(scene: &Scene, needles: &Needles) {
    for name in ["log", "trace"] {
        let text = scene.near.read_home(Person::Alice, name);
        let text = text.expect("it was asked for");
        assert!(text.lines().count() > 5, "{name}: {text}");
        assert_eq!(needles.first_in(text.as_bytes()), None, "{name}: {text}");
    }
}

/// Both words.
fn words() -> Needles {
    Needles::of_text(SHOWN).join(Needles::of_text(HIDDEN))
}

/// Tells if a process is Bob's shell.
fn is_shell(line: &str) -> bool {
    line.starts_with("-sh")
}

/// Tells if a process is one of ours, on either machine.
fn is_ours(line: &str) -> bool {
    line.starts_with("fulmar") || line.starts_with("/usr/local/bin/fulmar")
}

/// Expects that neither the session's key nor what was typed is where it should not be, now and after the end.
#[track_caller]
fn expect_no_leak(scene: &Scene, terminal: &mut Terminal) {
    let (key, holders) = key(scene);
    expect_nowhere(scene, &key, |_, _| false);
    expect_nowhere(scene, &words(), |pid, line| {
        holders.contains(&pid) || is_shell(line)
    });
    expect_in_shell(scene);
    assert_eq!(leave(terminal).code(), Some(7));
    terminal.expect_restored();
    scene.expect_nothing_left();
    let all = key.join(words());
    expect_clean_logs(scene, &all);
    expect_nowhere(scene, &all, |_, _| false);
}

/// Expects that the shell has what it has asked for, so that whoever looks does find it.
#[track_caller]
fn expect_in_shell(scene: &Scene) {
    let processes = scene.far.processes().into_iter();
    let mut shells = processes.filter(|(_, line)| is_shell(line));
    let (shell, _) = shells.next().expect("Bob's shell runs");
    let (_, found) = Needles::of_text(HIDDEN).find(&mappings(shell));
    assert_ne!(found, "");
}

/// A session of a user who wants to know everything, in which both words were typed, and all that was needed to begin it has ended.
fn session(starter: Starter, more: &[&str]) -> Option<(Scene, Terminal)> {
    if !may_read_memory() {
        return None;
    }
    let scene = Scene::new(&Plan::default())?;
    let mut terminal = scene.start(starter, &[more, &TALKATIVE].concat())?;
    type_words(&mut terminal);
    Some((scene, terminal))
}

/// Waits until ssh has ended, and what it had started.
#[track_caller]
fn wait_for_end_of_login(scene: &Scene) {
    scene
        .near
        .wait_until_only(|line| line.starts_with("fulmar"));
    scene
        .far
        .wait_until_only(|line| is_daemon(line) || is_ours(line) || is_shell(line));
}

fn of_a_session(starter: Starter) {
    let Some((scene, mut terminal)) = session(starter, &[]) else {
        return;
    };
    wait_for_end_of_login(&scene);
    expect_no_leak(&scene, &mut terminal);
}

fn of_a_session_that_is_taken(starter: Starter) {
    let Some((scene, mut first)) = session(starter, &[]) else {
        return;
    };
    let (before, _) = key(&scene);
    first.type_keys("\x1ed");
    assert_eq!(first.wait_for_end().code(), Some(0));
    fs::remove_file(scene.near.path("/home/alice/trace")).expect("root may");
    let options = TALKATIVE.iter().filter(|word| **word != "--name=work");
    let attach: Vec<&str> = ["attach"].iter().chain(options).copied().collect();
    let mut second = scene.start(starter, &attach).expect("ours is there");
    type_words(&mut second);
    wait_for_end_of_login(&scene);
    expect_nowhere(&scene, &before, |_, _| false);
    expect_no_leak(&scene, &mut second);
}

fn of_a_session_over_ssh(starter: Starter) {
    let Some((scene, mut terminal)) = session(starter, &["--transport=ssh"]) else {
        return;
    };
    expect_no_leak(&scene, &mut terminal);
}

/// The line of a copy's server with its secret, which a forced command has kept for the test.
const SAID: &str = "/home/bob/said";

fn of_a_copy(starter: Starter) {
    if !may_read_memory() {
        return;
    }
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    scene.authorize(&format!("command=\"fulmar copy-server | tee {SAID}\""));
    // What takes some time to be copied, so that both ends can be looked at.
    let file = scene.near.path("/home/alice/file");
    let target = format!("bob@{FAR}:");
    fs::write(&file, vec![b'.'; 40_000_000]).expect("root may");
    let words = [
        "cp",
        "-v",
        "--log=log",
        "--log-filter=trace",
        "-l",
        "4MB",
        "file",
        &target,
    ];
    let mut terminal = scene.start(starter, &words).expect("ours is there");
    terminal.wait_for_text(" %  ");
    let said = fs::read_to_string(scene.far.path(SAID)).expect("tee has written it");
    let secret = said.trim_end().rsplit(' ').next().expect("a word");
    assert!(secret.len() >= 40, "{said:?}");
    let secret = Needles::of_text(secret);
    fs::remove_file(scene.far.path(SAID)).expect("root may");
    // The text of the secret was in the buffers of those that have read it, ssh's and tee's among them.
    expect_nowhere(&scene, &secret, |_, line| !is_ours(line));
    assert_eq!(terminal.wait_for_end().code(), Some(0));
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    assert_eq!(secret.first_in(shown.as_bytes()), None, "{shown:?}");
    let log = scene.near.read_home(Person::Alice, "log").expect("a log");
    assert!(log.lines().count() > 5, "{log}");
    scene.expect_nothing_left();
    expect_nowhere(&scene, &secret, |_, _| false);
}

/// Somebody on a machine who looks at a process with a script, which ends with 0 if it could.
fn can(machine: &Machine, person: Person, script: &str) -> bool {
    let mut command: Command = machine.command(person, "sh");
    command.args(["-c", script]);
    let output = machine.inside(|| command.output().expect("sh starts"));
    output.status.success()
}

/// Returns the number that a process has on its machine.
fn number_there(pid: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    let number = numbers.and_then(|numbers| numbers.split_whitespace().last());
    number.expect("Linux lists them").to_owned()
}

fn to_another_user(starter: Starter) {
    let Some((scene, mut terminal)) = session(starter, &[]) else {
        return;
    };
    for (machine, owner, stranger) in [
        (&scene.near, Person::Alice, Person::Bob),
        (&scene.far, Person::Bob, Person::Alice),
    ] {
        let ours = machine.processes().into_iter();
        let ours = ours.filter(|(_, line)| is_ours(line));
        let ours: Vec<u32> = ours.map(|(pid, _)| pid).collect();
        assert!(!ours.is_empty(), "on {}", machine.name());
        // Of what may be dumped, its owner can.
        assert!(can(machine, owner, ": </proc/$$/mem"));
        for pid in ours.into_iter().map(number_there) {
            assert!(can(machine, owner, &format!("kill -0 {pid}")), "{pid}");
            assert!(!can(machine, stranger, &format!("kill -0 {pid}")), "{pid}");
            // Not even its owner can read what would be dumped: another program of the same user.
            for name in ["mem", "environ", "maps"] {
                let read = format!(": </proc/{pid}/{name}");
                assert!(!can(machine, stranger, &read), "{name} of {pid}");
                assert!(!can(machine, owner, &read), "{name} of {pid}");
            }
        }
    }
    assert_eq!(leave(&mut terminal).code(), Some(7));
    scene.expect_nothing_left();
}
