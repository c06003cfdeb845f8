//! The checks of the fuzz targets for the two objects, for what a client draws and for keys, with what fuzzing has kept.
//!
//! Source: T-H2 of docs/threat-model.md §12.

mod client_output;
mod key_trace;
mod keys;
#[path = "../../../../fuzz/replay.rs"]
mod replay;
mod screen;
mod screens;
#[path = "../absurd/victim.rs"]
mod victim;

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

#[test]
fn the_corpus_of_what_a_client_draws_holds() {
    replay("client_output", client_output::check);
}

#[test]
fn the_corpus_of_key_traces_holds() {
    replay("key_trace", key_trace::check);
}
