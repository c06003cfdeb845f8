//! A program that looks right in stock looks right in each pairing with stock, too, and in a session of ours whatever it draws.
//!
//! The judge is the suite in `testdata/fidelity`, whose reference terminal is xterm.js: neither ours nor stock's. Stock plays
//! cases with itself, and what it shows right has to be right with one end of ours: so no group comes out worse. Each
//! end of ours passes more than that. The two together have to pass all.
//!
//! `FULMAR_FIDELITY_CASES` is the number of cases of each group that are played; a large one plays all.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use crate::support::World;
use fulmar_testbed::peers;

/// The number of cases of a group that are played unless the caller wants another number. Chosen by eye: all groups
/// together then take less than two minutes on two cores.
const CASES: usize = 3;

/// The number of sessions at a time: nearly all of their time they wait. Chosen by eye.
const SESSIONS: usize = 6;

/// Cases that our client shows otherwise than stock's does, with stock's server.
///
/// Stock's server gives each character of such a cluster columns of its own, and puts what follows behind all of them.
/// Our client puts it there, too: what the program moves the cursor to later counts from there. Stock's writes the
/// characters in one go, and leaves it to the terminal where the last one lands.
const COUNTED_BY_STOCK: [&str; 2] = ["emoji-cluster-02-skin-tone", "emoji-cluster-03-zwj-family"];

/// Cases that our server shows otherwise than stock's does, in a window that changes its width: it cuts lines anew, where the reference
/// terminal cuts them off, and rows that were erased in a colour have it up to the new edge. The suite does not count
/// these two, since terminals disagree.
const OF_ANOTHER_WIDTH: [&str; 2] = ["resize-09-narrower-with-content", "resize-16-colours-kept"];

/// Cases that a session between two ends of ours shows otherwise than the reference terminal, besides those of another width. The suite
/// does not count them either: a half of a wide character that is left alone becomes a blank in ours, as in terminals; and
/// numbers with a colon where none belongs.
const OTHERWISE_BY_US: [&str; 2] = ["wide-06-ich-inside", "sgr-23-colon-0-params"];

#[test]
fn what_looks_right_in_stock_looks_right_in_each_pairing() {
    if !is_ready() {
        return;
    }
    let world = World::new();
    let fulmar = world.ours("fulmar");
    let server = format!(
        "{} server new -i 127.0.0.1 -p PORT -- CMD",
        fulmar.display()
    );
    let client = format!("MOSH_KEY=KEY {} client 127.0.0.1 PORT", fulmar.display());
    let cases = chosen();
    let right = &cases - &failed(&world, &[], &cases);
    assert!(right.len() > cases.len() / 2, "stock shows only {right:?}");
    for (pairing, ours, excused) in [
        ("our server", ["--server", &server], OF_ANOTHER_WIDTH),
        ("our client", ["--client", &client], COUNTED_BY_STOCK),
    ] {
        let cases = &right - &excused.map(str::to_owned).into();
        let wrong = failed(&world, &ours, &cases);
        // A loaded machine may show a case too late, so what is wrong is played again.
        let wrong = failed(&world, &ours, &wrong);
        assert!(
            wrong.is_empty(),
            "{pairing}: wrong, but right in stock: {wrong:?}"
        );
    }
}

#[test]
fn a_session_between_two_ends_of_ours_looks_right() {
    if !is_ready() {
        return;
    }
    let world = World::new();
    let fulmar = world.ours("fulmar");
    let session = format!("{} --local --predict=never -- CMD", fulmar.display());
    let session = ["--template", &session];
    let mut cases = chosen();
    for excused in OTHERWISE_BY_US.iter().chain(&OF_ANOTHER_WIDTH) {
        cases.remove(*excused);
    }
    let wrong = failed(&world, &session, &cases);
    // As above.
    let wrong = failed(&world, &session, &wrong);
    assert!(wrong.is_empty(), "wrong: {wrong:?}");
}

/// Returns true if the suite can run here.
fn is_ready() -> bool {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock();
    let programs = ["mosh-server", "mosh-client", "python3", "node", "npm"];
    if programs.iter().any(|name| peers::require(name).is_none()) {
        return false;
    }
    // The first time this installs the reference terminal, for which the caller's settings of npm are needed.
    let script = "import oracle_client; oracle_client.Oracle().ask('version')";
    let output = Command::new("python3")
        .args(["-B", "-c", script])
        .env("PATH", peers::search_path())
        .current_dir(suite())
        .output()
        .expect("python3 runs");
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let reason = said.lines().last().unwrap_or("no reason");
        peers::leave_out(&format!("the suite's reference terminal: {reason}"));
    }
    output.status.success()
}

fn suite() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fidelity")
}

/// Returns the cases to play: of each group some that lie far apart.
fn chosen() -> BTreeSet<String> {
    let wanted = std::env::var("FULMAR_FIDELITY_CASES");
    let wanted = wanted.map_or(CASES, |number| number.parse().expect("a number"));
    let mut cases = BTreeSet::new();
    for file in fs::read_dir(suite().join("cases/public")).expect("a folder") {
        let path = file.expect("a file").path();
        if path.extension().is_none_or(|kind| kind != "json") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a text");
        let names: Vec<&str> = text.lines().filter_map(name_of).collect();
        let count = wanted.min(names.len());
        cases.extend((0..count).map(|nth| names[nth * names.len() / count].to_owned()));
    }
    cases
}

/// Returns the name of the case that a line of a group's file holds.
fn name_of(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix("{\"id\": \"")?.split_once('"')?;
    Some(name)
}

/// Plays cases in the pairing that the judge's `options` make of stock with stock, and returns those that failed.
fn failed(world: &World, options: &[&str], cases: &BTreeSet<String>) -> BTreeSet<String> {
    if cases.is_empty() {
        return BTreeSet::new();
    }
    let names: Vec<&str> = cases.iter().map(String::as_str).collect();
    let mut command = world.command("python3");
    command
        .arg("-B")
        .arg(suite().join("judge.py"))
        .args(["--retries", "0", "--jobs", &SESSIONS.to_string()])
        .args(["--only", &format!("^({})$", names.join("|"))])
        .args(options);
    let output = command.output().expect("python3 runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(" passed, "), "{said}{complaints}");
    said.lines().flat_map(failed_of_group).collect()
}

/// Returns the failed cases in a line such as `wide  12 of 14   wide-06-ich* wide-08-dch`.
fn failed_of_group(line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        [_, _, "of", _, failed @ ..] => {
            let name = |word: &&str| word.trim_end_matches('*').to_owned();
            failed.iter().map(name).collect()
        }
        _ => Vec::new(),
    }
}
