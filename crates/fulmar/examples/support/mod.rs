//! A server under stock's name, ours or stock's.

use std::error::Error;
use std::ffi::OsStr;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

/// A server that waits for its client. Dropping it kills it.
pub(crate) struct Server {
    /// The port on which it listens, on 127.0.0.1.
    pub(crate) port: u16,
    /// Its key, in base64.
    pub(crate) key: String,
    /// The number of its process.
    pub(crate) pid: i32,
}

impl Server {
    /// Starts this program as a `mosh-server` that runs `command`.
    pub(crate) fn start(program: &OsStr, command: &[&str]) -> Result<Server, Box<dyn Error>> {
        let mut server = Command::new(program);
        server.arg0("mosh-server").stdin(Stdio::null());
        server
            .env("LC_ALL", "C.UTF-8")
            .env("MOSH_SERVER_NETWORK_TMOUT", "120");
        server.args(["new", "-p", "0", "-i", "127.0.0.1", "-c", "256", "--"]);
        let output = server.args(command).output()?;
        let (stdout, stderr) = (
            String::from_utf8(output.stdout)?,
            String::from_utf8(output.stderr)?,
        );
        let connect = stdout.split_once("MOSH CONNECT ").ok_or("no server")?.1;
        let (port, key) = connect.trim().split_once(' ').ok_or("no key")?;
        let pid = stderr.split_once("pid = ").ok_or("no number")?.1;
        Ok(Server {
            port: port.parse()?,
            key: key.to_owned(),
            pid: pid.split(']').next().unwrap_or_default().parse()?,
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(pid) = Pid::from_raw(self.pid) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Our program, which lies beside the folder of the examples.
pub(crate) fn ours() -> Result<PathBuf, Box<dyn Error>> {
    let example = std::env::current_exe()?;
    let folder = example.parent().and_then(|examples| examples.parent());
    Ok(folder.ok_or("no folder")?.join("fulmar"))
}
