//! Numbered datagrams over a link, with the times that the kernel saw them.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_platform::lab::{receive_stamped, stamp_arrivals, wall_time, widen_receive_buffer};

use crate::link::Link;
use crate::scenario::{CLIENT_IP, SERVER_IP};

/// IP and UDP headers of a probe.
pub(super) const HEADER_BYTES: usize = 28;

/// The bytes that a receiver can keep before they are read: more than any check has under way.
const BUFFER_BYTES: usize = 128 << 20;

/// Longer than any packet of a link.
const PACKET_BYTES_MAX: usize = 2048;

/// The interval at which a receiver looks whether it is over.
const LOOK: Duration = Duration::from_millis(50);

/// The most packets that may be sent and not read by the engine where they are sent quickly.
const AHEAD_MAX: u64 = 4000;

/// The passage of each packet of one way: for each number how long each copy was under way, in seconds and in
/// order of arrival. A number that is not there was lost.
pub(super) type TransitTimes = BTreeMap<u32, Vec<f64>>;

/// The times at which numbered packets were sent by one end, and at which others arrived there.
#[derive(Clone, Debug, Default)]
pub(super) struct PacketTimes {
    /// The time at which each was sent, by number.
    pub(super) sent: Vec<Duration>,
    /// The number and the time of each that arrived, in order of arrival.
    pub(super) arrived: Vec<(u32, Duration)>,
}

/// The server's answers to probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answers {
    /// It notes it.
    None,
    /// It answers each with a packet of the same length, which has a number of its own.
    Each,
}

impl PacketTimes {
    /// Adds a sending, and writes its number into the payload.
    pub(super) fn send(&mut self, now: Duration, payload: &mut [u8]) {
        let number = u32::try_from(self.sent.len()).unwrap_or(u32::MAX);
        if let Some(start) = payload.first_chunk_mut() {
            *start = number.to_be_bytes();
        }
        self.sent.push(now);
    }

    /// Adds an arrival; what is too short to have a number is none.
    pub(super) fn arrive(&mut self, now: Duration, payload: &[u8]) {
        let number = payload.first_chunk();
        let number = number.map(|bytes| u32::from_be_bytes(*bytes));
        self.arrived.extend(number.map(|number| (number, now)));
    }

    /// Returns how long was under way what was sent here and arrived there.
    pub(super) fn transit_times(&self, there: &Self) -> TransitTimes {
        let mut transit_times = TransitTimes::new();
        for (number, at) in &there.arrived {
            if let Some(sent) = self.sent.get(*number as usize) {
                let took = at.as_secs_f64() - sent.as_secs_f64();
                transit_times.entry(*number).or_default().push(took);
            }
        }
        transit_times
    }
}

/// Sends what `pace` sends from the client to the server, and receives until nothing has come for `quiet` after its
/// end. Returns the times of client and server.
pub(super) fn run(
    link: &Link,
    answers: Answers,
    quiet: Duration,
    pace: impl FnOnce(&mut ProbeSender<'_>) -> Result<()>,
) -> Result<[PacketTimes; 2]> {
    let [client, server] = sockets(link)?;
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let at_server = scope.spawn(|| receive(&server, answers, &is_over, quiet));
        let at_client = scope.spawn(|| receive(&client, Answers::None, &is_over, quiet));
        let mut sender = ProbeSender {
            link,
            socket: &client,
            times: PacketTimes::default(),
            buffer: [0; PACKET_BYTES_MAX],
        };
        let paced = pace(&mut sender);
        is_over.store(true, Ordering::Release);
        let [client, server] =
            [at_client, at_server].map(|end| end.join().expect("a thread of ours does not panic"));
        paced?;
        let client = PacketTimes {
            sent: sender.times.sent,
            ..client?
        };
        Ok([client, server?])
    })
}

/// Opens a socket on either host that is connected to the other, the client's first.
fn sockets(link: &Link) -> Result<[UdpSocket; 2]> {
    let client = link.client.within(|| UdpSocket::bind("0.0.0.0:0"))??;
    let server = link.server.within(|| UdpSocket::bind("0.0.0.0:0"))??;
    client.connect((SERVER_IP, server.local_addr()?.port()))?;
    server.connect((CLIENT_IP, client.local_addr()?.port()))?;
    for socket in [&client, &server] {
        widen_receive_buffer(socket, BUFFER_BYTES).context("widening the buffer of a receiver")?;
        stamp_arrivals(socket).context("asking for times of arrival")?;
        socket.set_read_timeout(Some(LOOK))?;
    }
    Ok([client, server])
}

