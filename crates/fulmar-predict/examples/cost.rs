//! What prediction costs: microseconds of computing for each key and for each frame.
//!
//! A screen of 200 by 60 full of text, a shell's prompt at its foot; a user who types and corrects lines on a
//! link of so many keys a round trip. Run it with `cargo run --release -p fulmar-predict --example cost`.

#![expect(clippy::disallowed_methods, reason = "it measures time")]

use std::time::{Duration, Instant};

use fulmar_datagram::Time;
use fulmar_predict::{Config, Engine};
use fulmar_terminal::{Size, Terminal};

/// What is typed, and what the shell writes for it.
const LINE: [(&str, &str); 12] = [
    ("g", "g"),
    ("i", "i"),
    ("t", "t"),
    (" ", " "),
    ("x", "x"),
    ("\x7f", "\x08\x1b[K"),
    ("l", "l"),
    ("o", "o"),
    ("\x1b[D", "\x08"),
    ("e", "\x1b[1@e"),
    ("\x05", "\x1b[C"),
    (
        "\r",
        "\r\n\x1b[?2004l\rdone\r\n\x1b[?2004hmira@heron:~/project$ ",
    ),
];

/// How many lines are typed.
const LINES: usize = 500;

fn main() {
    println!("keys on the way   us per key   us per frame   shown");
    for ahead in [0, 1, 4, 16, 64] {
        let cost = Cost::of(ahead);
        println!(
            "{ahead:15}   {:10.1}   {:12.1}   {:4.0} %",
            micros(cost.keys) / cost.count,
            micros(cost.frames) / cost.count,
            cost.shown
        );
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

struct Cost {
    keys: Duration,
    frames: Duration,
    count: f64,
    /// The share of keys that were shown, in percent.
    shown: f64,
}

impl Cost {
    /// Types with so many keys on the way.
    fn of(ahead: usize) -> Cost {
        let size = Size::new(60, 200).unwrap_or_default();
        let mut engine = Engine::new(Config::default(), size);
        let mut program = Terminal::new(size);
        engine.handle_link(Some(Duration::from_millis(100)));
        for row in 0..58 {
            program.process(format!("{row:4} {}\r\n", "text ".repeat(38)).as_bytes());
        }
        program.process(b"\x1b[?2004hmira@heron:~/project$ ");
        let mut now = Time::ZERO;
        engine.handle_frame(now, program.screen(), 0, 0);
        let keys: Vec<(&str, &str)> = LINE.into_iter().cycle().take(LINES * LINE.len()).collect();
        let (mut typed, mut cost) = (0, [Duration::ZERO; 2]);
        let mut ends = Vec::new();
        for number in 0..keys.len() + ahead {
            now += Duration::from_millis(130);
            if let Some((key, _)) = keys.get(number) {
                let began = Instant::now();
                engine.handle_keys(now, typed, key.as_bytes());
                engine.overlay(now);
                cost[0] += began.elapsed();
                typed += key.len() as u64;
                ends.push(typed);
            }
            if let Some(answered) = number.checked_sub(ahead) {
                program.process(keys[answered].1.as_bytes());
                let screen = program.screen().clone();
                let began = Instant::now();
                engine.handle_frame(now, &screen, ends[answered], ends[answered]);
                engine.overlay(now);
                cost[1] += began.elapsed();
            }
        }
        let score = engine.score();
        Cost {
            keys: cost[0],
            frames: cost[1],
            count: keys.len() as f64,
            shown: score.shown as f64 * 100.0 / score.keys as f64,
        }
    }
}
