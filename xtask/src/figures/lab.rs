//! The measurements of the lab: a folder of outcomes, each with figures by name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::table::{Column, Quantity};
use crate::programs::{built, target};
use crate::workspace::{self, Workspace};

/// The variable that names the folder of data that are not ours to ship.
pub(super) const DATA_VARIABLE: &str = "FULMAR_LAB_DATA";

/// The programs that are measured, in the order of the columns; without prediction it is the same program.
const PEERS: [&str; 3] = ["ssh", "mosh", "fulmar"];

/// A folder of outcomes.
pub(super) struct Outcomes<'a> {
    folder: PathBuf,
    /// The workspace that the lab is built from, if it is to draw something.
    workspace: &'a Workspace,
}

impl<'a> Outcomes<'a> {
    /// Those of a folder that is there.
    pub(super) fn of(workspace: &'a Workspace, folder: &Path) -> Result<Self> {
        if !folder.is_dir() {
            bail!("{} is no folder of outcomes", folder.display());
        }
        Ok(Self {
            folder: folder.to_owned(),
            workspace,
        })
    }

    /// Measures these in a folder beside what cargo builds. A measurement that was interrupted goes on.
    pub(super) fn measure(workspace: &'a Workspace, names: &[&str], runs: usize) -> Result<Self> {
        let program = built(workspace, "fulmar-lab")?;
        built(workspace, "fulmar")?;
        let folder = target(workspace)?.join("figures");
        let mut run = Command::new(&program);
        run.arg("run").args(names).arg("--out").arg(&folder);
        run.args(["--seeds", &runs.to_string()]);
        if std::env::var_os(DATA_VARIABLE).is_none() {
            run.arg("--generated");
        }
        workspace::run(&mut run)?;
        Ok(Self { folder, workspace })
    }

    /// Puts them aside, so that the next measurement begins anew.
    pub(super) fn put_aside(&self) -> Result<()> {
        let before = self.folder.with_extension("before");
        if before.is_dir() {
            fs::remove_dir_all(&before)?;
        }
        fs::rename(&self.folder, &before).context("putting the outcomes aside")
    }

    /// The columns of a cell, one for each peer that has an outcome; none where it was not measured.
    pub(super) fn columns(&self, cell: &str, quantities: &[Quantity]) -> Result<Vec<Column>> {
        let mut columns: Vec<Column> = PEERS.map(Column::new).into();
        for outcome in self.read(cell)? {
            let peer = outcome["run"]["peer"].as_str().unwrap_or_default();
            let name = peer.strip_suffix("-n").unwrap_or(peer);
            let column = columns.iter_mut().find(|column| column.name == name);
            let values = quantities.iter().map(|quantity| {
                let value = &outcome["figures"][quantity.figure]["value"];
                Some(value.as_f64()? * quantity.factor)
            });
            if let Some(column) = column {
                column.is_timed |= outcome["figures"].get("in_time").is_some();
                column.runs.push(values.collect());
            }
        }
        columns.retain(|column| !column.runs.is_empty());
        Ok(columns)
    }

    /// All outcomes of a cell, in the order of their names. One that failed has no figures.
    pub(super) fn read(&self, cell: &str) -> Result<Vec<Value>> {
        let Ok(files) = fs::read_dir(self.folder.join(cell)) else {
            return Ok(Vec::new());
        };
        let mut paths = Vec::new();
        for file in files {
            let path = file?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "json")
            {
                paths.push(path);
            }
        }
        paths.sort();
        let read = |path: &PathBuf| {
            let text = fs::read_to_string(path)?;
            serde_json::from_str(&text).with_context(|| format!("reading {}", path.display()))
        };
        paths.iter().map(read).collect()
    }

    /// The lab's own table of everybody who typed, in Markdown; `None` where nobody did.
    pub(super) fn typed(&self) -> Result<Option<String>> {
        let table = self.reported(&["--table"])?;
        Ok((!table.trim().is_empty()).then_some(table))
    }

    /// The chart of a cell, as a file of its own.
    pub(super) fn chart(&self, cell: &str) -> Result<String> {
        self.reported(&["--figure", cell])
    }

    /// Returns the lab's report on these outcomes.
    fn reported(&self, options: &[&str]) -> Result<String> {
        let mut report = Command::new(built(self.workspace, "fulmar-lab")?);
        report.arg("report").args(options).arg(&self.folder);
        workspace::output_of(&mut report)
    }

    /// Returns the programs that were measured, and the machine, in a line.
    pub(super) fn origin(&self) -> Result<String> {
        let path = self.folder.join("origin.json");
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()));
        let origin: Value = serde_json::from_str(&text?)?;
        Ok(origin_line(&origin))
    }
}

