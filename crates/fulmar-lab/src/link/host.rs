//! One of the two real hosts that a link joins.

use std::io::Write as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use fulmar_platform::lab::{Network, Tun};
use fulmar_testbed::KilledChild;
use fulmar_testbed::peers::find;

/// The name of the device in each of the networks.
const DEVICE: &str = "lab0";

/// The most packets that may wait in front of the engine before the kernel drops some: more than any burst,
/// since only the emulated queues may drop. Chosen by eye.
const DEVICE_QUEUE: u32 = 20_000;

/// The largest packet, with its headers: that of Ethernet.
const DEVICE_MTU: u32 = 1500;

/// The most looks, a millisecond apart, whether an address is there. Chosen by eye: it is the time that a
/// workqueue of the kernel takes.
const ADDRESS_LOOKS_MAX: u32 = 5000;

/// A network of its own with one way out: the emulated link.
#[derive(Debug)]
pub struct Host {
    /// `client` or `server`.
    name: &'static str,
    network: Network,
}

impl Host {
    /// Makes the host with these addresses, and the device that is the near end of its link.
    ///
    /// # Errors
    ///
    /// Where it is not permitted, or `ip` (iproute2) is missing or fails.
    pub(crate) fn new(name: &'static str, addresses: &[IpAddr]) -> Result<(Self, Tun)> {
        let network = Network::new()
            .context("making a network, for which root or a user namespace is needed")?;
        let tun = network
            .within(|| Tun::open(DEVICE))
            .and_then(|opened| opened)
            .context(
                "making a TUN device, for which /dev/net/tun and the rights of root are needed",
            )?;
        let host = Self { name, network };
        host.configure(addresses)
            .with_context(|| format!("giving the {name} its addresses"))?;
        Ok((host, tun))
    }

    /// Calls `inside` with the host's network around it: sockets that it opens and processes that it
    /// starts belong to the host. It runs in a thread of its own.
    ///
    /// # Errors
    ///
    /// Where the network cannot be entered.
    pub fn within<T: Send>(&self, inside: impl FnOnce() -> T + Send) -> Result<T> {
        let entered = self.network.within(inside);
        entered.with_context(|| format!("entering the network of the {}", self.name))
    }

    /// Starts a program on the host.
    ///
    /// # Errors
    ///
    /// Where it cannot be started.
    pub fn spawn(&self, command: &mut Command) -> Result<Child> {
        let program = command.get_program().to_owned();
        let started = self.within(|| command.spawn())?;
        started.with_context(|| format!("starting {} on the {}", program.display(), self.name))
    }

    /// Returns a path under which other processes of this user can enter the network, as
    /// `nsenter --net=PATH` does, while this process lives.
    #[must_use]
    pub(crate) fn network_path(&self) -> PathBuf {
        use std::os::fd::{AsFd as _, AsRawFd as _};
        let descriptor = self.network.as_fd().as_raw_fd();
        PathBuf::from(format!("/proc/{}/fd/{descriptor}", std::process::id()))
    }

    /// Returns a parameter of the host's network, such as `ipv4/tcp_congestion_control`.
    ///
    /// # Errors
    ///
    /// Where this kernel does not have it.
    pub fn parameter(&self, name: &str) -> Result<String> {
        let value = self.within(|| std::fs::read_to_string(parameter_path(name)))?;
        let value = value.with_context(|| format!("reading the parameter {name}"))?;
        Ok(value.trim().to_owned())
    }

