//! The controller over a path that is nothing but a rate and a round trip.

use super::*;

const MTU: u16 = 1200;
const RTT: Duration = Duration::from_millis(100);

/// A controller, and a path that delivers bursts at a rate after a round trip.
struct Scene {
    own: DelayBased,
    now: Instant,
    /// Bytes per second.
    rate: f64,
    /// The time by which round trips are longer.
    late: Duration,
    /// The time that it takes to send as much as there is room for.
    sending: Duration,
}

impl Scene {
    fn new(rate: f64) -> Scene {
        #[expect(
            clippy::disallowed_methods,
            reason = "an instant can be made in no other way"
        )]
        let now = Instant::now();
        Scene {
            own: DelayBased::new(now, MTU),
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
        let sending = match self.own.is_probing() {
            true => self.sending,
            false => RTT,
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
                self.own.on_sent(sent((begun / 10) as u32), bytes, begun);
                begun += 1;
            }
            self.own.acknowledged(*arrival, *at, bytes, app_limited);
            let in_flight = self.own.delivery.in_flight.saturating_sub(bytes);
            self.own.on_end_acks(*arrival, in_flight, app_limited, None);
        }
        self.now = arrivals.last().map_or(self.now, |(arrival, _)| *arrival);
    }

    /// Fills the window for a round.
    fn fill(&mut self) {
        self.round(self.own.window / u64::from(MTU), false);
    }
}

#[test]
fn a_path_is_filled_as_soon_as_a_flight_has_shown_its_pace() {
    // 5 MB in a round trip. 38 KB take less than a millisecond, eight times as much 6.
    let mut scene = Scene::new(5e7);
    let mut windows = vec![scene.own.window];
    while scene.own.is_probing() {
        scene.fill();
        windows.push(scene.own.window);
    }
    assert_eq!(windows.len(), 3, "{windows:?}");
    assert!(windows[1] > 290_000, "{windows:?}");
    for _ in 0..2 {
        scene.fill();
    }
    assert!(scene.own.window > 4_000_000, "{}", scene.own.window);
    while scene.own.phase == State::Startup {
        scene.fill();
        assert!(scene.own.window < 8_000_000, "{}", scene.own.window);
    }
}

#[test]
fn a_slow_path_shows_its_pace_with_the_first_flight_and_is_not_overrun() {
    // 50 KB in a round trip.
    let mut scene = Scene::new(5e5);
    scene.fill();
    assert!(!scene.own.is_probing());
    for _ in 0..4 {
        scene.fill();
        assert!(scene.own.window <= 75_000, "{}", scene.own.window);
    }
}

#[test]
fn a_host_that_sends_slowly_doubles() {
    let mut scene = Scene::new(1e9);
    scene.sending = Duration::from_millis(6);
    scene.fill();
    assert!(!scene.own.is_probing(), "the path is faster than that");
    let mut before = scene.own.window;
    for _ in 0..4 {
        scene.fill();
        let times = scene.own.window as f64 / before as f64;
        assert!((1.8..=2.2).contains(&times), "{times}");
        before = scene.own.window;
    }
}

#[test]
fn the_start_is_held_while_round_trips_are_long() {
    let mut scene = Scene::new(1e9);
    scene.sending = Duration::from_millis(6);
    scene.fill();
    scene.late = Duration::from_millis(20);
    let before = scene.own.window;
    // The first of them is what tells.
    scene.round(5, false);
    assert!(scene.own.window <= before + 2 * u64::from(MTU));
}

#[test]
fn who_has_little_to_send_keeps_the_window_that_it_began_with() {
    let mut scene = Scene::new(1e6);
    for round in 0..40 {
        scene.late = Duration::from_millis(30 * (round % 3));
        scene.round(3, true);
    }
    assert_eq!(scene.own.phase, State::Startup);
    assert_eq!(scene.own.window, START_PACKETS * u64::from(MTU));
}

#[test]
fn a_pause_does_not_make_the_path_forgotten() {
    let mut scene = Scene::new(1e7);
    for _ in 0..12 {
        scene.fill();
    }
    let rate = scene.own.rate.get();
    assert!(rate > 5e6, "{rate}");
    for _ in 0..30 {
        scene.round(2, true);
    }
    assert_eq!(scene.own.rate.get(), rate);
}

/// The window, in seconds at the rate that it is for, after rounds of which every other is so much longer.
fn window_where_every_other_round_is_longer(by: Duration) -> f64 {
    let mut scene = Scene::new(1e6);
    for round in 0..60 {
        scene.late = by * (round % 2);
        scene.fill();
    }
    // A draining has little under way.
    while scene.own.phase != State::Cruise {
        scene.fill();
    }
    scene.own.window as f64 / scene.own.rate.get()
}

#[test]
fn a_path_whose_round_trips_wobble_is_kept_busy_by_twice_as_much() {
    let calm = window_where_every_other_round_is_longer(Duration::ZERO);
    assert!(calm < 0.14, "{calm}");
    let shaky = window_where_every_other_round_is_longer(Duration::from_millis(100));
    // The mean distance from the mean is 50 ms.
    assert!(shaky > 0.18, "{shaky}");
    let wild = window_where_every_other_round_is_longer(Duration::from_millis(900));
    assert!((0.28..0.4).contains(&wild), "{wild}");
}
