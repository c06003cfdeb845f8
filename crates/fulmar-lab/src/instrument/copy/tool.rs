//! The tools that copy: programs, and streams of plain TCP to compare them with.

use anyhow::{Result, bail};

use super::stream::TransferDirection;
use crate::instrument::Congestion;
use crate::peer::Programs;

/// Somebody who carries bytes from one host to the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tool {
    /// The name as a peer.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

/// The way in which it carries them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// One TCP stream with buffers that hold any path of the experiment.
    Stream(Congestion),
    /// A program.
    Command {
        /// Its name, without which there is nothing to measure; `None` where it is ours.
        program: Option<&'static str>,
        /// A line for `sh` on the client's host. `{from}` and `{to}` are the files as scp names them;
        /// `{source}` and `{target}` are the paths alone; `{ssh}`, `{config}`, `{host}` and `{fulmar}`.
        line: &'static str,
    },
}

/// The programs whose processor time counts: those that a user would see in a list of processes. Shells are left out.
pub(super) const ALL: Programs = Programs::Named(
    &["fulmar", "ssh", "scp", "sftp", "rsync", "tar"],
    &[
        "fulmar",
        "sshd",
        "sshd-session",
        "sftp-server",
        "rsync",
        "tar",
    ],
);

/// Ours alone: whose memory is to be small.
pub(super) const OURS: Programs = Programs::Named(&["fulmar"], &["fulmar"]);

/// Those that copy one file.
pub(super) const FILE: [Tool; 6] = [
    stream("tcp-cubic", Congestion::Losses),
    stream("tcp-bbr", Congestion::Model),
    command(
        "fulmar",
        None,
        "exec {fulmar} cp -q --config none -F {config} --server {fulmar} {from} {to}",
    ),
    command("scp", Some("scp"), "exec scp -q -F {config} {from} {to}"),
    command(
        "sftp",
        Some("sftp"),
        "echo 'put {source} {target}' | sftp -q -b - -F {config} {host}",
    ),
    command(
        "rsync",
        Some("rsync"),
        "exec rsync --inplace --whole-file -e '{ssh}' {from} {to}",
    ),
];

/// Those that copy a folder.
pub(super) const FOLDER: [Tool; 3] = [
    command(
        "fulmar",
        None,
        "exec {fulmar} cp -q -r --config none -F {config} --server {fulmar} {from} {to}",
    ),
    command(
        "tar",
        Some("tar"),
        "tar -C {source} -cf - . | {ssh} {host} 'mkdir {target} && tar -C {target} -xf -'",
    ),
    command("scp", Some("scp"), "exec scp -q -r -F {config} {from} {to}"),
];

const fn stream(name: &'static str, congestion: Congestion) -> Tool {
    Tool {
        name,
        kind: Kind::Stream(congestion),
    }
}

const fn command(name: &'static str, program: Option<&'static str>, line: &'static str) -> Tool {
    Tool {
        name,
        kind: Kind::Command { program, line },
    }
}

impl Tool {
    /// Finds one of these by its name.
    pub(super) fn named(name: &str, tools: &[Self]) -> Result<Self> {
        let found = tools.iter().find(|tool| tool.name == name);
        let Some(tool) = found else {
            let names: Vec<&str> = tools.iter().map(|tool| tool.name).collect();
            bail!("there is no tool “{name}”; there are {}", names.join(", "));
        };
        Ok(*tool)
    }
}

/// Puts the two ends of a copy into a line.
pub(super) fn with_ends(line: &str, way: TransferDirection) -> String {
    let (from, to) = match way {
        TransferDirection::Up => ("{source}", "{host}:{target}"),
        TransferDirection::Down => ("{host}:{source}", "{target}"),
    };
    line.replace("{from}", from).replace("{to}", to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_far_end_as_scp_does() {
        let up = with_ends("scp {from} {to}", TransferDirection::Up);
        assert_eq!(up, "scp {source} {host}:{target}");
        let down = with_ends("scp {from} {to}", TransferDirection::Down);
        assert_eq!(down, "scp {host}:{source} {target}");
    }

    #[test]
    fn a_tool_that_is_not_known_is_named_with_those_that_are() {
        let error = Tool::named("ftp", &FOLDER).unwrap_err().to_string();
        assert!(
            error.contains("ftp") && error.contains("fulmar, tar, scp"),
            "{error}"
        );
    }
}
