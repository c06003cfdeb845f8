//! The checks of the fuzz targets for datagrams, instructions, receiver and sender, with what fuzzing has kept.
//!
//! Source: T-H2 of docs/threat-model.md §12.

mod instruction;
#[path = "../support/objects.rs"]
#[allow(
    dead_code,
    clippy::allow_attributes,
    reason = "a part of it is used here"
)]
mod objects;
mod receiver;
#[path = "../../../../fuzz/replay.rs"]
mod replay;
mod sender;

use replay::replay;

#[test]
fn the_corpus_of_instructions_holds() {
    replay("instruction", instruction::check);
}

#[test]
fn the_corpus_of_the_receiver_holds() {
    replay("receiver", receiver::check);
}

#[test]
fn the_corpus_of_the_sender_holds() {
    replay("sender", sender::check);
}
