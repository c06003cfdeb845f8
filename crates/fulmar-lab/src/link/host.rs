//! One of the two real hosts that a link joins.

use std::io::Write as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use fulmar_platform::lab::{Network, Tun};

/// The name of the device in each of the networks.
pub(super) const DEVICE: &str = "lab0";

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

    /// Returns `client` or `server`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
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

    fn configure(&self, addresses: &[IpAddr]) -> Result<()> {
        let mut lines = vec![
            "link set lo up".to_owned(),
            // Without this the kernel looks for routers on the link.
            format!("link set {DEVICE} addrgenmode none"),
            format!("link set {DEVICE} mtu {DEVICE_MTU}"),
            format!("link set {DEVICE} txqueuelen {DEVICE_QUEUE}"),
            format!("link set {DEVICE} up"),
        ];
        for address in addresses.iter().filter(|address| is_supported(**address)) {
            lines.push(add_line(*address));
            let everywhere = if address.is_ipv4() {
                "0.0.0.0/0"
            } else {
                "::/0"
            };
            lines.push(format!("route add {everywhere} dev {DEVICE}"));
        }
        let mut ip = self.spawn(batch().stdin(Stdio::piped()))?;
        let mut input = ip.stdin.take().context("ip has no input")?;
        input.write_all((lines.join("\n") + "\n").as_bytes())?;
        drop(input);
        let status = ip.wait()?;
        if !status.success() {
            bail!("ip ended with {status}");
        }
        let supported = addresses.iter().filter(|address| is_supported(**address));
        for address in supported {
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
        let mut ip = self.spawn(batch().arg("-force").stdin(Stdio::piped()))?;
        let input = ip.stdin.take().context("ip has no input")?;
        Ok(Addressing { ip, input })
    }
}

/// Changes the addresses of a host during a run, without the time that starting a program takes.
#[derive(Debug)]
pub(crate) struct Addressing {
    ip: Child,
    input: ChildStdin,
}

impl Addressing {
    /// Gives the host the addresses of `after` in place of those of `before`.
    ///
    /// # Errors
    ///
    /// Where `ip` has ended.
    pub(crate) fn change(&mut self, before: &[IpAddr], after: &[IpAddr]) -> Result<()> {
        let mut lines = String::new();
        // The new ones first: with its last address a device loses its routes.
        for added in after.iter().filter(|address| !before.contains(address)) {
            lines += &add_line(*added);
            lines.push('\n');
        }
        for removed in before.iter().filter(|address| !after.contains(address)) {
            lines += &format!("addr del {removed}/{} dev {DEVICE}\n", bits(*removed));
        }
        self.input
            .write_all(lines.as_bytes())
            .context("ip, which changes addresses, has ended")
    }
}

impl Drop for Addressing {
    fn drop(&mut self) {
        // It would end by itself when its input does; a zombie is what is to be avoided.
        let _ = self.ip.kill();
        let _ = self.ip.wait();
    }
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
    command.args(["-batch", "-"]).stdout(Stdio::null());
    command
}

/// Ordinary users do not have these folders in their `PATH`.
pub(super) fn ip_program() -> PathBuf {
    let folders = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(Path::new);
    let known = folders.iter().map(|folder| folder.join("ip"));
    known
        .into_iter()
        .find(|file| file.is_file())
        .unwrap_or_else(|| "ip".into())
}
