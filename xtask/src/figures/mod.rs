//! `cargo xtask figures [NAME]`: measures our program beside stock Mosh and ssh, and writes the
//! tables of `docs/figures.md` and the drawing of the README.
//!
//! ```text
//!   fulmar-lab run ──► outcomes ──┬─► docs/figures.md     sessions, logins, copies
//!                                └─► docs/report/typing.svg
//!   fulmar-lab predict ──────────────► docs/figures.md     predictions, in virtual time
//!   examples of our crates ──────────► docs/figures.md     what one datagram, one frame costs
//! ```
//!
//! The lab measures and its outcomes say what came of it; with `--from` they are those of a run that
//! was made before, and only what is no measurement of the lab's is measured.

mod catalogue;
mod copies;
mod lab;
mod login;
mod predictions;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::programs::built;
use crate::workspace::{self, Workspace};
use catalogue::{ALL, Figure, Source};
use lab::Outcomes;

/// The page that is written.
const PAGE: &str = "docs/figures.md";

/// The drawing of the README, of the same cell as one of its figures.
const DRAWING: &str = "docs/report/typing.svg";

/// The beginning of the page if there is none.
const PREFACE: &str = "\
# Figures

What Fulmar costs and how fast it is, beside ssh and stock Mosh in the same runs. Each section is written by the command under
its table; text between the sections is kept. Only columns of one table compare: machines and days differ.
";

/// Measures beside ssh and stock Mosh and writes docs/figures.md.
#[derive(clap::Args)]
pub(crate) struct Figures {
    /// One figure; without it, all of them
    name: Option<String>,
    /// Takes what the lab measures from this folder, which `fulmar-lab run … --out` has made
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// Runs of each
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Print the tables and leave the page as it is
    #[arg(long)]
    print: bool,
}

impl Figures {
    /// Measures what was asked for.
    ///
    /// # Errors
    ///
    /// When there is no such figure, or a program that is measured cannot be built or started.
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<()> {
        let figures = self.chosen()?;
        let outcomes = self.outcomes(&figures, workspace)?;
        let place = tempfile::tempdir()?;
        for figure in &figures {
            let content = self.content(figure, workspace, outcomes.as_ref(), place.path())?;
            let Some(content) = content else {
                eprintln!(
                    "xtask: {} is not in these outcomes; it stays as it is",
                    figure.name
                );
                continue;
            };
            println!("## {}\n\n{content}", figure.name);
            if !self.print {
                write_section(workspace, figure.name, &content)?;
            }
        }
        match outcomes.filter(|_| self.from.is_none() && !self.print) {
            Some(outcomes) => outcomes.put_aside(),
            None => Ok(()),
        }
    }

