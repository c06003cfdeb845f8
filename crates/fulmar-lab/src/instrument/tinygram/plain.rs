//! The controls: the same lines over one TCP connection, with nothing in between.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_platform::lab::delay_acks;

use super::burst::{Burst, Shape, Written};
use super::course::{Course, KEY};
use super::seat::{Looker, Seat};
use crate::judge::Eye;
use crate::link::Link;
use crate::scenario::SERVER_IP;

/// How a connection is set at its two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    /// The writer sends each line at once, as sshd does.
    NoDelay,
    /// The writer waits with a small segment while another is under way; the receiver acknowledges
    /// as Linux does, which is at once after a pause.
    Nagle,
    /// The same, and the receiver delays acknowledgements, as systems did that the complaints are of.
    NagleDelayedAcks,
}

/// The key's way back and forth is not waited for longer.
const PATIENCE: Duration = Duration::from_secs(60);

impl Plain {
    pub(super) const ALL: [Self; 3] = [Self::NoDelay, Self::Nagle, Self::NagleDelayedAcks];

    /// Returns its name as a peer.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::NoDelay => "tcp-nodelay",
            Self::Nagle => "tcp-nagle",
            Self::NagleDelayedAcks => "tcp-nagle-delayed-acks",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|plain| plain.name() == name)
    }

    /// Runs the course over a connection of this kind, and returns when the bursts were written.
    pub(super) fn run(self, link: &Link, course: &mut Course) -> Result<Vec<Written>> {
        let listener = link.server.within(|| TcpListener::bind((SERVER_IP, 0)))??;
        let address = listener.local_addr()?;
        let near = link.client.within(|| TcpStream::connect(address))??;
        let (far, _) = listener.accept().context("taking the connection")?;
        near.set_nodelay(true)?;
        far.set_nodelay(self == Self::NoDelay)?;
        far.set_read_timeout(Some(PATIENCE))?;
        let (seed, shape) = (course.seed, course.shape);
        std::thread::scope(|scope| {
            let writer = scope.spawn(move || write_bursts(&far, seed, shape));
            let looker = Looker {
                seat: Near(near, self),
                eye: Eye::new(shape.terminal()),
            };
            let looked = course.run(link, looker);
            let written = writer.join().expect("a thread of ours does not panic");
            looked.and(written)
        })
    }
}

/// Writes a burst for each key until there are no more keys.
fn write_bursts(mut far: &TcpStream, seed: u64, shape: Shape) -> Result<Vec<Written>> {
    let mut written = Vec::new();
    let mut key = [0; KEY.len()];
    loop {
        match far.read(&mut key).context("reading a key")? {
            0 => return Ok(written),
            _ => {
                let burst = Burst::new(seed, written.len() as u64, shape);
                written.push(burst.write(|line| far.write_all(line))?);
            }
        }
    }
}

/// The near end of a connection of that kind.
struct Near(TcpStream, Plain);

impl Seat for Near {
    fn read(&mut self, until: Duration) -> Result<Option<Vec<u8>>> {
        Seat::read(&mut self.0, until)
    }

    fn write(&mut self, keys: &[u8]) -> Result<()> {
        if self.1 == Plain::NagleDelayedAcks {
            delay_acks(&self.0)?;
        }
        Seat::write(&mut self.0, keys)
    }
}
