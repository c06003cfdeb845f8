//! Too little of what a system has: one line says of what, the next what to try, and the terminal is given back. T-L3 of
//! docs/threat-model.md §12.

use std::ops::RangeInclusive;

use super::scene::{
    FAR, Plan, Scene, Starter, expect_session, expect_work, for_each_starter, leave,
};
use crate::support::{Person, Terminal};

for_each_starter! {
    of_disk_there: fulmar;
    of_disk_here: fulmar;
    of_descriptors_here: fulmar;
    of_descriptors_there: fulmar;
    of_processes_here: fulmar;
    of_processes_there: fulmar;
    of_memory_here: fulmar;
    of_memory_there: fulmar;
}

/// The statuses with which we leave without a session, and with one in which the shell cannot be run.
const FAILED: [i32; 2] = [255, 126];

fn destination() -> String {
    format!("bob@{FAR}")
}

/// Lets nothing more be written into a folder.
fn fill(scene: &Scene, machine: &str, folder: &str) {
    let machine = if machine == FAR {
        &scene.far
    } else {
        &scene.near
    };
    let script = "cp -a \"$1\" /mnt/kept; mount -t tmpfs -o size=64k,nr_inodes=64 full \"$1\"; \
                  chown --reference=/mnt/kept \"$1\"; chmod --reference=/mnt/kept \"$1\"; \
                  cp -a /mnt/kept/. \"$1\"; head -c 1000000 /dev/zero >\"$1/full\" || :";
    let mut command = machine.command(Person::Root, "sh");
    machine.output_of(command.args(["-c", script, "sh", folder]));
}

/// Alice logs in under a limit that `ulimit` sets, from a shell.
fn limited(scene: &Scene, starter: Starter, limit: &str) -> Terminal {
    let script = format!("ulimit {limit}; exec fulmar bob@{FAR}");
    let command = scene.command_after(&["sh", "-c", &script], starter, &[]);
    scene.start_command(starter, &command.expect("ours is there"))
}

/// Lets every command of Bob's be run under such a limit.
fn limit_there(scene: &Scene, limit: &str) {
    let command = format!("command=\"ulimit {limit}; exec fulmar server\"");
    scene.authorize(&command);
}

/// Types a command before anything is there that could read it, and expects a session that runs it, or a failure in a few
/// lines, but no panic, no hang, and no terminal that stays as it was. Returns what is shown of a failure.
#[track_caller]
fn expect_session_or_error(terminal: &mut Terminal, limit: &str) -> Option<String> {
    terminal.type_keys("exit 7\n");
    let status = terminal.wait_for_end();
    terminal.expect_restored();
    let shown = String::from_utf8_lossy(terminal.shown()).into_owned();
    assert!(!shown.contains("panicked"), "{limit}: {shown}");
    assert!(!shown.contains("a bug in fulmar"), "{limit}: {shown}");
    if status.code() == Some(7) {
        return None;
    }
    let has_failed = FAILED.iter().any(|code| status.code() == Some(*code));
    assert!(has_failed, "{limit}: {status}: {shown}");
    Some(shown)
}

fn of_disk_there(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    fill(&scene, FAR, "/home/bob");
    fill(&scene, FAR, "/tmp");
    let terminal = scene.start(starter, &[&destination()]);
    expect_session(&scene, starter, &mut terminal.expect("ours is there"));
}

fn of_disk_here(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    fill(&scene, "near", "/home/alice");
    let words = [
        "--log=log",
        "--log-filter=trace",
        "--trace=trace",
        &destination(),
    ];
    let terminal = scene.start(starter, &words);
    expect_session(&scene, starter, &mut terminal.expect("ours is there"));
}

/// From too few for anything to more than enough.
const LIMITS: RangeInclusive<u32> = 4..=40;

fn of_descriptors_here(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let mut advised = 0;
    let mut sessions = 0;
    for limit in LIMITS.step_by(4).map(|count| format!("-n {count}")) {
        let mut terminal = limited(&scene, starter, &limit);
        match expect_session_or_error(&mut terminal, &limit) {
            Some(shown) => advised += usize::from(shown.contains("open too few files")),
            None => sessions += 1,
        }
        scene.expect_nothing_left();
    }
    assert!(sessions > 0 && advised > 0, "{sessions}, {advised}");
}

fn of_descriptors_there(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let mut advised = 0;
    let mut sessions = 0;
    for limit in LIMITS.step_by(4).map(|count| format!("-n {count}")) {
        limit_there(&scene, &limit);
        let terminal = scene.start(starter, &[&destination()]);
        match expect_session_or_error(&mut terminal.expect("ours is there"), &limit) {
            Some(shown) => advised += usize::from(shown.contains("open too few files")),
            None => sessions += 1,
        }
        scene.expect_nothing_left();
    }
    assert!(sessions > 0 && advised > 0, "{sessions}, {advised}");
}

/// One process for each user, in the words of bash and of dash. Whoever else runs something under the same number, in
/// another test, counts too, so a higher limit would not always be the same.
const ONE_PROCESS: &str = "-u 1 2>/dev/null || ulimit -p 1";

fn of_processes_here(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    let mut terminal = limited(&scene, starter, ONE_PROCESS);
    let shown = expect_session_or_error(&mut terminal, "-u 1").expect("an error");
    assert!(shown.contains("fulmar: cannot start ssh: "), "{shown}");
    assert!(shown.contains("too many processes run"), "{shown}");
    scene.expect_nothing_left();
}

fn of_processes_there(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    limit_there(&scene, ONE_PROCESS);
    let terminal = scene.start(starter, &[&destination()]);
    let shown = expect_session_or_error(&mut terminal.expect("ours is there"), "-u 1");
    let shown = shown.expect("an error");
    let words = "the server on bob@far says: going to the background: ";
    assert!(shown.contains(words), "{shown}");
    assert!(shown.contains("too many processes run"), "{shown}");
    scene.expect_nothing_left();
}

/// Lets a program write much, and works on.
#[track_caller]
fn expect_much_work(terminal: &mut Terminal) {
    terminal.wait_for_prompt();
    terminal.type_keys("seq 200000\n");
    terminal.wait_for_text("200000");
    terminal.wait_for_prompt();
    expect_work(terminal);
    assert_eq!(leave(terminal).code(), Some(7));
    terminal.expect_restored();
}

/// 64 MiB, in the kilobytes of `ulimit`.
const LITTLE: &str = "-v 65536";

fn of_memory_here(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    expect_much_work(&mut limited(&scene, starter, LITTLE));
    scene.expect_nothing_left();
}

fn of_memory_there(starter: Starter) {
    let Some(scene) = Scene::new(&Plan::default()) else {
        return;
    };
    limit_there(&scene, LITTLE);
    let terminal = scene.start(starter, &[&destination()]);
    expect_much_work(&mut terminal.expect("ours is there"));
    scene.expect_nothing_left();
}
