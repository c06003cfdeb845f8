//! Either end is hostile: nothing outside what the user named is written or read, and one message says
//! what was wrong (docs/threat-model.md §11).

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};

use super::frames::{Frames, Thing, number};
use super::{Running, at_terminal, command, far, far_path, near_path, scene};
use crate::login::scene::Scene;
use crate::support::Person;

/// The remote end of these tests: it invites, is never heard over UDP, and writes what lies ready. A variable
/// that ssh carries says which of that.
const FAKE: &str = "printf 'FULMAR COPY 2 9 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\\n'\n\
                    while read -r line && test \"$line\" != 'FULMAR OVER SSH'; do :; done\n\
                    printf 'FULMAR OVER SSH\\n'\n\
                    cat \"$LC_CASE\"\n\
                    exec cat >/dev/null\n";

/// The line that has ssh carry a copy.
const OVER_SSH: &[u8] = b"FULMAR OVER SSH\n";

/// A terminal's title, its screen and a new line.
const EVIL: &[u8] = b"\x1b]0;owned\x07\x1b[2J\x9b5n\nfulmar: all is well";

/// More entries than either end may hold, and how long the path of each is.
const ENTRIES: u64 = 200_000;
const PATH_BYTES: usize = 200;

/// The memory that an end of a copy uses at most on a path like this, in kilobytes.
///
/// Source: docs/threat-model.md §6: windows of 4 MiB and what waits for ssh; most of it is the program.
const MEMORY_KB_MAX: u64 = 48 * 1024;

/// The frames of a hostile end, and words of what is said about them.
type Case = (&'static str, Frames, &'static str);

/// Returns entries that no sender may send, behind frames that begin a copy.
fn wrong_entries(begin: &Frames) -> Vec<Case> {
    let folder = |path: &[u8]| begin.clone().entry(0, path, Thing::Folder);
    let file = || begin.clone().entry(0, b"wanted", Thing::File(3));
    vec![
        ("up", folder(b"../escaped"), "`.` or `..`"),
        ("up-later", folder(b"wanted/../../escaped"), "`.` or `..`"),
        (
            "absolute",
            folder(b"/home/alice/escaped"),
            "name in the path is empty",
        ),
        ("nul", folder(b"wanted/escaped\0"), "NUL"),
        ("long", folder(&[b'x'; 300]), "longer than 255"),
        (
            "more",
            file().bytes(0, 0, b"four"),
            "more than a file holds",
        ),
        ("elsewhere", file().bytes(0, 1 << 40, b"a"), "out of order"),
        ("unknown", file().bytes(7, 0, b"a"), "had not announced"),
        ("other", file().end(0, 2, [0; 32]), "left something out"),
        (
            "beyond",
            begin.clone().entry(1 << 40, b"wanted", Thing::Folder),
            "may have under way",
        ),
        (
            "huge",
            begin
                .clone()
                .on_stream(1, &[&[0x14], number(1 << 40).as_slice()].concat()),
            "too long",
        ),
        ("no-frame", begin.clone().data(0x77, b"?"), "is no copy"),
        ("fewer", begin.clone().finished(1), "left something out"),
    ]
}

/// Has the remote end do what lies ready under a name, as `fulmar cp` is told by `case`.
fn prepare(scene: &Scene, cases: &[Case]) {
    scene.far.write_home(Person::Bob, "fake", FAKE);
    scene.authorize("command=\"sh fake\"");
    for (name, frames, _) in cases {
        scene.far.write_home(Person::Bob, name, &frames.0);
    }
}

/// Starts `fulmar cp` against one of the cases.
fn start(scene: &Scene, case: &str, arguments: &[&str]) -> Child {
    let case = format!("SetEnv=LC_CASE={case}");
    let arguments = [&["cp", "-q", "-o", &case], arguments].concat();
    let mut command = command(scene, "fulmar", &arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    scene.near.inside(|| command.spawn().expect("it starts"))
}

/// Logins at a time: an sshd turns away some of more than ten.
const LOGINS: usize = 8;

/// Runs `fulmar cp` against all cases, many at once, for each waits for UDP.
fn run(scene: &Scene, cases: &[Case], arguments: impl Fn(&str) -> Vec<String>) -> Vec<Output> {
    let begin = |(name, _, _): &Case| {
        let arguments = arguments(name);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        start(scene, name, &arguments)
    };
    let end = |child: Child| child.wait_with_output().expect("it ends");
    let mut outputs = Vec::new();
    for some in cases.chunks(LOGINS) {
        let running: Vec<Child> = some.iter().map(begin).collect();
        outputs.extend(running.into_iter().map(end));
    }
    outputs
}

/// One message with these words, and some advice, was all that was said.
#[track_caller]
fn expect_one_error(output: &Output, status: i32, name: &str, words: &str) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{name}: {told}");
    let messages: Vec<&str> = told.lines().filter(|line| !line.starts_with(' ')).collect();
    let [message] = messages.as_slice() else {
        panic!("{name}: not one message: {told}");
    };
    assert!(message.contains(words), "{name}: {told}");
}

