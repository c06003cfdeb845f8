//! Every frame of ours makes a stock client show the right screen.

use std::path::Path;
use std::time::{Duration, Instant};

use fulmar_platform::{Interest, Poller};
use fulmar_terminal::{Screen, Size, Vocabulary};

use super::judge::{Halves, difference, drawn, drawn_terminal};
use super::libc_widths::LibcWidths;
use super::our_server::OurServer;
use super::programs::{DISPUTED, Programmer, seeds};
use super::recordings::{Recording, recordings};
use super::sessions::{MENDS_WITHIN, in_parallel};
use super::stock_client::StockClient;
use crate::support::DEADLINE;
use fulmar_testbed::peers;

/// The number of looks that are taken at the screens of one seed.
const STEPS: usize = 4;

/// The number of seeds that are run unless the caller wants another number.
const SEEDS: u64 = 400;

#[test]
fn a_stock_client_shows_the_screen_that_our_frames_are_of() {
    let Some(program) = peers::require("mosh-client") else {
        return;
    };
    let widths = LibcWidths::measure(&DISPUTED);
    in_parallel(seeds(SEEDS), |seeds| {
        let mut session = Session::start(&program, widths.clone());
        seeds.for_each(|seed| session.run(seed));
    });
}

#[test]
fn a_stock_client_shows_what_recorded_programs_show_on_our_server() {
    let Some(program) = peers::require("mosh-client") else {
        return;
    };
    in_parallel(recordings(), |recordings| {
        let mut session = Session::start(&program, LibcWidths::default());
        session.resize(24, 80);
        for Recording { name, steps } in recordings {
            session.step(&name, b"\x1bc");
            steps.iter().for_each(|step| session.step(&name, step));
        }
    });
}

struct Session {
    server: OurServer,
    client: StockClient,
    /// The number of looks taken.
    looks: usize,
    /// The screen that the server showed at the last one.
    shown: Screen,
    halves: Halves,
}

impl Session {
    fn start(program: &Path, widths: LibcWidths) -> Session {
        let server = OurServer::start();
        let client = StockClient::start(program, server.port(), server.key(), widths);
        Session {
            shown: server.screen().clone(),
            server,
            client,
            looks: 0,
            halves: Halves::left_to_the_terminal(),
        }
    }

    fn run(&mut self, seed: u64) {
        let mut programmer = Programmer::new(seed);
        let (rows, columns) = programmer.size();
        self.resize(rows, columns);
        let name = format!("seed {seed}");
        self.step(&name, b"\x1bc");
        for step in 0..STEPS {
            if step == STEPS / 2 && programmer.below(4) == 0 {
                let (rows, columns) = programmer.size();
                self.resize(rows, columns);
            }
            self.step(&name, programmer.step().as_bytes());
        }
    }

    fn resize(&mut self, rows: u16, columns: u16) {
        let size = Size::new(rows, columns);
        if Some(self.shown.size()) != size {
            self.halves.forget();
        }
        self.client.resize(rows, columns);
        self.wait("the new size", |session| {
            Some(session.server.screen().size()) == size
        });
    }

    /// Shows what a program writes, and looks at it.
    fn step(&mut self, name: &str, written: &[u8]) {
        self.looks += 1;
        // The title says that a frame has arrived; what follows it does so in the same write.
        let title = format!("☃ look {}", self.looks);
        written.chunks(13).for_each(|part| self.server.write(part));
        self.server.write(format!("\x1b]2;{title}\x07").as_bytes());
        self.wait("the frame", |session| {
            session.client.eye().window().title == title
        });
        let is_right = self.until(MENDS_WITHIN, |session| session.difference().is_none());
        if !is_right {
            panic!("{name}: {}", self.failure(written));
        }
        self.shown = self.server.screen().clone();
        self.halves.note(&self.shown);
    }

    fn difference(&self) -> Option<String> {
        let wanted = self.server.screen().projected(&Vocabulary::STOCK);
        difference(&wanted, self.client.eye(), &self.halves)
    }

    fn failure(&self, written: &[u8]) -> String {
        let screen = self.server.screen();
        let frame = screen.diff_from(&self.shown, &Vocabulary::STOCK);
        let drawing = self.client.written();
        let last = &drawing[drawing.len().saturating_sub(2 * frame.len() + 200)..];
        format!(
            "{}\nthe program wrote {:?}\nour frame was {:?}\nthe client wrote … {:?}\n\
             before: {}wanted: {}shown: {}",
            self.difference().unwrap_or_default(),
            String::from_utf8_lossy(written),
            String::from_utf8_lossy(&frame),
            String::from_utf8_lossy(last),
            drawn(&self.shown),
            drawn(screen),
            drawn_terminal(self.client.eye()),
        )
    }

    fn wait(&mut self, what: &str, is_there: impl Fn(&Session) -> bool) {
        let came = self.until(DEADLINE, is_there);
        assert!(
            came,
            "{what} did not come: {}",
            drawn_terminal(self.client.eye())
        );
    }

    /// Lets both ends work until something holds, for so long at most. Returns whether it does.
    fn until(&mut self, limit: Duration, holds: impl Fn(&Session) -> bool) -> bool {
        let deadline = Instant::now() + limit;
        let mut poller = Poller::new();
        loop {
            self.server.turn();
            self.client.turn();
            if holds(self) {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let pause = self.server.idle_for().map_or(left, |idle| idle.min(left));
            let waited = poller.wait(Some(pause), |registry| {
                registry.add((), &self.server, Interest::Read);
                registry.add((), &self.client, Interest::Read);
            });
            waited.expect("poll works");
        }
    }
}
