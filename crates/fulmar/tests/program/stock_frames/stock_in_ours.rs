//! Every frame of a stock server makes our emulator show what stock's own client shows.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use fulmar_terminal::{Size, Vocabulary};

use super::judge::{Halves, difference, drawn, drawn_terminal};
use super::libc_widths::LibcWidths;
use super::programs::{DISPUTED, Programmer, seeds};
use super::recordings::{Recording, recordings};
use super::sessions::{MENDS_WITHIN, in_parallel};
use super::stock_client::StockClient;
use super::tap::Tap;
use crate::support::{DEADLINE, Server, World};
use fulmar_testbed::peers;

/// The number of looks that are taken at the screens of one seed.
const STEPS: usize = 4;

/// The number of seeds that are run unless the caller wants another number.
const SEEDS: u64 = 160;

/// Shows the files `0`, `1`, … of a folder, one for each line that is typed.
const PLAYER: &str = r#"stty raw -echo; n=0; while read -r _; do cat "$0/$n"; n=$((n+1)); done"#;

#[test]
fn recorded_programs_in_a_stock_session_look_the_same_to_our_client() {
    let Some(stock) = Stock::require() else {
        return;
    };
    in_parallel(recordings(), |recordings| {
        for Recording { name, steps } in recordings {
            let mut session = Session::start(&stock, &name, Halves::left_to_the_terminal(), steps);
            session.play();
        }
    });
}

#[test]
fn random_programs_in_a_stock_session_look_the_same_to_our_client() {
    let Some(stock) = Stock::require() else {
        return;
    };
    in_parallel(seeds(SEEDS), |seeds| {
        let all: Vec<Seed> = seeds.map(|seed| Seed::new(seed, &stock.widths)).collect();
        let steps = all.iter().flat_map(|seed| seed.steps.clone());
        let mut session =
            Session::start(&stock, "random", Halves::hidden_by_stock(), steps.collect());
        for seed in all {
            session.name = format!("seed {}", seed.number);
            session.resize(seed.size);
            seed.steps.iter().for_each(|_| session.step());
        }
    });
}

/// The output of a random program.
struct Seed {
    number: u64,
    size: Size,
    steps: Vec<Vec<u8>>,
}

impl Seed {
    fn new(number: u64, widths: &LibcWidths) -> Seed {
        let mut programmer = Programmer::new(number);
        let (rows, columns) = programmer.size();
        let reset = b"\x1bc".to_vec();
        // A stock server relies on its client to have its own idea of widths.
        let mut step = || widths.without_differing(&programmer.step()).into_bytes();
        let steps: Vec<Vec<u8>> = (0..STEPS).map(|_| step()).collect();
        Seed {
            number,
            size: Size::new(rows, columns).expect("small"),
            steps: std::iter::once(reset).chain(steps).collect(),
        }
    }
}

/// Stock's programs and the host's widths.
struct Stock {
    server: PathBuf,
    client: PathBuf,
    widths: LibcWidths,
}

impl Stock {
    #[track_caller]
    fn require() -> Option<Stock> {
        Some(Stock {
            server: peers::require("mosh-server")?,
            client: peers::require("mosh-client")?,
            widths: LibcWidths::measure(&DISPUTED),
        })
    }
}

/// A stock session with our client listening.
struct Session {
    /// The recording or seed that is played.
    name: String,
    steps: Vec<Vec<u8>>,
    /// The number of steps that were shown.
    shown: usize,
    client: StockClient,
    tap: Tap,
    halves: Halves,
    _server: Server,
    /// Dropped last: the server's program reads its files.
    _world: World,
}

impl Session {
    fn start(stock: &Stock, name: &str, halves: Halves, steps: Vec<Vec<u8>>) -> Session {
        let world = World::new();
        for (index, step) in steps.iter().enumerate() {
            let ending = format!("\x1b]2;{}\x07", title(index));
            world.write(&index.to_string(), [step, ending.as_bytes()].concat());
        }
        let folder = world.home().display().to_string();
        let server = Server::start(&world, &stock.server, &["sh", "-c", PLAYER, &folder]);
        let tap = Tap::to(server.port, &server.key);
        Session {
            name: name.to_owned(),
            steps,
            shown: 0,
            client: StockClient::start(
                &stock.client,
                tap.port(),
                &server.key,
                stock.widths.clone(),
            ),
            tap,
            halves,
            _server: server,
            _world: world,
        }
    }

    fn resize(&mut self, size: Size) {
        self.client.resize(size.rows(), size.columns());
        self.tap.resize(size);
        self.halves.forget();
        let came = self.until(DEADLINE, |session| session.tap.screen().size() == size);
        assert!(came, "{}: the new size did not come", self.name);
    }

    /// Shows all steps.
    fn play(&mut self) {
        (0..self.steps.len()).for_each(|_| self.step());
    }

    /// Shows the next step, and looks at it.
    fn step(&mut self) {
        let title = title(self.shown);
        self.client.type_keys(b"\n");
        let came = self.until(DEADLINE, |session| {
            session.tap.screen().title() == Some(&title)
                && session.client.eye().window().title == title
        });
        assert!(
            came,
            "{}: {title} did not come\n{}",
            self.name,
            self.drawn()
        );
        let is_same = self.until(MENDS_WITHIN, |session| session.difference().is_none());
        assert!(is_same, "{}", self.failure());
        self.halves.note(self.tap.screen());
        self.shown += 1;
    }

    fn difference(&self) -> Option<String> {
        let ours = self.tap.screen().projected(&Vocabulary::STOCK);
        difference(&ours, self.client.eye(), &self.halves)
    }

    fn failure(&self) -> String {
        let drawing = self.client.written();
        let last = &drawing[drawing.len().saturating_sub(1500)..];
        format!(
            "{}, step {}: {}\nthe program wrote {:?}\nstock's client wrote … {:?}\n{}",
            self.name,
            self.shown,
            self.difference().unwrap_or_default(),
            String::from_utf8_lossy(&self.steps[self.shown]),
            String::from_utf8_lossy(last),
            self.drawn(),
        )
    }

    fn drawn(&self) -> String {
        let ours = drawn(self.tap.screen());
        format!("ours: {ours}stock's: {}", drawn_terminal(self.client.eye()))
    }

    /// Lets everybody work until something holds, for so long at most. Returns whether it does.
    fn until(&mut self, limit: Duration, holds: impl Fn(&Session) -> bool) -> bool {
        let deadline = Instant::now() + limit;
        loop {
            self.tap.turn();
            self.client.turn();
            if holds(self) {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            self.tap.wait(&self.client, left);
        }
    }
}

/// The title that ends a step: it says that the step has been shown.
fn title(step: usize) -> String {
    format!("step {step} ☃")
}
