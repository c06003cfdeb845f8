//! Whatever happens in whatever order, each call does so much and no more.

use proptest::prelude::*;

use super::*;
use crate::pending::PENDING_MAX;
use crate::work_count::{self, Work};

const ROWS: u16 = 6;
const COLUMNS: u16 = 24;

/// Cells of the whole screen.
const CELLS: u64 = ROWS as u64 * COLUMNS as u64;

/// The number of times that a frame may predict, draw or compare everything that is pending. Measured; what
/// is quadratic comes to hundreds.
const PASSES: u64 = 8;

#[derive(Clone, Debug)]
enum Event {
    Keys(&'static str, usize),
    /// The program writes, and its screen comes with counts that are behind by so much.
    ServerFrame(&'static str, u64, u64),
    TtyHints(bool),
    Resize(u16),
}

fn event() -> impl Strategy<Value = Event> {
    let keys = [
        "a", "b", " ", "漢", "\x7f", "\r", "\x1b", "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D",
        "\x1b[5~", "\x01", "\x05", "\x0b", "\x15", "\x17", "\x1bb", "\x1bf", "\x03", "\t",
    ];
    let output = [
        "a",
        "ab",
        "\r\n",
        "\x1b[?2004h$ ",
        "\x08",
        "\x1b[2J\x1b[H",
        "\x1b[6;1H-- INSERT --\x1b[1;1H",
        "\x1b[2;1Hsome text\x1b[1;1H",
        "\x1b[L",
        "\x1b[90mab\x1b[m\x1b[2D",
        "漢",
        "",
    ];
    prop_oneof![
        10 => (prop::sample::select(keys.to_vec()), 1..60_usize).prop_map(|(key, count)| Event::Keys(key, count)),
        8 => (prop::sample::select(output.to_vec()), 0..300_u64, 0..300_u64)
            .prop_map(|(text, behind, more)| Event::ServerFrame(text, behind, more)),
        1 => any::<bool>().prop_map(Event::TtyHints),
        1 => (2..ROWS).prop_map(Event::Resize),
    ]
}

/// One call, with its work and its allowance.
struct CallCost {
    done: Work,
    most: Work,
}

fn call(scene: &mut Scene, event: &Event) -> CallCost {
    let pending = scene.engine.queue.len() as u64;
    work_count::take();
    let mut count = 0;
    match event {
        Event::Keys(key, times) => {
            let bytes = key.repeat((*times).min(PASTE_ABOVE / key.len()));
            count = bytes.len() as u64;
            scene.key(&bytes);
        }
        Event::ServerFrame(text, behind, more) => {
            let received = scene.typed().saturating_sub(*behind);
            scene.partial(text, received, received.saturating_sub(*more));
        }
        Event::TtyHints(is_raw) => scene.engine.handle_hints(TtyHints {
            canonical: !is_raw,
            echo: !is_raw,
            ..TtyHints::default()
        }),
        Event::Resize(rows) => {
            let size = Size::new(*rows, COLUMNS).unwrap();
            scene.engine.handle_resize(scene.now, size);
            scene.server.resize(size);
        }
    }
    // A key changes its row, or once among those that are known the whole screen.
    let (keys, passes) = match event {
        Event::Keys(..) => (2 * count, 4),
        _ => (PASSES * (pending + 1), PASSES),
    };
    let rows = passes * (pending.max(count) + 1) * u64::from(COLUMNS);
    CallCost {
        done: work_count::take(),
        most: Work {
            keys,
            cells: rows + passes * CELLS,
        },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn each_call_does_so_much_and_no_more(events in prop::collection::vec(event(), 1..40)) {
        let mut scene = Scene::sized(ROWS, COLUMNS, "\x1b[?2004h$ ");
        for event in &events {
            let CallCost { done, most } = call(&mut scene, event);
            prop_assert!(done.keys <= most.keys, "{event:?}: {done:?}, {most:?}");
            prop_assert!(done.cells <= most.cells, "{event:?}: {done:?}, {most:?}");
            prop_assert!(scene.engine.queue.len() <= PENDING_MAX);
            let pending = scene.engine.queue.len() as u64;
            scene.shows();
            prop_assert!(work_count::take().keys <= pending, "each is drawn once");
        }
    }
}

#[test]
fn a_full_queue_is_laid_again_once() {
    let mut scene = Scene::sized(ROWS, 80, "\x1b[?2004h$ ");
    scene.keys("a");
    scene.answer("a");
    for _ in 1..PENDING_MAX {
        scene.key("\x1b[D");
    }
    work_count::take();
    let had = scene.typed() - 3;
    scene.partial("\x1b[2J\x1b[H", had, 0);
    let done = work_count::take();
    assert!(done.keys <= PASSES * PENDING_MAX as u64, "{done:?}");
    // Keys that do nothing cost no cells of theirs.
    assert!(done.cells <= PASSES * 80 * u64::from(ROWS), "{done:?}");
}
