//! `fulmar-lab record` with programs whose every step is known.

mod support;

use fulmar_lab::judge::{GroundTruth, ObservedRun};
use fulmar_lab::trace::{Mark, Meta, Note, Size, Trace};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

struct Recorded {
    _folder: TempDir,
    file: PathBuf,
    child: Child,
    keyboard: ChildStdin,
    screen: ChildStdout,
    seen: String,
}

fn record(script: &str) -> Recorded {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("trace");
    let mut child = command(&file, script).spawn().expect("the recorder");
    Recorded {
        _folder: folder,
        file,
        keyboard: child.stdin.take().expect("a pipe"),
        screen: child.stdout.take().expect("a pipe"),
        child,
        seen: String::new(),
    }
}

fn command(file: &Path, script: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fulmar-lab"));
    command
        .args(["record", "--size", "40x10", "--out"])
        .arg(file);
    command.args(["--", "/bin/sh", "-c", script]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

impl Recorded {
    /// Reads the screen until it has shown some text.
    fn until(&mut self, text: &str) {
        let mut byte = [0];
        while !self.seen.contains(text) {
            let read = self.screen.read(&mut byte).expect("a screen");
            assert!(read > 0, "it ended with {:?}", self.seen);
            self.seen.push(byte[0].into());
        }
    }

    fn type_keys(&mut self, bytes: &[u8]) {
        self.keyboard.write_all(bytes).expect("a keyboard");
    }

    /// Waits for the end, and returns the trace, the sidecar and the exit status.
    fn end(mut self) -> (Trace, Meta, Option<i32>) {
        let status = self.child.wait().expect("the recorder ends");
        let trace = Trace::read(&self.file).unwrap_or_else(|error| panic!("{error}"));
        let meta = Meta::read(&Meta::path_beside(&self.file));
        (
            trace,
            meta.unwrap_or_else(|error| panic!("{error}")),
            status.code(),
        )
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        // Fails where it has ended, as it should have.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn joined<'a>(pieces: impl Iterator<Item = (Duration, &'a [u8])>) -> String {
    let bytes: Vec<u8> = pieces.flat_map(|(_, bytes)| bytes.to_vec()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn keys_output_size_and_exit_status_are_recorded() {
    let mut recorded = record("echo ready; read line; echo got $line; exit 7");
    recorded.until("ready");
    recorded.type_keys(b"word\n");
    recorded.until("got word");
    let (trace, _, status) = recorded.end();
    assert_eq!(status, Some(7));
    let size = Size {
        columns: 40,
        rows: 10,
    };
    assert_eq!(trace.size(), size);
    assert_eq!(joined(trace.user()), "word\n");
    assert_eq!(joined(trace.host()), "ready\r\nword\r\ngot word\r\n");
}

#[test]
fn the_sidecar_tells_modes_and_foreground() {
    let mut recorded = record("stty -echo; echo ready; read line; stty raw; echo again; exec cat");
    recorded.until("ready");
    recorded.type_keys(b"secret\n");
    recorded.until("again");
    recorded.type_keys(b"x");
    recorded.until("x");
    // `cat` ends when its terminal does.
    support::signal("TERM", recorded.child.id().into());
    let (trace, meta, _) = recorded.end();
    assert!(!joined(trace.host()).contains("secret"));
    let states: Vec<(bool, bool, &str)> = meta
        .notes
        .iter()
        .map(|(_, note)| match note {
            Note::Tty(tty) => (tty.is_canonical, tty.has_echo, tty.foreground.as_str()),
            Note::Mark(mark) => panic!("nobody marked {mark:?}"),
        })
        .collect();
    assert!(states.contains(&(true, false, "sh")), "{states:?}");
    assert_eq!(states.last(), Some(&(false, false, "cat")), "{states:?}");
}

#[test]
fn what_is_recorded_is_judged_perfect() {
    let mut recorded = record("stty raw -echo; printf '$ '; exec cat -v");
    recorded.until("$ ");
    for (key, answer) in [
        ("l", "$ l"),
        ("s", "ls"),
        ("é", "M-CM-)"),
        ("\x1b[A", "^[[A"),
    ] {
        recorded.type_keys(key.as_bytes());
        recorded.until(answer);
    }
    support::signal("TERM", recorded.child.id().into());
    let (trace, _, _) = recorded.end();
    let truth = GroundTruth::of(&trace);
    let run = ObservedRun {
        truth: &truth,
        user_side: &trace,
        host_side: &trace,
        one_way_delay: Duration::ZERO,
        may_predict: true,
    };
    let verdict = run.judge().expect("a run");
    assert_eq!((verdict.keys.len(), verdict.wrongs.len()), (4, 0));
    assert!(
        verdict.own().iter().all(|own| !own.is_censored()),
        "{verdict:?}"
    );
}

#[test]
fn a_program_that_does_not_listen_ends_with_its_terminal() {
    let mut recorded = record("trap '' HUP; echo ready; read line; echo over > /dev/null");
    recorded.until("ready");
    support::signal("TERM", recorded.child.id().into());
    let (trace, _, _) = recorded.end();
    assert_eq!(joined(trace.host()), "ready\r\n");
}

#[test]
fn a_recording_is_not_written_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("trace");
    std::fs::write(&file, "dear").expect("a file");
    let output = command(&file, "true").output().expect("the recorder");
    assert!(!output.status.success());
    assert_eq!(std::fs::read(&file).expect("a file"), b"dear");
}

/// Returns the results of a typist's script: the exit status, what was said, and the files.
fn typed(script: &str) -> (bool, String, Option<(Trace, Meta)>) {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, path) = (folder.path().join("trace"), folder.path().join("script"));
    std::fs::write(&path, script).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fulmar-lab"));
    command.args(["record", "--typist"]).arg(&path);
    let output = command.arg("--out").arg(&file).output();
    let output = output.expect("the recorder");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let meta = Meta::read(&Meta::path_beside(&file));
    let files = Trace::read(&file).ok().zip(meta.ok());
    (output.status.success(), said, files)
}

#[test]
fn a_script_is_typed_and_marked() {
    let script = "size 50x9\nseed 3\nrun /bin/sh\nopen echo done\nwait done\n";
    let (is_good, said, files) = typed(script);
    assert!(is_good, "{said}");
    let (trace, meta) = files.expect("two files");
    assert_eq!((trace.size().columns, trace.size().rows), (50, 9));
    let keys: Vec<&[u8]> = trace.user().map(|(_, bytes)| bytes).collect();
    assert!(keys.len() >= 10 && keys.iter().all(|key| key.len() == 1));
    assert!(joined(trace.user()).ends_with('\r'));
    assert!(joined(trace.host()).contains("done\r\n"));
    let marks: Vec<&Note> = meta.notes.iter().map(|(_, note)| note).collect();
    assert!(
        marks.contains(&&Note::Mark(Mark::OpenOn)) && marks.contains(&&Note::Mark(Mark::OpenOff))
    );
}

#[test]
fn a_script_that_the_program_leaves_is_an_error() {
    let (is_good, said, _) = typed("size 50x9\nseed 3\nrun /bin/echo over\nline more\n");
    assert!(
        !is_good && said.contains("ended before the script"),
        "{said}"
    );
    let (is_good, said, _) = typed("size 50x9\nseed 3\nrun /bin/cat\ndance\n");
    assert!(!is_good && said.contains("`dance`"), "{said}");
}

#[test]
fn the_judge_can_be_asked_on_the_command_line() {
    let recording = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/keys/own-python"
    );
    let asked = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_fulmar-lab"))
            .arg("judge")
            .args(arguments)
            .output()
            .expect("the judge");
        (output.status.success(), output)
    };
    let (is_good, output) = asked(&["--brief", recording, recording]);
    assert!(is_good, "{output:?}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["figures"]["own"]["count"], 271);
    assert_eq!(report["figures"]["wrong_share"], 0.0);
    let other = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/keys/own-less");
    let (is_good, output) = asked(&["--recording", other, recording, recording]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !is_good && said.contains("not the key of the recording"),
        "{said}"
    );
}
