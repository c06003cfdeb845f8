//! The check of the fuzz target for the words after `mosh` and its programs, with what fuzzing has kept.
//!
//! Source: T-H2 of docs/threat-model.md §12.

#[path = "../../../fuzz/replay.rs"]
mod replay;
#[path = "support/words.rs"]
mod words;

#[test]
fn the_corpus_of_words_holds() {
    replay::replay("words", words::check);
}
