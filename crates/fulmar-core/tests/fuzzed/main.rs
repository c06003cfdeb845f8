//! The checks of the fuzz targets for the two objects, with what fuzzing has kept.
//!
//! Source: T-H2 of docs/threat-model.md §12.

mod keys;
#[path = "../../../../fuzz/replay.rs"]
mod replay;
mod screen;
mod screens;

use replay::replay;

#[test]
fn the_corpus_of_the_decoder_of_keys_holds() {
    replay("keys", keys::check);
}

#[test]
fn the_corpus_of_the_decoder_of_screens_holds() {
    replay("screen", screen::check);
}

#[test]
fn the_corpus_of_differences_between_screens_holds() {
    replay("screens", screens::check);
}