    /// Sets a parameter of the host's network. It holds for this host alone.
    ///
    /// # Errors
    ///
    /// Where it is not permitted, or the kernel does not have it or knows no such value.
    pub(crate) fn set_parameter(&self, name: &str, value: &str) -> Result<()> {
        let set = self.within(|| std::fs::write(parameter_path(name), value))?;
        set.with_context(|| format!("setting {name} to {value} on the {}", self.name))
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

    fn configure(&self, addresses: &[IpAddr]) -> Result<()> {
        let mut lines = vec![
            "link set lo up".to_owned(),
            // Without this the kernel looks for routers on the link.
            format!("link set {DEVICE} addrgenmode none"),
            format!("link set {DEVICE} mtu {DEVICE_MTU}"),
            format!("link set {DEVICE} txqueuelen {DEVICE_QUEUE}"),
            format!("link set {DEVICE} up"),
        ];
        let addresses = addresses.iter().filter(|address| is_supported(**address));
        for address in addresses.clone() {
            let everywhere = if address.is_ipv4() {
                "0.0.0.0/0"
            } else {
                "::/0"
            };
            lines.push(add_line(*address));
            lines.push(format!("route add {everywhere} dev {DEVICE}"));
        }
        let mut ip = Addressing::start(self, &mut batch())?;
        ip.order(&lines)?;
        drop(ip.input);
        let status = ip.ip.0.wait()?;
        ensure!(status.success(), "ip ended with {status}");
        for address in addresses {
            self.await_address(*address)?;
        }
        Ok(())
    }

    /// Waits until packets to this address are taken in: of an IPv6 address the kernel puts the
    /// route in place some time after `ip` was told that all is done.
    fn await_address(&self, address: IpAddr) -> Result<()> {
        let IpAddr::V6(ip) = address else {
            return Ok(());
        };
        let line = format!("{:032x} 80 ", ip.to_bits());
        for _ in 0..ADDRESS_LOOKS_MAX {
            let routes =
                self.within(|| std::fs::read_to_string("/proc/thread-self/net/ipv6_route"))?;
            let is_local =
                |route: &str| route.starts_with(&line) && route.trim_end().ends_with(DEVICE);
            if routes?.lines().any(is_local) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        bail!("the kernel does not take in {address}")
    }

    /// Returns the network, for whom it is to be there as well.
    pub(crate) fn network(&self) -> Result<Network> {
        Ok(self.network.duplicate()?)
    }

    /// Starts what changes the host's addresses later.
    ///
    /// # Errors
    ///
    /// Where `ip` cannot be started.
    pub(crate) fn addressing(&self) -> Result<Addressing> {
        // It goes on after an error, which it has written where a person sees it.
        Addressing::start(self, batch().arg("-force"))
    }
}

/// Changes the addresses of a host during a run, without the time that starting a program takes.
#[derive(Debug)]
pub(crate) struct Addressing {
    ip: KilledChild,
    input: ChildStdin,
}

impl Addressing {
    fn start(host: &Host, batch: &mut Command) -> Result<Self> {
        let mut ip = KilledChild(host.spawn(batch)?);
        let input = ip.0.stdin.take().context("ip has no input")?;
        Ok(Self { ip, input })
    }

    /// Gives the host the addresses of `after` in place of those of `before`.
    ///
    /// # Errors
    ///
    /// Where `ip` has ended.
    pub(crate) fn change(&mut self, before: &[IpAddr], after: &[IpAddr]) -> Result<()> {
        self.order(&change_lines(before, after))
    }

    fn order(&mut self, lines: &[String]) -> Result<()> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let written = self.input.write_all(text.as_bytes());
        written.context("ip, which changes addresses, has ended")
    }
}

/// Returns what gives a host the addresses of `after` in place of those of `before`.
fn change_lines(before: &[IpAddr], after: &[IpAddr]) -> Vec<String> {
    // The new ones first: with its last address a device loses its routes.
    let added = after.iter().filter(|address| !before.contains(address));
    let removed = before.iter().filter(|address| !after.contains(address));
    let removed = removed.map(|ip| format!("addr del {ip}/{} dev {DEVICE}", bits(*ip)));
    added
        .map(|ip| add_line(*ip))
        .chain(preferred_line(before, after))
        .chain(removed)
        .collect()
}

/// Returns what makes a host that stays on several networks of IPv4 send from the last of `after`. On its own,
/// the kernel goes on with the one that it had first.
fn preferred_line(before: &[IpAddr], after: &[IpAddr]) -> Option<String> {
    let of_v4 = |addresses: &[IpAddr]| -> Vec<IpAddr> {
        let addresses = addresses.iter().copied();
        addresses.filter(IpAddr::is_ipv4).collect()
    };
    let [before, after] = [before, after].map(of_v4);
    let preferred = after.last()?;
    let is_among_others = after.len() > 1 && before.last() != Some(preferred);
    is_among_others.then(|| format!("route change 0.0.0.0/0 dev {DEVICE} src {preferred}"))
}

fn add_line(address: IpAddr) -> String {
    // No other host could have a duplicate of it, so it need not be looked for.
    let flags = if address.is_ipv4() { "" } else { " nodad" };
    format!("addr add {address}/{} dev {DEVICE}{flags}", bits(address))
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// Tells whether this kernel has the family.
fn is_supported(address: IpAddr) -> bool {
    address.is_ipv4() || Path::new("/proc/sys/net/ipv6").exists()
}

/// Returns a call of `ip` that takes its commands from its input.
fn batch() -> Command {
    let mut command = Command::new(ip_program());
    command.args(["-batch", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    command
}

/// Returns where `ip` is: ordinary users do not have its folder in their `PATH`.
fn ip_program() -> PathBuf {
    find("ip").unwrap_or_else(|| "ip".into())
}

/// `/proc/sys/net` shows the network of the thread that looks.
fn parameter_path(name: &str) -> PathBuf {
    Path::new("/proc/sys/net").join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ips(texts: &[&str]) -> Vec<IpAddr> {
        texts
            .iter()
            .map(|text| text.parse().expect("it is one"))
            .collect()
    }

    #[test]
    fn a_host_that_moves_gets_its_new_address_before_it_loses_the_old_one() {
        let before = ips(&["192.0.2.1", "2001:db8:c::1"]);
        let after = ips(&["192.0.2.1", "198.51.100.2", "2001:db8:c::2"]);
        let expected = [
            "addr add 198.51.100.2/32 dev lab0",
            "addr add 2001:db8:c::2/128 dev lab0 nodad",
            "route change 0.0.0.0/0 dev lab0 src 198.51.100.2",
            "addr del 2001:db8:c::1/128 dev lab0",
        ];
        assert_eq!(change_lines(&before, &after), expected);
        assert!(change_lines(&after, &after).is_empty());
    }

    #[test]
    fn a_host_on_two_networks_sends_from_the_one_that_it_prefers() {
        let [one, both, turned, other] = [
            ips(&["192.0.2.1"]),
            ips(&["192.0.2.1", "198.51.100.7"]),
            ips(&["198.51.100.7", "192.0.2.1"]),
            ips(&["198.51.100.7"]),
        ];
        let from = |ip: &str| format!("route change 0.0.0.0/0 dev lab0 src {ip}");
        let added = "addr add 198.51.100.7/32 dev lab0".to_owned();
        assert_eq!(change_lines(&one, &both), [added, from("198.51.100.7")]);
        assert_eq!(change_lines(&both, &turned), [from("192.0.2.1")]);
        assert_eq!(
            change_lines(&both, &other),
            ["addr del 192.0.2.1/32 dev lab0"]
        );
    }

    #[test]
    fn the_older_family_is_always_there() {
        assert!(is_supported(ips(&["192.0.2.1"])[0]));
        let has_ipv6 = Path::new("/proc/sys/net/ipv6").exists();
        assert_eq!(is_supported(ips(&["2001:db8::1"])[0]), has_ipv6);
    }
}
