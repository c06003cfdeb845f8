//! `fulmar cp` between two machines, with a real sshd (docs/copy.md).

mod contested;
mod files;
mod frames;
mod hostile;
mod interruptions;
mod kernel_files;
mod patterns;
mod progress;
mod readers;
mod repetitions;
mod resources;
mod troubles;

use std::fs;
use std::io::{BufRead as _, BufReader, Lines};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use crate::login::scene::{FAR, Plan, Scene, Starter};
use crate::support::network::Families;
use crate::support::{Person, Process, Terminal};

/// Two machines with IPv4 between them.
fn scene() -> Option<Scene> {
    Scene::new(&Plan {
        families: Families::V4,
        ..Plan::default()
    })
}

/// Bob's file on the remote machine, as an operand.
fn far(path: &str) -> String {
    format!("bob@{FAR}:{path}")
}

/// Returns our path to a file of Alice's.
fn near_path(scene: &Scene, name: &str) -> PathBuf {
    scene.near.path(&format!("/home/alice/{name}"))
}

fn far_path(scene: &Scene, name: &str) -> PathBuf {
    scene.far.path(&format!("/home/bob/{name}"))
}

fn command(scene: &Scene, program: &str, arguments: &[&str]) -> Command {
    let mut command = scene.near.command(Person::Alice, program);
    command.args(arguments);
    command
}

/// Alice runs `fulmar cp` without a terminal.
fn copy(scene: &Scene, arguments: &[&str]) -> Output {
    let mut command = command(scene, "fulmar", &[&["cp"], arguments].concat());
    scene.near.inside(|| command.output().expect("it starts"))
}

/// The same, and all of it is copied without a word.
#[track_caller]
fn expect_copied(scene: &Scene, arguments: &[&str]) {
    let output = copy(scene, arguments);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && told.is_empty(),
        "{arguments:?}: {told}"
    );
}

/// The same, and some of it is not; returns what was said.
#[track_caller]
fn expect_status(scene: &Scene, arguments: &[&str], status: i32) -> String {
    let output = copy(scene, arguments);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {told}");
    told
}

/// Copies, and expects that a part was there already, and that none is left.
#[track_caller]
fn expect_resumed(scene: &Scene, arguments: &[&str]) {
    let output = copy(scene, &[&["--json"], arguments].concat());
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    let done = told.lines().last().unwrap_or_default();
    assert!(done.contains("\"event\":\"done\""), "{told}");
    assert!(!done.contains("\"bytes_resumed\":0,"), "{told}");
    let entries = fs::read_dir(far_path(scene, "")).expect("a home");
    let mut names = entries.map(|entry| entry.expect("an entry").file_name());
    assert!(!names.any(|name| name.to_string_lossy().contains("fulmar-part")));
}

/// A copy that runs while something happens to it. Dropping it ends it: nothing else would, and its machine cannot
/// end before.
struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    /// Starts `fulmar cp` with its standard output as lines.
    fn start(scene: &Scene, arguments: &[&str]) -> Self {
        let mut command = command(scene, "fulmar", &[&["cp", "--json"], arguments].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = scene.near.inside(|| command.spawn().expect("it starts"));
        let output = child.stdout.take().expect("a pipe");
        Self {
            child,
            lines: BufReader::new(output).lines(),
        }
    }

    /// Its standard input.
    #[track_caller]
    fn input(&mut self) -> ChildStdin {
        self.child.stdin.take().expect("nobody has it")
    }

    /// The process.
    fn process(&self) -> Process {
        Process::of(self.child.id()).expect("it runs")
    }

    /// Waits for a line with this in it.
    #[track_caller]
    fn wait_for_line(&mut self, text: &str) {
        let mut lines = self.lines.by_ref().map_while(Result::ok);
        assert!(lines.any(|line| line.contains(text)), "no line with {text}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The remote end of the copy that runs: the youngest, since the process that the login started leaves with it.
#[track_caller]
fn remote_end(scene: &Scene) -> Process {
    let processes = scene.far.processes().into_iter();
    let ends = processes.filter(|(_, line)| line.contains("copy-server"));
    let mut running = ends.filter_map(|(pid, _)| Process::of(pid));
    running.next_back().expect("there is a far end")
}

/// Some bytes that are no repetition.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// Alice types `fulmar cp` at a terminal.
#[track_caller]
fn at_terminal(scene: &Scene, arguments: &[&str]) -> Terminal {
    let terminal = scene.start(Starter::Fulmar, &[&["cp"], arguments].concat());
    terminal.expect("ours is always there")
}

/// Waits until the line at the bottom says that so many megabytes are done.
#[track_caller]
fn wait_for_megabytes(terminal: &mut Terminal, least: f64) {
    terminal.wait_for(&format!("{least} MB"), |screen| {
        let text = screen.contents();
        // The size of the whole comes after what is done.
        let done = text.split(" of ").next().unwrap_or_default();
        number_before(done, " MB").is_some_and(|done| done >= least)
    });
}

/// The number that stands before the first such unit.
fn number_before(text: &str, unit: &str) -> Option<f64> {
    let before = text.split(unit).next()?;
    before.rsplit([' ', '\n']).next()?.parse().ok()
}
