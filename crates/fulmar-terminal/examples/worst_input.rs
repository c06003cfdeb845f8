//! Prints what the worst input costs: for each kind the work of a byte, counted, and the seconds that
//! a megabyte takes.
//!
//! `cargo run --release -p fulmar-terminal --example worst_input`

#![expect(
    clippy::disallowed_methods,
    reason = "it measures time, the crate does not"
)]

use std::time::Instant;

use fulmar_terminal::{Clustering, Size, Terminal};

/// Bytes of each kind that are written.
const BYTES: usize = 1 << 18;

/// Input that makes much work, and how it is called.
const KINDS: [(&str, &str); 36] = [
    (
        "DECCRA of links",
        "\x1b]8;;a:\x07x\x1b]8;;b:\x07y\x1b[;;23;;;2$v",
    ),
    ("DECFRA", "\x1b[42$x"),
    ("DECSERA", "\x1b[${"),
    ("DECCARA", "\x1b[;;;;1$r"),
    ("DECRARA", "\x1b[;;;;1;4;5;7;1;4;5;7;1;4;5;7;1;4;5;7$t"),
    (
        "LF between margins",
        "\x1b[?69h\x1b[2;4096s\x1b[4096;2H\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
    ),
    (
        "RI between margins",
        "\x1b[?69h\x1b[2;4096s\x1b[;2H\x1bM\x1bM\x1bM\x1bM\x1bM\x1bM\x1bM\x1bM\x1bM\x1bM\x1bM\x1bM",
    ),
    ("REP", "x\x1b[65535b"),
    ("REP, wide", "漢\x1b[65535b"),
    ("REP, not wrapping", "\x1b[?7l漢\x1b[65535b"),
    ("REP, inserting", "\x1b[4hx\x1b[65535b"),
    ("DECALN and SL", "\x1b#8\x1b[ @"),
    ("SL of rows that differ", "\x1b[ @"),
    ("DECIC", "\x1b['}"),
    ("ICH", "\x1b[H\x1b[@"),
    ("SU", "\x1b[99S"),
    ("IL", "\x1b[H\x1b[L"),
    ("ED", "\x1b[2J"),
    ("ED in colours", "\x1b[44m\x1b[J\x1b[m\x1b[J"),
    ("LF", "\n"),
    ("RIS", "\x1bc"),
    ("alternate screen", "\x1b[?1049h\x1b[?1049l"),
    ("CHT and CBT", "\x1b[65535I\x1b[65535Z"),
    ("marks", "e\u{301}"),
    ("clusters", "\x1b[?2027h🇩🇪👍🏽"),
    ("long clusters", "\x1b[?2027h\u{301}"),
    ("REP, cluster", "\x1b[?2027h👍🏽\x1b[65535b"),
    ("links", "\x1b]8;;x:y\x07x"),
    ("a colour, set", "\x1b]4;1;#000\x07\x1b]4;1;#fff\x07"),
    ("colours, asked", "\x1b]4;1;?;1;?\x07"),
    ("SGR", "\x1b[m"),
    ("DSR", "\x1b[6n"),
    ("DECRQSS", "\x1bP$qm\x1b\\"),
    ("REP, once", "x\x1b[b"),
    ("titles", "\x1b]0;\x07"),
    ("DECALN", "\x1b#8"),
];

/// Copies of rectangles, and what is in each of their cells.
const COPIES: [(&str, [&str; 2]); 3] = [
    ("DECCRA, 2 links", ["\x1b]8;;a:\x07x", "\x1b]8;;b:\x07y"]),
    (
        "DECCRA, links and not",
        ["\x1b]8;;a:\x07x", "\x1b]8;;\x07y"],
    ),
    (
        "DECCRA, linked clusters",
        ["\x1b]8;;a:\x07e\u{301}", "\x1b]8;;b:\x07e\u{301}"],
    ),
];

fn main() {
    for (rows, columns) in [(1, 1), (24, 80), (100, 400), (100, 401), (256, 4096)] {
        let size = Size::new(rows, columns).expect("within the bounds");
        println!("{size}:");
        let kinds = KINDS.map(|(name, piece)| (name, piece, String::new()));
        let copies = COPIES.map(|(name, cells)| {
            let filled = cells
                .concat()
                .repeat(usize::from(rows) * usize::from(columns).div_ceil(2));
            (name, "\x1b[;;;;;2$v\x1b[;;;;;;2$v", filled)
        });
        for (name, piece, before) in kinds.into_iter().chain(copies) {
            let mut terminal = Terminal::new(size);
            terminal.set_clustering(Clustering::Switchable);
            // Rows that differ, and a tab stop in every column.
            terminal.process("\x1bH\x1b[C".repeat(usize::from(columns)).as_bytes());
            for row in 1..=rows {
                terminal.process(format!("\x1b[{row}H{row}").as_bytes());
            }
            terminal.process(before.as_bytes());
            let before = terminal.screen().work();
            let input = piece.repeat(BYTES / piece.len());
            let began = Instant::now();
            let mut taken = 0;
            while taken < input.len() && began.elapsed().as_secs() < 2 {
                taken += terminal.process_within(&input.as_bytes()[taken..], 1 << 20);
            }
            let seconds = began.elapsed().as_secs_f64();
            let work = terminal.screen().work() - before;
            println!(
                "  {name:24} {:10.1} a byte {:8.3} s/MB {:6.2} ns a unit",
                work as f64 / taken as f64,
                seconds * 1e6 / taken as f64,
                seconds * 1e9 / work as f64
            );
        }
    }
}
