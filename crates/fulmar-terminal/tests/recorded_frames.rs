//! The contract of frames over what real programs wrote, from start to end.

use std::fs;
use std::path::{Path, PathBuf};

use fulmar_terminal::{Checker, Screen, Size, Terminal, Vocabulary};

const TESTDATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata");

/// Bytes a program wrote in one go, on a screen of this size.
struct Write {
    size: Size,
    bytes: Vec<u8>,
}

fn files(folder: &str, is_wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let folder = Path::new(TESTDATA).join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder is part of the repository")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| is_wanted(path))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// Reads the HOST and SIZE records of a key trace; the format is in testdata/README.md.
fn writes(trace: &[u8]) -> Vec<Write> {
    let mut writes = Vec::new();
    let mut size = Size::default();
    let mut rest = trace;
    while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
        let header = std::str::from_utf8(&rest[..end]).expect("a header is ASCII");
        rest = &rest[end + 1..];
        let fields: Vec<&str> = header.split(' ').collect();
        let number = |index: usize| fields[index].parse().expect("a number");
        match fields[1] {
            "SIZE" => {
                let (columns, rows) = (number(2), number(3));
                size = Size::new(rows as u16, columns as u16).expect("a usual size");
            }
            kind => {
                let length: usize = number(2);
                if kind == "HOST" {
                    let bytes = rest[..length].to_vec();
                    writes.push(Write { size, bytes });
                }
                rest = &rest[length + 1..];
            }
        }
    }
    writes
}

/// Plays writes and follows the screen with frames, one for every `every` writes.
fn follow(name: &str, writes: &[Write], vocabulary: &Vocabulary, every: usize) {
    let mut terminal = Terminal::new(writes[0].size);
    let mut shown = terminal.screen().clone();
    let mut reader = shown.projected(vocabulary);
    let mut checker = Checker::default();
    for (index, writes) in writes.chunks(every).enumerate() {
        for write in writes {
            terminal.resize(write.size);
            terminal.process(&write.bytes);
        }
        let screen = terminal.screen();
        let frame = screen.diff_from(&shown, vocabulary);
        checker
            .check(&frame)
            .unwrap_or_else(|violation| panic!("{name}, write {index}: {violation}"));
        reader.resize(screen.size());
        reader.apply(&frame);
        let same = reader.projected(vocabulary) == screen.projected(vocabulary);
        assert!(
            same,
            "{name}, write {index}: {:?}",
            text(&frame, &reader, screen)
        );
        shown = screen.clone();
    }
    checker.finish().expect("frames are whole");
}

fn text(frame: &[u8], reached: &Screen, wanted: &Screen) -> (String, Vec<String>) {
    let lines = |screen: &Screen| -> Vec<String> {
        screen
            .rows()
            .map(|row| {
                let mut line = String::new();
                row.push_text(&mut line);
                line
            })
            .collect()
    };
    let differing = lines(reached)
        .into_iter()
        .zip(lines(wanted))
        .filter(|(reached, wanted)| reached != wanted)
        .map(|(reached, wanted)| format!("{reached} / {wanted}"))
        .collect();
    (String::from_utf8_lossy(frame).into_owned(), differing)
}

#[test]
fn frames_follow_every_recorded_program() {
    let traces = files("keys", |path| path.is_file() && path.extension().is_none());
    for path in traces {
        let writes = writes(&fs::read(&path).expect("a readable file"));
        let name = path.display().to_string();
        follow(&name, &writes, &Vocabulary::STOCK, 2);
        follow(&name, &writes, &Vocabulary::RICH, 5);
        follow(&name, &writes, &Vocabulary::FULL, 7);
        follow(&name, &writes, &Vocabulary::PLAIN, 31);
    }
}
