//! The check of the fuzz target for the configuration file, with what fuzzing has kept.
//!
//! Source: T-H2 of docs/threat-model.md §12.

#[path = "support/config_file.rs"]
mod config_file;
#[path = "../../../fuzz/replay.rs"]
mod replay;

#[test]
fn the_corpus_of_configuration_files_holds() {
    replay::replay("config_file", config_file::check);
}
