//! The programs and data that there are to measure with.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Programs and data that experiments need.
#[derive(Clone, Debug, Default)]
pub struct LabSetup {
    /// Our program.
    pub fulmar: PathBuf,
    /// The folder of data that are not ours to ship: `key-traces` and `link-traces` in it.
    pub data: Option<PathBuf>,
    /// Our own recordings.
    pub recordings: PathBuf,
    /// True for a meaningful subset in a short time.
    pub is_quick: bool,
    /// True where generated links and our own recordings stand in for data that are not ours to ship.
    pub is_generated: bool,
}

/// Returns the folder of the project's own recordings: that of the sources that this program was built from.
pub(crate) fn own_recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/keys")
}

impl LabSetup {
    /// Returns the options by which another process of this program has the same.
    ///
    /// # Errors
    ///
    /// Where a path is no text.
    pub(crate) fn options(&self) -> Result<Vec<String>> {
        let mut options = Vec::new();
        let paths = [
            ("--fulmar", Some(&self.fulmar)),
            ("--recordings", Some(&self.recordings)),
            ("--data", self.data.as_ref()),
        ];
        for (option, path) in paths {
            let Some(path) = path else { continue };
            let path = path.to_str().context("a path is no text")?;
            options.extend([option, path].map(str::to_owned));
        }
        let flags = [
            ("--quick", self.is_quick),
            ("--generated", self.is_generated),
        ];
        let flags = flags.iter().filter(|(_, is_set)| *is_set);
        options.extend(flags.map(|(flag, _)| (*flag).to_owned()));
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_process_gets_all_of_it() {
        let mut setup = LabSetup {
            fulmar: "bin/fulmar".into(),
            recordings: "keys".into(),
            ..LabSetup::default()
        };
        let paths = ["--fulmar", "bin/fulmar", "--recordings", "keys"];
        assert_eq!(setup.options().unwrap(), paths);
        setup.data = Some("theirs".into());
        setup.is_quick = true;
        let more = ["--data", "theirs", "--quick"];
        assert_eq!(setup.options().unwrap(), [&paths[..], &more].concat());
        (setup.is_quick, setup.is_generated) = (false, true);
        assert_eq!(setup.options().unwrap().last().unwrap(), "--generated");
    }
}
