//! Our congestion control: as much under way as the path delivers in its shortest round trip, and a
//! little more (docs/decisions/025-congestion-control.md).

mod delivery_rate;
mod loss;
mod startup;

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{
    Controller, ControllerFactory, ControllerMetrics, Cubic, CubicConfig,
};

use delivery_rate::{DeliveryRate, MaxFilter, RateSample};
use loss::LossTracker;
use startup::Startup;

/// Packets that may be under way before anything is known. RFC 6928 §2 has ten; why there are more here is in
/// docs/decisions/025-congestion-control.md.
const START_PACKETS: u64 = 32;

/// The least packets that are under way.
const LEAST_PACKETS: u64 = 4;

/// How many rounds the delivery rate is the largest of.
const RATE_ROUNDS: usize = 10;

/// How much of the mean delay that was not ours is added to the queue we keep, and the most of it.
const DELAY_SHARE: f64 = 1.5;
const DELAY_MAX: Duration = Duration::from_millis(40);

/// How much more of a queue we keep at most where the path is faster than we are.
const CROWD_MAX: f64 = 2.5;

/// The queue that we keep in the path, as a share of the shortest round trip, and its bounds.
const SLACK_SHARE: f64 = 0.25;
const SLACK_MIN: Duration = Duration::from_millis(4);
const SLACK_MAX: Duration = Duration::from_millis(15);

/// How much bolder the slack gets at most while no queue is seen, and how much of a round trip it may
/// be then.
const BOLDNESS_MAX: f64 = 64.0;
const BOLD_SLACK_MAX: f64 = 0.3;

/// Rounds of filling after a draining, in which nothing is learned of the queue.
const FILLING_ROUNDS: u32 = 2;

/// How long the wobble of round trips is remembered, in samples.
const WOBBLE_SAMPLES: f64 = 64.0;

/// How many times the mean wobble the queue we keep is at least, and the most of it.
const WOBBLE_SHARE: f64 = 2.0;
const WOBBLE_MAX: Duration = Duration::from_millis(200);

/// What part of the product is under way when the path is let drain.
const DRAINED: f64 = 0.85;

/// Rounds and time from one draining to the next.
const DRAIN_ROUNDS: u32 = 8;
const DRAIN_PERIOD: Duration = Duration::from_secs(1);

/// How many drainings the shortest round trip is the shortest of.
const DRAININGS: usize = 4;

/// For how long the shortest round trip of all is remembered.
const BASE_MEMORY: Duration = Duration::from_secs(60);

/// Drainings after which the queue was still there: then it is not ours.
const FOREIGN_DRAININGS: u32 = 2;

/// The most that is under way beside others, in products.
const BESIDE_MAX: f64 = 4.0;

/// What is lost without our doing and still so little that every loss counts beside others.
const BASE_NEGLIGIBLE: f64 = 0.002;

/// What part of CUBIC's window is ours beside others: a little less than everybody's.
const BESIDE_SHARE: f64 = 0.75;

/// What we are doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Finding out how fast the path is, until it is full.
    Startup,
    /// Little under way, so that the queue empties; since when that little is reached.
    Drain(Option<Instant>),
    /// Filling the path.
    Cruise,
}

/// The controller.
#[derive(Clone)]
pub(super) struct DelayBased {
    mtu: u64,
    phase: State,
    window: u64,
    delivery: DeliveryRate,
    rate: MaxFilter,
    losses: LossTracker,
    /// When the first packet of this round left; how many rounds this phase has had.
    round_began: Instant,
    rounds: u32,
    phase_began: Instant,
    /// The shortest round trip of this round, and of this phase.
    round_rtt: Option<Duration>,
    phase_rtt: Option<Duration>,
    /// The shortest of each of the last drainings, the last one last.
    drained: VecDeque<Duration>,
    /// The shortest of all, and when that was.
    base: Option<(Duration, Instant)>,
    /// Mean round trip and mean distance from it, in seconds.
    mean: f64,
    wobble: f64,
    /// What left in the last draining and met no queue of ours.
    unqueued: Unqueued,
    /// How much longer than the shortest the mean round trip of drainings was: hosts that are busy, links
    /// that wait for their turn. Seconds.
    delay: f64,
    /// How boldly the slack is enlarged: doubled each round that shows no queue.
    boldness: f64,
    start: Startup,
    foreign: u32,
    /// Beside somebody who fills the queue, as CUBIC would have it.
    beside: Option<Box<Cubic>>,
}

