//! The inputs that fuzzing has kept are tried again with any compiler, each also cut short.

#[path = "support/any_program.rs"]
mod any_program;

use std::fs;
use std::path::Path;

/// Calls `check` with every file of a corpus, and with its beginnings; `steps` of them.
fn replay(corpus: &str, steps: usize, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut tried = 0;
    for entry in fs::read_dir(folder.join(corpus)).expect("a corpus") {
        let path = entry.expect("a file of it").path();
        let input = fs::read(path).expect("an input");
        for step in 1..=steps {
            check(&input[..input.len() * step / steps]);
        }
        tried += 1;
    }
    assert!(tried >= 6, "{tried} inputs");
}

#[test]
fn the_corpus_of_programs_keeps_the_rules() {
    replay("terminal", 8, any_program::check_bytes);
}

#[test]
fn the_corpus_of_frames_leads_from_screen_to_screen() {
    replay("frames", 2, any_program::check_frames);
}
