//! The output of real programs, step by step.

use std::fs;
use std::path::{Path, PathBuf};

/// The bytes of a recording that are written between two looks.
const STEP_BYTES: usize = 2000;

/// A character to which a C library of today and an emulator of today give different widths: a recording that
/// has it says nothing about frames, as the rows of a stock program do not end where they should then.
const DISPUTED_WIDTH: &str = "㏑";

const TESTDATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata");

/// The output of one program on a screen of 24 rows and 80 columns.
pub(crate) struct Recording {
    pub(crate) name: String,
    pub(crate) steps: Vec<Vec<u8>>,
}

/// Returns all recordings and key traces of the repository but those of disputed widths.
pub(crate) fn recordings() -> Vec<Recording> {
    let paths = [files("recordings", Some("bin")), files("keys", None)].concat();
    assert!(paths.len() > 30, "some recordings are missing");
    let recording = |path: &PathBuf| {
        let written = written(path);
        (!is_disputed(&written)).then(|| Recording {
            name: path.display().to_string(),
            steps: steps(&written),
        })
    };
    paths.iter().filter_map(recording).collect()
}

fn is_disputed(written: &[u8]) -> bool {
    let mut windows = written.windows(DISPUTED_WIDTH.len());
    windows.any(|window| window == DISPUTED_WIDTH.as_bytes())
}

fn files(folder: &str, extension: Option<&str>) -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(TESTDATA).join(folder)).expect("a folder of ours");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.is_file() && path.extension() == extension.map(AsRef::as_ref))
        .collect();
    files.sort();
    files
}

/// Returns what the programs of a recording wrote.
fn written(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).expect("a readable recording");
    if path.extension().is_some() {
        return bytes;
    }
    host_bytes(&bytes)
}

/// Returns the bytes of the HOST records of a key trace; the format is in testdata/README.md.
fn host_bytes(trace: &[u8]) -> Vec<u8> {
    let mut written = Vec::new();
    let mut rest = trace;
    while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
        let header = std::str::from_utf8(&rest[..end]).expect("a header is ASCII");
        rest = &rest[end + 1..];
        let mut fields = header.split(' ').skip(1);
        let (kind, number) = (fields.next(), fields.next());
        if kind == Some("SIZE") {
            continue;
        }
        let length: usize = number.and_then(|n| n.parse().ok()).expect("a length");
        if kind == Some("HOST") {
            written.extend_from_slice(&rest[..length]);
        }
        rest = &rest[length + 1..];
    }
    written
}

/// Cuts what a program wrote where no character and no sequence is open.
fn steps(written: &[u8]) -> Vec<Vec<u8>> {
    let is_cut = |at: usize| {
        let (before, after) = written.split_at(at);
        before.ends_with(b"\n") || after.starts_with(b"\x1b") && !after.starts_with(b"\x1b\\")
    };
    let mut steps = Vec::new();
    let mut start = 0;
    while start < written.len() {
        let from = written.len().min(start + STEP_BYTES);
        let end = (from..written.len()).find(|&at| is_cut(at));
        let end = end.unwrap_or(written.len());
        steps.push(written[start..end].to_vec());
        start = end;
    }
    steps
}

#[test]
fn recordings_are_cut_between_sequences() {
    let line = [b'x'; STEP_BYTES];
    let written = [&line, &b"\x1b[1mbold"[..], &line, b"\x1b\\\n", &line].concat();
    let steps = steps(&written);
    let lengths: Vec<usize> = steps.iter().map(Vec::len).collect();
    assert_eq!(lengths, [STEP_BYTES, STEP_BYTES + 11, STEP_BYTES]);
    assert_eq!(steps.concat(), written);
    assert_eq!(
        host_bytes(b"1 SIZE 80 24\n2 USER 1\nx\n3 HOST 3\na\nb\n"),
        b"a\nb"
    );
}
