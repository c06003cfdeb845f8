//! More is pasted than a program reads, or than one end may hold.

use crate::support::{Make, Pair, Session, Wire};

const OURS: Pair = Pair {
    server: Make::Ours,
    client: Make::Ours,
};

/// As much as a terminal between programs holds a thousand times over, and less than both ends may hold.
const PASTE_BYTES: usize = 4 * 1024 * 1024;

/// The most memory of either end: what it may hold of the paste, twice while it grows, and the rest of it.
const MEMORY_MAX: u64 = 2 * PASTE_BYTES as u64 + 24 * 1024 * 1024;

/// Waits for a file, then reads as many bytes as were pasted, shows their checksum, and runs until it is interrupted.
fn reads_late() -> String {
    format!(
        "stty -icanon -echo; trap : INT; echo list''ening; until [ -e go ]; do sleep 0.1; done; \
         head -c {PASTE_BYTES} | cksum; echo all re''ad; sleep 1000; stty sane; echo inter''rupted\n"
    )
}

/// Returns the text that is pasted: no two lines are the same.
fn paste() -> Vec<u8> {
    let lines = (0..).flat_map(|number| format!("{number:>15}\n").into_bytes());
    lines.take(PASTE_BYTES).collect()
}

/// Starts a program that reads when it is told to, and pastes into it.
fn pasted() -> Option<Session> {
    let mut session = Session::with_shell(OURS, Wire::Relayed)?;
    session.terminal.type_keys(reads_late());
    session.terminal.wait_for_text("listening");
    session.terminal.type_now(paste());
    Some(session)
}

/// Returns what `cksum` says of these bytes: their checksum and how many they are.
fn checksum(bytes: &[u8]) -> String {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), bytes).expect("room");
    let input = std::fs::File::open(file.path()).expect("it is there");
    let output = std::process::Command::new("cksum").stdin(input).output();
    let text = String::from_utf8(output.expect("cksum runs").stdout).expect("a number");
    text.trim_end().to_owned()
}

/// Returns the most memory that a process has ever had.
fn peak_memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|peak| peak.trim().strip_suffix(" kB"));
    let kilobytes: u64 = kilobytes
        .and_then(|number| number.parse().ok())
        .expect("a number");
    kilobytes * 1024
}

#[test]
fn a_paste_waits_for_a_slow_reader_and_arrives_whole_with_an_interrupt_behind_it() {
    let Some(mut session) = pasted() else {
        return;
    };
    std::fs::write(session.world.home().join("go"), "").expect("a file");
    session.terminal.wait_for_text("all read");
    let shown = session.terminal.screen().contents();
    let sum = checksum(&paste());
    assert!(shown.contains(&sum), "{sum} is not in {shown}");
    session.terminal.type_now("\x03");
    session.terminal.wait_for_text("interrupted");
    for pid in [session.terminal.pid(), session.server.process.pid()] {
        let peak = peak_memory(pid);
        assert!(peak < MEMORY_MAX, "{peak} bytes");
    }
}

#[test]
fn the_user_leaves_a_paste_that_nobody_reads() {
    let Some(mut session) = pasted() else {
        return;
    };
    session.terminal.type_now("\x1e.");
    let status = session.terminal.wait_for_end();
    assert_eq!(status.code(), Some(0));
}
