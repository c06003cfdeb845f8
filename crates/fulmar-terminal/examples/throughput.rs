//! Measures how fast bytes become a screen, in megabytes per second.
//!
//! ```text
//! cargo run --release -p fulmar-terminal --example throughput
//! ```
//!
//! Each figure is the median of [`ROUNDS`] rounds over [`BYTES`] bytes on a screen of 80x24, fed in
//! pieces of [`PIECE`] bytes, as a pty gives them. With snapshots a clone of the screen is kept
//! after each piece until the next, as a server keeps the state it sent last.

use std::hint::black_box;
use std::time::{Duration, Instant};

use fulmar_terminal::{Size, Terminal};

const ROUNDS: usize = 5;
const BYTES: usize = 32 << 20;
const PIECE: usize = 64 << 10;

fn main() {
    println!("MB/s, median of {ROUNDS} rounds of {} MiB", BYTES >> 20);
    println!("{:<14} {:>8} {:>14}", "input", "MB/s", "with snapshots");
    let inputs: [(&str, Line); 7] = [
        ("ascii", ascii_line),
        ("short lines", |_| b"y\r\n".to_vec()),
        ("mixed utf-8", mixed_line),
        ("cjk", |_| "漢字仮名交じり文の端末試験\r\n".into()),
        ("sgr per char", sgr_line),
        ("cursor moves", moves_line),
        ("region scroll", |n| {
            [b"\x1b[2;23r\x1b[23;1H", &*ascii_line(n)].concat()
        }),
    ];
    for (name, line) in inputs {
        let input: Vec<u8> = (0..).flat_map(line).take(BYTES).collect();
        let alone = median(&input, Snapshots::None);
        let with_snapshots = median(&input, Snapshots::Latest);
        println!("{name:<14} {alone:>8} {with_snapshots:>14}");
    }
}

/// Returns the n-th line of an input.
type Line = fn(usize) -> Vec<u8>;

/// The screens that are kept beside the live one.
#[derive(Clone, Copy)]
enum Snapshots {
    None,
    Latest,
}

/// Returns the median speed.
fn median(input: &[u8], snapshots: Snapshots) -> u128 {
    let mut speeds: Vec<u128> = (0..ROUNDS)
        .map(|_| input.len() as u128 / round(input, snapshots).as_micros().max(1))
        .collect();
    speeds.sort_unstable();
    speeds[ROUNDS / 2]
}

#[expect(clippy::disallowed_methods, reason = "a measurement needs the clock")]
fn round(input: &[u8], snapshots: Snapshots) -> Duration {
    let mut terminal = Terminal::new(Size::default());
    let mut latest = None;
    let start = Instant::now();
    for piece in input.chunks(PIECE) {
        terminal.process(black_box(piece));
        if let Snapshots::Latest = snapshots {
            latest = Some(terminal.screen().clone());
        }
    }
    black_box((terminal, latest));
    start.elapsed()
}

/// 78 printable characters.
fn ascii_line(n: usize) -> Vec<u8> {
    let text = (0..78).map(|column| b' ' + ((n * 7 + column) % 95) as u8);
    text.chain(*b"\r\n").collect()
}

/// Words of several scripts.
fn mixed_line(n: usize) -> Vec<u8> {
    let words = [
        "plain",
        "naïve",
        "Привет",
        "漢字",
        "e\u{301}te\u{301}",
        "🚀",
        "ascii text",
        "─┼─",
    ];
    let line: String = (0..8)
        .flat_map(|word| [words[(n + word * 3) % 8], " "])
        .collect();
    (line + "\r\n").into_bytes()
}

/// A change of colour before each character.
fn sgr_line(n: usize) -> Vec<u8> {
    let cells = (0..60).map(|cell| format!("\x1b[{}m{}", 31 + (n + cell) % 7, cell % 10));
    (cells.collect::<String>() + "\r\n").into_bytes()
}

/// Words in many places and colours, as a full-screen program draws.
fn moves_line(n: usize) -> Vec<u8> {
    let (row, column) = (1 + n * 5 % 24, 1 + n * 11 % 70);
    format!(
        "\x1b[{row};{column}H\x1b[1;38;5;{}mword {n:03}\x1b[m",
        n % 256
    )
    .into_bytes()
}
