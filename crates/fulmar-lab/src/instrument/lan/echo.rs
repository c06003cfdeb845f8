//! Measures the cost of an echo beyond the link.

use std::fmt::Write as _;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use fulmar_platform::boot_time;
use fulmar_sim::Random;
use fulmar_testbed::TimedUdpSocket;

use super::in_millis;
use crate::experiment::{LabSetup, Measured, Work};
use crate::instrument::Kernel;
use crate::instrument::figures::{median, millis};
use crate::instrument::hosts::PeerHosts;
use crate::judge::{GroundTruth, ObservedRun, RunVerdict};
use crate::link::Link;
use crate::peer::Peer;
use crate::replay::{LEAVE, LIMITS, SessionHosts};
use crate::scenario::{SERVER_IP, Scenario};
use crate::stats::Summary;
use crate::trace::Trace;
use crate::typing::{Limits, TypingLoop, run_session};

/// The pauses between keys, in milliseconds: as people type, and so uneven that they meet every
/// phase of whatever timer a peer has. Chosen by eye.
const PAUSES: std::ops::Range<u32> = 60..200;

/// After so many keys comes Enter.
const LINE: usize = 50;

/// The number of times that the link's round trip is measured before.
const PROBES: usize = 50;

/// The time that a probe may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Keys that were typed and echoed.
pub(in crate::instrument) struct EchoRun {
    pub(in crate::instrument) verdict: RunVerdict,
    /// The round trip of the link, before.
    link: Duration,
    /// The commands that were begun, for a reader.
    pub(in crate::instrument) commands: Vec<String>,
}

/// The cost of an echo: keys that are echoed at once.
#[derive(Clone, Copy, Debug)]
pub struct EchoCost {
    /// The round trip of the link.
    pub round_trip: Duration,
    /// The number of keys that are typed.
    pub keys: usize,
}

impl Work for EchoCost {
    fn measure(&self, peer: &str, seed: u64, setup: &LabSetup) -> Result<Measured> {
        let peer = Peer::parse(peer)?;
        let scenario = super::link(seed, self.round_trip, "")?;
        let alone = |_: &SessionHosts| Ok(());
        let (echoed, ()) = echoed(&peer, &scenario, self.keys, setup, alone, Ok)?;
        let measured = figures(&Summary::of(&echoed.verdict.own()), echoed.link)?;
        Ok(Measured {
            typing: Some("closed".to_owned()),
            recording: Some("keys that are echoed at once".to_owned()),
            verdict: Some(echoed.verdict),
            ..measured.by(&scenario, echoed.commands)
        })
    }

    fn takes_any_peer(&self) -> bool {
        true
    }

    fn parameters(&self) -> Vec<(&'static str, String)> {
        vec![
            ("round trip", in_millis(self.round_trip)),
            ("keys", self.keys.to_string()),
        ]
    }
}

/// Returns what echoes cost beyond a link with this round trip.
fn figures(own: &Summary, link: Duration) -> Result<Measured> {
    let echo = own.median.context("nothing was echoed")?;
    let cost = |time| millis(time) - millis(link);
    let mut measured = Measured::default();
    measured.put_ms("link", link);
    measured.put_ms("echo", echo);
    measured.put("cost", cost(echo), "ms");
    measured.put("cost_p90", own.p90.map(cost), "ms");
    Ok(measured)
}

/// Types keys that are echoed at once, between the beginning and the end of something else.
pub(in crate::instrument) fn echoed<T, R>(
    peer: &Peer,
    scenario: &Scenario,
    keys: usize,
    setup: &LabSetup,
    begin: impl FnOnce(&SessionHosts) -> Result<T>,
    end: impl FnOnce(T) -> Result<R>,
) -> Result<(EchoRun, R)> {
    let text = recording(scenario.seed, keys);
    let file = tempfile::NamedTempFile::new().context("making a recording")?;
    std::fs::write(file.path(), &text)?;
    let recording = Trace::parse(text.as_bytes()).context("the recording is one")?;
    let truth = GroundTruth::of(&recording);
    let hosts = PeerHosts::playing(file.path(), scenario, Kernel::USUAL, setup)?;
    let link = round_trip(&hosts.session.link)?;
    // A title with each echo would be a cost of ours.
    let command = hosts
        .values()?
        .command
        .replace(" play ", " play --no-stamps ");
    let line = hosts.line(peer, command)?;
    let mut client = hosts.session.start(&line, recording.size())?;
    let other = begin(&hosts.session)?;
    let limits = Limits { keys, ..LIMITS };
    let sitting = run_session(&mut client, &recording, &truth, TypingLoop::Closed, limits)?;
    let other = end(other)?;
    client.let_end(LEAVE)?;
    hosts.session.end_processes();
    let log = hosts.session.files.log();
    let host_side = Trace::read(&log).context("the played host has noted nothing")?;
    let run = ObservedRun {
        truth: &truth,
        user_side: &sitting.user_side,
        host_side: &host_side,
        one_way_delay: link / 2,
        may_predict: peer.may_predict(),
    };
    let echoed = EchoRun {
        verdict: run.judge().context("this run cannot be judged")?,
        link,
        commands: hosts.commands(line),
    };
    Ok((echoed, other))
}

