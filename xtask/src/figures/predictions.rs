//! Measures how good predictions are, and how well the model of stock's predictor stands for the real one.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use anyhow::{Context as _, Result, bail};

use super::lab::DATA_VARIABLE;
use crate::programs::built;
use crate::workspace::{self, Workspace};

/// The file of a folder of outcomes that has the predictions, and the folder that has runs of stock.
const PREDICTIONS: &str = "predict.json";
const STOCK: &str = "stock";

/// The link on which model and stock are compared, and its round trip.
const LINK: &str = "both delay 50ms";
const ROUND_TRIP: &str = "100";

/// The recordings that are typed: of the usual length, with all kinds of programs.
const RECORDINGS: &[&str] = &[
    "own-bash-color-wide",
    "own-bash-plain",
    "own-cooked",
    "own-emacs",
    "own-fish",
    "own-htop",
    "own-irssi",
    "own-less",
    "own-mutt",
    "own-nano",
    "own-password",
    "own-python",
    "own-sqlite3",
    "own-tmux",
    "own-tui-box",
    "own-vim",
    "own-vim-shape",
    "own-zsh-autosuggest",
    "own-zsh-rprompt",
];

/// More than any of them has.
const KEYS: &str = "100000";

/// Tells how good predictions are: the tables, and how they came about. `None` where `from` has none.
pub(super) fn evaluation(
    workspace: &Workspace,
    from: Option<&Path>,
    place: &Path,
) -> Result<Option<(String, String)>> {
    let program = built(workspace, "fulmar-lab")?;
    let folder = from.unwrap_or(place);
    let file = folder.join(PREDICTIONS);
    if from.is_none() {
        let mut predict = Command::new(&program);
        predict.args(["predict", "--published", "--json"]);
        if let Some(data) = std::env::var_os(DATA_VARIABLE) {
            predict.arg("--data").arg(data);
        }
        fs::write(&file, workspace::output_of(&mut predict)?)
            .with_context(|| format!("writing {}", file.display()))?;
    }
    if !file.is_file() {
        return Ok(None);
    }
    let mut report = Command::new(&program);
    report.args(["report", "--predictions"]).arg(folder);
    let tables = workspace::output_of(&mut report)?;
    let how = "`fulmar-lab predict --published` in virtual time, so that any machine gets the same";
    Ok(Some((tables, how.to_owned())))
}

/// Compares the model with stock: a table, and how it came about. `None` where `from` has no runs.
pub(super) fn stock_model(
    workspace: &Workspace,
    from: Option<&Path>,
    place: &Path,
) -> Result<Option<(String, String)>> {
    let program = built(workspace, "fulmar-lab")?;
    let folder = from.unwrap_or(place).join(STOCK);
    if from.is_none() {
        fs::create_dir_all(&folder)?;
        replay(&program, &folder)?;
    }
    if !folder.is_dir() {
        return Ok(None);
    }
    let mut compare = Command::new(&program);
    compare.args(["predict", "--links", ROUND_TRIP, "--beside"]);
    let table = workspace::output_of(compare.arg(&folder))?;
    let how = format!(
        "`mosh` of the lab over `{LINK}`, recorded times, {}",
        super::machine()
    );
    Ok(Some((table, how)))
}

/// Types every recording to stock, all at the same time: they wait for keys nearly all of it.
fn replay(program: &Path, folder: &Path) -> Result<()> {
    let mut running = Vec::new();
    for recording in RECORDINGS {
        running.push((recording, start(program, recording, folder)?));
    }
    let mut failed = Vec::new();
    for (recording, mut child) in running {
        if !child.wait()?.success() {
            failed.push(*recording);
        }
    }
    if failed.is_empty() {
        Ok(())
    } else {
        bail!("{} came to nothing", failed.join(", "))
    }
}

fn start(program: &Path, recording: &str, folder: &Path) -> Result<Child> {
    let out: PathBuf = folder.join(format!("{recording}.json"));
    let told = File::create(folder.join(format!("{recording}.txt")))?;
    let mut replay = Command::new(program);
    replay.args(["replay", "--peer", "mosh", "--typing", "recorded"]);
    replay.args(["--scenario", LINK, "--recording", recording, "--keys", KEYS]);
    let child = replay.arg("--out").arg(out).stdout(told).spawn();
    child.with_context(|| format!("starting {}", program.display()))
}
