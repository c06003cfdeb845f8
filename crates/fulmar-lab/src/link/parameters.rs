//! The parameters of a host's system: its own kernel, as it were.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::host::{DEVICE, Host, ip_program};

impl Host {
    /// Returns a parameter of the host's network, such as `ipv4/tcp_congestion_control`.
    ///
    /// # Errors
    ///
    /// Where this kernel does not have it.
    pub fn parameter(&self, name: &str) -> Result<String> {
        let value = self.within(|| std::fs::read_to_string(path(name)))?;
        let value = value.with_context(|| format!("reading the parameter {name}"))?;
        Ok(value.trim().to_owned())
    }

    /// Sets a parameter of the host's network. It holds for this host alone.
    ///
    /// # Errors
    ///
    /// Where it is not permitted, or the kernel does not have it or knows no such value.
    pub(crate) fn set_parameter(&self, name: &str, value: &str) -> Result<()> {
        let set = self.within(|| std::fs::write(path(name), value))?;
        set.with_context(|| format!("setting {name} to {value} on the {}", self.name()))
    }

    /// Sets what decides how much TCP sends, such as `cubic`, and the window in packets that it begins
    /// with, for IPv4 connections that the host makes or takes from here on.
    ///
    /// They go to the route: as a parameter of a network other than the system's own, the kernel
    /// may refuse what it permits to no ordinary user.
    ///
    /// # Errors
    ///
    /// Where the kernel does not have it, or `ip` fails.
    pub(crate) fn set_tcp(&self, congestion: &str, initial_window: Option<u32>) -> Result<()> {
        let mut line = format!("route change 0.0.0.0/0 dev {DEVICE} congctl {congestion}");
        if let Some(packets) = initial_window {
            line += &format!(" initcwnd {packets}");
        }
        let mut ip = Command::new(ip_program());
        ip.args(line.split(' ')).stdout(Stdio::null());
        let output = self.spawn(ip.stderr(Stdio::piped()))?.wait_with_output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "ip {line}: {}", said.trim_end());
        Ok(())
    }
}

/// `/proc/sys/net` shows the network of the thread that looks.
fn path(name: &str) -> PathBuf {
    PathBuf::from("/proc/sys/net").join(name)
}
