//! The controls: the same lines over one TCP connection, with nothing in between.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use fulmar_platform::lab::delay_acks;
use fulmar_platform::{Interest, boot_time, wait_for};

use super::Tinygrams;
use super::burst::{Burst, BurstShape, WriteSpan};
use super::run::{BurstRun, KEY};
use crate::instrument::watcher::{ByteStream, ScreenWatcher};
use crate::link::Link;
use crate::scenario::SERVER_IP;

/// The settings of a connection at its two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlainTcp {
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

/// The longest read.
const READ_MAX: usize = 16_384;

impl PlainTcp {
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

    /// Runs the bursts over one connection of this kind, or over one for each burst, and returns when they were
    /// written as well.
    ///
    /// What one connection has lost makes the window of the next one no smaller. The packets that open and close it
    /// count.
    pub(super) fn run(
        self,
        link: &Link,
        renews: bool,
        (tinygrams, seed): (&Tinygrams, u64),
    ) -> Result<(BurstRun, Vec<WriteSpan>)> {
        let shape = tinygrams.shape;
        let (hand_over, fars) = channel();
        std::thread::scope(|scope| {
            let writer = scope.spawn(move || write_bursts(&fars, seed, shape));
            let near = TcpClient::new(self, link, hand_over)?;
            let mut watcher = ScreenWatcher::new(near, shape.terminal());
            let run = tinygrams.run(seed, link, &mut watcher, |near| {
                if renews { near.renew() } else { Ok(()) }
            });
            // The connection is closed with the watcher, which ends the writer.
            drop(watcher);
            let written = writer.join().expect("a thread of ours does not panic");
            Ok((run?, written?))
        })
    }
}

/// Writes a burst for each key that comes over each of the connections, until there are no more.
fn write_bursts(
    fars: &Receiver<TcpStream>,
    seed: u64,
    shape: BurstShape,
) -> Result<Vec<WriteSpan>> {
    let mut written = Vec::new();
    let mut key = [0; KEY.len()];
    for mut far in fars {
        while far.read(&mut key).context("reading a key")? > 0 {
            let burst = Burst::new(seed, written.len() as u64, shape);
            written.push(burst.write(|line| far.write_all(line))?);
        }
    }
    Ok(written)
}

/// The local end of connections of that kind, one after the other.
struct TcpClient<'a> {
    plain: PlainTcp,
    link: &'a Link,
    listener: TcpListener,
    stream: TcpStream,
    /// The channel that remote ends go to.
    hand_over: Sender<TcpStream>,
    buffer: Vec<u8>,
}

impl<'a> TcpClient<'a> {
    fn new(plain: PlainTcp, link: &'a Link, hand_over: Sender<TcpStream>) -> Result<Self> {
        let listener = link.server.within(|| TcpListener::bind((SERVER_IP, 0)))??;
        Ok(Self {
            stream: connect(plain, link, &listener, &hand_over)?,
            plain,
            link,
            listener,
            hand_over,
            buffer: vec![0; READ_MAX],
        })
    }

    /// Makes another connection in place of this one.
    fn renew(&mut self) -> Result<()> {
        self.stream = connect(self.plain, self.link, &self.listener, &self.hand_over)?;
        Ok(())
    }
}

/// Makes a connection, and hands its remote end over.
fn connect(
    plain: PlainTcp,
    link: &Link,
    listener: &TcpListener,
    hand_over: &Sender<TcpStream>,
) -> Result<TcpStream> {
    let address = listener.local_addr()?;
    let near = link.client.within(|| TcpStream::connect(address))??;
    let (far, _) = listener.accept().context("taking the connection")?;
    near.set_nodelay(true)?;
    far.set_nodelay(plain == PlainTcp::NoDelay)?;
    far.set_read_timeout(Some(PATIENCE))?;
    hand_over.send(far).context("the writer has ended")?;
    Ok(near)
}

impl ByteStream for TcpClient<'_> {
    fn read(&mut self, until: Duration) -> Result<&[u8]> {
        let left = until.saturating_sub(boot_time());
        if !wait_for(&self.stream, Interest::Read, Some(left))?.is_ready() {
            return Ok(&[]);
        }
        match self.stream.read(&mut self.buffer) {
            Ok(0) => bail!("the far end has closed the connection"),
            Ok(count) => Ok(self.buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(&[]),
            Err(error) => Err(error).context("reading the connection"),
        }
    }

    fn write(&mut self, keys: &[u8]) -> Result<()> {
        if self.plain == PlainTcp::NagleDelayedAcks {
            delay_acks(&self.stream)?;
        }
        let written = self.stream.write_all(keys);
        written.context("writing the connection")
    }

    fn is_over(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_control_is_found_by_its_name_and_nobody_else() {
        for plain in PlainTcp::ALL {
            assert_eq!(PlainTcp::named(plain.name()), Some(plain));
        }
        assert_eq!(PlainTcp::named("tcp"), None);
        assert_eq!(PlainTcp::named("ssh"), None);
    }
}