/// Receives until it is over and nothing has come for `quiet`.
fn receive(
    socket: &UdpSocket,
    answers: Answers,
    is_over: &AtomicBool,
    quiet: Duration,
) -> Result<PacketTimes> {
    let mut times = PacketTimes::default();
    let mut buffer = [0; PACKET_BYTES_MAX];
    let mut silent = Duration::ZERO;
    loop {
        match receive_stamped(socket, &mut buffer) {
            Ok(received) => {
                silent = Duration::ZERO;
                let at = received.at.context("the kernel gives no time of arrival")?;
                let payload = buffer.get_mut(..received.length).unwrap_or_default();
                times.arrive(at, payload);
                if answers == Answers::Each {
                    times.send(wall_time(), payload);
                    socket.send(payload).context("answering")?;
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                silent += LOOK;
                if is_over.load(Ordering::Acquire) && silent >= quiet {
                    return Ok(times);
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error).context("receiving probes"),
        }
    }
}

/// Sends numbered probes.
pub(super) struct ProbeSender<'a> {
    link: &'a Link,
    socket: &'a UdpSocket,
    times: PacketTimes,
    buffer: [u8; PACKET_BYTES_MAX],
}

impl ProbeSender<'_> {
    /// Sends one packet of so many bytes, headers included.
    pub(super) fn send(&mut self, packet_bytes: usize) -> Result<()> {
        let length = packet_bytes.saturating_sub(HEADER_BYTES).max(4);
        let payload = self.buffer.get_mut(..length).context("too large a probe")?;
        self.times.send(wall_time(), payload);
        self.socket.send(payload).context("sending a probe")?;
        Ok(())
    }

    /// Sends `count`, one each `interval`, whatever the sleep of each pause does.
    pub(super) fn evenly(
        &mut self,
        count: u32,
        interval: Duration,
        packet_bytes: usize,
    ) -> Result<()> {
        let start = wall_time();
        for number in 0..count {
            let due = start + interval * number;
            std::thread::sleep(due.saturating_sub(wall_time()));
            self.send(packet_bytes)?;
        }
        Ok(())
    }

    /// Sends `count` as fast as the engine takes them.
    pub(super) fn quickly(&mut self, count: u32, packet_bytes: usize) -> Result<()> {
        for number in 0..count {
            if number % 500 == 0 {
                while self.ahead()? > AHEAD_MAX {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            self.send(packet_bytes)?;
        }
        Ok(())
    }

    /// Returns the number of packets that have been sent and that the engine has not read.
    fn ahead(&self) -> Result<u64> {
        let read = self.link.report()?.client.sent;
        Ok((self.times.sent.len() as u64).saturating_sub(read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn copies_and_losses_are_found_by_number_and_what_nobody_sent_is_none() {
        let mut here = PacketTimes::default();
        for at in [0, 250, 500] {
            here.send(ms(at), &mut [0; 4]);
        }
        // One was lost, one overtaken, one came twice, and one was never sent.
        let arrived = [(2, ms(625)), (0, ms(750)), (0, ms(875)), (9, ms(900))].to_vec();
        let there = PacketTimes {
            sent: Vec::new(),
            arrived,
        };
        let expected = [(0, vec![0.75, 0.875]), (2, vec![0.125])];
        assert_eq!(here.transit_times(&there), expected.into());
    }

    #[test]
    fn a_number_is_read_where_it_was_written_and_a_short_packet_has_none() {
        let (mut here, mut there) = (PacketTimes::default(), PacketTimes::default());
        for number in 0..300_u32 {
            let mut payload = [7; 72];
            here.send(ms(number.into()), &mut payload);
            there.arrive(ms(1000), &payload);
            there.arrive(ms(1000), &payload[..3]);
        }
        let numbers = there.arrived.iter().map(|(number, _)| *number);
        assert!(numbers.eq(0..300));
        assert_eq!(here.sent[299], ms(299));
    }
}