/// All that is below a folder; links are not followed.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        if entry.file_type().expect("it has a type").is_dir() {
            found.extend(below(&entry.path()));
        }
        found.push(entry.path());
    }
    found
}

/// Nothing below a home has a name that only hostile ends give.
#[track_caller]
fn expect_no_escape(home: &Path) {
    let is_escaped = |path: &PathBuf| path.display().to_string().contains("escaped");
    let escaped: Vec<PathBuf> = below(home).into_iter().filter(is_escaped).collect();
    assert!(escaped.is_empty(), "{escaped:?}");
}

/// A link out of the target, and what is to go through it.
fn through_a_link(begin: &Frames, outside: &str) -> Frames {
    begin
        .clone()
        .entry(0, b"wanted", Thing::Folder)
        .entry(1, b"wanted/link", Thing::Link(outside.as_bytes()))
        .entry(2, b"wanted/link/inner", Thing::Folder)
        .entry(3, b"wanted/link/file", Thing::File(4))
        .bytes(3, 0, b"evil")
}

#[test]
fn what_a_hostile_sender_sends_is_refused_in_one_message() {
    let Some(scene) = scene() else { return };
    let cases = wrong_entries(&Frames::of_answerer());
    prepare(&scene, &cases);
    for (name, _, _) in &cases {
        scene.near.folder(Person::Alice, name);
    }
    let arguments = |name: &str| vec!["-r".to_owned(), far("wanted"), name.to_owned()];
    let outputs = run(&scene, &cases, arguments);
    for ((name, _, words), output) in cases.iter().zip(&outputs) {
        expect_one_error(output, 255, name, words);
    }
    expect_no_escape(&near_path(&scene, ""));
    scene.expect_nothing_left();
}

#[test]
fn what_was_not_asked_for_is_named_and_not_made() {
    let Some(scene) = scene() else { return };
    let begin = Frames::of_answerer();
    let other = |path: &[u8]| begin.clone().entry(0, path, Thing::Folder).finished(1);
    let cases: Vec<Case> = vec![
        ("other", other(b"escaped"), "escaped: it was not asked for"),
        ("hidden", other(b".ssh"), ".ssh: it was not asked for"),
        ("deep", other(b"escaped/wanted"), "was not asked for"),
    ];
    prepare(&scene, &cases);
    let arguments = |_: &str| vec!["-r".to_owned(), far("wanted*"), ".".to_owned()];
    for ((name, _, words), output) in cases.iter().zip(&run(&scene, &cases, arguments)) {
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{name}: {told}");
        assert!(told.contains(words), "{name}: {told}");
    }
    expect_no_escape(&near_path(&scene, ""));
    scene.expect_nothing_left();
}

#[test]
fn links_and_modes_of_a_hostile_sender_lead_nowhere() {
    let Some(scene) = scene() else { return };
    let begin = Frames::of_answerer();
    scene.near.folder(Person::Alice, "outside");
    let set_id = begin
        .clone()
        .entry_of_mode(0, b"wanted", Thing::Folder, 0o6777);
    let cases: Vec<Case> = vec![
        ("link", through_a_link(&begin, "/home/alice/outside"), ""),
        ("up", through_a_link(&begin, "../../outside"), ""),
        ("set-id", set_id.finished(1), ""),
    ];
    prepare(&scene, &cases);
    for (name, _, _) in &cases {
        scene.near.folder(Person::Alice, name);
    }
    // They are left waiting for more, as their remote ends are for them.
    let running = cases.iter().map(|(name, _, _)| {
        let case = format!("SetEnv=LC_CASE={name}");
        Running::start(&scene, &["-q", "-o", &case, "-rp", &far("wanted"), name])
    });
    for (mut copy, (name, _, _)) in running.collect::<Vec<Running>>().into_iter().zip(&cases) {
        copy.wait_for_line(match *name {
            "set-id" => "\"event\":\"done\"",
            _ => "\"path\":\"wanted/link/inner\"",
        });
    }
    assert_eq!(below(&near_path(&scene, "outside")), Vec::<PathBuf>::new());
    let mode = std::os::unix::fs::MetadataExt::mode(
        &fs::metadata(near_path(&scene, "set-id/wanted")).expect("it is there"),
    );
    assert_eq!(mode & 0o7000, 0, "no set-id bits");
    scene.expect_nothing_left();
}

