//! The tools that carry: programs, and streams of plain TCP to compare them with.

use anyhow::{Result, bail};

use super::TcpSettings;
use crate::peer::Programs;

/// A program or a stream that carries bytes from one host to the other.
#[derive(Clone, Copy, Debug)]
pub(in crate::instrument) struct Tool {
    /// The name as a peer.
    pub(in crate::instrument) name: &'static str,
    pub(in crate::instrument) kind: ToolKind,
}

/// The way in which it carries them.
#[derive(Clone, Copy, Debug)]
pub(in crate::instrument) enum ToolKind {
    /// One TCP stream.
    Tcp(TcpSettings),
    /// A program.
    Program {
        /// Its name, without which there is nothing to measure; `None` where it is ours.
        needs: Option<&'static str>,
        /// A line for `sh` on the client's host. `{from}` and `{to}` are the files as scp names them;
        /// `{source}` and `{target}` are the paths alone; `{ssh}`, `{config}`, `{host}` and `{fulmar}`.
        line: &'static str,
    },
}

/// The programs whose processor time counts: those that a user would see in a list of processes. Shells do not count.
pub(in crate::instrument) const CARRIERS: Programs = Programs::Named(
    &["fulmar", "ssh", "scp", "sftp", "rsync", "tar"],
    &[
        "fulmar",
        "sshd",
        "sshd-session",
        "sftp-server",
        "scp",
        "rsync",
        "tar",
        "cat",
    ],
);

/// Ours alone: whose memory is to be small.
pub(in crate::instrument) const OURS: Programs = Programs::Named(&["fulmar"], &["fulmar"]);

impl Tool {
    /// A stream of TCP.
    pub(in crate::instrument) const fn tcp(name: &'static str, settings: TcpSettings) -> Self {
        Self {
            name,
            kind: ToolKind::Tcp(settings),
        }
    }

    /// A program of this name, which is needed.
    pub(in crate::instrument) const fn program(
        name: &'static str,
        needs: &'static str,
        line: &'static str,
    ) -> Self {
        let needs = Some(needs);
        Self {
            name,
            kind: ToolKind::Program { needs, line },
        }
    }

    /// Our own program.
    pub(in crate::instrument) const fn ours(line: &'static str) -> Self {
        Self {
            name: "fulmar",
            kind: ToolKind::Program { needs: None, line },
        }
    }

    /// Finds one of these by its name.
    pub(in crate::instrument) fn named(name: &str, tools: &[Self]) -> Result<Self> {
        let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
            let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
            bail!("there is no tool “{name}”; there are {}", names.join(", "));
        };
        Ok(*tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_is_not_known_is_named_with_those_that_are() {
        let tools = [Tool::ours("fulmar cp"), Tool::program("tar", "tar", "tar")];
        let error = Tool::named("ftp", &tools).unwrap_err().to_string();
        assert!(
            error.contains("ftp") && error.contains("fulmar, tar"),
            "{error}"
        );
        assert_eq!(Tool::named("tar", &tools).unwrap().name, "tar");
    }
}