/// `ssh 9.2p1, mosh 1.4.0, fulmar 0.1.0; 2 cores of …, Linux 6.18`.
fn origin_line(origin: &Value) -> String {
    let word = |name: &str| origin[name].as_str().unwrap_or("unknown").to_owned();
    let versions = PEERS.iter().filter_map(|peer| {
        let said = origin["versions"][peer].as_str()?;
        let mut words = said.split([' ', '_', ',']);
        let version = words.find(|word| word.starts_with(|sign: char| sign.is_ascii_digit()))?;
        Some(format!("{peer} {version}"))
    });
    let versions: Vec<String> = versions.collect();
    let kernel = word("kernel");
    // What follows the hyphen names one builder's kernel.
    let kernel = kernel.split('-').next().unwrap_or_default();
    format!(
        "{}; {} cores of {}, Linux {kernel}",
        versions.join(", "),
        origin["cores"],
        word("processor"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUANTITY: Quantity = Quantity {
        name: "rate, MB/s",
        figure: "rate",
        factor: 1e-6,
        digits: 1,
        wanted: "",
    };

    #[test]
    fn outcomes_of_a_peer_are_a_column_and_a_failed_one_has_no_value() {
        let place = tempfile::tempdir().unwrap();
        let cell = place.path().join("loads/throughput");
        fs::create_dir_all(&cell).unwrap();
        let put = |name: &str, figures: Value| {
            let (peer, _) = name.rsplit_once('-').unwrap();
            let outcome = serde_json::json!({"run": {"peer": peer}, "figures": figures});
            fs::write(cell.join(format!("{name}.json")), outcome.to_string()).unwrap();
        };
        put(
            "mosh-n-1",
            serde_json::json!({"rate": {"value": 9_700_000.0}}),
        );
        put("mosh-n-2", serde_json::json!({}));
        put("ssh-1", serde_json::json!({"rate": {"value": 1e8}}));
        let outcomes = Outcomes {
            folder: place.path().to_owned(),
            workspace: &Workspace::of_this_checkout(),
        };
        let columns = outcomes.columns("loads/throughput", &[QUANTITY]).unwrap();
        let found: Vec<_> = columns
            .iter()
            .map(|one| (one.name, one.runs.clone()))
            .collect();
        let expected = [
            ("ssh", vec![vec![Some(100.0)]]),
            ("mosh", vec![vec![Some(9.7)], vec![None]]),
        ];
        assert_eq!(found, expected);
        assert!(
            outcomes
                .columns("loads/yes", &[QUANTITY])
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn versions_are_numbers() {
        let origin = serde_json::json!({
            "kernel": "6.18.4-builder", "processor": "A", "cores": 2, "versions": {
                "ssh": "OpenSSH_9.2p1 Debian-2, OpenSSL 3.0", "mosh": "mosh 1.4.0 [build mosh 1.4.0]",
                "fulmar": "fulmar 0.1.0",
            },
        });
        assert_eq!(
            origin_line(&origin),
            "ssh 9.2p1, mosh 1.4.0, fulmar 0.1.0; 2 cores of A, Linux 6.18.4"
        );
    }
}
