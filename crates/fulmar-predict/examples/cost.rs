//! Measures the cost of prediction: microseconds of computing for each key and for each frame, and the same
//! with prediction off.
//!
//! A screen of 200 by 60 full of text; a user who types and corrects lines at a shell's prompt at its foot,
//! or near the top of an editor, on a link of so many keys a round trip. Run it with
//! `cargo run --release -p fulmar-predict --example cost`.

#![expect(clippy::disallowed_methods, reason = "it measures time")]

use std::time::{Duration, Instant};

use fulmar_base::Time;
use fulmar_predict::{PredictionConfig, PredictionEngine, PredictionMode};
use fulmar_terminal::{Size, Terminal};

/// A session that is typed, and the program's output for it.
struct Scene {
    name: &'static str,
    /// The program's first output, below the 58 rows of text.
    prompt: &'static str,
    line: &'static [(&'static str, &'static str)],
}

const SCENES: [Scene; 2] = [
    Scene {
        name: "shell",
        prompt: "\x1b[?2004hmira@heron:~/project$ ",
        line: &[
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
        ],
    },
    Scene {
        name: "editor",
        prompt: "\x1b[60;1H-- INSERT --\x1b[5;1H",
        line: &[
            ("w", "\x1b[1@w"),
            ("o", "\x1b[1@o"),
            ("r", "\x1b[1@r"),
            ("x", "\x1b[1@x"),
            ("\x7f", "\x08\x1b[P"),
            ("d", "\x1b[1@d"),
            (" ", "\x1b[1@ "),
            ("\x1b[D", "\x08"),
            ("\x1b[B", "\x1b[B"),
            ("\x1b[A", "\x1b[A"),
            ("\x1b[H", "\r"),
            ("\r", "\x1b[59;1H\x1b[M\x1b[5;1H\x1b[L\x1b[6;1H"),
            ("\x1b[A", "\x1b[A"),
        ],
    },
];

/// The number of lines that are typed. Chosen by eye: it takes seconds.
const LINES: usize = 500;

fn main() {
    println!("scene    keys on the way   us per key   us per frame   shown");
    for scene in &SCENES {
        for ahead in [0, 1, 4, 16, 64] {
            Cost::of(scene, ahead, PredictionMode::Adaptive).print(scene.name, &ahead.to_string());
        }
        Cost::of(scene, 1, PredictionMode::Never).print(scene.name, "never");
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
    fn of(scene: &Scene, ahead: usize, mode: PredictionMode) -> Cost {
        let size = Size::new(60, 200).unwrap_or_default();
        let config = PredictionConfig {
            mode,
            overwrite: false,
        };
        let mut engine = PredictionEngine::new(config, size);
        let mut program = Terminal::new(size);
        engine.handle_link(Some(Duration::from_millis(100)));
        for row in 0..58 {
            program.process(format!("{row:4} {}\r\n", "some text ".repeat(18)).as_bytes());
        }
        program.process(scene.prompt.as_bytes());
        let mut now = Time::ZERO;
        engine.handle_frame(now, program.screen(), 0, 0);
        let keys: Vec<_> = scene
            .line
            .iter()
            .cycle()
            .take(LINES * scene.line.len())
            .collect();
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
            shown: score.shown as f64 * 100.0 / score.keys.max(1) as f64,
        }
    }

    fn print(&self, scene: &str, ahead: &str) {
        println!(
            "{scene:6} {ahead:>17}   {:10.1}   {:12.1}   {:4.0} %",
            micros(self.keys) / self.count,
            micros(self.frames) / self.count,
            self.shown
        );
    }
}