/// Round trips of what left in a draining.
#[derive(Clone)]
struct Unqueued {
    from: Instant,
    to: Instant,
    /// Sum, in seconds, and number.
    sum: f64,
    count: u32,
    shortest: f64,
}

impl Unqueued {
    fn between(from: Instant, to: Instant) -> Unqueued {
        Unqueued {
            from,
            to,
            sum: 0.0,
            count: 0,
            shortest: f64::INFINITY,
        }
    }

    /// Learns of a packet; after the last, how much longer in seconds the mean was than the shortest.
    fn learn(&mut self, sample: &RateSample) -> Option<f64> {
        if sample.sent < self.from {
            return None;
        }
        if sample.sent <= self.to {
            let rtt = sample.rtt.as_secs_f64();
            self.sum += rtt;
            self.count += 1;
            self.shortest = self.shortest.min(rtt);
            return None;
        }
        let count = std::mem::take(&mut self.count);
        (count > 0).then(|| self.sum / f64::from(count) - self.shortest)
    }
}

/// Makes it.
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
            phase: State::Startup,
            window: START_PACKETS * mtu,
            delivery: DeliveryRate::from(now),
            rate: MaxFilter::default(),
            losses: LossTracker::default(),
            round_began: now,
            rounds: 0,
            phase_began: now,
            round_rtt: None,
            phase_rtt: None,
            drained: VecDeque::new(),
            base: None,
            mean: 0.0,
            wobble: 0.0,
            unqueued: Unqueued::between(now, now),
            delay: 0.0,
            boldness: 1.0,
            start: Startup::from(now),
            foreign: 0,
            beside: None,
        }
    }

    /// The shortest round trip that counts now.
    fn rtt(&self) -> Option<Duration> {
        let drained = self.drained.iter().min().copied();
        drained.or(self.base.map(|(base, _)| base))
    }

    fn slack(&self, rtt: Duration) -> Duration {
        rtt.mul_f64(SLACK_SHARE).clamp(SLACK_MIN, SLACK_MAX)
    }

    /// Bytes that the path delivers in that time, as many more as are lost without our doing.
    fn product(&self, time: Duration) -> f64 {
        self.rate.get() * time.as_secs_f64() / (1.0 - self.losses.base())
    }

    fn update_window(&mut self, acknowledged: u64) {
        let Some(rtt) = self.rtt() else { return };
        let target = match self.phase {
            State::Startup => self.start.grown(self.window as f64, rtt, acknowledged),
            State::Drain(_) => self.product(rtt) * DRAINED,
            State::Cruise => {
                let bold = self.slack(rtt).mul_f64(self.boldness);
                let slack = bold.min(rtt.mul_f64(BOLD_SLACK_MAX).max(SLACK_MIN));
                let slack = slack.mul_f64(self.crowd()).max(self.wobble());
                let slack = slack.max(self.foreign_delay());
                let slack = slack.mul_f64(self.losses.courage());
                self.product(rtt + slack)
            }
        };
        let beside = self.beside.as_ref().map_or(0.0, |cubic| {
            let most = self.product(rtt) * BESIDE_MAX;
            (cubic.window() as f64 * BESIDE_SHARE).min(most)
        });
        let target = match self.phase {
            State::Cruise => target.max(beside),
            _ => target,
        };
        self.window = (target as u64).max(LEAST_PACKETS * self.mtu);
    }

    fn acknowledged(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool) {
        self.delivery.acknowledged(now, sent, bytes);
        self.losses.acknowledged(sent, bytes);
        if self.phase == State::Startup {
            self.start.acknowledged(now, sent, bytes);
            if !app_limited {
                self.update_window(bytes);
            }
        }
    }

    /// Whether all that there is room for is to leave at once.
    fn is_probing(&self) -> bool {
        self.phase == State::Startup && self.start.is_probing()
    }

    /// How many of us the path seems to serve. Everybody's queue is as long then, and who has less than
    /// the others gains on them.
    fn crowd(&self) -> f64 {
        let rate = self.rate.get();
        match self.delivery.pace() {
            Some(pace) if rate > 0.0 && self.beside.is_none() => {
                (pace / rate).clamp(1.0, CROWD_MAX)
            }
            _ => 1.0,
        }
    }

    /// A path whose rate comes and goes is kept busy by a longer queue.
    fn wobble(&self) -> Duration {
        Duration::from_secs_f64(self.wobble.max(0.0) * WOBBLE_SHARE).min(WOBBLE_MAX)
    }

    /// Who waits for the path no longer than it takes without any delay has ever less under way, if
    /// there is one that never ends.
    fn foreign_delay(&self) -> Duration {
        Duration::from_secs_f64(self.delay * DELAY_SHARE).min(DELAY_MAX)
    }

    fn learn(&mut self, now: Instant, sample: &RateSample, app_limited: bool) {
        if !app_limited || sample.rate > self.rate.get() {
            self.rate.add(sample.rate);
        }
        let rtt = sample.rtt.as_secs_f64();
        if self.mean == 0.0 {
            self.mean = rtt;
        }
        self.wobble += ((rtt - self.mean).abs() - self.wobble) / WOBBLE_SAMPLES;
        self.mean += (rtt - self.mean) / WOBBLE_SAMPLES;
        let shorter =
            |known: Option<Duration>| Some(known.map_or(sample.rtt, |known| known.min(sample.rtt)));
        self.round_rtt = shorter(self.round_rtt);
        self.phase_rtt = shorter(self.phase_rtt);
        if let Some(delay) = self.unqueued.learn(sample) {
            self.delay += (delay - self.delay) / DRAININGS as f64;
        }
        let is_old = |at: Instant| now.saturating_duration_since(at) > BASE_MEMORY;
        match self.base {
            Some((base, at)) if sample.rtt >= base && !is_old(at) => {}
            _ => self.base = Some((sample.rtt, now)),
        }
    }

    fn enter(&mut self, now: Instant, phase: State) {
        self.phase = phase;
        self.phase_began = now;
        self.phase_rtt = None;
        self.rounds = 0;
        self.boldness = 1.0;
        self.losses.begin(now, matches!(phase, State::Drain(_)));
    }

    fn end_round(&mut self, now: Instant, is_idle: bool) {
        self.rounds += 1;
        self.round_began = now;
        let rtt = self.round_rtt.take();
        let rate_before = self.rate.get();
        if !is_idle {
            self.rate.next_round(RATE_ROUNDS);
        }
        self.losses.end_round();
        match self.phase {
            State::Startup if !is_idle => {
                let before = self.rate.before_last();
                if self.start.end_round(rate_before, before) {
                    self.enter(now, State::Drain(None));
                }
            }
            State::Cruise => self.look_at_cruise(now, rtt),
            _ => {}
        }
    }

    fn look_at_cruise(&mut self, now: Instant, round_rtt: Option<Duration>) {
        if let (Some(rtt), Some(found)) = (self.rtt(), round_rtt)
            && self.rounds > FILLING_ROUNDS
        {
            let queue = found.saturating_sub(rtt);
            let slack = self.slack(rtt);
            if queue < slack / 4 {
                self.boldness = (self.boldness * 2.0).min(BOLDNESS_MAX);
            } else if queue > slack / 2 {
                self.boldness = 1.0;
            }
        }
        let elapsed = now.saturating_duration_since(self.phase_began);
        let period = DRAIN_PERIOD * if self.beside.is_some() { 4 } else { 1 };
        if self.rounds >= DRAIN_ROUNDS && elapsed >= period {
            self.enter(now, State::Drain(None));
        }
    }

    /// Watches for the end of the start, and of a draining.
    fn look(&mut self, now: Instant, sample: &RateSample) {
        match self.phase {
            State::Startup => {
                let Some(rtt) = self.rtt() else { return };
                if self.start.is_full(now, sample, rtt) && self.rounds > 0 {
                    // What was under way then is what the path and the queue hold.
                    self.rate
                        .add(sample.in_flight as f64 / sample.rtt.as_secs_f64());
                    self.enter(now, State::Drain(None));
                }
            }
            State::Drain(None) if self.delivery.in_flight <= self.window => {
                self.phase_rtt = None;
                self.phase = State::Drain(Some(now));
            }
            State::Drain(Some(reached)) if sample.sent >= reached => {
                self.end_draining(now, reached)
            }
            _ => {}
        }
    }

    fn end_draining(&mut self, now: Instant, reached: Instant) {
        self.unqueued = Unqueued::between(reached, now);
        if let Some(found) = self.phase_rtt {
            if self.drained.len() == DRAININGS {
                self.drained.pop_front();
            }
            self.drained.push_back(found);
            self.look_for_others(now, found);
        }
        self.enter(now, State::Cruise);
    }

    /// A queue that stays when ours has gone is somebody else's: with them we share as CUBIC does.
    fn look_for_others(&mut self, now: Instant, found: Duration) {
        let Some((base, _)) = self.base else { return };
        let is_foreign = found > base + (self.slack(base) * 3 / 2).max(base / 8);
        self.foreign = if is_foreign { self.foreign + 1 } else { 0 };
        if self.foreign == 0 {
            self.beside = None;
        } else if self.foreign >= FOREIGN_DRAININGS && self.beside.is_none() {
            let mut config = CubicConfig::default();
            config.initial_window(self.window);
            let mtu = u16::try_from(self.mtu).unwrap_or(u16::MAX);
            let mut cubic = Cubic::new(Arc::new(config), now, mtu);
            // Ends its slow start.
            cubic.on_congestion_event(now, now, false, 0);
            self.beside = Some(Box::new(cubic));
        }
    }
}

