//! Selects experiments, cells and peers, and says what data they lack.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Result, bail};

use crate::experiment::{Cell, Experiment, LabSetup, catalogue};
use crate::peer::Peer;
use crate::trace::ORIGIN;

/// The names that were given on the command line.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// `paper`, `all`, names of experiments, or `EXPERIMENT/BEGINNING-OF-A-CELL`.
    pub names: Vec<String>,
    /// Names of peers, or `NAME=TEMPLATE`.
    pub peers: Vec<String>,
}

/// A cell with those who take part.
pub struct SelectedCell {
    /// The name of its experiment.
    pub experiment: &'static str,
    /// It.
    pub cell: Cell,
    /// Peers as [`Peer::parse`] reads them, or the names of tools.
    pub peers: Vec<String>,
}

/// The remote shells of the catalogue: who is not asked for does not take part. All other peers of a
/// cell are tools and controls, which belong to it.
const SHELLS: [&str; 3] = ["ssh", "mosh", "fulmar"];

impl Selection {
    /// Returns the cells in the order of the catalogue, each once.
    ///
    /// # Errors
    ///
    /// Where a name or a peer is not known.
    pub fn choose(
        &self,
        experiments: &'static [Experiment],
        setup: &LabSetup,
    ) -> Result<Vec<SelectedCell>> {
        for name in &self.names {
            check(name, experiments, setup)?;
        }
        for peer in &self.peers {
            if !SHELLS.contains(&peer.as_str()) {
                Peer::parse(peer)?;
            }
        }
        let mut chosen = Vec::new();
        for experiment in experiments {
            for cell in (experiment.cells)(setup) {
                let mut names = self.names.iter();
                let peers = self.peers_of(&cell);
                if !peers.is_empty() && names.any(|name| means(name, experiment.name, &cell.name)) {
                    chosen.push(SelectedCell {
                        experiment: experiment.name,
                        cell,
                        peers,
                    });
                }
            }
        }
        Ok(chosen)
    }

    /// Returns who takes part: those of the cell who were asked for by name or by kind, and those who
    /// were asked for besides where anybody can.
    fn peers_of(&self, cell: &Cell) -> Vec<String> {
        let is_asked = |peer: &&String| {
            if SHELLS.contains(&kind(peer)) {
                self.peers
                    .iter()
                    .any(|asked| asked == *peer || asked == kind(peer))
            } else {
                true
            }
        };
        let mut peers: Vec<String> = cell.peers.iter().filter(is_asked).cloned().collect();
        if cell.work.takes_any_peer() {
            let is_other =
                |peer: &&String| !SHELLS.contains(&peer.as_str()) && !cell.peers.contains(peer);
            peers.extend(self.peers.iter().filter(is_other).cloned());
        }
        peers
    }
}

/// `mosh` of `mosh-n`.
fn kind(peer: &str) -> &str {
    let short = peer.strip_suffix("-a").or_else(|| peer.strip_suffix("-n"));
    short.unwrap_or(peer)
}

fn means(name: &str, experiment: &str, cell: &str) -> bool {
    match (name, name.split_once('/')) {
        ("all", _) => true,
        ("paper", _) => catalogue::is_of_paper(experiment, cell),
        (_, Some((named, beginning))) => named == experiment && cell.starts_with(beginning),
        (_, None) => name == experiment,
    }
}

fn check(name: &str, experiments: &[Experiment], setup: &LabSetup) -> Result<()> {
    if ["all", "paper"].contains(&name) {
        return Ok(());
    }
    let (named, beginning) = name.split_once('/').unwrap_or((name, ""));
    let Some(experiment) = experiments.iter().find(|one| one.name == named) else {
        let names: Vec<&str> = experiments.iter().map(|one| one.name).collect();
        bail!(
            "there is no experiment “{named}”; there are {}, and paper and all for several of them",
            names.join(", ")
        );
    };
    let cells = (experiment.cells)(setup);
    if cells.iter().any(|cell| cell.name.starts_with(beginning)) {
        return Ok(());
    }
    let names: Vec<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
    bail!(
        "no cell of {named} begins with “{beginning}”; there are {}",
        names.join(", ")
    )
}

