//! Numbered datagrams over a link, with the times that the kernel saw them.

use std::io::ErrorKind;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_platform::lab::{receive_stamped, stamp_arrivals, wall_time, widen_receive_buffer};

use crate::link::Link;

/// IP and UDP headers of a probe.
pub(super) const HEADER_BYTES: usize = 28;

/// The bytes that a receiver can keep before they are read: more than any check has under way.
const BUFFER_BYTES: usize = 128 << 20;

/// The interval at which a receiver looks whether it is over.
const LOOK: Duration = Duration::from_millis(50);

/// One that arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeArrival {
    /// Its number, in the order of sending.
    pub(super) number: u32,
    /// The time at which the kernel of the server had it.
    pub(super) at: Duration,
}

/// The packets that were sent, and those that arrived.
#[derive(Clone, Debug, Default)]
pub(super) struct ProbeFlow {
    /// The time at which each was sent, by number.
    pub(super) sent: Vec<Duration>,
    /// In order of arrival.
    pub(super) arrived: Vec<ProbeArrival>,
}

impl ProbeFlow {
    /// Returns the time that each took that arrived, in seconds.
    pub(super) fn delays(&self) -> Vec<f64> {
        let delay = |arrival: &ProbeArrival| {
            let sent = self.sent.get(arrival.number as usize)?;
            Some(arrival.at.as_secs_f64() - sent.as_secs_f64())
        };
        self.arrived.iter().filter_map(delay).collect()
    }
}

/// A socket on each host; probes go from the client to the server.
pub(super) struct Probe<'a> {
    link: &'a Link,
    sender: UdpSocket,
    receiver: UdpSocket,
}

impl<'a> Probe<'a> {
    pub(super) fn over(link: &'a Link) -> Result<Self> {
        let receiver = link.server.within(|| UdpSocket::bind("0.0.0.0:0"))??;
        widen_receive_buffer(&receiver, BUFFER_BYTES)
            .context("widening the buffer of a receiver")?;
        stamp_arrivals(&receiver).context("asking for times of arrival")?;
        receiver.set_read_timeout(Some(LOOK))?;
        let port = receiver.local_addr()?.port();
        let sender = link.client.within(|| UdpSocket::bind("0.0.0.0:0"))??;
        sender.connect((crate::scenario::SERVER_IP, port))?;
        Ok(Self {
            link,
            sender,
            receiver,
        })
    }

    /// Sends what `pace` sends, and receives until nothing has come for `quiet` after its end.
    pub(super) fn run(
        &self,
        quiet: Duration,
        pace: impl FnOnce(&mut ProbeSender<'_>) -> Result<()>,
    ) -> Result<ProbeFlow> {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let receiver = scope.spawn(|| self.receive(&is_over, quiet));
            let mut sender = ProbeSender {
                probe: self,
                sent: Vec::new(),
                buffer: [0; 2048],
            };
            let paced = pace(&mut sender);
            is_over.store(true, Ordering::Release);
            let arrived = receiver.join().expect("the receiver does not panic")?;
            paced?;
            Ok(ProbeFlow {
                sent: sender.sent,
                arrived,
            })
        })
    }

    fn receive(&self, is_over: &AtomicBool, quiet: Duration) -> Result<Vec<ProbeArrival>> {
        let mut arrived: Vec<ProbeArrival> = Vec::new();
        let mut buffer = [0; 2048];
        let mut silent = Duration::ZERO;
        loop {
            match receive_stamped(&self.receiver, &mut buffer) {
                Ok(received) => {
                    silent = Duration::ZERO;
                    let number = buffer.first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
                    if let (Some(number), Some(at)) = (number, received.at) {
                        arrived.push(ProbeArrival { number, at });
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    silent += LOOK;
                    if is_over.load(Ordering::Acquire) && silent >= quiet {
                        return Ok(arrived);
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error).context("receiving probes"),
            }
        }
    }
}

/// Sends numbered probes.
pub(super) struct ProbeSender<'a> {
    probe: &'a Probe<'a>,
    sent: Vec<Duration>,
    buffer: [u8; 2048],
}

impl ProbeSender<'_> {
    /// Sends one packet of so many bytes, headers included.
    pub(super) fn send(&mut self, packet_bytes: usize) -> Result<()> {
        let number = u32::try_from(self.sent.len()).context("too many probes")?;
        let length = packet_bytes.saturating_sub(HEADER_BYTES).max(4);
        if let Some(start) = self.buffer.first_chunk_mut() {
            *start = number.to_be_bytes();
        }
        let payload = self.buffer.get(..length).context("too large a probe")?;
        self.sent.push(wall_time());
        self.probe.sender.send(payload).context("sending a probe")?;
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
        const AHEAD_MAX: u64 = 4000;
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
        let read = self.probe.link.report()?.client.sent;
        Ok((self.sent.len() as u64).saturating_sub(read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_from_sending_to_the_arrival_of_the_same_number() {
        let ms = Duration::from_millis;
        let arrival = |number, at| ProbeArrival { number, at: ms(at) };
        let flow = ProbeFlow {
            sent: [0, 250, 500].map(ms).to_vec(),
            // One was lost, one overtaken, and one was never sent.
            arrived: vec![arrival(2, 625), arrival(0, 750), arrival(9, 800)],
        };
        assert_eq!(flow.delays(), [0.125, 0.75]);
    }
}
