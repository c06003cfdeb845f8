//! `fulmar-lab traces`: what links are like, measured and generated.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};

use crate::trace::links::{KINDS, LinkTraces, ORIGIN, Statistics, measured};

/// Prints the statistics of generated links beside those of the measured ones that they are like.
///
/// Those of the measured ones are known; with a folder of traces those of its files are computed and
/// printed too. A scenario names a generated link as "trace like-lte-down:7", with 7 for the seed.
#[derive(Debug, Default, clap::Args)]
pub struct Arguments {
    /// The folder of link traces; otherwise that of FULMAR_LAB_DATA.
    #[arg(long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// The seed of the generated ones.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// Writes this trace (a generated one, or a file) in Mahimahi's format to the output instead.
    #[arg(long, value_name = "NAME")]
    pub write: Option<String>,
}

/// Prints the table, or the trace.
///
/// # Errors
///
/// Where a trace cannot be read.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let traces = LinkTraces::of(arguments.data.as_deref());
    let mut output = std::io::stdout().lock();
    if let Some(name) = &arguments.write {
        let trace = traces.get(name)?;
        write!(output, "{trace}").context("writing the trace")?;
        return Ok(ExitCode::SUCCESS);
    }
    let files = traces.names()?;
    for kind in &KINDS {
        let mut columns = Vec::new();
        if let Some(known) = measured(kind.like) {
            columns.push(("as published".to_owned(), known));
        }
        if files.iter().any(|file| file == kind.like) {
            columns.push((
                "the file".to_owned(),
                Statistics::of(&*traces.get(kind.like)?),
            ));
        }
        let name = format!("{}:{}", kind.name, arguments.seed);
        columns.push((name.clone(), Statistics::of(&*traces.get(&name)?)));
        writeln!(output, "{}\n{}", kind.like, drawn(&columns))?;
    }
    writeln!(output, "{ORIGIN}")?;
    Ok(ExitCode::SUCCESS)
}

fn drawn(columns: &[(String, Statistics)]) -> String {
    let cells: Vec<Vec<String>> = columns
        .iter()
        .map(|(_, statistics)| statistics.cells())
        .collect();
    let heads = columns.iter().map(|(name, _)| format!("{name:>18}"));
    let mut drawn = format!("  {:<28}{}\n", "", heads.collect::<String>());
    for (line, name) in Statistics::names().into_iter().enumerate() {
        let cells = cells.iter().filter_map(|column| column.get(line));
        let cells: String = cells.map(|cell| format!("{cell:>18}")).collect();
        drawn += &format!("  {name:<28}{cells}\n");
    }
    drawn
}
