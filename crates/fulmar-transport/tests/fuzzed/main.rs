//! The checks of the fuzz targets for datagrams and instructions, with what fuzzing has kept.
//!
//! Source: T-H2 of docs/threat-model.md §12.

mod instruction;
#[path = "../../../../fuzz/replay.rs"]
mod replay;

use replay::replay;

#[test]
fn the_corpus_of_instructions_holds() {
    replay("instruction", instruction::check);
}
