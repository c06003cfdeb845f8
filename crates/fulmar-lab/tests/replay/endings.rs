//! Nothing is left when a session ends, however it ends.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use fulmar_lab::experiment::{LabSetup, Work as _};
use fulmar_lab::outcome::Outcome;
use fulmar_lab::replay::{LIMITS, Replay};
use fulmar_lab::typing::{Limits, TypingLoop};

use crate::lab::{fulmar, has, is_refused, lab, recordings};
use crate::support::{DEADLINE, await_end, descendants, signal};
use fulmar_testbed::KilledChild;
use fulmar_testbed::peers::leave_out;

#[test]
fn nothing_stays_of_a_session_in_a_program_without_a_room() {
    if !has("ssh") {
        return;
    }
    let setup = LabSetup {
        fulmar: fulmar(),
        recordings: recordings(),
        ..LabSetup::default()
    };
    let mut replay = Replay::new("both delay 1ms", "own-cooked", TypingLoop::Open);
    replay.limits = Limits {
        keys: 3,
        pause_max: Some(Duration::from_millis(20)),
        ..LIMITS
    };
    // Beside the session runs what is no part of it any more, and names the recording.
    let peer = "staying=set -- {command}; exec {ssh} -e none -t {host} \
        \"setsid tail -f $5 </dev/null >/dev/null 2>&1 & exec {command}\"";
    let measured = match replay.measure(peer, 1, &setup) {
        Ok(measured) => measured,
        Err(error) => {
            let said = format!("{error:#}");
            assert!(is_refused(&format!("fulmar-lab: {said}")), "{said}");
            return leave_out(&said);
        }
    };
    let config = measured.commands[1]
        .split(' ')
        .next_back()
        .expect("it can be done");
    let folder = Path::new(config).parent().expect("it can be done");
    assert!(!folder.exists(), "{}", folder.display());
    let stayed: Vec<String> = commands()
        .filter(|command| command.contains(folder.to_str().expect("a plain path")))
        .collect();
    assert!(stayed.is_empty(), "{stayed:?}");
}

/// The command lines of all processes.
fn commands() -> impl Iterator<Item = String> {
    let processes = std::fs::read_dir("/proc").expect("there is /proc");
    let names = processes.filter_map(|process| Some(process.ok()?.path().join("cmdline")));
    let commands = names.filter_map(|name| std::fs::read(name).ok());
    commands.map(|command| String::from_utf8_lossy(&command).into_owned())
}

#[test]
fn a_kill_leaves_no_process_and_no_file() {
    if !has("ssh") {
        return;
    }
    let mut lab = lab("ssh", "both delay 1ms", "own-bash-plain");
    lab.args(["--typing", "closed"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut lab = KilledChild(lab.spawn().expect("it can be done"));
    let Some(inside) = typed_at(&mut lab) else {
        return;
    };
    let folder = folder_of(&inside);
    drop(lab);
    for process in inside {
        await_end(process);
    }
    assert!(!folder.exists(), "{}", folder.display());
}

#[test]
fn a_client_that_is_killed_ends_the_session_and_is_told() {
    if !has("ssh") {
        return;
    }
    let folder = tempfile::tempdir().expect("it can be done");
    let file = folder.path().join("outcome");
    let mut lab = lab("ssh", "both delay 1ms", "own-bash-plain");
    lab.args(["--typing", "closed", "--out"]).arg(&file);
    let mut lab = KilledChild(
        lab.stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it can be done"),
    );
    let Some(inside) = typed_at(&mut lab) else {
        return;
    };
    let client = inside
        .iter()
        .find(|process| name_of(**process) == "ssh")
        .expect("it runs");
    signal("KILL", (*client).into());
    assert!(lab.0.wait().expect("it can be done").success());
    let outcome: Outcome =
        serde_json::from_str(&std::fs::read_to_string(&file).expect("it can be done"))
            .expect("it can be done");
    assert_eq!(outcome.figures["why_over"].unit, "peer left");
    for process in inside {
        await_end(process);
    }
}

/// Waits until a key has reached the host, and returns all processes of the lab; `None` where there
/// can be no session.
#[track_caller]
fn typed_at(lab: &mut KilledChild) -> Option<Vec<u32>> {
    let start = Instant::now();
    while start.elapsed() < DEADLINE {
        let inside = descendants(lab.0.id());
        let played = inside.iter().find(|process| name_of(**process) == "lab");
        if played.is_some_and(|played| has_noted_a_key(*played)) {
            return Some(inside);
        }
        if lab.0.try_wait().expect("it can be done").is_some() {
            let mut said = String::new();
            let mut errors = lab.0.stderr.take().expect("it can be done");
            std::io::Read::read_to_string(&mut errors, &mut said).expect("it can be done");
            assert!(is_refused(&said), "{said}");
            leave_out(&said);
            return None;
        }
        std::thread::yield_now();
    }
    panic!("nobody has typed");
}

fn name_of(process: u32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    name.trim_end().to_owned()
}

/// Looks into the log of a played host, through that process's eyes.
fn has_noted_a_key(process: u32) -> bool {
    let root = PathBuf::from(format!("/proc/{process}/root"));
    let folder = folder_of(&[process]);
    let log = root
        .join(folder.strip_prefix("/").expect("it can be done"))
        .join("log");
    std::fs::read(log).is_ok_and(|log| log.windows(5).any(|word| word == b" USER"))
}

/// The folder of a session, which the command lines of its processes name.
fn folder_of(processes: &[u32]) -> PathBuf {
    let commands = processes.iter().map(|process| {
        let command = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).into_owned()
    });
    let words: Vec<String> = commands
        .flat_map(|command| command.split('\0').map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let file = words
        .iter()
        .find(|word| word.starts_with('/') && word.contains("/fulmar-lab-"));
    let file = file.map_or_else(|| PathBuf::from("/none/fulmar-lab"), PathBuf::from);
    file.parent().expect("a file is in a folder").to_owned()
}
