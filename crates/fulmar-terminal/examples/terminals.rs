//! Measures how fast terminals without a window turn bytes into a screen: ours, `alacritty_terminal` and `vt100`.
//!
//! ```text
//! cargo run --release -p fulmar-terminal --example terminals [NAME…]
//! ```
//!
//! Each figure is the median of [`ROUNDS`] rounds over [`BYTES`] bytes on a screen of 80x24 without history, fed in pieces of
//! [`PIECE`] bytes, as a pty gives them. In each round the terminals take turns. With snapshots a clone of our screen is
//! kept after each piece until the next, as a server keeps the state that it sent last. With history the lines above the screen are
//! kept as well.

use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::Processor;
use fulmar_terminal::{Screen, ScrollbackLimits, Size, Terminal};

const ROUNDS: usize = 7;
const BYTES: usize = 8 << 20;
const PIECE: usize = 64 << 10;

/// The output of editors, each played in a loop.
const EDITORS: [&[u8]; 3] = [
    include_bytes!("../../../testdata/recordings/vim-edit.bin"),
    include_bytes!("../../../testdata/recordings/emacs-nw.bin"),
    include_bytes!("../../../testdata/recordings/nano-edit.bin"),
];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    println!("MB/s, median of {ROUNDS} rounds of {} MiB", BYTES >> 20);
    println!(
        "{:<16} {:>7} {:>15} {:>13} {:>19} {:>6}",
        "input", "fulmar", "with snapshots", "with history", "alacritty_terminal", "vt100"
    );
    let inputs: [(&str, Line); 12] = [
        ("ascii", ascii_line),
        ("short lines", |_| b"y\r\n".to_vec()),
        ("ls -lR, coloured", listing_line),
        ("prose", prose_line),
        ("cjk", |_| "漢字仮名交じり文の端末試験\r\n".into()),
        ("recorded editors", |n| EDITORS[n % EDITORS.len()].to_vec()),
        ("full repaint", repaint),
        ("cursor moves", moves_line),
        ("sgr per char", sgr_line),
        ("region scroll", |n| {
            [b"\x1b[2;23r\x1b[23;1H", &*ascii_line(n)].concat()
        }),
        ("strings of 1 MB", |_| {
            [b"\x1b]0;", &[b'x'; 1 << 20][..], b"\x07"].concat()
        }),
        ("random bytes", random_bytes),
    ];
    for (name, line) in inputs {
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        let mut input = Vec::with_capacity(BYTES + (2 << 20));
        for n in 0.. {
            if input.len() >= BYTES {
                break;
            }
            input.extend(line(n));
        }
        let [ours, snapshots, history, alacritty, vt100] = medians(&input);
        println!("{name:<16} {ours:>7} {snapshots:>15} {history:>13} {alacritty:>19} {vt100:>6}");
    }
}

/// Returns the n-th line of an input.
type Line = fn(usize) -> Vec<u8>;

/// A terminal at work.
type Process = Box<dyn FnMut(&[u8])>;

/// A terminal that is measured.
type Contender = fn() -> Process;

/// Returns the median speed of each, or a dash for one that fails.
fn medians(input: &[u8]) -> [String; 5] {
    let contenders: [Contender; 5] = [
        || {
            let mut terminal = Terminal::new(Size::default());
            Box::new(move |piece| terminal.process(piece))
        },
        || {
            let mut terminal = Terminal::new(Size::default());
            let mut latest: Option<Screen> = None;
            Box::new(move |piece| {
                terminal.process(piece);
                black_box(latest.insert(terminal.screen().clone()));
            })
        },
        || {
            let mut terminal = Terminal::new(Size::default());
            terminal.keep_history(ScrollbackLimits::default());
            Box::new(move |piece| terminal.process(piece))
        },
        || {
            let config = Config {
                scrolling_history: 0,
                ..Config::default()
            };
            let mut terminal = Term::new(config, &Usual, VoidListener);
            let mut parser: Processor = Processor::new();
            Box::new(move |piece| parser.advance(&mut terminal, piece))
        },
        || {
            let mut parser = vt100::Parser::new(24, 80, 0);
            Box::new(move |piece| parser.process(piece))
        },
    ];
    let mut speeds = [const { Vec::new() }; 5];
    for _ in 0..ROUNDS {
        for (contender, speeds) in contenders.iter().zip(&mut speeds) {
            speeds.extend(catch_unwind(AssertUnwindSafe(|| round(input, contender()))));
        }
    }
    speeds.map(|mut speeds: Vec<u128>| {
        speeds.sort_unstable();
        match speeds.get(ROUNDS / 2) {
            Some(speed) => speed.to_string(),
            None => "-".to_owned(),
        }
    })
}

#[expect(clippy::disallowed_methods, reason = "a measurement needs the clock")]
fn round(input: &[u8], mut process: Process) -> u128 {
    let start = Instant::now();
    for piece in input.chunks(PIECE) {
        process(black_box(piece));
    }
    input.len() as u128 / start.elapsed().as_micros().max(1)
}

/// A screen of 80x24.
struct Usual;

impl Dimensions for Usual {
    fn total_lines(&self) -> usize {
        24
    }

    fn screen_lines(&self) -> usize {
        24
    }

    fn columns(&self) -> usize {
        80
    }
}

/// 78 printable characters.
fn ascii_line(n: usize) -> Vec<u8> {
    let text = (0..78).map(|column| b' ' + ((n * 7 + column) % 95) as u8);
    text.chain(*b"\r\n").collect()
}

/// A file, as GNU ls lists it with colours.
fn listing_line(n: usize) -> Vec<u8> {
    let (mode, color, name) = [
        ("-rw-r--r--", "0", "notes.txt"),
        ("drwxr-xr-x", "01;34", "src"),
        ("-rwxr-xr-x", "01;32", "configure"),
        ("lrwxrwxrwx", "01;36", "libz.so -> libz.so.1"),
        ("-rw-r--r--", "01;31", "archive.tar.gz"),
    ][n % 5];
    let size = n * 7919 % 999_983;
    format!(
        "{mode} 1 root root {size:>7} Nov 25 12:{:02} \x1b[{color}m{name}\x1b[0m\r\n",
        n % 60
    )
    .into_bytes()
}

/// Words of several scripts.
fn prose_line(n: usize) -> Vec<u8> {
    let words = [
        "plain",
        "naïve",
        "Привет",
        "Straße",
        "e\u{301}te\u{301}",
        "Übung",
        "ascii text",
        "─┼─",
    ];
    let line: String = (0..8)
        .flat_map(|word| [words[(n + word * 3) % 8], " "])
        .collect();
    (line + "\r\n").into_bytes()
}

/// Every row in colours of 24 bits, from the top, as a dashboard draws.
fn repaint(n: usize) -> Vec<u8> {
    let mut text = "\x1b[H".to_owned();
    for row in 0..24 {
        let shade = (n + row * 10) % 256;
        text += &format!(
            "\x1b[{};1H\x1b[38;2;{shade};200;100;48;2;0;0;{shade}m",
            row + 1
        );
        text.extend((0..80).map(|column| char::from(b'!' + ((n + row + column) % 90) as u8)));
    }
    text.into_bytes()
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

/// Bytes of every value, the same in each run.
fn random_bytes(n: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(n as u64 + 1);
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(4096).collect()
}
