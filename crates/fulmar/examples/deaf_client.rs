//! Measures the memory that a client which has the key and acknowledges nothing makes a server keep.
//!
//! ```text
//! cargo build --release -p fulmar
//! cargo run --release -p fulmar --example deaf_client
//! ```
//!
//! Starts stock's server, if it is there, and ours, each with a program that writes a blank of a random
//! colour into every row of the window, for ever, so that two screens share no row. The client
//! acknowledges what comes at first and then nothing more, and stays until the server has sent
//! [`STATES`] states. The memory is the most that the server had resident (`VmHWM`).

#[path = "../tests/program/support/deaf.rs"]
mod deaf;
mod support;

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::time::Duration;

use deaf::DeafClient;
use fulmar_terminal::Size;
use support::{Server, ours};

/// More than the 32 that either server keeps.
const STATES: u64 = 60;

/// The time that a server may take for them. One that is slower is told by what it had then.
const WITHIN: Duration = Duration::from_secs(60);

/// Rows and columns of the windows.
const WINDOWS: [(u16, u16); 3] = [(24, 80), (100, 400), (256, 4096)];

fn main() -> Result<(), Box<dyn Error>> {
    println!("{:<14} {:>8} {:>8}", "server, MB", "mosh", "fulmar");
    for (rows, columns) in WINDOWS {
        let size = Size::new(rows, columns).ok_or("no such window")?;
        let stock = memory(OsStr::new("mosh-server"), size).ok();
        let ours = memory(ours()?.as_os_str(), size)?;
        let stock = stock.map_or("-".to_owned(), |memory| format!("{memory:.1}"));
        let window = format!("{rows} x {columns}");
        println!("{window:<14} {stock:>8} {ours:>8.1}");
    }
    Ok(())
}

/// Returns the most memory that a server has while nobody acknowledges what it sends, in MB.
fn memory(program: &OsStr, size: Size) -> Result<f64, Box<dyn Error>> {
    let draw = format!(
        "BEGIN {{ srand(1); for (;;) {{ for (row = 1; row <= {}; row++) \
         printf \"\\033[%d;%dH\\033[48;5;%dm \", row, 1 + {} * rand(), 256 * rand(); fflush() }} }}",
        size.rows(),
        size.columns(),
    );
    let server = Server::start(program, &["awk", &draw])?;
    let mut client = DeafClient::connect(server.port, &server.key);
    if !client.stay(size, STATES, WITHIN) {
        eprintln!(
            "{}: fewer than {STATES} states in {WITHIN:?}",
            program.display()
        );
    }
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB"));
    Ok(peak.ok_or("no memory")?.trim().parse::<f64>()? / 1e3)
}
