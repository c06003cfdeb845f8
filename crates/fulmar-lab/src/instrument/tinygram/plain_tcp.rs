//! The controls: the same lines over one TCP connection, with nothing in between.

use std::io::{Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_platform::lab::delay_acks;

use super::burst::{Burst, BurstShape, WriteSpan};
use super::run::{BurstRun, KEY};
use super::screen_watcher::{ByteStream, ScreenWatcher};
use crate::judge::ScreenObserver;
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

    /// Runs the bursts over connections of this kind, and returns when the bursts were written.
    pub(super) fn run(
        self,
        link: &Link,
        connections: Connections,
        run: &mut BurstRun,
    ) -> Result<Vec<WriteSpan>> {
        let (seed, shape) = (run.seed, run.shape);
        let (hand_over, fars) = channel();
        std::thread::scope(|scope| {
            let writer = scope.spawn(move || write_bursts(&fars, seed, shape));
            let near = TcpClient::new(self, link, connections, hand_over)?;
            let watcher = ScreenWatcher {
                stream: near,
                observer: ScreenObserver::new(shape.terminal()),
            };
            // The connection is closed with the watcher, which ends the writer.
            let looked = run.run(link, watcher);
            let written = writer.join().expect("a thread of ours does not panic");
            looked.and(written)
        })
    }
}

/// The bursts that share a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Connections {
    /// All.
    One,
    /// None: what one has lost makes the window of the next one no smaller. The packets that open and
    /// close it count.
    OneABurst,
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
        while Read::read(&mut far, &mut key).context("reading a key")? > 0 {
            let burst = Burst::new(seed, written.len() as u64, shape);
            written.push(burst.write(|line| far.write_all(line))?);
        }
    }
    Ok(written)
}

/// The near end of connections of that kind.
struct TcpClient<'a> {
    plain: PlainTcp,
    link: &'a Link,
    connections: Connections,
    listener: TcpListener,
    stream: TcpStream,
    hand_over: Sender<TcpStream>,
    has_typed: bool,
}

impl<'a> TcpClient<'a> {
    fn new(
        plain: PlainTcp,
        link: &'a Link,
        connections: Connections,
        hand_over: Sender<TcpStream>,
    ) -> Result<Self> {
        let listener = link.server.within(|| TcpListener::bind((SERVER_IP, 0)))??;
        Ok(Self {
            stream: plain.connect(link, &listener, &hand_over)?,
            plain,
            link,
            connections,
            listener,
            hand_over,
            has_typed: false,
        })
    }
}

impl PlainTcp {
    /// Makes a connection, and hands its far end over.
    fn connect(
        self,
        link: &Link,
        listener: &TcpListener,
        hand_over: &Sender<TcpStream>,
    ) -> Result<TcpStream> {
        let address = listener.local_addr()?;
        let near = link.client.within(|| TcpStream::connect(address))??;
        let (far, _) = listener.accept().context("taking the connection")?;
        near.set_nodelay(true)?;
        far.set_nodelay(self == Self::NoDelay)?;
        far.set_read_timeout(Some(PATIENCE))?;
        hand_over.send(far).context("the writer has ended")?;
        Ok(near)
    }
}

impl ByteStream for TcpClient<'_> {
    fn prepare(&mut self) -> Result<()> {
        if self.has_typed && self.connections == Connections::OneABurst {
            self.stream = self
                .plain
                .connect(self.link, &self.listener, &self.hand_over)?;
        }
        Ok(())
    }

    fn read(&mut self, until: Duration) -> Result<Option<Vec<u8>>> {
        ByteStream::read(&mut self.stream, until)
    }

    fn write(&mut self, keys: &[u8]) -> Result<()> {
        self.has_typed = true;
        if self.plain == PlainTcp::NagleDelayedAcks {
            delay_acks(&self.stream)?;
        }
        ByteStream::write(&mut self.stream, keys)
    }
}