impl Controller for DelayBased {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.delivery.sent(now, bytes);
        self.start.sent(now, bytes);
        if let Some(cubic) = &mut self.beside {
            cubic.on_sent(now, bytes, last_packet_number);
        }
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        if let Some(cubic) = &mut self.beside {
            cubic.on_ack(now, sent, bytes, app_limited, rtt);
        }
        self.acknowledged(now, sent, bytes, app_limited);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        _largest_packet_num_acked: Option<u64>,
    ) {
        let Some(sample) = self.delivery.sample(now, in_flight) else {
            return;
        };
        // Who has little to send learns nothing of the path; who waits for the peer's windows does.
        let is_idle = app_limited && sample.in_flight < self.window / 2;
        self.learn(now, &sample, app_limited);
        if sample.sent >= self.round_began {
            self.end_round(now, is_idle);
        }
        if !is_idle {
            self.look(now, &sample);
        }
        if self.phase != State::Startup {
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
            // Nothing came through for long: what was known is about another path.
            let mtu = u16::try_from(self.mtu).unwrap_or(u16::MAX);
            *self = DelayBased::new(now, mtu);
            return;
        }
        self.delivery.in_flight = self.delivery.in_flight.saturating_sub(lost_bytes);
        if lost_bytes == 0 {
            self.losses.mark();
        }
        self.losses.lost(sent, lost_bytes);
        if let Some(cubic) = &mut self.beside
            && (self.losses.base() < BASE_NEGLIGIBLE || self.losses.is_excessive())
        {
            cubic.on_congestion_event(now, sent, false, lost_bytes);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = u64::from(new_mtu);
        if let Some(cubic) = &mut self.beside {
            cubic.on_mtu_update(new_mtu);
        }
    }

    fn window(&self) -> u64 {
        self.window
    }

    /// A pace without end stands for "at once".
    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window;
        metrics.pacing_rate = self.is_probing().then_some(u64::MAX);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        START_PACKETS * self.mtu
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
mod tests;
