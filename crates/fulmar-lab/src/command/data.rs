//! The options that say what there is to measure with.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::experiment::Surroundings;
use crate::trace::links::DATA_VARIABLE;
use fulmar_testbed::peers::find;

/// The folders of data and programs.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct DataOptions {
    /// The folder of data that are not ours to ship: key-traces and link-traces in it.
    #[arg(long, value_name = "FOLDER", env = DATA_VARIABLE)]
    pub data: Option<PathBuf>,
    /// Lets generated links and our own recordings stand in for those of the folder of data.
    #[arg(long)]
    pub generated: bool,
    /// Our program; otherwise the one beside this, or that of PATH.
    #[arg(long, value_name = "PROGRAM")]
    pub fulmar: Option<PathBuf>,
    /// The folder of our own recordings; otherwise that of the sources.
    #[arg(long, value_name = "FOLDER")]
    pub recordings: Option<PathBuf>,
}

impl DataOptions {
    /// Returns what there is to measure with.
    ///
    /// # Errors
    ///
    /// Where it is not known where this program itself is.
    pub fn surroundings(&self) -> Result<Surroundings> {
        self.surroundings_for(false)
    }

    /// Returns the same, and says whether it is to be quick.
    ///
    /// # Errors
    ///
    /// As [`surroundings`](Self::surroundings).
    pub(crate) fn surroundings_for(&self, is_quick: bool) -> Result<Surroundings> {
        let ourselves = std::env::current_exe().context("looking for this program's file")?;
        let beside = ourselves.with_file_name("fulmar");
        let found = || {
            Some(beside)
                .filter(|file| file.is_file())
                .or_else(|| find("fulmar"))
        };
        Ok(Surroundings {
            fulmar: self
                .fulmar
                .clone()
                .or_else(found)
                .unwrap_or_else(|| "fulmar".into()),
            data: self.data.clone(),
            recordings: self.recordings.clone().unwrap_or_else(own_recordings),
            is_quick,
            is_generated: self.generated,
        })
    }

    /// Returns the options by which another process of this program has the same.
    ///
    /// # Errors
    ///
    /// As [`surroundings`](Self::surroundings), and where a path is no text.
    pub fn options(&self, is_quick: bool) -> Result<Vec<String>> {
        let around = self.surroundings_for(is_quick)?;
        let mut options = Vec::new();
        let paths = [
            ("--fulmar", Some(around.fulmar)),
            ("--recordings", Some(around.recordings)),
            ("--data", around.data),
        ];
        for (option, path) in paths {
            let Some(path) = path else { continue };
            let path = path.into_os_string().into_string().ok();
            options.extend([option.to_owned(), path.context("a path is no text")?]);
        }
        let flags = [("--quick", is_quick), ("--generated", self.generated)];
        let flags = flags.iter().filter(|(_, is_set)| *is_set);
        options.extend(flags.map(|(flag, _)| (*flag).to_owned()));
        Ok(options)
    }
}

/// Those of the sources that this program was built from.
fn own_recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/keys")
}
