//! The tools that carry bulk: a list of values, to which our own copy command will be one more.

use anyhow::{Result, bail};

use crate::peer::Programs;

/// A tool that carries a file, or a stream, from the server's host to the client's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tool {
    /// Its name as a peer.
    pub(super) name: &'static str,
    /// The most bytes that it lets be under way; `None` where that grows by itself.
    pub(super) window: Option<u32>,
    pub(super) kind: Kind,
}

/// The way in which a tool is made to work.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// One TCP stream of the lab's own.
    Stream,
    /// A program that copies a file.
    Command {
        /// Its name, without which there is nothing to measure.
        program: &'static str,
        /// A line for `sh` on the client's host: `{ssh}`, `{config}` (of ssh), `{host}`, and the files
        /// `{source}` there and `{target}` here.
        line: &'static str,
        /// The programs whose processor time counts.
        programs: Programs,
    },
}

/// The window of OpenSSH up to 4.6, and of TCP without window scaling (RFC 7323).
const SMALL: u32 = 64 * 1024;

/// The window of a channel of OpenSSH since 4.7; and what sftp asks for at once.
const LARGE: u32 = 2 * 1024 * 1024;

/// Names of processes that belong to no tool are left out: shells.
const SSH: Programs = Programs::Named(
    &["ssh", "scp", "sftp", "rsync"],
    &["sshd", "sshd-session", "sftp-server", "scp", "rsync", "cat"],
);

/// All of them.
pub(super) const TOOLS: [Tool; 8] = [
    stream("tcp-64k", Some(SMALL)),
    stream("tcp-2m", Some(LARGE)),
    stream("tcp-auto", None),
    copy("ssh", "ssh", "exec {ssh} {host} cat {source} >{target}"),
    copy(
        "scp",
        "scp",
        "exec scp -q -F {config} {host}:{source} {target}",
    ),
    // The protocol that scp had before 9.0.
    copy(
        "scp-o",
        "scp",
        "exec scp -q -O -F {config} {host}:{source} {target}",
    ),
    copy(
        "sftp",
        "sftp",
        "exec sftp -q -F {config} {host}:{source} {target}",
    ),
    copy(
        "rsync",
        "rsync",
        "exec rsync --inplace --whole-file -e '{ssh}' {host}:{source} {target}",
    ),
];

const fn stream(name: &'static str, window: Option<u32>) -> Tool {
    Tool {
        name,
        window,
        kind: Kind::Stream,
    }
}

const fn copy(name: &'static str, program: &'static str, line: &'static str) -> Tool {
    Tool {
        name,
        window: Some(LARGE),
        kind: Kind::Command {
            program,
            line,
            programs: SSH,
        },
    }
}

impl Tool {
    pub(super) fn named(name: &str) -> Result<Self> {
        let Some(tool) = TOOLS.into_iter().find(|tool| tool.name == name) else {
            let names = TOOLS.map(|tool| tool.name).join(", ");
            bail!("there is no tool “{name}”; there are {names}");
        };
        Ok(tool)
    }

    /// Returns the goodput that the window allows over a round trip of so many seconds, in bytes a
    /// second.
    pub(super) fn window_over_rtt(self, rtt: f64) -> Option<f64> {
        self.window.map(|window| f64::from(window) / rtt)
    }
}