    fn chosen(&self) -> Result<Vec<&'static Figure>> {
        let Some(name) = &self.name else {
            return Ok(ALL.iter().collect());
        };
        match ALL.iter().find(|figure| figure.name == name) {
            Some(figure) => Ok(vec![figure]),
            None => {
                let names: Vec<_> = ALL.iter().map(|figure| figure.name).collect();
                bail!("no figure is called {name}; there are {}", names.join(", "))
            }
        }
    }

    /// Returns the lab's outcomes for these figures, measured before or now; `None` where none is the lab's.
    fn outcomes<'a>(
        &self,
        figures: &[&Figure],
        workspace: &'a Workspace,
    ) -> Result<Option<Outcomes<'a>>> {
        let names: Vec<&str> = figures.iter().filter_map(|one| one.measured_by()).collect();
        if names.is_empty() {
            return Ok(None);
        }
        match &self.from {
            Some(folder) => Outcomes::of(workspace, folder).map(Some),
            None => Outcomes::measure(workspace, &names, self.runs).map(Some),
        }
    }

    /// The text of a figure: what it is, its table, the command that makes it, the machine. `None`
    /// where the outcomes have nothing of it.
    fn content(
        &self,
        figure: &Figure,
        workspace: &Workspace,
        outcomes: Option<&Outcomes<'_>>,
        place: &Path,
    ) -> Result<Option<String>> {
        let found = match figure.source {
            Source::Cell { .. }
            | Source::Typed
            | Source::Setting { .. }
            | Source::Copies
            | Source::Logins => match outcomes {
                Some(outcomes) => self.of_lab(figure, workspace, outcomes)?,
                None => None,
            },
            Source::Predictions => predictions::evaluation(workspace, self.from.as_deref(), place)?,
            Source::StockModel => predictions::stock_model(workspace, self.from.as_deref(), place)?,
            Source::Example { package, example } => {
                if package == "fulmar" {
                    // Its examples start it.
                    built(workspace, package)?;
                }
                let args = ["run", "--release", "--locked", "--quiet"];
                let mut cargo = workspace.cargo(args);
                cargo.args(["--package", package, "--example", example]);
                let output = workspace::output_of(&mut cargo)?;
                let output = format!("```text\n{}\n```\n", output.trim_end());
                Some((output, format!("release build, {}", machine())))
            }
        };
        let command = format!("cargo xtask figures {}", figure.name);
        let text = |(result, how)| format!("{}\n\n{result}\n`{command}`: {how}.", figure.about);
        Ok(found.map(text))
    }

    /// Returns a figure of the lab's outcomes: a table, and how it came about.
    fn of_lab(
        &self,
        figure: &Figure,
        workspace: &Workspace,
        outcomes: &Outcomes<'_>,
    ) -> Result<Option<(String, String)>> {
        if let Source::Cell { name, quantities } = figure.source {
            let columns = outcomes.columns(name, quantities)?;
            let runs = columns.iter().map(|column| column.runs.len()).max();
            let Some(runs) = runs else {
                return Ok(None);
            };
            let how = format!("{runs} x `{name}` of the lab; {}", outcomes.origin()?);
            return Ok(Some((table::draw(quantities, &columns), how)));
        }
        let drawn = match figure.source {
            Source::Copies => Some(("copy", copies::draw(outcomes)?)),
            Source::Logins => Some(("lan/login", login::draw(outcomes)?)),
            _ => None,
        };
        if let Some((name, found)) = drawn {
            let origin = outcomes.origin()?;
            let how = |runs| format!("{runs} x `{name}` of the lab; {origin}");
            return Ok(found.map(|(tables, runs)| (tables, how(runs))));
        }
        let Some(table) = outcomes.typed()? else {
            return Ok(None);
        };
        let origin = outcomes.origin()?;
        let Source::Setting {
            name,
            title,
            is_drawn,
        } = figure.source
        else {
            return Ok(Some((table, format!("`paper` of the lab; {origin}"))));
        };
        let Some(row) = table::only_row(&table, title) else {
            return Ok(None);
        };
        if is_drawn && !self.print {
            let path = workspace.root().join(DRAWING);
            fs::write(&path, outcomes.chart(name)?)
                .with_context(|| format!("writing {}", path.display()))?;
        }
        Ok(Some((row, format!("`{name}` of the lab; {origin}"))))
    }
}

impl Figure {
    /// Returns the experiment that the lab has to run for it.
    fn measured_by(&self) -> Option<&'static str> {
        match self.source {
            Source::Cell { name, .. } | Source::Setting { name, .. } => Some(name),
            Source::Typed => Some("paper"),
            Source::Copies => Some("copy"),
            Source::Logins => Some("lan/login"),
            Source::Example { .. } | Source::Predictions | Source::StockModel => None,
        }
    }
}

fn write_section(workspace: &Workspace, name: &str, content: &str) -> Result<()> {
    let path = workspace.root().join(PAGE);
    let page = fs::read_to_string(&path).unwrap_or_else(|_| PREFACE.to_owned());
    let page = table::replace_section(&page, name, content)?;
    fs::write(&path, page).with_context(|| format!("writing {}", path.display()))
}

/// Returns the machine that the figures were measured on.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let system = workspace::output_of(Command::new("uname").arg("-sr")).unwrap_or_default();
    // What follows the hyphen names one builder's kernel.
    let system = system.split('-').next().unwrap_or_default();
    let processor = processor.unwrap_or_else(|| "an unknown processor".to_owned());
    format!("{cores} cores of {processor}, {}", system.trim())
}
