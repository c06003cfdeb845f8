//! Experiments on the command line: a real run from plan to report, and that nothing of it stays.

mod support;

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

use fulmar_lab::outcome::{OutcomeFolder, RunEnd};
use fulmar_testbed::peers::leave_out;
use support::{DEADLINE, has, signal};

/// The shortest experiment that needs no other program: plain TCP.
fn lab(out: &Path) -> Command {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_fulmar-lab"));
    lab.args(["run", "tinygrams/short", "--quick", "--no-selfcheck"])
        .args([
            "--peers",
            "nothing={command}",
            "--jobs",
            "4",
            "--recordings",
        ])
        // By this name processes of the run are found.
        .arg(out.join("recordings"))
        .arg("--out")
        .arg(out)
        .env_remove("FULMAR_LAB_DATA");
    lab
}

/// Runs it, or says that it cannot run here.
fn ran(out: &Path) -> Option<Output> {
    if !has(&["ip"]) {
        return None;
    }
    let output = lab(out).output().expect("the program can be run");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("fulmar-lab: making") {
        leave_out(&said);
        return None;
    }
    Some(output)
}

/// The processes whose command line names this folder.
fn processes_of(out: &Path) -> Vec<String> {
    let folder = out.to_string_lossy().into_owned();
    let entries = std::fs::read_dir("/proc")
        .expect("there is /proc")
        .flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(&folder))
        .collect()
}

fn await_end_of_processes(out: &Path) {
    let start = Instant::now();
    while !processes_of(out).is_empty() {
        assert!(start.elapsed() < DEADLINE, "{:?}", processes_of(out));
        std::thread::yield_now();
    }
}

/// Starts it in a group of its own and waits until a run is under way; `None` where it cannot run here.
fn under_way(out: &Path) -> Option<Child> {
    if !has(&["ip"]) {
        return None;
    }
    let mut lab = lab(out);
    lab.process_group(0).stderr(Stdio::piped());
    let mut child = lab.spawn().expect("the program can be run");
    let errors = BufReader::new(child.stderr.take().expect("it has errors"));
    let mut said = String::new();
    for line in errors.lines() {
        let line = line.expect("it can be read");
        if line.starts_with("begins: ") {
            return Some(child);
        }
        said += &line;
    }
    child.wait().expect("it ends");
    leave_out(&said);
    None
}

#[test]
fn a_plan_is_worked_off_into_a_report_and_not_a_second_time() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let Some(first) = ran(&out) else { return };
    let said = String::from_utf8_lossy(&first.stderr).into_owned();
    assert!(first.status.success(), "{said}");
    assert!(String::from_utf8_lossy(&first.stdout).contains("index.html"));
    assert!(out.join("index.html").is_file() && out.join("origin.json").is_file());
    let outcomes = OutcomeFolder::open(&out).unwrap().all().unwrap();
    assert!(outcomes.len() >= 2, "{said}");
    for outcome in &outcomes {
        assert_eq!(outcome.end, RunEnd::Complete);
        assert!(outcome.facts.took > 0.0 && outcome.facts.began > 0);
        assert!(!outcome.figures.is_empty() && !outcome.facts.scenario.is_empty());
    }
    let second = ran(&out).expect("it could run before");
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(
        second.status.success() && !said.contains("begins"),
        "{said}"
    );
    assert_eq!(OutcomeFolder::open(&out).unwrap().all().unwrap(), outcomes);
}

#[test]
fn an_interrupt_ends_what_runs_and_says_how_to_go_on() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let Some(mut child) = under_way(&out) else {
        return;
    };
    signal("INT", -i64::from(child.id()));
    let status = child.wait().expect("it ends");
    assert!(!status.success(), "it was not complete");
    await_end_of_processes(&out);
    let outcomes = OutcomeFolder::open(&out).unwrap().all().unwrap();
    for outcome in &outcomes {
        assert_eq!(outcome.end, RunEnd::Complete);
    }
}

#[test]
fn nothing_of_a_plan_stays_when_it_is_killed() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let Some(mut child) = under_way(&out) else {
        return;
    };
    assert!(!processes_of(&out).is_empty());
    signal("KILL", child.id().into());
    child.wait().expect("it ends");
    await_end_of_processes(&out);
}

#[test]
fn missing_data_are_named_before_anything_is_made() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let mut lab = Command::new(env!("CARGO_BIN_EXE_fulmar-lab"));
    lab.args(["run", "loss", "--out"]).arg(&out);
    let output = lab.env_remove("FULMAR_LAB_DATA").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(
        said.contains("loss: key-traces/agd-trace-01") && said.contains("--generated"),
        "{said}"
    );
    assert!(!out.exists());
}
