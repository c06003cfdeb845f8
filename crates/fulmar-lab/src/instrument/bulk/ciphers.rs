//! Measures the cost of a byte with each cipher that ssh offers.

use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use fulmar_platform::boot_time;
use fulmar_testbed::KilledChild;

use super::{put_costs, relay, speed};
use crate::experiment::{Cell, LabSetup, Measured, Work};
use crate::instrument::hosts::hosts;
use crate::instrument::transfer::shell;
use crate::peer::{Programs, costs, require};
use crate::scenario::Scenario;

/// The bytes that are carried before it is measured: keys are exchanged, and buffers are as large as they become.
const WARM_UP: u64 = 16_000_000;

/// The bytes that are written at once.
const PIECE: usize = 64 * 1024;

/// The control: bytes from a pipe to a connection and from that to a pipe, with nothing done to them.
pub(super) const RELAY: &str = "none";

/// The programs whose cost counts: both run on one host.
const SSH: Programs = Programs::Named(&["ssh"], &["sshd", "sshd-session"]);

/// The work: so many bytes through ssh, over the loopback device of one host.
#[derive(Clone, Copy, Debug)]
pub struct Ciphers {
    /// The number of bytes that are measured.
    pub bytes: u64,
}

/// Returns the setting: each cipher, and the control.
pub(super) fn cell(setup: &LabSetup) -> Cell {
    let bytes = if setup.is_quick {
        super::BYTES / 3
    } else {
        super::BYTES
    };
    let offered = offered().unwrap_or_default();
    let ciphers = offered.iter().map(|cipher| short(cipher));
    let peers: Vec<&str> = std::iter::once(RELAY).chain(ciphers).collect();
    let title = "the cost of a byte with each cipher, over loopback";
    crate::instrument::cell(
        "ciphers",
        title,
        &peers,
        Duration::from_secs(5),
        Ciphers { bytes },
    )
}

/// Returns the ciphers that ssh offers to a server, by its own word.
fn offered() -> Result<Vec<String>> {
    let ssh = require("ssh")?;
    let mut command = Command::new(ssh);
    command
        .args(["-F", "none", "-G", "host"])
        .stdin(Stdio::null());
    let said = command.output().context("asking ssh for its ciphers")?;
    let said = String::from_utf8_lossy(&said.stdout);
    listed(&said).context("ssh does not tell its ciphers")
}

/// Returns the ciphers in a configuration as ssh prints it.
fn listed(configuration: &str) -> Option<Vec<String>> {
    let mut lines = configuration.lines();
    let list = lines.find_map(|line| line.strip_prefix("ciphers "))?;
    Some(list.split(',').map(str::to_owned).collect())
}

/// Returns the name of a cipher without whose it is.
fn short(cipher: &str) -> &str {
    cipher.split('@').next().unwrap_or(cipher)
}

impl Work for Ciphers {
    /// `peer` is a cipher without what follows `@`, or `none` for the control.
    fn measure(&self, peer: &str, _seed: u64, _around: &LabSetup) -> Result<Measured> {
        if peer == RELAY {
            let (measured, command) = relay::run(WARM_UP, self.bytes)?;
            return Ok(measured.by(&Scenario::default(), vec![command]));
        }
        let offered = offered()?;
        let cipher = offered.iter().find(|cipher| short(cipher) == peer);
        let cipher = cipher.with_context(|| format!("ssh offers no cipher {peer}"))?;
        self.through_ssh(cipher)
    }
}

impl Ciphers {
    fn through_ssh(&self, cipher: &str) -> Result<Measured> {
        let hosts = hosts(&Scenario::default())?;
        let values = hosts.files.values(Path::new(""))?;
        let line = format!(
            "exec {} -c {cipher} -o Compression=no {} \
            'head -c {WARM_UP} >/dev/null; echo; head -c {} >/dev/null; echo; cat'",
            values.ssh, values.host, self.bytes
        );
        let mut shell = shell(&hosts, &line);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        // On the server's host, where sshd is as well.
        let mut ssh = KilledChild(hosts.link.server.spawn(&mut shell)?);
        carry(&mut ssh.0, WARM_UP)?;
        let [_, mut costs_of] = hosts.costs()?;
        costs_of.begin();
        let start = boot_time();
        carry(&mut ssh.0, self.bytes)?;
        let took = boot_time() - start;
        costs_of.look();
        let costs = costs(SSH, [&costs_of, &costs_of]);
        ensure!(
            costs.iter().all(Option::is_some),
            "ssh or sshd was not seen"
        );
        let mut measured = speed(self.bytes, took);
        let both = ["client", "server"].into_iter();
        let costs = both.zip(costs.into_iter().flatten());
        put_costs(&mut measured, costs, self.bytes);
        let commands = vec![line, hosts.sshd.command.clone()];
        Ok(measured.by(&Scenario::default(), commands))
    }
}

/// Carries so many bytes through a program that says a line when its remote end has had them.
fn carry(program: &mut Child, bytes: u64) -> Result<()> {
    let input = program.stdin.as_mut().context("a pipe to the tool")?;
    let mut pieces = BufWriter::with_capacity(PIECE, input);
    let carried = io::copy(&mut io::repeat(0).take(bytes), &mut pieces);
    let carried = carried.and_then(|_| pieces.flush());
    carried.context("ssh takes no more")?;
    let output = program.stdout.as_mut().context("a pipe from the tool")?;
    // It says nothing but these lines, so nothing is lost with this reader.
    let count = BufReader::with_capacity(1, output).read_line(&mut String::new())?;
    ensure!(count > 0, "ssh has ended");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cipher_s_short_name_says_not_whose_it_is() {
        assert_eq!(short("aes128-gcm@openssh.com"), "aes128-gcm");
        assert_eq!(short("aes128-ctr"), "aes128-ctr");
    }

    #[test]
    fn what_ssh_offers_has_names_of_files() {
        let Ok(offered) = offered() else {
            fulmar_testbed::peers::leave_out("ssh is not installed");
            return;
        };
        let is_plain = |name: &str| {
            let mut characters = name.chars();
            characters.all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-')
        };
        assert!(!offered.is_empty());
        assert!(
            offered.iter().all(|cipher| is_plain(short(cipher))),
            "{offered:?}"
        );
    }

    #[test]
    fn ciphers_are_those_of_their_own_line() {
        let told = "hostkeyalgorithms a,b\nciphers aes128-ctr,aes128-gcm@openssh.com\nmacs c,d\n";
        let expected = ["aes128-ctr", "aes128-gcm@openssh.com"].map(str::to_owned);
        assert_eq!(listed(told).unwrap(), expected);
        assert_eq!(listed("host ciphers\nCiphers a\n"), None);
    }
}
