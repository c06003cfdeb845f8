//! Measures the cost of sealing and of opening one datagram, in nanoseconds.
//!
//! ```text
//! cargo run --release -p fulmar-datagram --example seal_cost
//! ```
//!
//! Each figure is the median of [`ROUNDS`] rounds over [`DATAGRAMS`] datagrams. A refused datagram
//! is one whose tag is wrong: what a flood of forgeries costs.

use std::hint::black_box;
use std::time::{Duration, Instant};

use fulmar_datagram::limits::{DATAGRAM_BYTES_IPV4, DATAGRAM_OVERHEAD_BYTES};
use fulmar_datagram::{
    Direction, Fragment, FragmentHeader, FragmentIndex, Key, Opener, Sealer, Stamps,
};

const ROUNDS: usize = 5;
const DATAGRAMS: usize = 100_000;

fn main() {
    println!("ns per datagram, median of {ROUNDS} rounds of {DATAGRAMS}");
    println!(
        "{:>6} {:>6} {:>6} {:>8}",
        "bytes", "seal", "open", "refused"
    );
    for bytes in [100, 500, DATAGRAM_BYTES_IPV4] {
        let [seal, open, refused] = costs(bytes);
        println!("{bytes:>6} {seal:>6} {open:>6} {refused:>8}");
    }
}

/// Returns what sealing, opening and refusing a datagram of this size cost.
fn costs(bytes: usize) -> [u128; 3] {
    let content = vec![0x5A; bytes - DATAGRAM_OVERHEAD_BYTES];
    let header = FragmentHeader {
        id: 1,
        index: FragmentIndex::ZERO,
        is_final: true,
    };
    let fragment = Fragment {
        header,
        content: &content,
    };
    let mut sealer = Sealer::new(key(), Direction::ToServer);
    let mut opener = Opener::new(&key(), Direction::ToServer);
    let (mut datagram, mut buffer) = (Vec::new(), Vec::new());

    let seal = median(|| {
        datagram.clear();
        black_box(sealer.seal(Stamps::NONE, black_box(fragment), &mut datagram)).is_ok()
    });
    let open = median(|| black_box(opener.open(black_box(&datagram), &mut buffer)).is_ok());
    if let Some(last) = datagram.last_mut() {
        *last ^= 1;
    }
    let refused = median(|| black_box(opener.open(black_box(&datagram), &mut buffer)).is_err());
    [seal, open, refused]
}

/// Returns the nanoseconds that one call takes, in the middle one of the rounds.
fn median(mut call: impl FnMut() -> bool) -> u128 {
    let mut rounds = [0; ROUNDS];
    for round in &mut rounds {
        let spent = stopwatch(|| assert!((0..DATAGRAMS).all(|_| call())));
        *round = spent.as_nanos() / DATAGRAMS as u128;
    }
    rounds.sort_unstable();
    rounds[ROUNDS / 2]
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn stopwatch(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn key() -> Key {
    Key::from_bytes([0x42; 16].into())
}