/// Returns a recording of keys that are echoed at once, with Enter now and then.
fn recording(seed: u64, keys: usize) -> String {
    let mut random = Random::stream(seed, 0);
    let mut at = 1_000_000_u64;
    let mut text = format!("{at} SIZE 80 24\n{at} HOST 2\n$ \n");
    for key in 1..=keys {
        let width = u64::from(PAUSES.end - PAUSES.start);
        at += (u64::from(PAUSES.start) + random.below(width)) * 1000;
        // Writing to a string does not fail.
        let _ = match key % LINE {
            0 => write!(text, "{at} USER 1\n\r\n{at} HOST 4\n\r\n$ \n"),
            _ => {
                let letter = char::from(b'a' + random.below(26) as u8);
                write!(text, "{at} USER 1\n{letter}\n{at} HOST 1\n{letter}\n")
            }
        };
    }
    text
}

/// Measures the link's own round trip: the median of some datagrams, each answered at once.
fn round_trip(link: &Link) -> Result<Duration> {
    let far = link.server.within(|| UdpSocket::bind((SERVER_IP, 0)))??;
    let address = far.local_addr()?;
    let near = link.client.within(|| UdpSocket::bind("0.0.0.0:0"))??;
    far.set_read_timeout(Some(Duration::from_millis(100)))?;
    near.connect(address)?;
    let near = TimedUdpSocket::new(near, PATIENCE)?;
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| answer(&far, &is_over));
        let times = (0..PROBES).map(|_| probe(&near));
        let times = times.collect::<Result<Vec<Duration>>>();
        is_over.store(true, Ordering::Relaxed);
        median(times.context("measuring the link")?).context("the link was not measured")
    })
}

fn answer(far: &UdpSocket, is_over: &AtomicBool) {
    let mut buffer = [0; 100];
    while !is_over.load(Ordering::Relaxed) {
        if let Ok((count, source)) = far.recv_from(&mut buffer) {
            // Whoever asks waits, and says so.
            let _ = far.send_to(&buffer[..count], source);
        }
    }
}

fn probe(near: &TimedUdpSocket) -> Result<Duration> {
    let began = boot_time();
    near.send(&[0; 64])?;
    near.recv(&mut [0; 100])?;
    let took = boot_time() - began;
    std::thread::sleep(Duration::from_millis(10));
    Ok(took)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Observation;

    #[test]
    fn each_key_is_echoed_at_once_and_has_an_effect() {
        let trace = Trace::parse(recording(5, 120).as_bytes()).unwrap();
        let truth = GroundTruth::of(&trace);
        assert_eq!(truth.keys().len(), 120);
        assert!(truth.keys().iter().all(|key| key.has_effect()));
        assert!(
            trace
                .user()
                .zip(trace.host().skip(1))
                .all(|(key, echo)| key.0 == echo.0)
        );
        assert_ne!(recording(5, 10), recording(6, 10));
    }

    #[test]
    fn a_cost_is_what_an_echo_takes_beyond_the_link() {
        let ms = Duration::from_millis;
        let waits: Vec<_> = (31..=55).map(|wait| Observation::After(ms(wait))).collect();
        let measured = figures(&Summary::of(&waits), ms(30)).unwrap();
        let expected = [
            ("cost", 13.0, "ms"),
            ("cost_p90", 23.0, "ms"),
            ("echo", 43.0, "ms"),
            ("link", 30.0, "ms"),
        ];
        assert_eq!(measured.told(), expected);
        let never = [Observation::Censored(ms(9))];
        assert!(figures(&Summary::of(&never), ms(30)).is_err());
    }

    #[test]
    fn pauses_are_those_of_people_and_each_line_has_its_enter() {
        let trace = Trace::parse(recording(5, 2 * LINE).as_bytes()).unwrap();
        let keys: Vec<(Duration, &[u8])> = trace.user().collect();
        for pair in keys.windows(2) {
            let pause = (pair[1].0 - pair[0].0).as_millis() as u32;
            assert!(PAUSES.contains(&pause), "{pause}");
        }
        let enters: Vec<usize> = (1..)
            .zip(&keys)
            .filter(|(_, key)| key.1 == b"\r")
            .map(|(number, _)| number)
            .collect();
        assert_eq!(enters, [LINE, 2 * LINE]);
    }
}
