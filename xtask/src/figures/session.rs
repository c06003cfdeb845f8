//! A whole session on loopback: server, relay, client, and a program inside.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use fulmar_platform::Spawn;

use super::played::{self, DONE, Program, READY, WRONG};
use super::process::Process;
use super::programs::Programs;
use super::relay::Relay;
use super::terminal::Terminal;

/// How long a session may take to show its first screen.
const START_LIMIT: Duration = Duration::from_secs(20);

/// A running session. Dropping it ends both ends.
pub(super) struct Session {
    pub(super) terminal: Terminal,
    pub(super) relay: Relay,
    pub(super) server: Process,
    pub(super) client: Process,
}

/// What the program inside has shown at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It got everything that it should have got.
    Done,
    /// It did not.
    Wrong,
    /// It has shown nothing in time.
    TooLate,
}

impl Session {
    /// Starts both ends with `program` inside, and returns when the client shows that it is ready.
    pub(super) fn start(programs: &Programs, program: &Program) -> Result<Self> {
        let mut server = Command::new(&programs.server);
        server.args(["new", "-i", "127.0.0.1", "-p", "0", "-c", "256", "--"]);
        server
            .args(program.command_line()?)
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null());
        let output = server
            .output()
            .with_context(|| format!("starting {server:?}"))?;
        let said = Said::parse(&output.stdout, &output.stderr)
            .with_context(|| format!("{} said {output:?}", programs.server.display()))?;
        let server = Process(said.pid);

        let relay = Relay::to(said.port)?;
        let mut client = Spawn::new(&programs.client);
        client.arg("127.0.0.1").arg(relay.port().to_string());
        client
            .env("MOSH_KEY", said.key)
            .env("MOSH_PREDICTION_DISPLAY", "never");
        client
            .env("TERM", "xterm-256color")
            .env("LC_ALL", "C.UTF-8");
        for variable in ["PATH", "HOME"] {
            if let Some(value) = std::env::var_os(variable) {
                client.env(variable, value);
            }
        }
        let terminal = Terminal::start(&client)?;
        let client = Process(terminal.pid());
        let mut session = Self {
            terminal,
            relay,
            server,
            client,
        };
        if session.terminal.wait_for(&[READY], START_LIMIT)?.is_none() {
            bail!("{} shows nothing", programs.name);
        }
        Ok(session)
    }

    /// Types the key that the program inside waits for.
    pub(super) fn begin(&mut self) {
        self.terminal.type_keys(b" ");
    }

    /// Types the next `count` of the bytes that [`Program::Sink`] expects, from `first` on.
    pub(super) fn type_expected(&mut self, first: usize, count: usize) {
        let keys: Vec<u8> = (first..first + count).map(played::typed).collect();
        self.terminal.type_keys(&keys);
    }

    /// Waits for the program's verdict.
    pub(super) fn verdict(&mut self, limit: Duration) -> Result<Verdict> {
        Ok(match self.terminal.wait_for(&[DONE, WRONG], limit)? {
            Some(0) => Verdict::Done,
            Some(_) => Verdict::Wrong,
            None => {
                eprintln!(
                    "xtask:   too late; shown last: {}",
                    self.terminal.last_shown()
                );
                Verdict::TooLate
            }
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.server.kill();
    }
}

/// What a server says when it starts.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    port: u16,
    key: String,
    /// The process that serves, after the one that was started has ended.
    pid: u32,
}

impl Said {
    fn parse(stdout: &[u8], stderr: &[u8]) -> Option<Self> {
        let stdout = String::from_utf8_lossy(stdout);
        let stderr = String::from_utf8_lossy(stderr);
        let connect = stdout
            .lines()
            .find_map(|line| line.strip_prefix("MOSH CONNECT "))?;
        let (port, key) = connect.split_once(' ')?;
        let (_, pid) = stderr.split_once("pid = ")?;
        let (pid, _) = pid.split_once(']')?;
        Some(Self {
            port: port.parse().ok()?,
            key: key.trim_end().to_owned(),
            pid: pid.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn port_key_and_process_are_read_from_the_two_streams() {
        let stdout = b"\r\n\nMOSH CONNECT 60001 AAAAAAAAAAAAAAAAAAAAAA\n";
        let stderr = b"\nbanner\n\n[mosh-server detached, pid = 4711]\n";
        let expected = Said {
            port: 60001,
            key: "AAAAAAAAAAAAAAAAAAAAAA".to_owned(),
            pid: 4711,
        };
        assert_eq!(Said::parse(stdout, stderr), Some(expected));
        assert_eq!(Said::parse(b"no", stderr), None);
        assert_eq!(Said::parse(stdout, b"no"), None);
    }
}
