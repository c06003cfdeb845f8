//! Sessions of real peers over emulated links, typed and judged.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fulmar_lab::experiment::{Surroundings, Work as _};
use fulmar_lab::judge::{Run, Truth};
use fulmar_lab::outcome::Outcome;
use fulmar_lab::peer::find;
use fulmar_lab::replay::{LIMITS, Replay};
use fulmar_lab::stats::Observation;
use fulmar_lab::trace::Trace;
use fulmar_lab::typing::{Limits, Loop};
use support::{DEADLINE, Killed, await_end, descendants, leave_out};

fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/keys")
}

/// Our program, which is built beside the lab.
fn fulmar() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_fulmar-lab")).with_file_name("fulmar")
}

/// True where a peer can be tried here; otherwise the calling test is left out.
#[track_caller]
fn has(peer: &str) -> bool {
    let mut needed = vec!["sshd", "ssh", "ssh-keygen", "unshare"];
    if peer.starts_with("mosh") {
        needed.extend(["mosh", "mosh-client", "mosh-server"]);
    }
    for program in needed {
        if find(program).is_none() {
            leave_out(&format!("{program} is not installed"));
            return false;
        }
    }
    if peer.starts_with("fulmar") && !fulmar().is_file() {
        leave_out("fulmar is not built beside fulmar-lab");
        return false;
    }
    true
}

fn lab(peer: &str, scenario: &str, recording: &str) -> Command {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_fulmar-lab"));
    lab.args([
        "replay",
        "--peer",
        peer,
        "--scenario",
        scenario,
        "--recording",
        recording,
    ]);
    lab.arg("--recordings").arg(recordings());
    lab
}

/// Plays the beginning of a recording without its long pauses; `None` if that cannot be here.
#[track_caller]
fn played(peer: &str, scenario: &str, recording: &str, typing: &str) -> Option<Outcome> {
    outcome(
        peer,
        lab(peer, scenario, recording).args(["--typing", typing]),
    )
}

/// Runs the program for the beginning of its recording.
#[track_caller]
fn outcome(peer: &str, lab: &mut Command) -> Option<Outcome> {
    if !has(peer) {
        return None;
    }
    let folder = tempfile::tempdir().expect("it can be done");
    let file = folder.path().join("outcome");
    lab.args(["--keys", "25", "--pause-max", "40", "--out"]);
    let output = lab.arg(&file).output().expect("the program can be run");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if is_refused(&said) {
        leave_out(&said);
        return None;
    }
    assert!(output.status.success(), "{said}");
    let outcome = std::fs::read_to_string(&file).expect("an outcome");
    Some(serde_json::from_str(&outcome).expect("an outcome"))
}

/// True where this machine does not permit links, or no sshd.
fn is_refused(said: &str) -> bool {
    said.starts_with("fulmar-lab: making") || said.contains("sshd cannot be had")
}

fn figure(outcome: &Outcome, name: &str) -> f64 {
    let figure = outcome.figures.get(name);
    figure
        .unwrap_or_else(|| panic!("no {name} in {:?}", outcome.figures))
        .value
}

/// Whatever carried it, a session has all this.
#[track_caller]
fn expect_whole(outcome: &Outcome) {
    let verdict = outcome.verdict.as_ref().expect("somebody typed");
    assert_eq!(verdict.keys.len(), 25);
    assert!(verdict.is_settled && verdict.is_stamped, "{verdict:?}");
    assert_eq!(verdict.differences_at_end, 0);
    let delivery = verdict.delivery;
    assert!(
        delivery.is_faithful() && delivery.received == 25,
        "{delivery:?}"
    );
    assert!(verdict.own().iter().all(|own| !own.is_censored()));
    for name in [
        "bytes_up",
        "bytes_down",
        "client_cpu",
        "server_cpu",
        "to_prompt",
    ] {
        assert!(figure(outcome, name) > 0.0, "{name}");
    }
    for name in ["packets_up", "packets_down"] {
        // Keys may share packets, but not all of them.
        assert!((3.0..2500.0).contains(&figure(outcome, name)), "{name}");
    }
    for name in ["client_memory", "server_memory"] {
        // No program is smaller, and none of these larger.
        assert!((1e6..1e9).contains(&figure(outcome, name)), "{name}");
    }
    assert_eq!(figure(outcome, "given_up"), 0.0);
    assert_eq!(outcome.figures["why_over"].unit, "limit reached");
}

