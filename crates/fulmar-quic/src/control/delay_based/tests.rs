//! Tests of the controller over a path that is nothing but a rate and a round trip.

use super::*;

const MTU: u16 = 1200;
const RTT: Duration = Duration::from_millis(100);

/// A controller, and a path that delivers bursts at a rate after a round trip.
struct Simulation {
    control: DelayBased,
    now: Instant,
    /// Bytes per second.
    rate: f64,
    /// The time by which round trips are longer.
    late: Duration,
    /// The time that it takes to send as much as there is room for.
    sending: Duration,
}

impl Simulation {
    fn new(rate: f64) -> Simulation {
        #[expect(
            clippy::disallowed_methods,
            reason = "an instant can be made in no other way"
        )]
        let now = Instant::now();
        Simulation {
            control: DelayBased::new(now, MTU),
            now,
            rate,
            late: Duration::ZERO,
            sending: Duration::ZERO,
        }
    }

    /// Sends so many packets at once if that is wanted, or in bursts of ten, evenly over a round trip, and has
    /// them acknowledged.
    fn round(&mut self, packets: u64, app_limited: bool) {
        let bytes = u64::from(MTU);
        let bursts = packets.div_ceil(10).max(1) as u32;
        let sending = if self.control.is_unpaced() {
            self.sending
        } else {
            RTT
        };
        let sent = |burst: u32| self.now + sending * burst / bursts;
        let mut arrivals = Vec::new();
        let mut free = self.now;
        for packet in 0..packets {
            let at = sent((packet / 10) as u32);
            free = free.max(at) + Duration::from_secs_f64(bytes as f64 / self.rate);
            arrivals.push((free + RTT + self.late, at));
        }
        let mut begun = 0;
        for (arrival, at) in &arrivals {
            while begun < packets && sent((begun / 10) as u32) < *arrival {
                self.control
                    .on_sent(sent((begun / 10) as u32), bytes, begun);
                begun += 1;
            }
            self.control
                .on_packet_acked(*arrival, *at, bytes, app_limited);
            let in_flight = self.control.delivery.in_flight.saturating_sub(bytes);
            self.control
                .on_end_acks(*arrival, in_flight, app_limited, None);
        }
        self.now = arrivals.last().map_or(self.now, |(arrival, _)| *arrival);
    }

    /// Fills the window for a round.
    fn fill(&mut self) {
        self.round(self.control.window / u64::from(MTU), false);
    }
}

#[test]
fn a_path_is_filled_as_soon_as_a_flight_has_shown_its_bottleneck_rate() {
    // 5 MB in a round trip. 38 KB take less than a millisecond, eight times as much 6.
    let mut sim = Simulation::new(5e7);
    let mut windows = vec![sim.control.window];
    while sim.control.is_unpaced() {
        sim.fill();
        windows.push(sim.control.window);
    }
    assert_eq!(windows.len(), 3, "{windows:?}");
    assert!(windows[1] > 290_000, "{windows:?}");
    for _ in 0..2 {
        sim.fill();
    }
    assert!(sim.control.window > 4_000_000, "{}", sim.control.window);
    while sim.control.state == State::Startup {
        sim.fill();
        assert!(sim.control.window < 8_000_000, "{}", sim.control.window);
    }
}

#[test]
fn a_slow_path_shows_its_bottleneck_rate_with_the_first_flight_and_is_not_overrun() {
    // 50 KB in a round trip.
    let mut sim = Simulation::new(5e5);
    sim.fill();
    assert!(!sim.control.is_unpaced());
    for _ in 0..4 {
        sim.fill();
        assert!(sim.control.window <= 75_000, "{}", sim.control.window);
    }
}

#[test]
fn a_sender_slower_than_the_path_doubles_its_window() {
    let mut sim = Simulation::new(1e9);
    sim.sending = Duration::from_millis(6);
    sim.fill();
    assert!(!sim.control.is_unpaced(), "the path is faster than that");
    let mut before = sim.control.window;
    for _ in 0..4 {
        sim.fill();
        let times = sim.control.window as f64 / before as f64;
        assert!((1.8..=2.2).contains(&times), "{times}");
        before = sim.control.window;
    }
}

#[test]
fn startup_holds_the_window_while_round_trips_are_long() {
    let mut sim = Simulation::new(1e9);
    sim.sending = Duration::from_millis(6);
    sim.fill();
    sim.late = Duration::from_millis(20);
    let before = sim.control.window;
    // The first of them is what tells.
    sim.round(5, false);
    assert!(sim.control.window <= before + 2 * u64::from(MTU));
}

#[test]
fn an_app_limited_sender_keeps_its_initial_window() {
    let mut sim = Simulation::new(1e6);
    for round in 0..40 {
        sim.late = Duration::from_millis(30 * (round % 3));
        sim.round(3, true);
    }
    assert_eq!(sim.control.state, State::Startup);
    assert_eq!(sim.control.window, INITIAL_CWND_PACKETS * u64::from(MTU));
}

#[test]
fn app_limited_rounds_do_not_age_the_bandwidth_filter() {
    let mut sim = Simulation::new(1e7);
    for _ in 0..12 {
        sim.fill();
    }
    let rate = sim.control.max_bw.get();
    assert!(rate > 5e6, "{rate}");
    for _ in 0..30 {
        sim.round(2, true);
    }
    assert_eq!(sim.control.max_bw.get(), rate);
}

/// The window, in seconds at the rate that it is for, after rounds of which every other is so much longer.
fn window_where_every_other_round_is_longer(by: Duration) -> f64 {
    let mut sim = Simulation::new(1e6);
    for round in 0..60 {
        sim.late = by * (round % 2);
        sim.fill();
    }
    // ProbeRTT has less in flight.
    while sim.control.state != State::Cruise {
        sim.fill();
    }
    sim.control.window as f64 / sim.control.max_bw.get()
}

#[test]
fn rtt_variation_doubled_is_the_least_target_delay() {
    let calm = window_where_every_other_round_is_longer(Duration::ZERO);
    assert!(calm < 0.14, "{calm}");
    let shaky = window_where_every_other_round_is_longer(Duration::from_millis(100));
    // The mean distance from the mean is 50 ms.
    assert!(shaky > 0.18, "{shaky}");
    let wild = window_where_every_other_round_is_longer(Duration::from_millis(900));
    assert!((0.28..0.4).contains(&wild), "{wild}");
}
