//! The cells of all instruments, as the catalogue, a plan and a report name them.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::{agreement, bulk, collection, copy, lan, load, tinygram};
use crate::experiment::{Cell, LabSetup, Measured};

impl Measured {
    /// Returns all figures: name, value, unit.
    pub(super) fn told(&self) -> Vec<(&str, f64, &str)> {
        let figures = self.figures.iter();
        let told =
            figures.map(|(name, figure)| (name.as_str(), figure.value, figure.unit.as_str()));
        told.collect()
    }
}

/// Returns a line for each cell, with the lines of its parameters below.
fn told(name: &str, cells: &[Cell]) -> String {
    let mut told = format!("{name}\n");
    for cell in cells {
        // The ciphers are those of the ssh that is installed.
        let peers = match cell.name.as_str() {
            "ciphers" => cell.peers[0].clone(),
            _ => cell.peers.join(" "),
        };
        let alone = if cell.is_alone { ", alone" } else { "" };
        let any = if cell.work.takes_any_peer() {
            ", any"
        } else {
            ""
        };
        writeln!(
            told,
            "  {}: {}; {:?}{alone}; {peers}{any}",
            cell.name, cell.title, cell.takes
        )
        .unwrap();
        let needs = cell.work.needs().into_iter().map(|file| ("needs", file));
        for (name, value) in cell.work.parameters().into_iter().chain(needs) {
            writeln!(told, "    {name}: {value}").unwrap();
        }
    }
    told
}

/// The two extents of an experiment, with data and without.
fn setup() -> [LabSetup; 2] {
    [true, false].map(|is_quick| LabSetup {
        data: (!is_quick).then(PathBuf::new),
        is_quick,
        ..LabSetup::default()
    })
}

#[test]
fn cells_are_those_that_outcomes_and_documents_name() {
    let mut text = String::new();
    for setup in &setup() {
        text += &format!("quick: {}\n", setup.is_quick);
        text += &told("agreement", &agreement::cells(setup));
        text += &told("bulk", &bulk::cells(setup));
        text += &told("collection", &collection::cells(setup));
        text += &told("copy", &copy::cells(setup));
        text += &told("lan", &lan::cells(setup));
        text += &told("load", &load::cells(setup));
        text += &told("tinygram", &tinygram::cells(setup));
    }
    assert!(text == include_str!("tests/cells.txt"), "{text}");
}