/// The least time that somebody waited for the whole screen.
fn least(outcome: &Outcome) -> Duration {
    let whole = outcome.verdict.as_ref().expect("somebody typed").whole();
    whole
        .iter()
        .map(|whole| whole.waited())
        .min()
        .expect("keys with an effect")
}

#[test]
fn ssh_shows_nothing_before_a_round_trip() {
    let scenario = "both delay 20ms";
    let Some(outcome) = played("ssh", scenario, "own-bash-plain", "closed") else {
        return;
    };
    expect_whole(&outcome);
    assert!(
        least(&outcome) >= Duration::from_millis(40),
        "{:?}",
        least(&outcome)
    );
    let acks = figure(&outcome, "acks_on_data");
    assert!((0.3..=1.0).contains(&acks), "{acks}");
    assert_eq!(
        figure(&outcome, "lost_up") + figure(&outcome, "lost_down"),
        0.0
    );
    let commands = &outcome.facts.commands;
    assert!(commands[2].contains("TCP"), "{commands:?}");
}

#[test]
fn mosh_plays_a_recording_over_a_link_that_loses() {
    let scenario = "both loss 20%, delay 5ms";
    let Some(outcome) = played("mosh-n", scenario, "own-cooked", "open") else {
        return;
    };
    expect_whole(&outcome);
    assert!(least(&outcome) >= Duration::from_millis(10));
    let lost = outcome.series["lost_up"].len() + outcome.series["lost_down"].len();
    let counted = figure(&outcome, "lost_up") + figure(&outcome, "lost_down");
    assert!(lost > 0 && lost as f64 <= counted, "{lost} of {counted}");
}

#[test]
fn a_guess_is_faster_than_the_link_and_whole_only_after_it() {
    let scenario = "both delay 50ms";
    let Some(outcome) = played("mosh-a", scenario, "own-bash-plain", "closed") else {
        return;
    };
    expect_whole(&outcome);
    let own = outcome.verdict.as_ref().expect("somebody typed").own();
    let guessed = |own: &&Observation| own.waited() < Duration::from_millis(100);
    assert!(own.iter().filter(guessed).count() > 5, "{own:?}");
    assert!(least(&outcome) >= Duration::from_millis(100));
}

#[test]
fn fulmar_plays_a_recording() {
    let scenario = "both delay 20ms";
    let Some(outcome) = played("fulmar", scenario, "own-bash-plain", "open") else {
        return;
    };
    expect_whole(&outcome);
    assert!(least(&outcome) >= Duration::from_millis(40));
    assert!(!outcome.figures.contains_key("acks_on_data"));
}

#[test]
fn a_download_fills_the_queue_in_front_of_a_session() {
    let scenario = "both rate 5mbit queue 24p, delay 5ms";
    let mut lab = lab("ssh", scenario, "own-cooked");
    let Some(outcome) = outcome("ssh", lab.args(["--typing", "closed", "--download"])) else {
        return;
    };
    let verdict = outcome.verdict.as_ref().expect("somebody typed");
    assert!(verdict.is_settled && verdict.delivery.is_faithful());
    let depth = outcome.series["queue_down"].iter().map(|(_, depth)| *depth);
    // A session alone never has as many packets on the way.
    let deepest = depth.fold(0.0, f64::max);
    assert!((8.0..=25.0).contains(&deepest), "{deepest}");
    // Whose bytes they are is not known.
    assert!(!outcome.figures.contains_key("bytes_down"));
}

