//! Delay-based congestion control: BBR's model of the path, with a small target queueing delay as LEDBAT and Copa have.
//!
//! - **States.** `Startup` finds the rate of the path and ends when round trips rise (HyStart++, RFC 9406) or the rate does
//!   not grow (BBR). `ProbeRtt` lets the queue drain to 0.85 BDP for a round trip; it is BBR's Drain after startup, and
//!   BBR's ProbeRTT every eight rounds and second. `Cruise` is the rest of the time. There is no probing of bandwidth by a
//!   pacing gain: the target delay is enough more than a BDP that a faster path shows.
//! - **Measured** are the largest delivery rate of ten rounds ([`delivery_rate`]), the shortest round trip and how round
//!   trips vary ([`rtt`]), and the loss rate of ProbeRTT and of each round ([`loss`]). Their product is the BDP, made larger
//!   by what is lost at random. Rounds that are limited by the application teach nothing.
//! - **Window.** In Startup as [`startup`] says. In Cruise the rate times (shortest round trip + target delay); the target
//!   ([`target_delay`]) grows while no queue is seen, for a fair share, and where round trips vary. The pacer of the
//!   connection spreads the window over the round trip.
//! - **Loss** at random changes nothing. Loss beyond that, or a congestion mark, halves the target delay, not the window:
//!   32 rounds without it bring it back. Persistent congestion (RFC 9002 §7.6) forgets everything.
//! - **Beside CUBIC** ([`competition`]) a queue stays in two ProbeRTT states in a row. Then the window is at least 0.75 of
//!   what CUBIC would have, as in Copa's TCP-competitive mode, until a ProbeRTT finds the queue gone.
//!
//! Sources: draft-ietf-ccwg-bbr; Arun and Balakrishnan, "Copa", NSDI 2018; RFC 6817 (LEDBAT). Why it is so, and figures:
//! docs/decisions/025-congestion-control.md.

mod competition;
mod delivery_rate;
mod loss;
mod rtt;
mod startup;
mod target_delay;

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use self::competition::{Competition, Loss};
use self::delivery_rate::{DeliveryRate, MaxFilter, RateSample};
use self::loss::LossTracker;
use self::rtt::{MinRtt, NonCongestiveDelay, RttVariation};
use self::startup::Startup;
use self::target_delay::TargetDelay;

/// The window begins with so many packets.
///
/// RFC 6928 §2 has ten. Measured with `--example table`: with ten a copy of 300 MB over 200 ms takes 0.2 s longer
/// (docs/decisions/025-congestion-control.md, Consequences).
const INITIAL_CWND_PACKETS: u64 = 32;

/// The window is never less than so many packets; BBRMinPipeCwnd of draft-ietf-ccwg-bbr is as many.
const MIN_CWND_PACKETS: u64 = 4;

/// The bandwidth filter spans so many rounds, as BtlBwFilterLen of draft-cardwell-iccrg-bbr-congestion-control-00.
const MAX_BW_ROUNDS: usize = 10;

/// The target delay is at most so many times as long where others seem to share the path.
///
/// Chosen by eye; `--example table -- delay share` shows how two copies share.
const FAIR_SHARE_GAIN_MAX: f64 = 2.5;

/// The queue says nothing in so many rounds after ProbeRTT, while the path fills again: BBR's ProbeBW_REFILL takes
/// one. Chosen by eye.
const REFILL_ROUNDS: u32 = 2;

/// The window in ProbeRTT is this part of the BDP.
///
/// Chosen by eye. BBR's BBRProbeRTTCwndGain is 0.5, with a ProbeRTT that is rarer.
const PROBE_RTT_CWND_GAIN: f64 = 0.85;

/// Cruise ends after so many rounds and so much time. Chosen by eye; BBR's ProbeRTTInterval is 5 s.
const PROBE_RTT_ROUNDS: u32 = 8;
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(1);

/// Beside others Cruise takes so many times as long: each ProbeRTT leaves them room. Chosen by eye.
const COMPETING_INTERVALS: u32 = 4;

/// The controller is in one of these states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Finds the rate of the path, until it is full.
    Startup,
    /// Lets the queue drain; holds the instant since when little enough is in flight.
    ProbeRtt(Option<Instant>),
    /// Keeps the path full.
    Cruise,
}

/// Decides how many bytes may be in flight.
#[derive(Clone)]
pub(super) struct DelayBased {
    mtu: u64,
    state: State,
    window: u64,
    delivery: DeliveryRate,
    max_bw: MaxFilter,
    losses: LossTracker,
    /// The time at which the first packet of this round left.
    round_start: Instant,
    rounds_in_state: u32,
    state_entered: Instant,
    /// The shortest round trip of this round, and of this state.
    round_min_rtt: Option<Duration>,
    state_min_rtt: Option<Duration>,
    min_rtt: MinRtt,
    rtt_variation: RttVariation,
    non_congestive: NonCongestiveDelay,
    target_delay: TargetDelay,
    startup: Startup,
    competition: Competition,
}

/// Makes the controller of a path.
#[derive(Default)]
pub(super) struct DelayBasedConfig;

