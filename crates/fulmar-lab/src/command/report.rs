//! `fulmar-lab report`: the page of a folder of outcomes.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::experiment::{Surroundings, catalogue};
use crate::report;
use crate::trace::DATA_VARIABLE;

/// Makes one page of the outcomes in a folder.
///
/// DIR/index.html needs nothing beside itself. It is made of what `run` left in DIR, of runs that
/// failed as of those that did not, and can be made again at any time, also while runs are under way.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The folder of outcomes.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The folder of data that `run` had; otherwise that of FULMAR_LAB_DATA.
    #[arg(long, value_name = "FOLDER", env = DATA_VARIABLE)]
    pub data: Option<PathBuf>,
}

/// Writes the page and says where it is.
///
/// # Errors
///
/// Where there are no outcomes, one cannot be read, or the page not be written.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let around = Surroundings {
        data: arguments.data.clone(),
        ..Surroundings::default()
    };
    let page = report::write(&arguments.folder, &catalogue::ALL, &around)?;
    println!("{}", page.display());
    Ok(ExitCode::SUCCESS)
}