#[test]
fn a_template_is_a_peer_and_changes_come_when_somebody_types() {
    let peer = "quiet={ssh} -q -e none -t {host} {command}";
    let scenario = "both delay 1ms; at 0s both delay 100ms";
    let Some(outcome) = played(peer, scenario, "own-cooked", "open") else {
        return;
    };
    expect_whole(&outcome);
    assert_eq!(outcome.run.peer, "quiet");
    assert!(least(&outcome) >= Duration::from_millis(200));
    assert!(outcome.facts.scenario.ends_with("at 0s both delay 100ms"));
}

#[test]
fn both_sides_can_be_kept_and_judged_again() {
    let sides = tempfile::tempdir().expect("a folder");
    let mut lab_line = lab("ssh", "both delay 1ms", "own-tui-fakecursor");
    lab_line
        .args(["--typing", "open", "--keep"])
        .arg(sides.path());
    let Some(outcome) = outcome("ssh", &mut lab_line) else {
        return;
    };
    expect_whole(&outcome);
    let verdict = outcome.verdict.as_ref().expect("somebody typed");
    // Blanks among them, which move the cursor that the program draws.
    assert_eq!(verdict.own().len(), 25);
    let read = |side: &str| Trace::read(&sides.path().join(side)).expect("a side");
    let recording = Trace::read(&recordings().join("own-tui-fakecursor")).expect("ours");
    let again = Run {
        truth: &Truth::of(&recording),
        user_side: &read("user-side"),
        host_side: &read("host-side"),
        transit: Duration::ZERO,
    };
    let again = again.judge().expect("a run");
    // The file has microseconds.
    assert_eq!(again.keys.len(), verdict.keys.len());
    assert_eq!(again.delivery, verdict.delivery);
}

#[test]
fn what_makes_no_session_is_said() {
    for (peer, scenario, recording, expected) in [
        ("mush", "", "own-cooked", "there is no peer “mush”"),
        ("x={ssh} {host}", "", "own-cooked", "{command} is missing"),
        (
            "x={ssh} {here} {command}",
            "",
            "own-cooked",
            "“here” is not known",
        ),
        ("ssh", "both loss 1", "own-cooked", "is not a share"),
        ("ssh", "", "no-such", "there is no recording no-such"),
    ] {
        let mut lab = lab(peer, scenario, recording);
        let output = lab
            .args(["--typing", "open"])
            .output()
            .expect("it can be done");
        let said = String::from_utf8_lossy(&output.stderr);
        if is_refused(&said) {
            return leave_out(&said);
        }
        assert_eq!(output.status.code(), Some(1));
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_peer_that_begins_no_session_is_quoted() {
    if !has("ssh") {
        return;
    }
    let mut lab = lab("broken=echo cannot {command}", "", "own-cooked");
    let output = lab
        .args(["--typing", "open"])
        .output()
        .expect("it can be done");
    let said = String::from_utf8_lossy(&output.stderr);
    if is_refused(&said) {
        return leave_out(&said);
    }
    assert!(!output.status.success());
    assert!(
        said.contains("the peer left before the session was there") && said.contains("cannot"),
        "{said}"
    );
}

#[test]
fn nothing_stays_of_a_session_in_a_program_without_a_room() {
    if !has("ssh") {
        return;
    }
    let around = Surroundings {
        fulmar: fulmar(),
        recordings: recordings(),
        ..Surroundings::default()
    };
    let mut replay = Replay::new("both delay 1ms", "own-cooked", Loop::Open);
    replay.limits = Limits {
        keys: 3,
        pause_max: Some(Duration::from_millis(20)),
        ..LIMITS
    };
    // Beside the session runs what is no part of it any more, and names the recording.
    let peer = "staying=set -- {command}; exec {ssh} -e none -t {host} \
        \"setsid tail -f $5 </dev/null >/dev/null 2>&1 & exec {command}\"";
    let measured = match replay.measure(peer, 1, &around) {
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
    let mut lab = Killed(lab.spawn().expect("it can be done"));
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
    let mut lab = Killed(
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
    let mut kill = Command::new("kill");
    assert!(
        kill.args(["-9", &client.to_string()])
            .status()
            .expect("it can be done")
            .success()
    );
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
fn typed_at(lab: &mut Killed) -> Option<Vec<u32>> {
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
