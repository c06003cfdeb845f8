//! Measures the cost of a frame, and of the screens that are kept because frames start from them.
//!
//! ```text
//! cargo run --release -p fulmar-terminal --example frame_cost
//! ```
//!
//! The first table is what [`KEPT`] successive screens take, as the crate estimates it and, on
//! Linux, by how much the process has grown (next to nothing, if it uses again what another row has freed). The second is the time of one `diff_from` between a
//! screen and the next, with the length of the frame: the median of all steps.

use std::hint::black_box;
use std::time::Instant;

use fulmar_terminal::{Screen, Size, Terminal, Vocabulary};

const STEPS: usize = 400;
const KEPT: usize = 32;

fn main() {
    let inputs: [(&str, Step); 4] = [
        ("one key", |n| vec![b'a' + (n % 26) as u8]),
        ("a scrolled line", scrolled),
        ("a changed row", |n| redrawn(n, n % 20..n % 20 + 1)),
        ("all rows", |n| redrawn(n, 0..60)),
    ];
    // Memory first, while the process has freed none that it could use again.
    println!(
        "{:<18} {:>17} {:>17}",
        format!("{KEPT} screens, kB"),
        "24 x 80",
        "60 x 200"
    );
    println!(
        "{:<18} {:>8} {:>8} {:>8} {:>8}",
        "between them", "estimate", "process", "estimate", "process"
    );
    for (name, step) in inputs {
        print!("{name:<18}");
        for (rows, columns) in [(24, 80), (60, 200)] {
            let (estimate, grown) = kept(size(rows, columns), step);
            print!(" {estimate:>8} {grown:>8}");
        }
        println!();
    }

    println!();
    println!("{:<18} {:>16} {:>16}", "", "24 x 80", "60 x 200");
    println!(
        "{:<18} {:>8} {:>7} {:>8} {:>7}",
        "one frame", "us", "bytes", "us", "bytes"
    );
    for (name, step) in inputs {
        print!("{name:<18}");
        for (rows, columns) in [(24, 80), (60, 200)] {
            let (microseconds, bytes) = median_frame(size(rows, columns), step);
            print!(" {microseconds:>8.1} {bytes:>7}");
        }
        println!();
    }
}

/// Returns what a program writes between screen `n` and the next.
type Step = fn(usize) -> Vec<u8>;

fn size(rows: u16, columns: u16) -> Size {
    Size::new(rows, columns).expect("a usual size")
}

/// Returns the median time in microseconds, and the median length, of the frame of one step.
#[expect(clippy::disallowed_methods, reason = "a measurement needs the clock")]
fn median_frame(size: Size, step: Step) -> (f64, usize) {
    let mut terminal = full(size);
    let mut times = Vec::new();
    let mut lengths = Vec::new();
    for n in 0..STEPS {
        let before = terminal.screen().clone();
        terminal.process(&step(n));
        let start = Instant::now();
        let frame = black_box(terminal.screen()).diff_from(&before, &Vocabulary::STOCK);
        times.push(start.elapsed().as_nanos());
        lengths.push(frame.len());
    }
    times.sort_unstable();
    lengths.sort_unstable();
    (times[STEPS / 2] as f64 / 1000.0, lengths[STEPS / 2])
}

/// Returns the estimate of what so many screens take beside the one before the first, and by how
/// much the process has grown, in kB.
fn kept(size: Size, step: Step) -> (usize, usize) {
    let mut terminal = full(size);
    let before = resident_kilobytes();
    let mut screens: Vec<Screen> = vec![terminal.screen().clone()];
    for n in 0..KEPT {
        terminal.process(&step(n));
        screens.push(terminal.screen().clone());
    }
    let grown = resident_kilobytes().saturating_sub(before);
    let beside = |pair: &[Screen]| pair[1].held_bytes(Some(&pair[0]));
    (screens.windows(2).map(beside).sum::<usize>() / 1000, grown)
}

/// Returns a terminal whose screen has text in every cell.
fn full(size: Size) -> Terminal {
    let mut terminal = Terminal::new(size);
    terminal.process(&redrawn(STEPS, 0..60));
    terminal.process(b"\x1b[H");
    terminal
}

/// A line of text that scrolls the screen.
fn scrolled(n: usize) -> Vec<u8> {
    let text = (0..78).map(|column| b' ' + ((n * 7 + column) % 95) as u8);
    b"\x1b[999;1H"
        .iter()
        .copied()
        .chain(text)
        .chain(*b"\r\n")
        .collect()
}

/// Rows of words in several colours, other ones for each `n`.
fn redrawn(n: usize, rows: std::ops::Range<usize>) -> Vec<u8> {
    let row = |row: usize| {
        let words = (0..20).map(move |word| {
            let color = 31 + (n + row + word) % 7;
            format!(
                "\x1b[{color}mword {:03}\x1b[m ",
                (n * 31 + row * 7 + word) % 1000
            )
        });
        format!(
            "\x1b[?7l\x1b[{};1H{}\x1b[?7h",
            row + 1,
            words.collect::<String>()
        )
    };
    rows.map(row).collect::<String>().into_bytes()
}

/// Returns the process's resident memory, or 0 where the system has no `/proc`.
fn resident_kilobytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes: Option<usize> =
        line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kibibytes.unwrap_or(0) * 1024 / 1000
}
