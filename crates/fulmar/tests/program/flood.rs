//! A program that writes without end neither buries the network nor the interrupt key.

use crate::support::{Pair, Session, Wire, for_each_pair, row_text};

for_each_pair! {
    a_flood_is_interrupted_and_costs_little
}

/// Far less than what `yes` writes in one hundredth of a second.
const BYTES_MAX: u64 = 256 * 1024;

fn a_flood_is_interrupted_and_costs_little(pair: Pair) {
    let Some(mut session) = Session::with_shell(pair, Wire::Relayed) else {
        return;
    };
    let before = session.relay().down().bytes;
    session.terminal.type_keys("yes 'a flood of words'\n");
    session.terminal.wait_for("a screen full of it", |screen| {
        (0..23).all(|row| row_text(screen, row) == "a flood of words")
    });
    session.terminal.type_keys(b"\x03");
    session.terminal.wait_for_prompt();
    let cost = session.relay().down().bytes - before;
    assert!(cost < BYTES_MAX, "{cost} bytes for a flood");

    session.terminal.type_keys("clear; echo dry again\n");
    session.terminal.wait_for("a working shell", |screen| {
        row_text(screen, 0) == "dry again"
    });
}