/// Says which experiments need which files that are not there, and where they are to be had; `None`
/// where all are.
pub fn missing(chosen: &[SelectedCell], setup: &LabSetup) -> Option<String> {
    let mut lacking: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for one in chosen {
        let needs = one.cell.work.needs().into_iter();
        let absent: Vec<String> = needs.filter(|file| !is_there(file, setup)).collect();
        if !absent.is_empty() {
            lacking.entry(one.experiment).or_default().extend(absent);
        }
    }
    if lacking.is_empty() {
        return None;
    }
    let mut text = match &setup.data {
        Some(folder) => format!("some files are not in {}:\n", folder.display()),
        None => "no folder of data is named, and these need one:\n".to_owned(),
    };
    for (experiment, files) in lacking {
        let files: Vec<String> = files.into_iter().collect();
        text += &format!("  {experiment}: {}\n", files.join(", "));
    }
    text += ORIGIN;
    text += " The recordings agd-* and h2o-* are in the same repository (folder key-traces here). \
             Or let generated links and our own recordings stand in, under names of their own, \
             with --generated.";
    Some(text)
}

/// Looks where links and replays look: in the folder's own folder, or in it.
fn is_there(file: &str, setup: &LabSetup) -> bool {
    let Some(data) = &setup.data else {
        return false;
    };
    let path = Path::new(file);
    data.join(path).is_file()
        || path
            .file_name()
            .is_some_and(|name| data.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(names: &[&str], peers: &[&str]) -> Vec<SelectedCell> {
        let selection = Selection {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            peers: peers.iter().map(|peer| (*peer).to_owned()).collect(),
        };
        let chosen = selection.choose(&catalogue::ALL, &LabSetup::default());
        chosen.expect("all of it is known")
    }

    #[test]
    fn the_paper_is_five_experiments_in_closed_loop_and_three_in_open_loop() {
        let mut of_paper: Vec<(&str, &str)> = Vec::new();
        let all = chosen(&["paper", "evdo"], &SHELLS);
        for one in &all {
            let user = if one.cell.name.contains("-closed") {
                "closed"
            } else {
                "open"
            };
            of_paper.push((one.experiment, user));
        }
        of_paper.sort_unstable();
        of_paper.dedup();
        let expected = [
            ("adversarial", "closed"),
            ("download", "closed"),
            ("evdo", "closed"),
            ("evdo", "open"),
            ("loss", "closed"),
            ("loss", "open"),
            ("transoceanic", "closed"),
            ("transoceanic", "open"),
        ];
        assert_eq!(of_paper, expected);
        assert_eq!(all.len(), chosen(&["paper"], &SHELLS).len(), "each once");
    }

    #[test]
    fn peers_are_asked_for_by_name_or_kind_and_others_join_typed_sessions() {
        let loss = |peers: &[&str]| chosen(&["loss/loss-29-closed"], peers)[0].peers.clone();
        assert_eq!(loss(&["mosh"]), ["mosh-n", "mosh"]);
        assert_eq!(loss(&["mosh-n", "ssh"]), ["ssh", "mosh-n"]);
        let template = "mine={ssh} {host} {command}";
        assert_eq!(loss(&["mosh-a", template]), ["mosh-a", template]);
        let controls = chosen(&["tinygrams"], &["ssh"]);
        assert!(controls.iter().all(|one| !one.peers.is_empty()));
    }

    #[test]
    fn what_is_not_known_is_said_with_what_there_is() {
        for (name, peer, part) in [
            ("evo", "ssh", "adversarial"),
            ("evdo/lty", "ssh", "lte-500ms-open-zippy"),
            ("evdo", "mush", "mush"),
        ] {
            let selection = Selection {
                names: vec![name.to_owned()],
                peers: vec![peer.to_owned()],
            };
            let refused = selection.choose(&catalogue::ALL, &LabSetup::default());
            let error = format!("{:#}", refused.err().expect("it is not known"));
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn it_is_said_who_needs_what_and_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let selection = Selection {
            names: vec!["evdo".to_owned(), "loss".to_owned(), "trouble".to_owned()],
            peers: vec!["ssh".to_owned()],
        };
        let mut setup = LabSetup::default();
        let text =
            |setup: &LabSetup| missing(&selection.choose(&catalogue::ALL, setup).unwrap(), setup);
        let said = text(&setup).unwrap();
        assert!(said.starts_with("no folder"), "{said}");
        assert!(said.contains("link-traces/Verizon-LTE-short.up"), "{said}");
        assert!(said.contains("  loss: key-traces/agd-trace-01\n"), "{said}");
        assert!(
            said.contains("github.com") && !said.contains("trouble"),
            "{said}"
        );

        std::fs::write(folder.path().join("agd-trace-01"), "").unwrap();
        setup.data = Some(folder.path().to_owned());
        let said = text(&setup).unwrap();
        assert!(
            !said.contains("  loss:") && said.contains("  evdo:"),
            "{said}"
        );

        setup.is_generated = true;
        assert_eq!(text(&setup), None);
    }
}
