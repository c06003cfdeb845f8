//! A private sshd on the server's host.

use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use fulmar_testbed::KilledChild;

use super::programs::require;
use super::session_files::{MOUNT_SOURCE, PORT, SessionFiles};
use crate::link::Host;
use crate::scenario::SERVER_IP;

/// The most looks, a millisecond apart, whether sshd listens. Chosen by eye: a thousand times what it takes.
const LOOKS_MAX: u32 = 30_000;

/// Runs sshd where what it leaves behind is gone with it: the folder that the system's start script
/// makes, records of logins (utmp, wtmp, lastlog).
const SCRIPT: &str = "\
    mount -t tmpfs -o mode=755 \"$2\" /run && mkdir /run/sshd && \
    mount -t tmpfs -o mode=755 \"$2\" /var/log && \
    : >/var/log/lastlog && : >/var/log/wtmp && exec \"$0\" -D -e -f \"$1\"";

/// An sshd that lets one key in, as the user who runs the lab. It ends with this value; sessions
/// that have begun are ended by whoever has the host.
pub(crate) struct LabSshd {
    process: KilledChild,
    /// The command that started it.
    pub(crate) command: String,
}

impl LabSshd {
    /// Starts it and waits until it listens.
    ///
    /// # Errors
    ///
    /// Where it is not installed or does not start; what it says about it is in the error.
    pub(crate) fn start(host: &Host, files: &SessionFiles) -> Result<Self> {
        let sshd = require("sshd")?;
        let config = files.sshd_config();
        let command = format!("{} -D -e -f {}", sshd.display(), config.display());
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "sh", "-c", SCRIPT]);
        unshare.arg(sshd).arg(config).arg(MOUNT_SOURCE);
        let errors = File::create(files.sshd_errors()).context("making a file")?;
        unshare.stdin(Stdio::null()).stdout(Stdio::null());
        let process = KilledChild(host.spawn(unshare.stderr(errors))?);
        let mut sshd = Self { process, command };
        sshd.await_port(host, files)?;
        Ok(sshd)
    }

    /// The number of the process that listens; those of sessions have others.
    pub(crate) fn pid(&self) -> u32 {
        self.process.0.id()
    }

    fn await_port(&mut self, host: &Host, files: &SessionFiles) -> Result<()> {
        for _ in 0..LOOKS_MAX {
            if host.within(is_listened_to)?? {
                return Ok(());
            }
            if let Some(status) = self.process.0.try_wait()? {
                let said = fs::read_to_string(files.sshd_errors()).unwrap_or_default();
                bail!(
                    "sshd cannot be had on the server's host, for which root is needed: {status}; {}",
                    said.trim_end()
                );
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        bail!("sshd does not listen")
    }
}

/// Tells whether somebody listens on sshd's port of this thread's network: proc(5).
fn is_listened_to() -> std::io::Result<bool> {
    Ok(has_listener(&fs::read_to_string(
        "/proc/thread-self/net/tcp",
    )?))
}

fn has_listener(sockets: &str) -> bool {
    let local = format!("{}:{PORT:04X}", hexadecimal(SERVER_IP));
    // 0A is the state of a socket that listens.
    let listens = |socket: &str| {
        let mut words = socket.split_whitespace().skip(1);
        words.next() == Some(&local) && words.nth(1) == Some("0A")
    };
    sockets.lines().any(listens)
}

/// The address as the kernel writes it there: a number of four bytes in the order of the machine.
fn hexadecimal(address: Ipv4Addr) -> String {
    format!("{:08X}", u32::from_ne_bytes(address.octets()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_socket_that_listens_there_counts() {
        let line = |local: &str, state: &str| {
            format!("   0: {local} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000\n")
        };
        let head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt\n";
        let there = format!("{}:0016", hexadecimal(SERVER_IP));
        let elsewhere = format!("{}:0016", hexadecimal(Ipv4Addr::LOCALHOST));
        let other_port = format!("{}:0017", hexadecimal(SERVER_IP));
        let has = |lines: &[String]| has_listener(&(head.to_owned() + &lines.concat()));
        assert!(has(&[line(&elsewhere, "0A"), line(&there, "0A")]));
        assert!(!has(&[line(&there, "01"), line(&other_port, "0A")]));
        assert!(!has(&[line(&elsewhere, "0A")]) && !has(&[]));
    }

    #[test]
    fn an_address_is_written_in_the_order_of_the_machine() {
        let written = hexadecimal(Ipv4Addr::new(1, 2, 3, 4));
        let expected = if cfg!(target_endian = "little") {
            "04030201"
        } else {
            "01020304"
        };
        assert_eq!(written, expected);
    }
}