impl ControllerFactory for DelayBasedConfig {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(DelayBased::new(now, current_mtu))
    }
}

impl DelayBased {
    fn new(now: Instant, mtu: u16) -> DelayBased {
        let mtu = u64::from(mtu);
        DelayBased {
            mtu,
            state: State::Startup,
            window: INITIAL_CWND_PACKETS * mtu,
            delivery: DeliveryRate::new(now),
            max_bw: MaxFilter::default(),
            losses: LossTracker::default(),
            round_start: now,
            rounds_in_state: 0,
            state_entered: now,
            round_min_rtt: None,
            state_min_rtt: None,
            min_rtt: MinRtt::default(),
            rtt_variation: RttVariation::default(),
            non_congestive: NonCongestiveDelay::new(now),
            target_delay: TargetDelay::new(),
            startup: Startup::new(now),
            competition: Competition::default(),
        }
    }

    /// Returns the bytes that the path delivers in that time: the BDP, if it is a round trip. As many more as are lost at
    /// random, so that as many arrive.
    fn bdp(&self, time: Duration) -> f64 {
        self.max_bw.get() * time.as_secs_f64() / (1.0 - self.losses.random_loss_rate())
    }

    /// Computes the window; Startup adds to it for so many bytes that were acknowledged.
    fn update_window(&mut self, acknowledged: u64) {
        let Some(rtt) = self.min_rtt.get() else {
            return;
        };
        let target = match self.state {
            State::Startup => self
                .startup
                .window_after(self.window as f64, rtt, acknowledged),
            State::ProbeRtt(_) => self.bdp(rtt) * PROBE_RTT_CWND_GAIN,
            State::Cruise => {
                // Whatever the queue is to be, less than how round trips vary by themselves would leave the path idle.
                let floor = self.rtt_variation.delay().max(self.non_congestive.delay());
                let delay = self.target_delay.get(rtt, self.fair_share_gain(), floor);
                // The window itself is not cut: what fits into the path without a queue has hurt nobody.
                let delay = delay.mul_f64(self.losses.backoff());
                self.bdp(rtt + delay)
            }
        };
        // In ProbeRTT competing would hide whether the queue is ours.
        let target = match self.state {
            State::Cruise => target.max(self.competition.window(self.bdp(rtt))),
            _ => target,
        };
        self.window = (target as u64).max(MIN_CWND_PACKETS * self.mtu);
    }

    fn on_packet_acked(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool) {
        self.delivery.on_ack(now, sent, bytes);
        self.losses.on_ack(sent, bytes);
        if self.state == State::Startup {
            self.startup.on_ack(now, sent, bytes);
            // A window that is not used up is no measure of the path (RFC 9002 §7.8).
            if !app_limited {
                self.update_window(bytes);
            }
        }
    }

    /// Returns whether the window leaves at once, unpaced.
    fn is_unpaced(&self) -> bool {
        self.state == State::Startup && self.startup.is_unpaced()
    }

    /// Returns how many flows like this one the bottleneck seems to serve: its rate over ours.
    ///
    /// All flows then keep queues of the same length in bytes, so that who has less than a fair share gains on the others.
    fn fair_share_gain(&self) -> f64 {
        let rate = self.max_bw.get();
        match self.delivery.bottleneck_rate() {
            Some(bottleneck_rate) if rate > 0.0 && !self.competition.is_on() => {
                (bottleneck_rate / rate).clamp(1.0, FAIR_SHARE_GAIN_MAX)
            }
            _ => 1.0,
        }
    }

    /// Takes a sample into the model of the path.
    fn update_model(&mut self, now: Instant, sample: &RateSample, app_limited: bool) {
        // A sample that was limited by the application is too low, so only a larger one tells (BBRUpdateMaxBw).
        if !app_limited || sample.rate > self.max_bw.get() {
            self.max_bw.update(sample.rate);
        }
        self.rtt_variation.on_sample(sample.rtt);
        self.non_congestive.on_sample(sample);
        self.min_rtt.on_sample(now, sample.rtt);
        let shorter =
            |known: Option<Duration>| Some(known.map_or(sample.rtt, |known| known.min(sample.rtt)));
        self.round_min_rtt = shorter(self.round_min_rtt);
        self.state_min_rtt = shorter(self.state_min_rtt);
    }

    fn enter(&mut self, now: Instant, state: State) {
        self.state = state;
        self.state_entered = now;
        self.state_min_rtt = None;
        self.rounds_in_state = 0;
        self.target_delay = TargetDelay::new();
        self.losses
            .begin_state(now, matches!(state, State::ProbeRtt(_)));
    }

