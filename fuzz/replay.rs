//! The inputs that fuzzing has kept are tried again, with any compiler.

use std::fs;
use std::path::Path;

/// Hands what lies in the corpus of a target to its check: each input whole, and cut off at some places.
///
/// # Panics
///
/// Where the check does, or the corpus is missing.
pub(crate) fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let mut tried = 0;
    for entry in fs::read_dir(folder.join(target)).expect("there is a corpus") {
        let path = entry.expect("it can be listed").path();
        let input = fs::read(&path).expect("it can be read");
        println!("{}", path.display());
        check(&input);
        for part in 1..4 {
            check(&input[..input.len() * part / 4]);
        }
        tried += 1;
    }
    assert!(tried >= 3, "{tried} inputs for {target}");
}
