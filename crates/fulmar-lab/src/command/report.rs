//! `fulmar-lab report`: the pages of a folder of outcomes.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::experiment::{LabSetup, catalogue};
use crate::report;
use crate::trace::DATA_VARIABLE;

/// Makes pages of the outcomes in a folder.
///
/// DIR/index.html has the results and leads to distributions, single runs and predictions beside it. They
/// are made of what `run` left in DIR, of runs that failed as of those that did not, and can be made again
/// at any time, also while runs are under way.
/// With --figure, --table or --predictions a part of it is printed, and nothing written.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder of outcomes.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The folder of data that `run` had; otherwise that of FULMAR_LAB_DATA.
    #[arg(long, value_name = "FOLDER", env = DATA_VARIABLE)]
    pub data: Option<PathBuf>,
    /// Prints a chart as an SVG file instead: which share of the keys came within which time in this
    /// cell, or in the first one whose name begins so.
    #[arg(long, value_name = "EXPERIMENT/CELL", conflicts_with = "table")]
    pub figure: Option<String>,
    /// Prints a table in Markdown instead: the median of everybody who typed.
    #[arg(long)]
    pub table: bool,
    /// Prints tables in Markdown instead: the predictions of DIR/predict.json, which `predict --json`
    /// has printed.
    #[arg(long, conflicts_with_all = ["table", "figure"])]
    pub predictions: bool,
}

/// Writes the pages and says where they are, or prints a part of it.
///
/// # Errors
///
/// Where there are no outcomes, one cannot be read, or the page not be written.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let setup = LabSetup {
        data: arguments.data.clone(),
        ..LabSetup::default()
    };
    let folder = &arguments.folder;
    if let Some(name) = &arguments.figure {
        let cell = name.split_once('/').unwrap_or((name, ""));
        print!(
            "{}",
            report::drawing(folder, &catalogue::ALL, &setup, cell)?
        );
    } else if arguments.table {
        print!("{}", report::table(folder, &catalogue::ALL, &setup)?);
    } else if arguments.predictions {
        print!("{}", report::predictions(folder)?);
    } else {
        let page = report::write(folder, &catalogue::ALL, &setup)?;
        println!("{}", page.display());
    }
    Ok(ExitCode::SUCCESS)
}
