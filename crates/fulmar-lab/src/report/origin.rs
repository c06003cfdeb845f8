//! The origin of outcomes: the machine, the programs, and the commands that made them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

/// The file of a folder of outcomes that says where they come from.
const FILE: &str = "origin.json";

/// The machine that outcomes were made on, and what made them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// The kernel's release.
    pub kernel: String,
    /// The distribution, in its own words.
    pub system: String,
    /// The processor's model.
    pub processor: String,
    /// The number of cores.
    pub cores: usize,
    /// The memory, in bytes.
    pub memory: u64,
    /// The versions that programs say they have, by name.
    pub versions: BTreeMap<String, String>,
    /// The command lines of the lab, the first one first.
    pub commands: Vec<String>,
}

impl Origin {
    /// Asks this machine, and the programs that are measured here.
    pub fn here(fulmar: &Path) -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let field = |text: &str, name: &str, sign: char| {
            let mut lines = text.lines().filter_map(|line| line.split_once(sign));
            let value = lines.find(|(key, _)| key.trim() == name);
            value.map(|(_, value)| value.trim().trim_matches('"').to_owned())
        };
        let memory = field(&read("/proc/meminfo"), "MemTotal", ':').unwrap_or_default();
        let kilobytes = memory.trim_end_matches("kB").trim().parse().unwrap_or(0);
        Self {
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            system: field(&read("/etc/os-release"), "PRETTY_NAME", '=').unwrap_or_default(),
            processor: field(&read("/proc/cpuinfo"), "model name", ':').unwrap_or_default(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory: 1024_u64.saturating_mul(kilobytes),
            versions: versions(fulmar),
            commands: Vec::new(),
        }
    }

    /// Returns what a folder of outcomes says of its origin, if it says anything.
    pub fn of(folder: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(folder.join(FILE)).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Writes it to a folder of outcomes, with the commands that are there already before its own.
    /// The same command twice in a row, as after an interruption, stands there once.
    ///
    /// # Errors
    ///
    /// Where it cannot be written.
    pub fn put(mut self, folder: &Path) -> Result<()> {
        let mut commands = Self::of(folder).map_or(Vec::new(), |before| before.commands);
        commands.append(&mut self.commands);
        commands.dedup();
        self.commands = commands;
        let path = folder.join(FILE);
        std::fs::write(&path, serde_json::to_string_pretty(&self)?)
            .with_context(|| format!("writing {}", path.display()))
    }
}

/// Programs that can be peers, and how they are asked for their version.
const PROGRAMS: &[(&str, &str)] = &[
    ("mosh", "--version"),
    ("ssh", "-V"),
    ("rsync", "--version"),
    ("dropbear", "-V"),
];

fn versions(fulmar: &Path) -> BTreeMap<String, String> {
    let ours = version(Command::new(fulmar).arg("--version"));
    let others = PROGRAMS.iter().map(|(program, option)| {
        let said = version(Command::new(program).arg(option));
        said.map(|said| ((*program).to_owned(), said))
    });
    let ours = ours.map(|said| ("fulmar".to_owned(), said));
    others.chain([ours]).flatten().collect()
}

/// Returns the first line that a program says, whichever way.
fn version(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    [output.stdout, output.stderr]
        .iter()
        .map(|said| String::from_utf8_lossy(said).trim().to_owned())
        .find(|said| !said.is_empty())
        .and_then(|said| said.lines().next().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_kernel_and_cores() {
        let here = Origin::here(Path::new("/no/such/program"));
        assert!(!here.kernel.is_empty() && here.cores > 0 && here.memory > 0);
        assert_eq!(here.versions.get("fulmar"), None);
    }

    #[test]
    fn commands_add_up_in_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Origin::of(folder.path()), None);
        for command in ["run lan", "run lan", "run evdo"] {
            let origin = Origin {
                commands: vec![command.to_owned()],
                ..Origin::default()
            };
            origin.put(folder.path()).unwrap();
        }
        let origin = Origin::of(folder.path()).unwrap();
        assert_eq!(origin.commands, ["run lan", "run evdo"]);
    }
}
