//! Programs that a test writes.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes a file that everybody may run.
///
/// A child writes it. A file cannot be run as long as anybody has it open for writing, and what this process has open, a thread beside
/// ours may hand on to whatever it starts at that moment.
///
/// # Panics
///
/// When it cannot be written.
#[track_caller]
pub fn write_program(path: &Path, contents: impl AsRef<[u8]>) {
    let mut writer = Command::new("sh")
        .args(["-c", "cat > \"$0\" && chmod 755 \"$0\""])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .expect("there is a shell");
    let mut input = writer.stdin.take().expect("it is piped");
    let written = input.write_all(contents.as_ref());
    drop(input);
    let status = writer.wait().expect("nobody else waits for it");
    assert!(
        written.is_ok() && status.success(),
        "writing {}: {written:?}, {status}",
        path.display()
    );
}
