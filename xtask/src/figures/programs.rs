//! The pairs of programs that are measured beside each other.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

use crate::workspace::{self, Workspace};

/// A server and a client with stock's interface.
pub(super) struct Programs {
    /// What the pair is called in the tables.
    pub(super) name: String,
    pub(super) server: PathBuf,
    pub(super) client: PathBuf,
    /// Holds the names that the programs go by, if we made them.
    _links: Option<TempDir>,
}

impl Programs {
    /// Stock Mosh, as found along `PATH`.
    pub(super) fn stock() -> Result<Self> {
        let version = workspace::output_of(Command::new("mosh-server").arg("--version"))
            .context("stock Mosh is needed to measure beside: apt-get install mosh")?;
        let name = stock_version(&version).context("mosh-server does not say its version")?;
        if name.contains("fulmar") {
            bail!("the mosh-server along PATH is not stock's");
        }
        let [server, client] = ["mosh-server".into(), "mosh-client".into()];
        Ok(Self {
            name,
            server,
            client,
            _links: None,
        })
    }

    /// Our program, built for release, under stock's names.
    pub(super) fn ours(workspace: &Workspace) -> Result<Self> {
        let program = built(workspace, "fulmar")?;
        let links = TempDir::new()?;
        let link = |name: &str| -> Result<PathBuf> {
            let path = links.path().join(name);
            symlink(&program, &path).with_context(|| format!("making {}", path.display()))?;
            Ok(path)
        };
        let (server, client) = (link("mosh-server")?, link("mosh-client")?);
        let name = concat!("fulmar ", env!("CARGO_PKG_VERSION")).to_owned();
        Ok(Self {
            name,
            server,
            client,
            _links: Some(links),
        })
    }

    /// Any two programs with stock's interface.
    pub(super) fn given(server: PathBuf, client: PathBuf) -> Self {
        let name = server.display().to_string();
        Self {
            name,
            server,
            client,
            _links: None,
        }
    }
}

/// The program of this package, built for release.
pub(super) fn built(workspace: &Workspace, package: &str) -> Result<PathBuf> {
    let mut build = workspace.cargo(["build", "--release", "--locked", "--package", package]);
    workspace::run(&mut build)?;
    let metadata = workspace.metadata()?;
    let target = metadata["target_directory"].as_str();
    let target = PathBuf::from(target.context("no target directory")?);
    Ok(target.join("release").join(package))
}

/// The `mosh 1.4.0` of `mosh-server (mosh 1.4.0) [build mosh 1.4.0]`.
fn stock_version(line: &str) -> Option<String> {
    let (_, rest) = line.split_once('(')?;
    let (version, _) = rest.split_once(')')?;
    Some(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_first_in_brackets() {
        let line = "mosh-server (mosh 1.4.0) [build mosh 1.4.0]\nCopyright (of somebody)\n";
        assert_eq!(stock_version(line).as_deref(), Some("mosh 1.4.0"));
        assert_eq!(stock_version("something else"), None);
    }
}
