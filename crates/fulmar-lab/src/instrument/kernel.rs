//! Sets TCP on the hosts of a link.

use anyhow::Result;

use crate::link::{Host, Link};

/// The settings of TCP in the kernels of both hosts.
///
/// Whatever this machine has by default would be in the figures otherwise: BBR never fills a queue
/// as Cubic does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The congestion control.
    pub congestion: Congestion,
    /// True if a window that had grown is there after a pause and at the start, as if the connection had
    /// carried much before.
    pub is_wide: bool,
}

/// The signal by which TCP decides how much it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Losses: Cubic, as most systems have it. Where the kernel lacks it, it is Reno, which is the
    /// same until the first loss.
    Losses,
    /// A model of the path: BBR.
    Model,
}

impl Congestion {
    /// Sets it on a host, with the window that connections begin with, and returns its name in the kernel.
    fn set_on(self, host: &Host, window: Option<u32>) -> Result<&'static str> {
        let set = |name| host.set_tcp(name, window).map(|()| name);
        match self {
            Self::Losses => set("cubic").or_else(|_| set("reno")),
            Self::Model => set("bbr"),
        }
    }
}

impl Kernel {
    /// The settings that most Linux systems have.
    pub(crate) const USUAL: Self = Self {
        congestion: Congestion::Losses,
        is_wide: false,
    };

    /// A window of that many packets is wider than any burst that is tried.
    const WIDE: u32 = 200;

    /// Sets it on both hosts of a link, for connections that are made from here on, and returns it in
    /// words.
    ///
    /// # Errors
    ///
    /// Where the kernel does not have it, or it is not permitted.
    pub fn set(self, link: &Link) -> Result<String> {
        self.set_on(&link.client)?;
        let name = self.set_on(&link.server)?;
        let wide = if self.is_wide {
            format!(", a window of {} packets from the start", Self::WIDE)
        } else {
            String::new()
        };
        Ok(format!("both hosts: TCP {name}{wide}"))
    }

    fn set_on(self, host: &Host) -> Result<&'static str> {
        if self.is_wide {
            host.set_parameter("ipv4/tcp_slow_start_after_idle", "0")?;
            // Small writes are not put together while the device is busy.
            host.set_parameter("ipv4/tcp_autocorking", "0")?;
        }
        self.congestion
            .set_on(host, self.is_wide.then_some(Self::WIDE))
    }
}