#[test]
fn what_a_hostile_receiver_answers_is_refused_in_one_message() {
    let Some(scene) = scene() else { return };
    let begin = Frames::of_answerer;
    let operands = [number(1), vec![11], b"/etc/passwd".to_vec()].concat();
    let cases: Vec<Case> = vec![
        (
            "asks",
            begin().control(0x03, &operands),
            "out of its turn (Get)",
        ),
        (
            "settles",
            begin().control(0x31, &[9, 1]),
            "what it was not sent",
        ),
        (
            "holds",
            begin().control(0x30, &[vec![9, 0], vec![0; 32]].concat()),
            "what it was not sent",
        ),
        (
            "fails",
            begin().control(0x32, &[9, 1, 0, 0]),
            "what it was not sent",
        ),
        (
            "done",
            begin().control(0x33, &[0; 5]),
            "out of its turn (Done)",
        ),
        (
            "sends",
            begin().entry(0, b"x", Thing::Folder).control(0x21, &[1]),
            "out of its turn",
        ),
    ];
    prepare(&scene, &cases);
    scene
        .near
        .write_home(Person::Alice, "file", vec![7; 3_000_000]);
    let arguments = |_: &str| vec!["file".to_owned(), far("")];
    for ((name, _, words), output) in cases.iter().zip(&run(&scene, &cases, arguments)) {
        expect_one_error(output, 255, name, words);
    }
    scene.expect_nothing_left();
}

#[test]
fn what_a_hostile_remote_end_calls_things_does_not_reach_the_terminal() {
    let Some(scene) = scene() else { return };
    let begin = Frames::of_answerer();
    let path = [b"wanted/", EVIL].concat();
    let frames = begin
        .entry(0, b"wanted", Thing::Folder)
        .entry(1, &path, Thing::File(1))
        .data(
            0x16,
            &[
                vec![1, 2, 1],
                number(EVIL.len() as u64),
                EVIL.to_vec(),
                vec![0],
            ]
            .concat(),
        )
        .trouble(EVIL, EVIL)
        .finished(2);
    prepare(&scene, &[("evil", frames, "")]);
    let arguments = ["-o", "SetEnv=LC_CASE=evil", "-r", &far("wanted"), "."];
    // It minds what no client of ours may write.
    let mut terminal = at_terminal(&scene, &arguments);
    let status = terminal.wait_for_end();
    terminal.wait_for_text("permission denied");
    terminal.wait_for_text("2 files or folders were not copied");
    assert_eq!(status.code(), Some(1));
    let shown = String::from_utf8_lossy(terminal.shown());
    assert!(!shown.contains("\nfulmar: all is well"), "{shown}");
    terminal.expect_restored();
    scene.expect_nothing_left();
}

#[test]
fn endless_entries_are_not_kept() {
    let Some(scene) = scene() else { return };
    let mut frames = Frames::of_answerer();
    for id in 0..ENTRIES {
        let path = format!("wanted/{id:0width$}", width = PATH_BYTES);
        frames = frames.entry(id, path.as_bytes(), Thing::Link(path.as_bytes()));
    }
    frames = frames.entry(ENTRIES, b"wanted/last", Thing::Folder);
    prepare(&scene, &[("endless", frames, "")]);
    let case = "SetEnv=LC_CASE=endless";
    let arguments = ["-q", "-o", case, "--dry-run", "-r", &far("wanted"), "."];
    let mut copy = Running::start(&scene, &arguments);
    copy.wait_for_line("\"path\":\"wanted/last\"");
    let memory = copy.process().memory_max();
    drop(copy);
    assert!(memory <= MEMORY_KB_MAX, "{memory} kB");
    scene.expect_nothing_left();
}

/// Alice's own program speaks to the real remote end.
fn speak(scene: &Scene, frames: &Frames) -> Output {
    let login = format!("bob@{}", crate::login::scene::FAR);
    let mut command = command(scene, "ssh", &[&login, "fulmar", "copy-server"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    scene.near.inside(|| {
        let mut child = command.spawn().expect("it starts");
        let mut input = child.stdin.take().expect("a pipe");
        // A remote end that has heard enough reads no more.
        let _ = input.write_all(&[OVER_SSH, &frames.0].concat());
        drop(input);
        child.wait_with_output().expect("it ends")
    })
}

#[test]
fn a_hostile_local_end_writes_to_what_it_named_only() {
    let Some(scene) = scene() else { return };
    scene.far.folder(Person::Bob, "target");
    scene.far.folder(Person::Bob, "outside");
    let begin = Frames::of_requester(b"target", 1);
    let links = ["/home/bob/outside", "../../outside"].map(|to| through_a_link(&begin, to));
    let cases = wrong_entries(&begin)
        .into_iter()
        .map(|(_, frames, _)| frames);
    for frames in cases.chain(links) {
        let said = speak(&scene, &frames).stdout;
        assert!(said.starts_with(b"MOSH SSH_CONNECTION") || said.starts_with(b"FULMAR"));
        scene.expect_nothing_left();
    }
    expect_no_escape(&far_path(&scene, ""));
    assert_eq!(below(&far_path(&scene, "outside")), Vec::<PathBuf>::new());
    let made = below(&far_path(&scene, "target"));
    assert!(
        made.contains(&far_path(&scene, "target/wanted/link/inner")),
        "{made:?}"
    );
}
