use std::collections::BTreeSet;

use super::*;
use crate::experiment::{Cell, LabSetup};
use crate::peer::Peer;
use crate::scenario::Scenario;
use crate::trace::LinkTraces;

/// Full and quick, with the data of others and without.
fn everywhere() -> [LabSetup; 4] {
    [(false, false), (true, false), (false, true), (true, true)].map(|(is_quick, is_generated)| {
        LabSetup {
            is_quick,
            is_generated,
            ..LabSetup::default()
        }
    })
}

fn names(experiment: &str, setup: &LabSetup) -> Vec<String> {
    let cells = (named(experiment).unwrap().cells)(setup);
    cells.into_iter().map(|cell| cell.name).collect()
}

fn parameter(cell: &Cell, wanted: &str) -> Option<String> {
    let mut parameters = cell.work.parameters().into_iter();
    parameters.find_map(|(name, value)| (name == wanted).then_some(value))
}

#[test]
fn experiments_and_their_cells_have_names_of_their_own() {
    let experiments: BTreeSet<&str> = ALL.iter().map(|experiment| experiment.name).collect();
    assert_eq!(experiments.len(), ALL.len());
    for setup in everywhere() {
        for experiment in &ALL {
            let cells = names(experiment.name, &setup);
            let different: BTreeSet<&String> = cells.iter().collect();
            assert!(!cells.is_empty(), "{}", experiment.name);
            assert_eq!(different.len(), cells.len(), "{cells:?}");
        }
    }
}

#[test]
fn what_is_quick_is_a_part_of_the_whole() {
    for is_generated in [false, true] {
        let of = |is_quick| LabSetup {
            is_quick,
            is_generated,
            ..LabSetup::default()
        };
        for experiment in &ALL {
            let all = names(experiment.name, &of(false));
            let few = names(experiment.name, &of(true));
            assert!(few.iter().all(|name| all.contains(name)), "{few:?}");
            // The first has one cell with few peers.
            assert!(few.len() < all.len() || all.len() == 1, "{few:?}");
        }
    }
}

#[test]
fn published_figures_stand_beside_cells_and_peers_that_there_are() {
    for experiment in &ALL {
        let cells = (experiment.cells)(&LabSetup::default());
        let published = experiment.published.iter();
        let quoted = experiment.quoted.iter().map(|row| (row.cells, row.peer));
        for (begin, peer) in published.map(|row| (row.cells, row.peer)).chain(quoted) {
            // Which ciphers there are is a matter of the ssh that is installed.
            let has_it = |cell: &Cell| {
                cell.name.starts_with(begin)
                    && (begin == "ciphers" || cell.peers.iter().any(|one| one == peer))
            };
            assert!(
                cells.iter().any(has_it),
                "{} {begin} {peer}",
                experiment.name
            );
        }
    }
}

#[test]
fn typed_sessions_have_links_and_peers_that_can_be_read() {
    let setup = LabSetup {
        is_generated: true,
        ..LabSetup::default()
    };
    for name in [
        "evdo",
        "download",
        "high-delay",
        "transoceanic",
        "loss",
        "adversarial",
        "trouble",
    ] {
        for cell in (named(name).unwrap().cells)(&setup) {
            let link = parameter(&cell, "link").expect("it is typed");
            let scenario = Scenario::parse(&link.replace("; ", "\n"), &LinkTraces::none());
            let scenario = scenario.unwrap_or_else(|error| panic!("{}: {error:#}", cell.name));
            assert!(!scenario.up.is_empty() && !scenario.down.is_empty());
            assert!(cell.work.needs().is_empty() && cell.work.takes_any_peer());
            for peer in &cell.peers {
                assert_eq!(Peer::parse(peer).unwrap().name, *peer);
            }
        }
    }
}

#[test]
fn the_paper_s_experiments_are_closed_and_three_of_them_open() {
    for experiment in ["evdo", "download", "transoceanic", "loss", "adversarial"] {
        assert!(is_of_paper(experiment, "x-closed-y"), "{experiment}");
        let is_open = ["evdo", "transoceanic", "loss"].contains(&experiment);
        assert_eq!(is_of_paper(experiment, "x-open-y"), is_open, "{experiment}");
        assert!(!is_of_paper(experiment, "x-recorded-y"));
        assert!(!is_of_paper(experiment, "enclosed-y"));
    }
    assert!(!is_of_paper("high-delay", "x-closed") && !is_of_paper("trouble", "x-open"));
}

#[test]
fn users_recordings_and_peers_are_those_of_the_published_studies() {
    let setup = LabSetup::default();
    let quick = LabSetup {
        is_quick: true,
        ..LabSetup::default()
    };
    let evdo = names("evdo", &setup);
    assert_eq!(evdo.len(), 12);
    assert_eq!(evdo[0], "lte-500ms-closed-trace-01");
    assert_eq!(evdo[11], "evdo-200ms-open-zippy");
    let few = [
        "lte-500ms-closed-short",
        "lte-500ms-open-short",
        "evdo-200ms-closed-short",
    ];
    assert_eq!(names("evdo", &quick), few);
    let high_delay = [
        "rtt-5000ms-closed-trace-01",
        "rtt-5000ms-open-trace-01",
        "rtt-4800ms-closed-trace-01",
    ];
    assert_eq!(names("high-delay", &setup), high_delay);
    assert_eq!(names("high-delay", &quick), high_delay[..1]);
    let of_quick = (typing::HIGH_DELAY.cells)(&quick).remove(0);
    assert_eq!(of_quick.peers, ["ssh", "mosh", "fulmar"]);
    let paged = ["rtt-200ms-closed-paging", "rtt-200ms-closed-own-less"];
    assert_eq!(names("adversarial", &setup)[..2], paged);
    assert_eq!(names("adversarial", &quick), paged[..1]);
}

#[test]
fn nobody_types_at_a_computer_that_sleeps() {
    let cells = (trouble::TROUBLE.cells)(&LabSetup::default());
    let closed: Vec<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
    let closed: Vec<&&str> = closed
        .iter()
        .filter(|name| name.contains("closed"))
        .collect();
    assert_eq!(closed, [&"sleep-30s-closed-own-bash"]);
    let [download] = &(typing::DOWNLOAD.cells)(&everywhere()[1])[..] else {
        panic!("it has one cell");
    };
    let besides = parameter(download, "besides");
    assert_eq!(
        besides.as_deref(),
        Some("a TCP download over the same link")
    );
    assert_eq!(parameter(&cells[0], "besides"), None);
    assert_eq!(
        parameter(&cells[0], "ends").unwrap(),
        "after 300 keys or 480 s"
    );
    assert_eq!(
        parameter(download, "ends").unwrap(),
        "after 60 keys or 60 s"
    );
}
