//! The check of the fuzz target for the lines of a login, with what fuzzing has kept.
//!
//! Source: T-H2 of docs/threat-model.md §12.

mod bootstrap;
#[path = "../../../../fuzz/replay.rs"]
mod replay;

#[test]
fn the_corpus_of_the_bootstrap_holds() {
    replay::replay("bootstrap", bootstrap::check);
}
