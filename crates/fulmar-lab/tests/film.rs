//! The commands that make a film of sessions, on the trace that the film in the README is made of.

use std::path::{Path, PathBuf};
use std::process::Command;

fn session() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/film/session")
}

/// Runs the program and returns what it printed, or what it complained of.
fn said(arguments: &[&str], files: &[&Path]) -> Result<String, String> {
    let mut lab = Command::new(env!("CARGO_BIN_EXE_fulmar-lab"));
    let output = lab.args(arguments).args(files).output();
    let output = output.expect("the program can be run");
    let text = |bytes| String::from_utf8(bytes).expect("it prints text");
    if output.status.success() {
        Ok(text(output.stdout))
    } else {
        Err(text(output.stderr))
    }
}

#[test]
fn a_trace_becomes_an_asciicast_and_asciicasts_become_a_drawing() {
    let folder = tempfile::tempdir().unwrap();
    let cast = folder.path().join("one.cast");
    let text = said(&["cast", "--title", "one"], &[&session()]).unwrap();
    assert!(text.starts_with("{\"height\":12,") && text.contains("\"title\":\"one\""));
    assert!(text.contains("boats/notes.txt"), "{text}");
    std::fs::write(&cast, text).unwrap();

    let film = ["film", "--title", "Two", "--note", "7=half"];
    let svg = said(&film, &[&cast, &cast]).unwrap();
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    assert_eq!(svg.matches(">one</text>").count(), 2);
    assert!(svg.contains(">half</text>") && svg.contains("@keyframes"));
}

#[test]
fn a_film_of_something_else_is_refused_with_its_name() {
    let complaint = said(&["film"], &[&session()]).unwrap_err();
    assert!(
        complaint.contains("film/session") && complaint.contains("asciicast"),
        "{complaint}"
    );
}
