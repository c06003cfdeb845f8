//! Every frame of a stock server makes our emulator show what stock's own client shows.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fulmar_terminal::{Size, Vocabulary};

use super::judge::{Halves, difference, drawn, drawn_terminal};
use super::libc_widths::LibcWidths;
use super::programs::{DISPUTED, Programmer, seeds};
use super::sessions::{MENDS_WITHIN, in_parallel};
use super::stock_client::StockClient;
use super::tap::Tap;
use crate::peers;
use crate::support::{DEADLINE, Server, World};

/// How much of a recording is written between two looks.
const STEP_BYTES: usize = 2000;

/// How many looks are taken at the screens of one seed.
const STEPS: usize = 4;

/// How many seeds are run unless the caller wants another number.
const SEEDS: u64 = 160;

const TESTDATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata");

/// Shows the files `0`, `1`, … of a folder, one for each line that is typed.
const PLAYER: &str = r#"stty raw -echo; n=0; while read -r _; do cat "$0/$n"; n=$((n+1)); done"#;

#[test]
fn recorded_programs_in_a_stock_session_look_the_same_to_our_client() {
    let recordings = [files("recordings", Some("bin")), files("keys", None)].concat();
    assert!(recordings.len() > 30, "some recordings are missing");
    let Some(stock) = Stock::require() else {
        return;
    };
    in_parallel(recordings, |paths| {
        for path in paths {
            let steps = steps(&written(&path));
            let (name, halves) = (path.display().to_string(), Halves::left_to_the_terminal());
            let mut session = Session::start(&stock, &name, halves, steps);
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

/// What a random program writes.
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
    /// Which recording or seed is played.
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

fn files(folder: &str, extension: Option<&str>) -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(TESTDATA).join(folder)).expect("a folder of ours");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension() == extension.map(AsRef::as_ref))
        .collect();
    files.sort();
    files
}

/// Returns what the programs of a recording wrote.
fn written(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).expect("a readable recording");
    if path.extension().is_some() {
        return bytes;
    }
    host_bytes(&bytes)
}

/// Returns the bytes of the HOST records of a key trace; the format is in testdata/README.md.
fn host_bytes(trace: &[u8]) -> Vec<u8> {
    let mut written = Vec::new();
    let mut rest = trace;
    while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
        let header = std::str::from_utf8(&rest[..end]).expect("a header is ASCII");
        rest = &rest[end + 1..];
        let mut fields = header.split(' ').skip(1);
        let (kind, number) = (fields.next(), fields.next());
        if kind == Some("SIZE") {
            continue;
        }
        let length: usize = number.and_then(|n| n.parse().ok()).expect("a length");
        if kind == Some("HOST") {
            written.extend_from_slice(&rest[..length]);
        }
        rest = &rest[length + 1..];
    }
    written
}

/// Cuts what a program wrote where no character and no sequence is open.
fn steps(written: &[u8]) -> Vec<Vec<u8>> {
    let is_cut = |at: usize| {
        let (before, after) = written.split_at(at);
        before.ends_with(b"\n") || after.starts_with(b"\x1b") && !after.starts_with(b"\x1b\\")
    };
    let mut steps = Vec::new();
    let mut start = 0;
    while start < written.len() {
        let from = written.len().min(start + STEP_BYTES);
        let end = (from..written.len()).find(|&at| is_cut(at));
        let end = end.unwrap_or(written.len());
        steps.push(written[start..end].to_vec());
        start = end;
    }
    steps
}

#[test]
fn recordings_are_cut_between_sequences() {
    let line = [b'x'; STEP_BYTES];
    let written = [&line, &b"\x1b[1mbold"[..], &line, b"\x1b\\\n", &line].concat();
    let steps = steps(&written);
    let lengths: Vec<usize> = steps.iter().map(Vec::len).collect();
    assert_eq!(lengths, [STEP_BYTES, STEP_BYTES + 11, STEP_BYTES]);
    assert_eq!(steps.concat(), written);
    assert_eq!(
        host_bytes(b"1 SIZE 80 24\n2 USER 1\nx\n3 HOST 3\na\nb\n"),
        b"a\nb"
    );
}
