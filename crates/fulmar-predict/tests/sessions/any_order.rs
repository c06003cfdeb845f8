//! Whatever happens in whatever order: nothing breaks, nothing grows, nothing stays.

use std::time::Duration;

use fulmar_base::Time;
use fulmar_predict::{PredictionConfig, PredictionEngine, PredictionMode, ProgramClass, TtyHints};
use fulmar_terminal::{CursorShape, Screen, Size, Terminal};
use proptest::prelude::*;

use crate::session::{Session, rows_of};

/// Something that happens to an engine.
#[derive(Clone, Debug)]
enum Event {
    Keys(Vec<u8>),
    /// The program writes, and a frame comes with counts that are behind by so much.
    ServerFrame(String, u64, u64),
    /// A frame with any counts.
    Counts(u64, u64),
    TtyHints(u8),
    Resize(u16, u16),
    Link(Option<u16>),
    Wait(u16),
}

fn keys() -> impl Strategy<Value = Vec<u8>> {
    let form = prop::sample::select(vec![
        "a",
        "b",
        " ",
        "é",
        "漢",
        "\u{301}",
        "\x7f",
        "\r",
        "\t",
        "\x1b",
        "\x1b[A",
        "\x1b[B",
        "\x1b[C",
        "\x1b[D",
        "\x1bOA",
        "\x1b[H",
        "\x1b[F",
        "\x1b[3~",
        "\x01",
        "\x05",
        "\x15",
        "\x0b",
        "\x17",
        "\x03",
        "\x12",
        "\x1bb",
        "\x1bf",
        "\x1b\x7f",
        "\x1b[200~x\x1b[201~",
        "\x1b[<0;1;1M",
        "\x1b[?1;2c",
    ]);
    prop_oneof![
        8 => form.prop_map(|form| form.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..8),
        1 => prop::collection::vec(any::<u8>(), 99..104),
    ]
}

fn output() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b",
        "ab",
        " ",
        "漢",
        "\u{301}",
        "\r\n",
        "\r",
        "$ ",
        "> ",
        "\x08",
        "\x1b[K",
        "\x1b[2J",
        "\x1b[H",
        "\x1b[3;2H",
        "\x1b[?2004h",
        "\x1b[?2004l",
        "\x1b[?25l",
        "\x1b[?25h",
        "\x1b[7m \x1b[m",
        "\x1b[90mab\x1b[m",
        "\x1b[1@",
        "\x1b[P",
        "\x1bM",
        "\x1b[L",
        "-- INSERT --",
        "│",
        "\x1b[?1049h",
        "Password: ",
        "  1 ",
        "~",
        "────",
    ]);
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        10 => keys().prop_map(Event::Keys),
        8 => (output(), 0..4_u64, 0..4_u64).prop_map(|(text, a, b)| Event::ServerFrame(text, a, b)),
        1 => (any::<u64>(), any::<u64>()).prop_map(|(a, b)| Event::Counts(a, b)),
        1 => any::<u8>().prop_map(Event::TtyHints),
        1 => (1..12_u16, 1..30_u16).prop_map(|(rows, columns)| Event::Resize(rows, columns)),
        1 => prop::option::of(0..600_u16).prop_map(Event::Link),
        2 => (0..6000_u16).prop_map(Event::Wait),
    ]
}

fn hints(bits: u8) -> TtyHints {
    TtyHints {
        canonical: bits & 1 != 0,
        echo: bits & 2 != 0,
        alternate: bits & 4 != 0,
        steady: bits & 6 == 2,
        cursor_shape: CursorShape::Default,
        program: u64::from(bits & 8),
        class: match bits >> 4 {
            0..4 => ProgramClass::Shell,
            4..6 => ProgramClass::Editor,
            6..8 => ProgramClass::LineEditor,
            8..12 => ProgramClass::Relay,
            _ => ProgramClass::Unknown,
        },
    }
}

struct World {
    engine: PredictionEngine,
    terminal: Terminal,
    frame: Screen,
    now: Time,
    typed: u64,
}

impl World {
    fn new(mode: PredictionMode) -> World {
        let size = Size::new(6, 24).expect("a size within bounds");
        let config = PredictionConfig {
            mode,
            overwrite: false,
        };
        World {
            engine: PredictionEngine::new(config, size),
            terminal: Terminal::new(size),
            frame: Screen::new(size),
            now: Time::ZERO + Duration::from_secs(1),
            typed: 0,
        }
    }

    /// The same at a prompt that has echoed, so that predictions are shown.
    fn trusted() -> World {
        let mut world = World::new(PredictionMode::Always);
        for (keys, output) in [("", "\x1b[?2004h$ "), ("a", "a")] {
            world.happen(&Event::Keys(keys.into()));
            world.happen(&Event::ServerFrame(output.into(), 0, 0));
        }
        world
    }