    /// Ends a round: the packets that left in it have been acknowledged.
    fn end_round(&mut self, now: Instant, is_idle: bool) {
        self.rounds_in_state += 1;
        self.round_start = now;
        let rtt = self.round_min_rtt.take();
        let rate_before = self.max_bw.get();
        // An idle round would push what is known of the path out of the filter.
        if !is_idle {
            self.max_bw.next_round(MAX_BW_ROUNDS);
        }
        self.losses.end_round();
        match self.state {
            State::Startup if !is_idle => {
                // The filter has moved on: the last round is empty, and the one before is the one
                // that ends.
                let before = self.max_bw.before_last();
                if self.startup.end_round(rate_before, before) {
                    self.enter(now, State::ProbeRtt(None));
                }
            }
            State::Cruise => self.end_cruise_round(now, rtt),
            _ => {}
        }
    }

    /// Adapts the target delay to the queue that the round has met, and sees whether a ProbeRTT is due.
    fn end_cruise_round(&mut self, now: Instant, round_min_rtt: Option<Duration>) {
        if let (Some(rtt), Some(found)) = (self.min_rtt.get(), round_min_rtt)
            && self.rounds_in_state > REFILL_ROUNDS
        {
            let queue = found.saturating_sub(rtt);
            self.target_delay.end_round(rtt, queue);
        }
        let elapsed = now.saturating_duration_since(self.state_entered);
        let intervals = if self.competition.is_on() {
            COMPETING_INTERVALS
        } else {
            1
        };
        let period = PROBE_RTT_INTERVAL * intervals;
        if self.rounds_in_state >= PROBE_RTT_ROUNDS && elapsed >= period {
            self.enter(now, State::ProbeRtt(None));
        }
    }

    /// Enters the next state when a packet says so: at the end of Startup, and in ProbeRTT.
    fn check_transition(&mut self, now: Instant, sample: &RateSample) {
        match self.state {
            State::Startup => {
                let Some(rtt) = self.min_rtt.get() else {
                    return;
                };
                if self.startup.has_rtt_risen(now, sample, rtt) && self.rounds_in_state > 0 {
                    // What was in flight is what path and queue hold, over how long it took: samples of the rate lag behind
                    // while the window grows.
                    self.max_bw
                        .update(sample.in_flight as f64 / sample.rtt.as_secs_f64());
                    self.enter(now, State::ProbeRtt(None));
                }
            }
            State::ProbeRtt(None) if self.delivery.in_flight <= self.window => {
                // Round trips until here met the queue that was to drain.
                self.state_min_rtt = None;
                self.state = State::ProbeRtt(Some(now));
            }
            // A round trip later: this packet left into the drained queue.
            State::ProbeRtt(Some(reached)) if sample.sent >= reached => {
                self.end_probe_rtt(now, reached)
            }
            _ => {}
        }
    }

    fn end_probe_rtt(&mut self, now: Instant, reached: Instant) {
        self.non_congestive.on_probe(reached, now);
        if let Some(found) = self.state_min_rtt {
            self.min_rtt.on_probe(found);
            // The shortest of all, as the others' queue is part of all recent probes while they are
            // there.
            if let Some(base) = self.min_rtt.base() {
                let mtu = u16::try_from(self.mtu).unwrap_or(u16::MAX);
                self.competition
                    .on_probe(now, found, base, self.window, mtu);
            }
        }
        self.enter(now, State::Cruise);
    }
}

impl Controller for DelayBased {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.delivery.on_sent(now, bytes);
        self.startup.on_sent(now, bytes);
        self.competition.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.competition.on_ack(now, sent, bytes, app_limited, rtt);
        self.on_packet_acked(now, sent, bytes, app_limited);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        _largest_packet_num_acked: Option<u64>,
    ) {
        let Some(sample) = self.delivery.take_sample(now, in_flight) else {
            return;
        };
        // Less than half a window in flight shows nothing of the path; more does, even if it was the peer's flow control
        // that limited. The half was chosen by eye.
        let is_idle = app_limited && sample.in_flight < self.window / 2;
        self.update_model(now, &sample, app_limited);
        // A packet of this round was acknowledged, so a round trip has passed since it began.
        if sample.sent >= self.round_start {
            self.end_round(now, is_idle);
        }
        if !is_idle {
            self.check_transition(now, &sample);
        }
        if self.state != State::Startup {
            self.update_window(0);
        }
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        if is_persistent_congestion {
            // Nothing came through for long (RFC 9002 §7.6): what was known may be of another path.
            let mtu = u16::try_from(self.mtu).unwrap_or(u16::MAX);
            *self = DelayBased::new(now, mtu);
            return;
        }
        self.delivery.in_flight = self.delivery.in_flight.saturating_sub(lost_bytes);
        // QUIC says so when an acknowledgement counts marked packets.
        if lost_bytes == 0 {
            self.losses.on_congestion_mark();
        }
        self.losses.on_loss(sent, lost_bytes);
        let loss = Loss {
            bytes: lost_bytes,
            random_rate: self.losses.random_loss_rate(),
            is_excessive: self.losses.is_excessive(),
        };
        self.competition.on_loss(now, sent, &loss);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = u64::from(new_mtu);
        self.competition.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        self.window
    }

    /// Reports the window; an infinite pacing rate stands for "unpaced".
    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window;
        metrics.pacing_rate = self.is_unpaced().then_some(u64::MAX);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        INITIAL_CWND_PACKETS * self.mtu
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests;
