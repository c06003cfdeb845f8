//! Traces of measured links: where they come from, and links that are like them.

mod generator;
mod measured;
mod statistics;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use fulmar_sim::LinkTrace;

pub use generator::{KINDS, LinkKind};
pub use measured::measured;
pub(crate) use statistics::LINES;
pub use statistics::Statistics;

/// Names the folder of traces where no argument does.
pub const DATA_VARIABLE: &str = "FULMAR_LAB_DATA";

/// The place where the published traces are to be had.
pub const ORIGIN: &str = "The link traces Verizon-LTE-short and Verizon-EVDO-driving are part of \
    the Mahimahi distribution, and of the data of the CS244 reproduction of the Mosh paper \
    (github.com/a10y/stm-data, folder traces). They are not ours to ship: put their files \
    (NAME.up, NAME.down) into a folder and name it with --data or FULMAR_LAB_DATA.";

/// A folder of link traces, one file each in the format of Mahimahi.
#[derive(Clone, Debug)]
pub struct LinkTraces {
    folder: Option<PathBuf>,
}

impl LinkTraces {
    /// No folder.
    #[must_use]
    pub fn none() -> Self {
        Self { folder: None }
    }

    /// The traces in this folder, or in its folder `link-traces`.
    #[must_use]
    pub(crate) fn in_folder(folder: &Path) -> Self {
        let inner = folder.join("link-traces");
        let folder = if inner.is_dir() { inner } else { folder.into() };
        Self {
            folder: Some(folder),
        }
    }

    /// Those of the folder named, or else of the one that the environment names.
    #[must_use]
    pub fn of(named: Option<&Path>) -> Self {
        let from_environment = || std::env::var_os(DATA_VARIABLE).map(PathBuf::from);
        match named.map(PathBuf::from).or_else(from_environment) {
            Some(folder) => Self::in_folder(&folder),
            None => Self::none(),
        }
    }

    /// Returns the names of the traces in the folder, in order; none where no folder is named.
    ///
    /// # Errors
    ///
    /// Where the folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>> {
        let Some(folder) = &self.folder else {
            return Ok(Vec::new());
        };
        let read = || format!("reading {}. {ORIGIN}", folder.display());
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder).with_context(read)? {
            let path = entry.with_context(read)?.path();
            let is_trace = path
                .extension()
                .is_some_and(|end| end == "up" || end == "down");
            let name = path.file_name().and_then(|name| name.to_str());
            names.extend(name.filter(|_| is_trace).map(str::to_owned));
        }
        names.sort();
        Ok(names)
    }

    /// Returns a trace by its name: that of a file, such as `Verizon-LTE-short.up`, a path, or that
    /// of a kind with a seed, such as `like-lte-down:7`, which is generated.
    ///
    /// # Errors
    ///
    /// Where there is no such file, or it is no trace.
    pub fn get(&self, name: &str) -> Result<Arc<LinkTrace>> {
        let (kind, seed) = name.split_once(':').unwrap_or((name, "1"));
        if let Some(kind) = LinkKind::named(kind) {
            let seed = seed
                .parse()
                .with_context(|| format!("{seed} is not a seed"))?;
            return Ok(Arc::new(kind.trace(seed)));
        }
        let file = match &self.folder {
            Some(folder) => folder.join(name),
            None if name.contains('/') => PathBuf::from(name),
            None => bail!("no folder of traces is named, so there is none called {name}. {ORIGIN}"),
        };
        let text = std::fs::read_to_string(&file)
            .with_context(|| format!("reading {}. {ORIGIN}", file.display()))?;
        let trace = LinkTrace::parse(&text);
        Ok(Arc::new(trace.with_context(|| {
            format!("{} is not a trace of a link", file.display())
        })?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn said(error: &anyhow::Error) -> String {
        format!("{error:#}")
    }

    #[test]
    fn a_generated_link_has_a_seed_and_needs_no_folder() {
        let traces = LinkTraces::none();
        let kind = LinkKind::named("like-evdo-up").unwrap();
        assert_eq!(*traces.get("like-evdo-up:3").unwrap(), kind.trace(3));
        assert_eq!(*traces.get("like-evdo-up").unwrap(), kind.trace(1));
        let error = traces.get("like-evdo-up:x").unwrap_err();
        assert!(said(&error).starts_with("x is not a seed"));
    }

    #[test]
    fn a_file_lies_in_the_folder_or_its_link_traces_or_is_a_path() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.up");
        fs::write(&file, "5\n10\n").unwrap();
        let expected = LinkTrace::from_times(vec![5, 10]).unwrap();
        let plain = LinkTraces::of(Some(folder.path()));
        assert_eq!(*plain.get("a.up").unwrap(), expected);
        let path = file.to_str().unwrap();
        assert_eq!(*LinkTraces::none().get(path).unwrap(), expected);

        let inner = folder.path().join("link-traces");
        fs::create_dir(&inner).unwrap();
        for name in ["c.down", "b.up", "README", "d.txt"] {
            fs::write(inner.join(name), "7\n").unwrap();
        }
        let traces = LinkTraces::in_folder(folder.path());
        assert_eq!(traces.names().unwrap(), ["b.up", "c.down"]);
        assert!(traces.get("a.up").is_err());
        assert_eq!(LinkTraces::none().names().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_is_missing_or_no_trace_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("bad.up"), "9\n5\n").unwrap();
        let traces = LinkTraces::in_folder(folder.path());
        let bad = said(&traces.get("bad.up").unwrap_err());
        assert!(bad.contains("bad.up is not a trace of a link"), "{bad}");
        let missing = said(&traces.get("no.up").unwrap_err());
        assert!(missing.starts_with("reading ") && missing.contains("no.up. The link traces"));
        let nowhere = said(&LinkTraces::none().get("no.up").unwrap_err());
        assert!(nowhere.starts_with("no folder of traces is named, so there is none called no.up"));
        assert!(
            LinkTraces::in_folder(Path::new("/nowhere"))
                .names()
                .is_err()
        );
    }
}
