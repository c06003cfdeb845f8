//! The options that say what there is to measure with.

use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::experiment::{LabSetup, own_recordings};
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
    /// Returns what there is to measure with, at full length.
    ///
    /// # Errors
    ///
    /// Where it is not known where this program itself is.
    pub fn setup(&self) -> Result<LabSetup> {
        let ourselves = std::env::current_exe().context("looking for this program's file")?;
        let beside = Some(ourselves.with_file_name("fulmar")).filter(|file| file.is_file());
        let found = || beside.or_else(|| find("fulmar"));
        let fulmar = self.fulmar.clone().or_else(found);
        Ok(LabSetup {
            fulmar: fulmar.unwrap_or_else(|| "fulmar".into()),
            data: self.data.clone(),
            recordings: self.recordings.clone().unwrap_or_else(own_recordings),
            is_quick: false,
            is_generated: self.generated,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn what_is_named_comes_before_what_is_found() {
        let options = DataOptions {
            data: Some("theirs".into()),
            generated: true,
            fulmar: Some("/nowhere/fulmar".into()),
            recordings: Some("keys".into()),
        };
        let setup = options.setup().unwrap();
        assert_eq!(setup.fulmar, Path::new("/nowhere/fulmar"));
        assert_eq!(setup.data.as_deref(), Some(Path::new("theirs")));
        assert_eq!(setup.recordings, Path::new("keys"));
        assert!(setup.is_generated && !setup.is_quick);
    }

    #[test]
    fn without_options_our_own_recordings_are_those_of_the_sources() {
        let setup = DataOptions::default().setup().unwrap();
        assert!(setup.recordings.join("own-vim").is_file());
        assert_eq!(setup.fulmar.file_name().unwrap(), "fulmar");
        assert!(setup.data.is_none() && !setup.is_generated);
    }
}