    fn happen(&mut self, event: &Event) {
        self.now += Duration::from_millis(7);
        match event {
            Event::Keys(bytes) => {
                self.engine.handle_keys(self.now, self.typed, bytes);
                self.typed += bytes.len() as u64;
            }
            Event::ServerFrame(text, behind, more) => {
                self.terminal.process(text.as_bytes());
                let received = self.typed.saturating_sub(*behind);
                self.show(received, received.saturating_sub(*more));
            }
            Event::Counts(received, echoed) => self.show(*received, *echoed),
            Event::TtyHints(bits) => self.engine.handle_hints(hints(*bits)),
            Event::Resize(rows, columns) => {
                let size = Size::new(*rows, *columns).expect("a size within bounds");
                self.engine.handle_resize(self.now, size);
                self.terminal.resize(size);
                self.frame = self.terminal.screen().clone();
                let overlay = self.engine.overlay(self.now);
                assert!(overlay.is_empty(), "a resize leaves nothing drawn");
            }
            Event::Link(srtt) => {
                let srtt = srtt.map(|ms| Duration::from_millis(ms.into()));
                self.engine.handle_link(srtt);
            }
            Event::Wait(ms) => self.now += Duration::from_millis((*ms).into()),
        }
    }

    fn show(&mut self, received: u64, echoed: u64) {
        self.frame = self.terminal.screen().clone();
        self.engine
            .handle_frame(self.now, &self.frame, received, echoed);
    }

    /// Draws the overlay, which must fit the frame.
    fn look(&mut self) {
        let overlay = self.engine.overlay(self.now);
        let size = self.frame.size();
        assert!(overlay.cells().iter().all(|cell| size.contains(cell.at)));
        assert!(overlay.cursor().is_none_or(|at| size.contains(at)));
        let cells = usize::from(size.rows()) * usize::from(size.columns());
        assert!(overlay.cells().len() <= cells);
        let mut seen = self.frame.clone();
        overlay.apply(&mut seen);
        assert_eq!(seen.size(), size);
        let _ = self.engine.poll_timeout();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_breaks(events in prop::collection::vec(event(), 1..60)) {
        let mut world = World::trusted();
        for event in &events {
            world.happen(event);
            world.look();
        }
    }

    /// Nothing is left to draw when the program has had everything, and later frames show through.
    #[test]
    fn nothing_stays(events in prop::collection::vec(event(), 1..12)) {
        let mut world = World::trusted();
        for event in events.iter().filter(|event| !matches!(event, Event::Counts(..))) {
            world.happen(event);
        }
        let typed = world.typed;
        world.show(typed, typed);
        prop_assert!(world.engine.overlay(world.now).is_empty());
        world.happen(&Event::ServerFrame("x".into(), 0, 0));
        prop_assert!(world.engine.overlay(world.now).is_empty());
    }

    /// Mode `Never` draws nothing, ever.
    #[test]
    fn never_is_never(events in prop::collection::vec(event(), 1..40)) {
        let mut world = World::new(PredictionMode::Never);
        for event in &events {
            world.happen(event);
            prop_assert!(world.engine.overlay(world.now).is_empty());
        }
    }

    /// A frame that has what was predicted already looks the same with the overlay.
    #[test]
    fn what_is_there_already_is_not_drawn_again(keys in prop::collection::vec(0..5_usize, 1..12)) {
        let mut session = Session::at_trusted_prompt();
        const KEYS: [(&str, &str); 5] = [
            ("a", "\x1b[1@a"), ("漢", "\x1b[2@漢"), ("\x7f", ""), ("\x1b[D", ""), ("b", "\x1b[1@b"),
        ];
        for &key in &keys {
            session.keys(KEYS[key].0);
        }
        let expected = session.seen();
        // The program has done just that; whether it is done is not known yet.
        let drawn = as_written(&expected);
        let typed = session.typed();
        session.program_with(&drawn, typed, 0);
        let seen = session.seen();
        prop_assert_eq!(rows_of(&seen), rows_of(&expected));
        prop_assert_eq!(seen.cursor().position, expected.cursor().position);
        prop_assert!(session.is_plain());
    }
}

/// Bytes that draw the row of the cursor as it is, and put the cursor there.
fn as_written(screen: &Screen) -> String {
    let at = screen.cursor().position;
    let mut text = String::new();
    screen.row(at.row).push_text(&mut text);
    let (row, column) = (at.row.0 + 1, at.column.0 + 1);
    format!("\x1b[{row};1H\x1b[2K{text}\x1b[{row};{column}H")
}
